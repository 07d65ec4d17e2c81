//! The kernels' device code for one curve, compiled for the host and loaded.
#![allow(unsafe_code)]

use std::{
    collections::BTreeMap,
    env,
    ffi::{CStr, c_char},
    path::Path,
    process::Command,
};

use libloading::{Library, Symbol};

/// As declared in exports.cpp and sums.cpp.
#[repr(C)]
struct Raw {
    name: *const c_char,
    inputs: u32,
    outputs: u32,
    run: unsafe extern "C" fn(*const u32, *mut u32),
}

/// A function of the device code, on items of `inputs` words.
#[derive(Clone, Copy)]
struct Operation {
    inputs: usize,
    outputs: usize,
    run: unsafe extern "C" fn(*const u32, *mut u32),
}

/// Every function that the file names.
pub(crate) struct DeviceCode {
    operations: BTreeMap<String, Operation>,
    // The functions lie in it.
    _library: Library,
}

impl DeviceCode {
    /// Compiles a file of this folder for a curve, and loads it, with `CXX` or `c++`. Undefined behaviour ends the test: a shift by 32 is one
    /// thing on the host and another on the device.
    pub(crate) fn new(file: &str, curve: &str) -> Self {
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("kernels.so");
        let compiler = env::var_os("CXX").unwrap_or_else(|| "c++".into());
        let output = Command::new(&compiler)
            .args(["-std=c++17", "-O1", "-shared", "-fPIC"])
            .arg(format!("-DMSM_CURVE={curve}"))
            .args(["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"])
            .arg("-I")
            .arg(crate_root.join("../../xtask/shim"))
            .arg("-I")
            .arg(crate_root.join("src/cuda/kernels"))
            .arg("-o")
            .arg(&library)
            .arg(crate_root.join("tests/kernels").join(file))
            .output()
            .unwrap_or_else(|e| {
                panic!("a C++ compiler has to be here: {}: {e}", compiler.display())
            });
        let talk = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{talk}");
        // SAFETY: the library was made above from this repository's sources; it has no initialisers.
        let library = unsafe { Library::new(&library) }.unwrap();
        let mut count = 0;
        // SAFETY: declared so in both files.
        let table: Symbol<'_, unsafe extern "C" fn(*mut usize) -> *const Raw> =
            unsafe { library.get("operations") }.unwrap();
        // SAFETY: it gives a static table and writes its length.
        let raw = unsafe {
            let first = table(&mut count);
            std::slice::from_raw_parts(first, count)
        };
        let mut operations = BTreeMap::new();
        for entry in raw {
            // SAFETY: a string literal.
            let name = unsafe { CStr::from_ptr(entry.name) };
            let operation = Operation {
                inputs: entry.inputs as usize,
                outputs: entry.outputs as usize,
                run: entry.run,
            };
            let name = name.to_str().unwrap().to_owned();
            assert!(operations.insert(name, operation).is_none());
        }
        Self {
            operations,
            _library: library,
        }
    }

    /// `name` of one item.
    pub(crate) fn run(&self, name: &str, input: &[u32]) -> Vec<u32> {
        let operation = self.operations[name];
        assert_eq!(input.len(), operation.inputs, "{name}");
        let mut output = vec![0; operation.outputs];
        // SAFETY: both have the numbers of words that the table says the function reads and writes.
        unsafe { (operation.run)(input.as_ptr(), output.as_mut_ptr()) };
        output
    }
}

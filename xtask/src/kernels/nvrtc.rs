//! NVIDIA's run-time compiler, loaded from a file. It needs no GPU, no driver and no other compiler.
#![allow(unsafe_code)]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::Path,
    ptr,
};

use libloading::Library;

use crate::Result;

/// `nvrtcProgram`.
type Program = *mut c_void;
/// `nvrtcResult`; 0 is success.
type Status = c_int;
/// `nvrtcGet…Size`.
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> Status;
/// `nvrtcGet…`, into a buffer of the size that the function above told.
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> Status;

/// What a compilation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Machine code for one architecture.
    Cubin,
    /// Text that a driver compiles.
    Ptx,
}

impl Target {
    /// What `--gpu-architecture` takes.
    pub(crate) fn architecture(self, arch: u16) -> String {
        match self {
            Self::Cubin => format!("sm_{arch}"),
            Self::Ptx => format!("compute_{arch}"),
        }
    }
}

/// A file and its text.
pub(crate) struct Text {
    name: CString,
    text: CString,
}

impl Text {
    pub(crate) fn new(name: &str, text: &str) -> Result<Self> {
        let c = |s: &str| CString::new(s).map_err(|_| format!("{name} holds a zero byte"));
        Ok(Self {
            name: c(name)?,
            text: c(text)?,
        })
    }
}

/// The compiler.
pub(crate) struct Nvrtc {
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    destroy: unsafe extern "C" fn(*mut Program) -> Status,
    log: (GetSize, GetBytes),
    cubin: (GetSize, GetBytes),
    ptx: (GetSize, GetBytes),
    // Dropped last: the functions above lie in it, and it looks for the builtins by name among what is
    // loaded.
    _library: Library,
    _builtins: Library,
}

impl Nvrtc {
    /// Loads the compiler at `library`. It would look for its builtins on the loader's path, where they
    /// are not; loaded beforehand they are found.
    pub(crate) fn load(library: &Path, builtins: &Path) -> Result<Self> {
        // SAFETY: both files come from a wheel whose sha256 was checked; their initialisers are those of
        // NVIDIA's published libraries.
        let (builtins, library) = unsafe { (Library::new(builtins)?, Library::new(library)?) };
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of the declaration in the wheel's nvrtc.h, and the pointer is
                // kept no longer than the library.
                unsafe { *library.get($name)? }
            };
        }
        Ok(Self {
            error_string: function!("nvrtcGetErrorString"),
            create: function!("nvrtcCreateProgram"),
            compile: function!("nvrtcCompileProgram"),
            destroy: function!("nvrtcDestroyProgram"),
            log: (
                function!("nvrtcGetProgramLogSize"),
                function!("nvrtcGetProgramLog"),
            ),
            cubin: (function!("nvrtcGetCUBINSize"), function!("nvrtcGetCUBIN")),
            ptx: (function!("nvrtcGetPTXSize"), function!("nvrtcGetPTX")),
            _library: library,
            _builtins: builtins,
        })
    }

    /// Compiles `source`, which may include `headers` by their names, and gives the image and what the
    /// compiler had to say.
    pub(crate) fn compile(
        &self,
        source: &Text,
        headers: &[Text],
        options: &[String],
        target: Target,
    ) -> Result<(Vec<u8>, String)> {
        let texts: Vec<_> = headers.iter().map(|h| h.text.as_ptr()).collect();
        let names: Vec<_> = headers.iter().map(|h| h.name.as_ptr()).collect();
        let mut raw: Program = ptr::null_mut();
        // SAFETY: every pointer is a string that ends in zero and outlives the call, and the counts are
        // those of the arrays.
        let status = unsafe {
            (self.create)(
                &mut raw,
                source.text.as_ptr(),
                source.name.as_ptr(),
                c_int::try_from(headers.len())?,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        self.check("nvrtcCreateProgram", status)?;
        let program = Guard { nvrtc: self, raw };
        let owned = options
            .iter()
            .map(|o| CString::new(o.as_str()))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        let options: Vec<_> = owned.iter().map(|o| o.as_ptr()).collect();
        let count = c_int::try_from(options.len())?;
        // SAFETY: the program is alive, and `owned` keeps the options' strings.
        let status = unsafe { (self.compile)(program.raw, count, options.as_ptr()) };
        let log = self.bytes(&program, self.log, "the log")?;
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_end_matches('\0').trim().to_owned();
        self.check("nvrtcCompileProgram", status)
            .map_err(|e| format!("{e}\n{log}"))?;
        let image = match target {
            Target::Cubin => self.bytes(&program, self.cubin, "the cubin")?,
            Target::Ptx => self.bytes(&program, self.ptx, "the PTX")?,
        };
        Ok((image, log))
    }

    fn bytes(
        &self,
        program: &Guard<'_>,
        (size, get): (GetSize, GetBytes),
        what: &str,
    ) -> Result<Vec<u8>> {
        let mut length = 0;
        // SAFETY: the program is alive and `length` is written before it is read.
        self.check(what, unsafe { size(program.raw, &mut length) })?;
        let mut bytes = vec![0_u8; length];
        // SAFETY: the buffer has the size that NVRTC asked for.
        self.check(what, unsafe { get(program.raw, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn check(&self, what: &str, status: Status) -> Result {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: NVRTC gives a static string for every status, known or not.
        let words = unsafe { CStr::from_ptr((self.error_string)(status)) };
        Err(format!("{what}: {}", words.to_string_lossy()).into())
    }
}

/// Destroys the program when it goes.
struct Guard<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `nvrtcCreateProgram`, destroyed once.
        unsafe { (self.nvrtc.destroy)(&mut self.raw) };
    }
}

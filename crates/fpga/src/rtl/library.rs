//! A Verilated design behind its C face (`rtl/sim/shim.cpp`).
#![allow(unsafe_code)]

use std::{
    env,
    ffi::{CString, c_char, c_void},
    path::{Path, PathBuf},
    ptr::NonNull,
    rc::Rc,
};

use super::Error;

/// The interface that the shim has to have.
const ABI: u32 = 1;

/// The functions of the shim.
struct Functions {
    open: unsafe extern "C" fn(u32) -> *mut c_void,
    close: unsafe extern "C" fn(*mut c_void),
    port: unsafe extern "C" fn(*mut c_void, *const c_char, *mut u32) -> *mut c_void,
    settle: unsafe extern "C" fn(*mut c_void),
    edge: unsafe extern "C" fn(*mut c_void),
    trace: unsafe extern "C" fn(*mut c_void, *const c_char) -> i32,
    // The functions lie in it.
    _object: libloading::Library,
}

/// A design that can be simulated.
#[derive(Clone)]
pub struct Library {
    name: String,
    functions: Rc<Functions>,
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Library").field("name", &self.name).finish()
    }
}

/// Where the designs lie.
fn folder() -> PathBuf {
    if let Some(folder) = env::var_os("FIELDSPAR_RTL").filter(|f| !f.is_empty()) {
        return folder.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match env::var_os("CARGO_TARGET_DIR").filter(|f| !f.is_empty()) {
        Some(target) => root.join(target).join("rtl"),
        None => root.join("target/rtl"),
    }
}

impl Library {
    /// The design that `cargo xtask rtl <name>` built.
    ///
    /// # Errors
    /// [`Error::NotBuilt`] says what to install and to run; [`Error::Unusable`] and
    /// [`Error::Interface`] if the file is another thing.
    pub fn open(name: &str) -> Result<Self, Error> {
        let path = folder().join(format!("{name}.so"));
        if !path.is_file() {
            let name = name.to_owned();
            return Err(Error::NotBuilt { name, path });
        }
        let unusable = |error: libloading::Error| Error::Unusable {
            path: path.clone(),
            reason: error.to_string(),
        };
        // SAFETY: the file is built by `cargo xtask rtl`, its initialisers are those of the C++ library
        // and of Verilator, which only fill tables.
        let object = unsafe { libloading::Library::new(&path) }.map_err(unusable)?;
        // SAFETY: the name and the types are those of rtl/sim/shim.cpp in every version of it.
        let abi = unsafe {
            *object
                .get::<unsafe extern "C" fn() -> u32>(b"fieldspar_rtl_abi\0")
                .map_err(unusable)?
        };
        // SAFETY: it returns a constant.
        let have = unsafe { abi() };
        if have != ABI {
            let (name, need) = (name.to_owned(), ABI);
            return Err(Error::Interface {
                name,
                path,
                have,
                need,
            });
        }
        // SAFETY: with this ABI number the names have these types. The function pointers are kept beside
        // the object that they point into.
        let functions = unsafe {
            Functions {
                open: *object.get(b"fieldspar_rtl_open\0").map_err(unusable)?,
                close: *object.get(b"fieldspar_rtl_close\0").map_err(unusable)?,
                port: *object.get(b"fieldspar_rtl_port\0").map_err(unusable)?,
                settle: *object.get(b"fieldspar_rtl_settle\0").map_err(unusable)?,
                edge: *object.get(b"fieldspar_rtl_edge\0").map_err(unusable)?,
                trace: *object.get(b"fieldspar_rtl_trace\0").map_err(unusable)?,
                _object: object,
            }
        };
        Ok(Self {
            name: name.to_owned(),
            functions: Rc::new(functions),
        })
    }

    /// A new instance with the clock low. `seed` 0 starts every register and memory at zero, another at
    /// random values that follow from it.
    ///
    /// # Errors
    /// [`Error::NoMemory`].
    pub fn simulation(&self, seed: u32) -> Result<Simulation, Error> {
        // SAFETY: any seed is allowed; the result is null or an instance that `close` ends.
        let handle = unsafe { (self.functions.open)(seed) };
        match NonNull::new(handle) {
            Some(handle) => Ok(Simulation {
                library: self.clone(),
                handle,
                ports: Vec::new(),
            }),
            None => Err(Error::NoMemory {
                name: self.name.clone(),
            }),
        }
    }
}

/// A port of the simulation that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port(usize);

/// Where a port's words lie.
struct Words {
    address: NonNull<c_void>,
    bits: u32,
}

/// One instance of a design.
pub struct Simulation {
    library: Library,
    handle: NonNull<c_void>,
    ports: Vec<Words>,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Simulation");
        shown
            .field("design", &self.library.name)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// The port `name` of the top, which has to be `bits` wide.
    ///
    /// # Errors
    /// [`Error::NoPort`], [`Error::Width`].
    pub fn port(&mut self, name: &str, bits: u32) -> Result<Port, Error> {
        let design = || self.library.name.clone();
        let none = || Error::NoPort {
            name: design(),
            port: name.to_owned(),
        };
        let text = CString::new(name).map_err(|_| none())?;
        let mut have = 0;
        // SAFETY: the handle is open, the text ends with 0, and the width is written to `have`.
        let address = unsafe {
            (self.library.functions.port)(self.handle.as_ptr(), text.as_ptr(), &raw mut have)
        };
        let address = NonNull::new(address).ok_or_else(none)?;
        if have != bits {
            return Err(Error::Width {
                name: design(),
                port: name.to_owned(),
                have,
                need: bits,
            });
        }
        self.ports.push(Words { address, bits });
        Ok(Port(self.ports.len() - 1))
    }

    /// Writes an input of at most 64 bits; higher bits are cut.
    pub fn set(&mut self, port: Port, value: u64) {
        self.set_wide(port, &[value]);
    }

    /// Reads a port of at most 64 bits, or the lowest 64 of a wider one.
    #[must_use]
    pub fn get(&self, port: Port) -> u64 {
        let mut value = [0];
        self.get_wide(port, &mut value);
        value[0]
    }

    /// Writes an input, lowest word first. Words that lack are 0, bits beyond its width are cut.
    pub fn set_wide(&mut self, port: Port, value: &[u64]) {
        let Words { address, bits } = self.ports[port.0];
        let word = |i: usize| value.get(i).copied().unwrap_or(0);
        let cut = |value: u64, bits: u32| match bits {
            64.. => value,
            _ => value & ((1 << bits) - 1),
        };
        let low = cut(word(0), bits);
        // SAFETY: the shim gave the address of a member of the open instance, whose type follows from
        // the width as rtl/sim/shim.cpp says; `&mut self` keeps everybody else away.
        unsafe {
            match bits {
                0..=8 => address.cast::<u8>().write(low as u8),
                9..=16 => address.cast::<u16>().write(low as u16),
                17..=32 => address.cast::<u32>().write(low as u32),
                33..=64 => address.cast::<u64>().write(low),
                _ => {
                    let count = bits.div_ceil(32);
                    for i in 0..count {
                        let half = word(i as usize / 2) >> (32 * (i % 2));
                        let part = cut(half & 0xffff_ffff, (bits - 32 * i).min(32));
                        address.cast::<u32>().add(i as usize).write(part as u32);
                    }
                }
            }
        }
    }

    /// Reads a port, lowest word first. Words beyond its width are 0.
    pub fn get_wide(&self, port: Port, value: &mut [u64]) {
        let Words { address, bits } = self.ports[port.0];
        value.fill(0);
        // SAFETY: as in `set_wide`; nothing writes while `self` is borrowed.
        unsafe {
            let low = match bits {
                0..=8 => address.cast::<u8>().read().into(),
                9..=16 => address.cast::<u16>().read().into(),
                17..=32 => address.cast::<u32>().read().into(),
                33..=64 => address.cast::<u64>().read(),
                _ => {
                    let count = bits.div_ceil(32) as usize;
                    for i in 0..count.min(2 * value.len()) {
                        let part = address.cast::<u32>().add(i).read();
                        value[i / 2] |= u64::from(part) << (32 * (i % 2));
                    }
                    return;
                }
            };
            if let Some(first) = value.first_mut() {
                *first = low;
            }
        }
    }

    /// With the clock low, works out what follows from the inputs without a register.
    pub fn settle(&mut self) {
        // SAFETY: the handle is open.
        unsafe { (self.library.functions.settle)(self.handle.as_ptr()) }
    }

    /// Lets the clock rise.
    pub fn edge(&mut self) {
        // SAFETY: the handle is open.
        unsafe { (self.library.functions.edge)(self.handle.as_ptr()) }
    }

    /// Writes a VCD file from now on; only in designs built with `cargo xtask rtl --trace`.
    ///
    /// # Errors
    /// [`Error::Trace`].
    pub fn trace(&mut self, path: &Path) -> Result<(), Error> {
        let failed = |why| Error::Trace {
            name: self.library.name.clone(),
            path: path.to_owned(),
            why,
        };
        let text = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| failed("the name holds a zero byte"))?;
        // SAFETY: the handle is open and the text ends with 0.
        match unsafe { (self.library.functions.trace)(self.handle.as_ptr(), text.as_ptr()) } {
            0 => Ok(()),
            1 => Err(failed("the design was built without `--trace`")),
            _ => Err(failed("the file cannot be written")),
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nobody uses it or its ports afterwards.
        unsafe { (self.library.functions.close)(self.handle.as_ptr()) }
    }
}

//! The driver's functions, looked up once.
//!
//! A table of our own, for two reasons. Looked up one by one, a function that a driver lacks would
//! be a panic. And a driver may return codes that are newer than any list of them, so a code is a
//! number here and not an enumeration.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec,
    CUmemPoolProps, CUmemoryPool, CUmodule, CUstream,
};
use thiserror::Error as ThisError;

/// What a driver's function returns; 0 is success.
pub(super) type Code = c_uint;

/// The codes that are told apart.
pub(super) mod code {
    use super::Code;

    pub(in super::super) const OUT_OF_MEMORY: Code = 2;
    pub(in super::super) const STUB_LIBRARY: Code = 34;
    pub(in super::super) const NO_DEVICE: Code = 100;
    pub(in super::super) const INVALID_IMAGE: Code = 200;
    pub(in super::super) const NO_BINARY_FOR_GPU: Code = 209;
    pub(in super::super) const UNSUPPORTED_PTX_VERSION: Code = 222;
    pub(in super::super) const NOT_READY: Code = 600;
    #[cfg(test)]
    pub(in super::super) const NOT_SUPPORTED: Code = 801;
}

/// The oldest version of CUDA that a driver must speak, as the driver writes it: 12.4, driver 550.
const OLDEST: c_int = 12_040;

/// What the driver said of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("{name} ({code}){}{text}", if .text.is_empty() { "" } else { ": " })]
#[non_exhaustive]
pub struct DriverError {
    /// The number of the error.
    pub code: u32,
    /// Its name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
    pub name: String,
    /// The driver's words for it, and the compiler's where it was at work.
    pub text: String,
}

macro_rules! functions {
    ($($name:ident($($type:ty),* $(,)?);)*) => {
        /// The functions in use, by their names in the driver.
        #[allow(non_snake_case)]
        pub(super) struct Api {
            $(pub(super) $name: unsafe extern "C" fn($($type),*) -> Code,)*
        }

        #[cfg(test)]
        impl Api {
            /// A driver that can do nothing.
            pub(super) const fn incapable() -> Self {
                Self {
                    $($name: {
                        unsafe extern "C" fn stub($(_: $type),*) -> Code {
                            code::NOT_SUPPORTED
                        }
                        stub
                    },)*
                }
            }
        }

        impl Api {
            /// Looks all of them up, or names the first that is missing.
            ///
            /// # Safety
            ///
            /// The driver's library can be loaded (`sys::culib` would not panic).
            unsafe fn look_up() -> Result<Self, &'static str> {
                // SAFETY: the caller's promise.
                let library = unsafe { sys::culib() };
                Ok(Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the type is that of the function of this name in cuda.h; the
                        // library is never unloaded, so the pointer stays good.
                        let found = unsafe {
                            library.get::<unsafe extern "C" fn($($type),*) -> Code>(name)
                        };
                        *found.map_err(|_| stringify!($name))?
                    },)*
                })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuGetErrorName(Code, *mut *const c_char);
    cuGetErrorString(Code, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetAttribute(*mut c_int, c_uint, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxSetCurrent(CUcontext);
    cuCtxSynchronize();
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemPoolCreate(*mut CUmemoryPool, *const CUmemPoolProps);
    cuMemPoolDestroy(CUmemoryPool);
    cuMemPoolSetAttribute(CUmemoryPool, c_uint, *mut c_void);
    cuMemPoolGetAttribute(CUmemoryPool, c_uint, *mut c_void);
    cuMemPoolTrimTo(CUmemoryPool, usize);
    cuMemAllocFromPoolAsync(*mut CUdeviceptr, usize, CUmemoryPool, CUstream);
    cuMemFreeAsync(CUdeviceptr, CUstream);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuStreamQuery(CUstream);
    cuStreamWaitEvent(CUstream, CUevent, c_uint);
    cuStreamBeginCapture_v2(CUstream, c_uint);
    cuStreamEndCapture(CUstream, *mut CUgraph);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventQuery(CUevent);
    cuEventSynchronize(CUevent);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuGraphInstantiateWithFlags(*mut CUgraphExec, CUgraph, c_ulonglong);
    cuGraphUpload(CUgraphExec, CUstream);
    cuGraphLaunch(CUgraphExec, CUstream);
    cuGraphExecDestroy(CUgraphExec);
    cuGraphDestroy(CUgraph);
    cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunction(*mut CUfunction, CUmodule, *const c_char);
    cuFuncSetAttribute(CUfunction, c_uint, c_int);
    cuFuncGetAttribute(*mut c_int, c_uint, CUfunction);
    cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut c_int, CUfunction, c_int, usize);
    cuLaunchKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void, *mut *mut c_void,
    );
    cuLaunchCooperativeKernel(
        CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, CUstream,
        *mut *mut c_void,
    );
}

impl Api {
    /// The driver's words for a code.
    pub(super) fn error(&self, code: Code) -> DriverError {
        let say = |function: unsafe extern "C" fn(Code, *mut *const c_char) -> Code| {
            let mut text = core::ptr::null();
            // SAFETY: the driver writes the address of a constant text, or null for a code that it
            // does not know; the text ends with a zero byte and is never freed.
            unsafe {
                let known = function(code, &raw mut text) == 0 && !text.is_null();
                known.then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
            }
        };
        DriverError {
            code,
            name: say(self.cuGetErrorName).unwrap_or_else(|| "an unknown CUDA error".to_owned()),
            text: say(self.cuGetErrorString).unwrap_or_default(),
        }
    }
}

/// A driver that is ready.
pub(super) struct Driver {
    pub(super) api: Api,
    /// The version of CUDA that it speaks: major, minor.
    pub(super) cuda: (u32, u32),
}

/// The driver, or why there is none, in words. Found out once in the life of a process.
pub(super) fn driver() -> Result<&'static Driver, &'static str> {
    static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
    DRIVER.get_or_init(load).as_ref().map_err(String::as_str)
}

fn load() -> Result<Driver, String> {
    // SAFETY: loading the driver's library runs its own start-up code and nothing of ours.
    if !unsafe { sys::is_culib_present() } {
        let library = if cfg!(windows) {
            "nvcuda.dll"
        } else {
            "libcuda.so.1"
        };
        return Err(format!(
            "there is no NVIDIA driver here: its library {library} cannot be loaded"
        ));
    }
    // Before the table: an old driver lacks some of it, and its age is the better reason.
    let version = version().ok_or("the library of the NVIDIA driver is damaged")?;
    let cuda = check_version(version)?;
    // SAFETY: the library was just found.
    let api = unsafe { Api::look_up() }
        .map_err(|name| format!("the NVIDIA driver lacks the function {name}"))?;
    // SAFETY: any thread may call it, any number of times.
    match unsafe { (api.cuInit)(0) } {
        0 => Ok(Driver { api, cuda }),
        code::NO_DEVICE => Err("there is no NVIDIA GPU here".to_owned()),
        code::STUB_LIBRARY => Err(
            "the stub library of a CUDA toolkit was found in place of the NVIDIA driver".to_owned(),
        ),
        code => Err(format!(
            "the NVIDIA driver does not start: {}",
            api.error(code)
        )),
    }
}

fn version() -> Option<c_int> {
    let mut version = 0;
    // SAFETY: the library was found by the caller; the type is that of cuda.h.
    let code = unsafe {
        let get = sys::culib()
            .get::<unsafe extern "C" fn(*mut c_int) -> Code>(b"cuDriverGetVersion\0")
            .ok()?;
        get(&raw mut version)
    };
    (code == 0).then_some(version)
}

fn check_version(version: c_int) -> Result<(u32, u32), String> {
    let split = |v: c_int| (v.unsigned_abs() / 1000, v.unsigned_abs() % 1000 / 10);
    let (major, minor) = split(version);
    if version < OLDEST {
        let (needed, point) = split(OLDEST);
        return Err(format!(
            "the NVIDIA driver is too old: it speaks CUDA {major}.{minor}, and {needed}.{point} is \
             needed (driver 550 or newer)"
        ));
    }
    Ok((major, minor))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_old_driver_is_told_what_is_needed() {
        assert_eq!(check_version(12_040), Ok((12, 4)));
        assert_eq!(check_version(13_010), Ok((13, 1)));
        let said = check_version(12_020).unwrap_err();
        assert!(said.contains("CUDA 12.2, and 12.4 is needed (driver 550"));
        assert!(check_version(0).is_err() && check_version(-1).is_err());
    }

    #[test]
    fn no_driver_is_a_sentence_and_no_panic() {
        // With a driver the other branch runs: an error has a name.
        match driver() {
            Ok(driver) => assert_eq!(driver.api.error(2).name, "CUDA_ERROR_OUT_OF_MEMORY"),
            Err(reason) => assert!(reason.contains("NVIDIA"), "{reason}"),
        }
    }

    #[test]
    fn an_error_reads_as_a_line() {
        let mut error = DriverError {
            code: 700,
            name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            text: "an illegal memory access".into(),
        };
        let said = error.to_string();
        assert_eq!(
            said,
            "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access"
        );
        error.text.clear();
        assert_eq!(error.to_string(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    }
}

//! Kernels: images, functions and their arguments.
#![allow(unsafe_code)]

use core::ffi::{c_int, c_uint, c_void};
use core::{fmt, ptr};
use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::sys::{CUfunction, CUfunction_attribute as Attribute, CUjit_option, CUmodule};

use super::api::code;
use super::context::{Cuda, Handle};
use crate::Error;

/// A kernel has at most this many arguments.
pub const MAX_ARGS: usize = 24;

/// Bytes of the longest argument.
const MAX_ARG_BYTES: usize = 4096;

/// An argument of a kernel, by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Arg<'a> {
    /// 32 bits: `u32`, `int`.
    U32(u32),
    /// 64 bits: `u64`, `size_t`.
    U64(u64),
    /// A device address, see [`Buffer::as_ptr`](super::Buffer::as_ptr).
    Ptr(u64),
    /// A structure or an array of 32-bit words.
    Words(&'a [u32]),
}

impl Arg<'_> {
    fn bytes(self) -> usize {
        match self {
            Self::U32(_) => 4,
            Self::U64(_) | Self::Ptr(_) => 8,
            Self::Words(words) => size_of_val(words),
        }
    }
}

impl From<u32> for Arg<'_> {
    fn from(value: u32) -> Self {
        Self::U32(value)
    }
}

impl From<u64> for Arg<'_> {
    fn from(value: u64) -> Self {
        Self::U64(value)
    }
}

/// Arguments as the driver takes them: an address for each, none of them on the heap.
pub(super) struct Packed<'a> {
    addresses: [*mut c_void; MAX_ARGS],
    values: [u64; MAX_ARGS],
    args: &'a [Arg<'a>],
}

impl<'a> Packed<'a> {
    /// Checks the arguments against the sizes that the kernel has for its own.
    pub(super) fn new(args: &'a [Arg<'a>], sizes: &[usize]) -> Result<Self, String> {
        if args.len() != sizes.len() || args.len() > MAX_ARGS {
            return Err(format!(
                "{} arguments given, and the kernel has {}",
                args.len(),
                sizes.len()
            ));
        }
        let mut values = [0u64; MAX_ARGS];
        for (i, (arg, &size)) in args.iter().zip(sizes).enumerate() {
            if arg.bytes() != size {
                return Err(format!(
                    "argument {i} has {} bytes, and the kernel's has {size}",
                    arg.bytes()
                ));
            }
            values[i] = match *arg {
                // The first four bytes are the value, whatever the order of bytes.
                Arg::U32(value) => {
                    let mut bytes = [0; 8];
                    bytes[..4].copy_from_slice(&value.to_ne_bytes());
                    u64::from_ne_bytes(bytes)
                }
                Arg::U64(value) | Arg::Ptr(value) => value,
                Arg::Words(_) => 0,
            };
        }
        Ok(Self {
            addresses: [ptr::null_mut(); MAX_ARGS],
            values,
            args,
        })
    }

    /// The addresses, good for as long as `self` is borrowed. The driver only reads through them.
    pub(super) fn addresses(&mut self) -> &mut [*mut c_void; MAX_ARGS] {
        let slots = self.addresses.iter_mut().zip(&self.values);
        for ((address, value), arg) in slots.zip(self.args) {
            *address = match arg {
                Arg::Words(words) => words.as_ptr().cast_mut().cast(),
                _ => ptr::from_ref(value).cast_mut().cast(),
            };
        }
        &mut self.addresses
    }
}

pub(super) struct Loaded {
    cuda: Cuda,
    raw: Handle<CUmodule>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("module") {
            tracing::warn!(%error, "unloading");
        }
        // SAFETY: the module is ours; whoever can launch its functions holds it, and what was
        // launched ends before it goes.
        unsafe {
            inner.log("waiting for kernels", (inner.api.cuCtxSynchronize)());
            inner.log("unloading kernels", (inner.api.cuModuleUnload)(self.raw.0));
        }
    }
}

/// A loaded image.
#[derive(Clone)]
pub struct Module(Arc<Loaded>);

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.0.cuda.name()).finish()
    }
}

impl Module {
    pub(super) fn load(cuda: &Cuda, image: &[u8]) -> Result<Self, Error> {
        let op = "load kernels";
        let inner = &*cuda.0;
        let image = Image::new(image).map_err(|why| inner.unsupported(op, why))?;
        inner.enter(op)?;
        let mut log = vec![0u8; 8 << 10];
        // A size goes in the place of an address, as cuda.h has it.
        let mut values = [
            log.as_mut_ptr().cast(),
            ptr::without_provenance_mut::<c_void>(log.len()),
        ];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER as c_uint,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES as c_uint,
        ];
        let mut raw = ptr::null_mut();
        // SAFETY: a binary image was checked to be whole and text ends with a zero byte; the two
        // options are the log and its size; the module is written on success.
        let code = unsafe {
            (inner.api.cuModuleLoadDataEx)(
                &raw mut raw,
                image.address(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let info = cuda.info();
        match code {
            0 => {}
            code::NO_BINARY_FOR_GPU | code::INVALID_IMAGE => {
                let why = format!("the image holds no kernels for {}", info.architecture());
                return Err(inner.unsupported(op, why));
            }
            code::UNSUPPORTED_PTX_VERSION => {
                let (major, minor) = info.cuda;
                let why = format!(
                    "the kernels are newer than the driver, which speaks CUDA {major}.{minor}"
                );
                return Err(inner.unsupported(op, why));
            }
            code => {
                let mut error = inner.api.error(code);
                let said = log.split(|&b| b == 0).next().unwrap_or_default();
                if !said.is_empty() {
                    error.text.push_str("; the compiler: ");
                    error.text.push_str(String::from_utf8_lossy(said).trim());
                }
                return Err(inner.failed(op, error));
            }
        }
        Ok(Self(Arc::new(Loaded {
            cuda: cuda.clone(),
            raw: Handle(raw),
        })))
    }

    /// The kernel `name`. Its errors carry that name as their operation.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if there is none, [`Error::Unsupported`] if it takes more than
    /// [`MAX_ARGS`] arguments, or one longer than 128 bytes.
    pub fn function(&self, name: &'static str) -> Result<Function, Error> {
        let inner = &*self.0.cuda.0;
        let text = CString::new(name).map_err(|error| inner.failed("find a kernel", error))?;
        inner.enter(name)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the module is loaded; the name ends with a zero byte.
        let code =
            unsafe { (inner.api.cuModuleGetFunction)(&raw mut raw, self.0.raw.0, text.as_ptr()) };
        inner.check(name, code)?;
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: two figures are written; past the last argument the call says so.
            let code = unsafe {
                (inner.api.cuFuncGetParamInfo)(raw, sizes.len(), &raw mut offset, &raw mut size)
            };
            if code != 0 {
                break;
            }
            if sizes.len() == MAX_ARGS || size > MAX_ARG_BYTES {
                return Err(inner.unsupported(
                    name,
                    format!("it takes more than {MAX_ARGS} arguments, or one of {size} bytes"),
                ));
            }
            sizes.push(size);
        }
        Ok(Function {
            module: Arc::clone(&self.0),
            raw: Handle(raw),
            name,
            sizes: sizes.into(),
        })
    }
}

/// A kernel.
#[derive(Clone)]
pub struct Function {
    pub(super) module: Arc<Loaded>,
    pub(super) raw: Handle<CUfunction>,
    pub(super) name: &'static str,
    /// Bytes of each argument.
    pub(super) sizes: Arc<[usize]>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.name)
            .field("arguments", &self.sizes)
            .finish_non_exhaustive()
    }
}

impl Function {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The GPU that it is loaded on.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.module.cuda
    }

    /// Lets launches ask for up to `bytes` of dynamic shared memory (48 KiB unless set).
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if the GPU has less, see
    /// [`CudaInfo::max_shared_bytes`](super::CudaInfo::max_shared_bytes).
    pub fn set_max_dynamic_shared(&self, bytes: u32) -> Result<(), Error> {
        let inner = &*self.module.cuda.0;
        inner.enter(self.name)?;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_uint;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function lives with its module.
        let code = unsafe { (inner.api.cuFuncSetAttribute)(self.raw.0, attribute, value) };
        inner.check(self.name, code)
    }

    /// How many blocks of `block` threads with `shared` bytes of dynamic shared memory one
    /// multiprocessor runs at once: times [`CudaInfo::multiprocessors`](super::CudaInfo), the most
    /// that a cooperative launch may have.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn max_active_blocks(&self, block: u32, shared: u32) -> Result<u32, Error> {
        let inner = &*self.module.cuda.0;
        inner.enter(self.name)?;
        let threads = c_int::try_from(block).unwrap_or(c_int::MAX);
        let mut blocks = 0;
        // SAFETY: the function lives with its module; a figure is written.
        let code = unsafe {
            (inner.api.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &raw mut blocks,
                self.raw.0,
                threads,
                shared as usize,
            )
        };
        inner.check(self.name, code)?;
        Ok(blocks.unsigned_abs())
    }

    /// Registers of one thread.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn registers(&self) -> Result<u32, Error> {
        let inner = &*self.module.cuda.0;
        inner.enter(self.name)?;
        let attribute = Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS as c_uint;
        let mut value = 0;
        // SAFETY: the function lives with its module; a figure is written.
        let code = unsafe { (inner.api.cuFuncGetAttribute)(&raw mut value, attribute, self.raw.0) };
        inner.check(self.name, code)?;
        Ok(value.unsigned_abs())
    }
}

/// An image that the driver reads no further than its end.
#[derive(Debug)]
enum Image<'a> {
    Binary(&'a [u8]),
    Text(CString),
}

impl<'a> Image<'a> {
    fn new(image: &'a [u8]) -> Result<Self, String> {
        let cut = |what: &str| Err(format!("the {what} is cut short: {} bytes", image.len()));
        let number = |at: usize, bytes: usize| {
            let field = image.get(at..at + bytes)?;
            Some(field.iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b)))
        };
        if image.starts_with(b"\x7fELF") {
            // The tables of segments and sections: where they begin, entry size and count.
            let table = |at, entry, count| {
                let bytes = number(entry, 2)?.checked_mul(number(count, 2)?)?;
                number(at, 8)?.checked_add(bytes)
            };
            match (table(0x20, 0x36, 0x38), table(0x28, 0x3a, 0x3c)) {
                (Some(a), Some(b)) if a.max(b) <= image.len() as u64 => Ok(Self::Binary(image)),
                _ => cut("cubin"),
            }
        } else if image.starts_with(&0xba55_ed50u32.to_le_bytes()) {
            // A header's size in 16 bits at 6, and of what follows it in 64 at 8.
            let whole = number(6, 2)
                .zip(number(8, 8))
                .and_then(|(a, b)| a.checked_add(b));
            match whole {
                Some(whole) if whole <= image.len() as u64 => Ok(Self::Binary(image)),
                _ => cut("fatbin"),
            }
        } else {
            let text = image.strip_suffix(b"\0").unwrap_or(image);
            if text.is_empty() {
                return Err("the image is empty".to_owned());
            }
            CString::new(text)
                .map(Self::Text)
                .map_err(|_| "the image is no cubin, no fatbin and no text".to_owned())
        }
    }

    fn address(&self) -> *const c_void {
        match self {
            Self::Binary(bytes) => bytes.as_ptr().cast(),
            Self::Text(text) => text.as_ptr().cast(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lie_where_the_driver_reads_them() {
        let words = [7u32, 8, 9];
        let args = [
            Arg::U32(0xdead_beef),
            Arg::Ptr(1 << 40),
            Arg::Words(&words),
            3u64.into(),
        ];
        let mut packed = Packed::new(&args, &[4, 8, 12, 8]).unwrap();
        let addresses = *packed.addresses();
        // SAFETY: each address is that of a value of this size, and `packed` is alive.
        unsafe {
            assert_eq!(*addresses[0].cast::<u32>(), 0xdead_beef);
            assert_eq!(*addresses[1].cast::<u64>(), 1 << 40);
            assert_eq!(*addresses[2].cast::<[u32; 3]>(), words);
            assert_eq!(*addresses[3].cast::<u64>(), 3);
        }
        assert!(addresses[4..].iter().all(|a| a.is_null()));
    }

    #[test]
    fn arguments_that_the_kernel_does_not_have_are_refused() {
        let said = |args: &[Arg<'_>], sizes: &[usize]| Packed::new(args, sizes).err();
        let two = [Arg::U32(1), Arg::U64(2)];
        assert_eq!(said(&two, &[4, 8]), None);
        assert_eq!(said(&[], &[]), None);
        let words = said(&two, &[4]).unwrap();
        assert_eq!(words, "2 arguments given, and the kernel has 1");
        let words = said(&two, &[4, 4]).unwrap();
        assert_eq!(words, "argument 1 has 8 bytes, and the kernel's has 4");
        let many = [Arg::U32(0); MAX_ARGS + 1];
        assert!(said(&many, &[4; MAX_ARGS + 1]).is_some());
        assert!(said(&many[1..], &[4; MAX_ARGS]).is_none());
    }

    #[test]
    fn an_image_is_read_no_further_than_its_end() {
        let mut elf = vec![0u8; 128];
        elf[..4].copy_from_slice(b"\x7fELF");
        elf[0x20] = 64; // segments at 64, one of 56 bytes
        elf[0x36] = 56;
        elf[0x38] = 1;
        elf[0x28] = 64; // sections at 64, one of 64 bytes
        elf[0x3a] = 64;
        elf[0x3c] = 1;
        assert!(matches!(Image::new(&elf), Ok(Image::Binary(b)) if b.len() == 128));
        for cut in [4, 63, 64, 127] {
            assert!(Image::new(&elf[..cut]).unwrap_err().contains("cut short"));
        }
        elf[0x28..0x30].fill(0xff);
        assert!(Image::new(&elf).is_err());
        let mut fat = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0];
        assert!(Image::new(&fat).is_err());
        fat.resize(24, 0);
        assert!(matches!(Image::new(&fat), Ok(Image::Binary(_))));
        for text in [&b".version 8.4"[..], b".version 8.4\0"] {
            let Ok(Image::Text(text)) = Image::new(text) else {
                panic!("not taken for text");
            };
            assert_eq!(text.as_bytes_with_nul(), b".version 8.4\0");
        }
        assert!(Image::new(b".ver\0sion").is_err());
        assert!(Image::new(b"").is_err() && Image::new(b"\0").is_err());
    }
}

//! Launches of kernels.
#![allow(unsafe_code)]

use core::ptr;

use super::fault::FaultKind;
use super::module::{Arg, Function, Packed};
use super::stream::Stream;
use crate::Error;

impl Stream {
    /// Launches a kernel: `grid` blocks of `block` threads, each block with `shared` bytes of
    /// dynamic shared memory. The errors of the kernel itself come with the next wait.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a kernel of another GPU; [`Error::KernelFailed`], named after the
    /// kernel: arguments that are not those it has, or the driver's words.
    pub fn launch(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        self.start(function, grid, block, shared, args, false)
    }

    /// [`Self::launch`] with all blocks running at once, so that they may wait for one another. At
    /// most [`Function::max_active_blocks`] times the number of multiprocessors.
    ///
    /// # Errors
    ///
    /// Those of [`Self::launch`]; too many blocks are one.
    pub fn launch_cooperative(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        self.start(function, grid, block, shared, args, true)
    }

    fn start(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
        cooperative: bool,
    ) -> Result<(), Error> {
        let op = function.name;
        let inner = &*self.cuda().0;
        let mut packed = Packed::new(args, &function.sizes).map_err(|why| inner.failed(op, why))?;
        self.of_this_gpu(op, function.cuda())?;
        inner.begin(op, FaultKind::Launch)?;
        if self.inner.is_recording() {
            self.inner.record(&function.module);
        }
        let timed = self.timed()?;
        let ((gx, gy, gz), (bx, by, bz)) = (grid, block);
        let (raw, stream) = (function.raw.0, self.raw());
        let addresses = packed.addresses().as_mut_ptr();
        // SAFETY: function and stream are alive; each argument has the size that the kernel has for
        // it, and the driver copies them before it returns.
        let code = unsafe {
            if cooperative {
                (inner.api.cuLaunchCooperativeKernel)(
                    raw, gx, gy, gz, bx, by, bz, shared, stream, addresses,
                )
            } else {
                let extra = ptr::null_mut();
                (inner.api.cuLaunchKernel)(
                    raw, gx, gy, gz, bx, by, bz, shared, stream, addresses, extra,
                )
            }
        };
        inner.check(op, code)?;
        timed.map_or(Ok(()), |begin| self.note(op, begin))
    }
}

//! The rounds of a sumcheck over tables on the device.
#![forbid(unsafe_code)]

use std::sync::Arc;

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Mailbox, Stream};
use p3_sumcheck::strategy::VariableOrder;

use super::kernels::{ByDegree, Rounds, SUM_THREADS};
use super::weights::Planes;
use super::words::{argument, extension, extension_words};
use super::workspace::{Workspace, ask};
use crate::field::Extension;

const THREADS: usize = SUM_THREADS as usize;
const BLOCK: (u32, u32, u32) = (SUM_THREADS, 1, 1);

/// The folded polynomial and the weights: 2 D planes one after another.
#[derive(Debug)]
pub(super) struct Tables {
    planes: Arc<Buffer<u32>>,
    /// log2 of the values of a plane.
    pub(super) bits: usize,
}

impl Tables {
    /// The folded polynomial with room for its weights:
    /// `f(hi) = sum_lo weights[lo] polynomial(hi, lo)`.
    pub(super) fn fold_base<EF: Extension>(
        stream: &Stream,
        kernels: &ByDegree,
        (polynomial, n): (&Buffer<u32>, usize),
        order: VariableOrder,
        fold: usize,
        weights: &[EF],
    ) -> Result<Self, Error> {
        let bits = n - fold;
        let planes = stream.alloc::<u32>((2 * EF::D) << bits)?;
        let weights_at = stream.upload(&extension_words(weights))?;
        let (lo_stride, hi_stride) = match order {
            VariableOrder::Suffix => (1, 1 << fold),
            VariableOrder::Prefix => (1 << bits, 1),
        };
        let args = [
            Arg::Ptr(polynomial.as_ptr()),
            Arg::Ptr(weights_at.as_ptr()),
            Arg::U32(weights.len() as u32),
            Arg::U64(lo_stride),
            Arg::U64(hi_stride),
            Arg::U64(1 << bits),
            Arg::Ptr(planes.as_ptr()),
        ];
        let shared = (weights.len() * EF::D * 4) as u32;
        let grid = ((1_usize << bits).div_ceil(THREADS) as u32, 1, 1);
        stream.launch(&kernels.fold_base, grid, BLOCK, shared, &args)?;
        Ok(Self {
            planes: Arc::new(planes),
            bits,
        })
    }

    /// The planes, of the polynomial first.
    pub(super) fn planes(&self) -> &Buffer<u32> {
        &self.planes
    }

    /// Another hold of the same values.
    pub(super) fn share(&self) -> Self {
        Self {
            planes: Arc::clone(&self.planes),
            bits: self.bits,
        }
    }

    /// Sets the weights to zero.
    pub(super) fn clear_weights(&mut self, stream: &Stream, degree: usize) -> Result<(), Error> {
        let (start, end) = (degree << self.bits, (2 * degree) << self.bits);
        match Arc::get_mut(&mut self.planes) {
            Some(planes) => stream.clear(planes, start..end),
            None => Err(Error::Mismatch {
                op: "weights",
                index: 0,
            }),
        }
    }

    /// The planes of the weights.
    pub(super) fn weights(&self, degree: usize) -> Planes {
        Planes {
            at: self.planes.ptr_at(degree << self.bits),
            bits: self.bits,
        }
    }

    /// The folded polynomial's values.
    pub(super) fn values<EF: Extension>(&self, stream: &Stream) -> Result<Vec<EF>, Error> {
        let len = 1 << self.bits;
        let words = stream.download(&self.planes, 0..EF::D * len)?;
        Ok((0..len)
            .map(|i| {
                let c: Vec<u32> = (0..EF::D).map(|d| words[d * len + i]).collect();
                extension(&c)
            })
            .collect())
    }

    /// Starts to make `[h(0), h(inf)]` of the next variable, for [`read_message`] of the mailbox.
    pub(super) fn message(
        &self,
        stream: &Stream,
        rounds: &Rounds,
        workspace: &Workspace,
        letter: &mut Mailbox,
    ) -> Result<(), Error> {
        let mail = ask(letter);
        let args = [
            Arg::Ptr(self.planes.as_ptr()),
            Arg::U64(1 << self.bits),
            Arg::Ptr(workspace.partial.as_ptr()),
            Arg::Ptr(workspace.arrived.as_ptr()),
            Arg::Words(&mail),
        ];
        let blocks = (1_usize << (self.bits - 1))
            .div_ceil(THREADS)
            .min(rounds.fill[0]);
        stream.launch(&rounds.message, (blocks as u32, 1, 1), BLOCK, 0, &args)
    }

    /// Binds the next variable to `r`.
    pub(super) fn fold<EF: Extension>(
        &mut self,
        stream: &Stream,
        rounds: &Rounds,
        r: EF,
    ) -> Result<(), Error> {
        let to = self.half::<EF>(stream)?;
        let r = argument(r);
        let args = [
            Arg::Ptr(self.planes.as_ptr()),
            Arg::U64(1 << self.bits),
            Arg::Words(&r),
            Arg::Ptr(to.as_ptr()),
        ];
        let grid = ((1_usize << (self.bits - 1)).div_ceil(THREADS) as u32, 1, 1);
        stream.launch(&rounds.fold, grid, BLOCK, 0, &args)?;
        self.planes = Arc::new(to);
        self.bits -= 1;
        Ok(())
    }

    /// [`Self::fold`] and the message of the variable after it, in one pass over the data; for
    /// tables of at least four values.
    pub(super) fn fold_message<EF: Extension>(
        &mut self,
        stream: &Stream,
        rounds: &Rounds,
        workspace: &mut Workspace,
        r: EF,
    ) -> Result<[EF; 2], Error> {
        let to = self.half::<EF>(stream)?;
        let (r, mail) = (argument(r), workspace.ask());
        let args = [
            Arg::Ptr(self.planes.as_ptr()),
            Arg::U64(1 << self.bits),
            Arg::Words(&r),
            Arg::Ptr(to.as_ptr()),
            Arg::Ptr(workspace.partial.as_ptr()),
            Arg::Ptr(workspace.arrived.as_ptr()),
            Arg::Words(&mail),
        ];
        let blocks = (1_usize << (self.bits - 2))
            .div_ceil(THREADS)
            .min(rounds.fill[1]);
        stream.launch(&rounds.fold_message, (blocks as u32, 1, 1), BLOCK, 0, &args)?;
        self.planes = Arc::new(to);
        self.bits -= 1;
        read_message(&workspace.mail)
    }

    fn half<EF: Extension>(&self, stream: &Stream) -> Result<Buffer<u32>, Error> {
        stream.alloc::<u32>((2 * EF::D) << (self.bits - 1))
    }
}

/// A message that a kernel leaves in a mailbox.
pub(super) fn read_message<EF: Extension>(mail: &Mailbox) -> Result<[EF; 2], Error> {
    let words = mail.wait(2 * EF::D)?;
    Ok([extension(&words[..EF::D]), extension(&words[EF::D..])])
}

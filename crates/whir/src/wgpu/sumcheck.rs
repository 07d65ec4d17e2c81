//! The rounds of a sumcheck over tables on the device.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Batch, Buffer, ReadId, Reads, Wgpu};
use p3_sumcheck::strategy::VariableOrder;

use super::kernels::Kernels;
use super::texts::Module;
use super::words::{argument, extension, extension_words};
use crate::field::Extension;

/// Invocations of a workgroup, as the kernels have it.
const THREADS: usize = 256;
/// Workgroups that fill the largest chips.
pub(super) const FILL: usize = 512;
/// Most pairs of an invocation: what keeps a workgroup's work short.
const EACH: usize = 32;

/// The folded polynomial and the weights: D planes each.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) f: Buffer,
    pub(super) w: Buffer,
    /// log2 of the values of a plane.
    pub(super) bits: usize,
}

/// A message that a batch makes.
#[derive(Debug)]
pub(super) struct AskedMessage<EF> {
    read: ReadId,
    field: PhantomData<EF>,
}

impl<EF: Extension> AskedMessage<EF> {
    /// `[h(0), h(inf)]`.
    pub(super) fn finish(&self, reads: &Reads) -> Result<[EF; 2], Error> {
        let words = reads.get::<u32>(self.read)?;
        let mut sums = [EF::ZERO; 2];
        for part in words.chunks_exact(2 * EF::D) {
            sums[0] += extension::<EF>(&part[..EF::D]);
            sums[1] += extension::<EF>(&part[EF::D..]);
        }
        Ok(sums)
    }
}

/// Values that a batch reads.
#[derive(Debug)]
pub(super) struct AskedValues<EF> {
    read: ReadId,
    field: PhantomData<EF>,
}

impl<EF: Extension> AskedValues<EF> {
    pub(super) fn finish(&self, reads: &Reads) -> Result<Vec<EF>, Error> {
        let words = reads.get::<u32>(self.read)?;
        let len = words.len() / EF::D;
        let value = |i: usize| {
            let coefficients: Vec<u32> = words.iter().copied().skip(i).step_by(len).collect();
            extension(&coefficients)
        };
        Ok((0..len).map(value).collect())
    }
}

/// How `count` pieces of work are shared out: those of an invocation, and the workgroups.
const fn share(count: usize) -> (usize, usize) {
    let each = count.div_ceil(THREADS * FILL);
    let each = if each > EACH { EACH } else { each };
    (each, count.div_ceil(THREADS * each))
}

impl Tables {
    /// Bytes of the planes of one of the two tables.
    const fn bytes<EF: Extension>(bits: usize) -> u64 {
        4 * (EF::D << bits) as u64
    }

    /// The folded polynomial, of weights that are zero:
    /// `f(hi) = sum_lo factors[lo] polynomial(hi, lo)`.
    pub(super) fn fold_base<EF: Extension>(
        gpu: &Wgpu,
        batch: &mut Batch<'_>,
        kernels: &Kernels,
        (polynomial, n): (&Buffer, usize),
        order: VariableOrder,
        factors: &[EF],
    ) -> Result<Self, Error> {
        const OP: &str = "whir fold";
        let fold = factors.len().ilog2() as usize;
        let bits = n - fold;
        let f = gpu.scratch(OP, Self::bytes::<EF>(bits))?;
        let w = gpu.buffer(OP, Self::bytes::<EF>(bits))?;
        let factors_at = input(gpu, OP, &extension_words(factors))?;
        let len = 1_u32 << bits;
        let (hi_step, lo_step) = match order {
            VariableOrder::Suffix => (1 << fold, 1),
            VariableOrder::Prefix => (1, len),
        };
        batch.dispatch(
            &kernels.get(gpu, Module::Sumcheck(EF::D), "fold_base")?,
            &[polynomial.all(), factors_at.all(), f.all()],
            &[len, 1 << fold, hi_step, lo_step],
            (1_u64 << bits).div_ceil(THREADS as u64),
        )?;
        Ok(Self { f, w, bits })
    }

    /// The folded polynomial's values.
    pub(super) fn values<EF: Extension>(
        &self,
        batch: &mut Batch<'_>,
    ) -> Result<AskedValues<EF>, Error> {
        Ok(AskedValues {
            read: batch.read(&self.f, 0..Self::bytes::<EF>(self.bits))?,
            field: PhantomData,
        })
    }

    /// `[h(0), h(inf)]` of the next variable.
    pub(super) fn message<EF: Extension>(
        &self,
        gpu: &Wgpu,
        batch: &mut Batch<'_>,
        kernels: &Kernels,
        order: VariableOrder,
    ) -> Result<AskedMessage<EF>, Error> {
        let pairs = 1_usize << (self.bits - 1);
        let (each, groups) = share(pairs);
        let (step, other) = match order {
            VariableOrder::Suffix => (2, 1),
            VariableOrder::Prefix => (1, pairs as u32),
        };
        let partial = gpu.scratch("whir message", (8 * EF::D * groups) as u64)?;
        batch.dispatch(
            &kernels.get(gpu, Module::Sumcheck(EF::D), "message")?,
            &[self.f.all(), self.w.all(), partial.all()],
            &[pairs as u32, each as u32, step, other],
            groups as u64,
        )?;
        asked(batch, &partial)
    }

    /// Binds the next variable to `r`.
    pub(super) fn fold<EF: Extension>(
        &mut self,
        gpu: &Wgpu,
        batch: &mut Batch<'_>,
        kernels: &Kernels,
        order: VariableOrder,
        r: EF,
    ) -> Result<(), Error> {
        let pairs = 1_u32 << (self.bits - 1);
        let (step, other) = match order {
            VariableOrder::Suffix => (2, 1),
            VariableOrder::Prefix => (1, pairs),
        };
        let half = self.half::<EF>(gpu)?;
        batch.dispatch(
            &kernels.get(gpu, Module::Sumcheck(EF::D), "fold")?,
            &[self.f.all(), self.w.all(), half.f.all(), half.w.all()],
            &with(&[pairs, 0, step, other, 0, 0, 0], r),
            u64::from(pairs).div_ceil(THREADS as u64),
        )?;
        *self = half;
        Ok(())
    }

    /// [`Self::fold`] and the message of the variable after it, in one pass over the data; for
    /// tables of at least four values.
    pub(super) fn fold_message<EF: Extension>(
        &mut self,
        gpu: &Wgpu,
        batch: &mut Batch<'_>,
        kernels: &Kernels,
        order: VariableOrder,
        r: EF,
    ) -> Result<AskedMessage<EF>, Error> {
        let quads = 1_usize << (self.bits - 2);
        let (each, groups) = share(quads);
        let (quads, each) = (quads as u32, each as u32);
        let places = match order {
            VariableOrder::Suffix => [quads, each, 4, 1, 2, 2, 1],
            VariableOrder::Prefix => [quads, each, 1, 2 * quads, quads, 1, quads],
        };
        let half = self.half::<EF>(gpu)?;
        let partial = gpu.scratch("whir message", (8 * EF::D * groups) as u64)?;
        batch.dispatch(
            &kernels.get(gpu, Module::Sumcheck(EF::D), "fold_message")?,
            &[
                self.f.all(),
                self.w.all(),
                half.f.all(),
                half.w.all(),
                partial.all(),
            ],
            &with(&places, r),
            groups as u64,
        )?;
        *self = half;
        asked(batch, &partial)
    }

    /// Room for what the next fold leaves.
    fn half<EF: Extension>(&self, gpu: &Wgpu) -> Result<Self, Error> {
        const OP: &str = "whir fold";
        let bits = self.bits - 1;
        Ok(Self {
            f: gpu.scratch(OP, Self::bytes::<EF>(bits))?,
            w: gpu.scratch(OP, Self::bytes::<EF>(bits))?,
            bits,
        })
    }
}

/// The parameters of a fold: the challenge comes last.
fn with<EF: Extension>(places: &[u32; 7], r: EF) -> [u32; 12] {
    let mut params = [0; 12];
    params[..7].copy_from_slice(places);
    params[7..].copy_from_slice(&argument(r));
    params
}

/// Small input of a kernel, in memory that was used before.
pub(super) fn input(gpu: &Wgpu, op: &'static str, words: &[u32]) -> Result<Buffer, Error> {
    let buffer = gpu.scratch(op, size_of_val(words) as u64)?;
    buffer.write(op, 0, words)?;
    Ok(buffer)
}

fn asked<EF>(batch: &mut Batch<'_>, partial: &Buffer) -> Result<AskedMessage<EF>, Error> {
    Ok(AskedMessage {
        read: batch.read(partial, 0..partial.bytes())?,
        field: PhantomData,
    })
}

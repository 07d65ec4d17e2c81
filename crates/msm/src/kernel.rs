//! What a variant brings: additions of affine points in bulk. Everything else is generic.
#![forbid(unsafe_code)]

#[cfg(test)]
pub(crate) mod conformance;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::{
    cpu::pages,
    curve::{Affine, Curve},
};

/// Set in an index of a [`Pair`]: the operand is negated.
pub(crate) const NEGATE: u32 = 1 << 31;

/// One addition: `out[out] = ±left[a] ± right[b]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Index into the left operands, with [`NEGATE`] for a minus.
    pub(crate) a: u32,
    /// Index into the right operands, with [`NEGATE`] for a minus.
    pub(crate) b: u32,
    /// Where the sum goes.
    pub(crate) out: u32,
}

/// What is known of the operands of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operands {
    /// Scattered over a large table, with signs: fetching ahead pays.
    Scattered,
    /// Close together, without signs.
    Near,
}

/// Affine addition in bulk, the one operation that a variant implements.
///
/// A value is a token: it exists only where the processor runs the variant.
pub(crate) trait Kernel<C: Curve<N>, const N: usize>: Copy + Send + Sync + 'static {
    /// An affine point in the kernel's own form. The kernel writes infinity as [`Self::INFINITY`]
    /// and as nothing else.
    type Point: Copy + Send + Sync + 'static;
    /// The point at infinity.
    const INFINITY: Self::Point;
    /// What a call needs besides its arguments, kept from call to call.
    type Scratch: Send;
    /// Sorted entries that are summed up together, small enough that their points stay in cache.
    const CHUNK: usize;
    /// Below this many additions the inversion is too large a part of them: they wait for company.
    const FEW: usize;

    /// Scratch for calls of at most `pairs` additions.
    fn scratch(self, pairs: usize) -> Self::Scratch;

    /// Takes points into the kernel's form. The slices have equal lengths.
    fn load(self, from: &[Affine<C, N>], to: &mut [Self::Point]);

    /// All of `points` in the kernel's form.
    fn table(self, points: &[Affine<C, N>]) -> Cow<'_, [Self::Point]> {
        const BLOCK: usize = 4096;
        let mut table = pages::filled(points.len(), Self::INFINITY);
        table
            .par_chunks_mut(BLOCK)
            .zip(points.par_chunks(BLOCK))
            .for_each(|(to, from)| self.load(from, to));
        Cow::Owned(table)
    }

    /// Takes points out of the kernel's form, canonical. The slices have equal lengths.
    fn store(self, from: &[Self::Point], to: &mut [Affine<C, N>]);

    /// The inverse element.
    fn negate(self, point: &Self::Point) -> Self::Point;

    /// Adds every pair, exactly in every case: infinity, equal and opposite operands.
    ///
    /// # Panics
    ///
    /// If an index is out of its slice, or there are more pairs than the scratch was made for.
    fn add(
        self,
        left: &[Self::Point],
        right: &[Self::Point],
        pairs: &[Pair],
        out: &mut [Self::Point],
        scratch: &mut Self::Scratch,
        operands: Operands,
    );
}

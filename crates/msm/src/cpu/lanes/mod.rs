//! Eight points at a time: batch-affine addition over vectors of eight 64-bit words.
//!
//! The algorithm is written once, over the trait [`Lanes`]; an instruction set brings the
//! operations ([`super::x86_64::avx512`]). Everything generic is `#[inline(always)]` and free of
//! closures, so that it is compiled inside the one `#[target_feature]` function that a call enters,
//! and nothing here knows of threads.
//!
//! The layers: [`field`] is Montgomery arithmetic on 52-bit limbs with its bounds, [`record`] a
//! point as it lies in memory, [`special`] the additions without a chord, [`add`] the pass over
//! pairs with its shared inversion.
#![forbid(unsafe_code)]

pub(crate) mod add;
pub(crate) mod convert;
#[cfg(test)]
pub(crate) mod emulated;
pub(crate) mod field;
pub(crate) mod kernel;
pub(crate) mod record;
mod special;
#[cfg(test)]
pub(crate) mod tests;

/// A computation to be compiled once per instruction set.
pub(crate) trait Task {
    /// What it returns.
    type Output;
    /// The body. Implementations are `#[inline(always)]`.
    fn run<A: Lanes>(self, lanes: A) -> Self::Output;
}

/// Lanes of a vector.
pub(crate) const LANES: usize = 8;

/// Vectors of eight unsigned 64-bit words.
///
/// A value is a token: it exists only where the processor has the instructions. Sums and
/// differences wrap. A mask has bit `i` for lane `i`.
pub(crate) trait Lanes: Copy + Send + Sync + 'static {
    /// A vector.
    type V: Copy;

    /// `None` if this processor lacks the instructions.
    fn detect() -> Option<Self>;
    /// Runs `task` inside a function that is compiled for the instructions.
    fn enter<T: Task>(self, task: T) -> T::Output;

    /// All lanes `x`.
    fn splat(self, x: u64) -> Self::V;
    /// The first eight words of `from`; panics if there are fewer.
    fn load(self, from: &[u64]) -> Self::V;
    /// Into the first eight words of `to`; panics if there are fewer.
    fn store(self, v: Self::V, to: &mut [u64]);
    /// Lanes 0 to 3, or 4 to 7 if `HIGH`, into the first four words of `to`; panics if there are
    /// fewer.
    fn store_half<const HIGH: bool>(self, v: Self::V, to: &mut [u64]);

    /// `a + b`.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b`.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a - b` in the lanes of `minus`, `a + b` in the others.
    fn add_signed(self, minus: u8, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a << bits`.
    fn shl(self, a: Self::V, bits: usize) -> Self::V;
    /// `a >> bits`.
    fn shr(self, a: Self::V, bits: usize) -> Self::V;
    /// The low words of `(high 2^64 + low) >> bits`, for `bits` in `1..64`.
    fn shr_wide(self, low: Self::V, high: Self::V, bits: usize) -> Self::V;
    /// `yes` in the lanes of `mask`, `no` in the others.
    fn select(self, mask: u8, yes: Self::V, no: Self::V) -> Self::V;
    /// Lanes with `a == b`.
    fn equal(self, a: Self::V, b: Self::V) -> u8;
    /// Lanes with `a <= b`.
    fn at_most(self, a: Self::V, b: Self::V) -> u8;

    /// `sum` plus the low 52 bits of the product of the low 52 bits of `a` and `b`.
    fn madd_low(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `sum` plus the high 52 bits of the product of the low 52 bits of `a` and `b`.
    fn madd_high(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;

    /// Rows become columns.
    fn transpose(self, rows: [Self::V; 8]) -> [Self::V; 8];
    /// Four columns become eight rows of four words, two in a vector: rows 0 and 2, 4 and 6, 1 and
    /// 3, 5 and 7.
    fn four_columns_to_rows(self, columns: [Self::V; 4]) -> [Self::V; 4];

    /// Asks for the cache lines of `words`, of which there are at most 16, into the first level if
    /// `SOON`, else into the second. A hint.
    fn prefetch<const SOON: bool>(self, words: &[u64]);
}

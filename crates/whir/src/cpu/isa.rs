//! One algorithm text, several instruction sets.
//!
//! A kernel is a value that implements [`Kernel`]: its `run` is generic over an [`Isa`] token and
//! `#[inline(always)]`. [`Variant::run`] enters the one `#[target_feature]` function of the chosen
//! variant and the kernel is compiled inside it. A kernel works on slices and never calls rayon:
//! the parallel loop lies outside and each task enters through [`Variant::run`] (a rayon closure
//! inside an inlined kernel was measured 27 times slower, silently).
//!
//! A token can only be obtained from `detect`, so holding one proves that the processor has the
//! instructions; that is why the methods are safe to call.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;
use p3_field::PrimeField32;

use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::{avx2::Avx2, avx512::Avx512};
use crate::field::F;

/// A computation to be compiled once per instruction set.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// The body. Implementations are `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// Vectors of `LANES` BabyBear elements in Montgomery form.
///
/// Unless a method says otherwise, a `V` holds canonical Montgomery residues in `[0, p)`, and so
/// do results: equal inputs give equal bits on every variant.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// Elements per vector, a power of two.
    const LANES: usize;
    /// A vector of field elements.
    type V: Copy;
    /// Unreduced sums of at most four products, see [`Isa::wide_mul_add`].
    type Wide: Copy;

    /// Runs `kernel` inside this variant's `#[target_feature]` function.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;

    /// All lanes equal to `x`.
    fn splat(self, x: F) -> Self::V;
    /// The first `LANES` elements of `src`; panics if it is shorter.
    fn load(self, src: &[F]) -> Self::V;
    /// Writes the first `LANES` elements of `dst`; panics if it is shorter.
    fn store(self, v: Self::V, dst: &mut [F]);

    /// Lane-wise sum.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lane-wise difference.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lane-wise Montgomery product.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;

    /// An empty accumulator.
    fn wide_zero(self) -> Self::Wide;
    /// `acc + a * b`, unreduced. At most four products may be added between two reductions.
    fn wide_mul_add(self, acc: Self::Wide, a: Self::V, b: Self::V) -> Self::Wide;
    /// The Montgomery reduction of an accumulator of at most four products.
    fn wide_reduce(self, acc: Self::Wide) -> Self::V;

    /// Splits the concatenation `a || b` into its even-indexed and odd-indexed elements, in order.
    fn unzip(self, a: Self::V, b: Self::V) -> (Self::V, Self::V);
    /// The inverse of [`Isa::unzip`].
    fn zip(self, even: Self::V, odd: Self::V) -> (Self::V, Self::V);
    /// `N` vectors that hold `LANES` rows of `N` elements, one row after another, become `N`
    /// columns; `N` is a power of two.
    #[inline(always)]
    fn rows_to_columns<const N: usize>(self, v: &mut [Self::V; N]) {
        unzip_rows(self, v);
    }
    /// The inverse of [`Isa::rows_to_columns`].
    #[inline(always)]
    fn columns_to_rows<const N: usize>(self, v: &mut [Self::V; N]) {
        zip_columns(self, v);
    }
    /// Sum of all lanes.
    fn sum(self, v: Self::V) -> F;

    // Poseidon2.

    /// `a + c` in `[-p, p)`: an input for [`Isa::pow7`] only.
    fn add_constant(self, a: Self::V, c: NegativeForm) -> Self::V;
    /// Seventh powers of representatives in `[-p, p)`; the chains of the `N` vectors are
    /// interleaved.
    fn pow7<const N: usize>(self, x: [Self::V; N]) -> [Self::V; N];
    /// [`Isa::pow7`] with the lanes in another order; a second application restores it.
    #[inline(always)]
    fn pow7_swapped<const N: usize>(self, x: [Self::V; N]) -> [Self::V; N] {
        self.pow7(x)
    }
    /// On the stored words, `2^-N * x + 2^-N - 1`, for `N` in `1..=27`.
    ///
    /// With `c = 15 * 2^(27-N) = -2^-N` and `x = hi * 2^N + lo`, `2^-N * x = hi - c * lo`; as
    /// `c * (2^N - 1) = p - 1 - c`, complementing `lo` gives the stated shift and a value in
    /// `[0, p)` without any correction.
    fn div_2exp<const N: u32>(self, x: Self::V) -> Self::V;

    /// Pauses until the cache line that holds `src[index]` is likely to be near; a hint, may do
    /// nothing, and `index` may be out of range.
    fn prefetch(self, src: &[F], index: usize);

    // ---- multiplication by a factor that many vectors share (number-theoretic transform) ----

    /// A factor prepared by [`Isa::factor`].
    type Factor: Copy;
    /// Prepares `x`, the same for all lanes, for several products.
    fn factor(self, x: F) -> Self::Factor;
    /// Lane-wise `a * x`.
    fn mul_factor(self, a: Self::V, x: Self::Factor) -> Self::V;
    /// Lane-wise `(a - b) * x`.
    fn sub_mul_factor(self, a: Self::V, b: Self::V, x: Self::Factor) -> Self::V;
    /// Factors prepared by [`Isa::quad`].
    type Quad: Copy;
    /// Prepares `[w, i w, w^2, w^3, i w^3]` for [`Isa::butterfly4`].
    fn quad(self, factors: [F; 5]) -> Self::Quad;
    /// Two layers of decimation in frequency, with i^2 = -1: from `[x, y, z, t]` to
    /// `[x + z + y + t, (x + z - y - t) w^2, ((x - z) + i (y - t)) w, ((x - z) - i (y - t)) w^3]`.
    fn butterfly4(self, v: [Self::V; 4], factors: Self::Quad) -> [Self::V; 4];

    // Lazy sums of any length (sumcheck, partial evaluations).

    /// Makes room for two more products in an accumulator that holds at most four products, or a
    /// folded accumulator and two products. It stays fit for [`Isa::wide_reduce`].
    fn wide_fold(self, acc: Self::Wide) -> Self::Wide;

    // Poseidon2, internal rounds.

    /// `M * x`, for `M` in `2..=16`.
    fn mul_small<const M: u32>(self, x: Self::V) -> Self::V;
    /// The sum of `single` and of twice `double`.
    #[inline(always)]
    fn sum_and_double(self, single: [Self::V; 5], double: [Self::V; 5]) -> Self::V {
        let [a, b, c, d, e] = double;
        let half = self.add(self.add(self.add(a, b), self.add(c, d)), e);
        let [a, b, c, d, e] = single;
        self.add(
            self.add(self.add(a, b), self.add(c, d)),
            self.add(self.add(half, half), e),
        )
    }
    /// `a - b` in `(-p, p)`: an input for [`Isa::pow7`] or [`Isa::canonical`] only.
    fn sub_signed(self, a: Self::V, b: Self::V) -> Self::V;
    /// `[-p, p)`, as [`Isa::add_constant`] and [`Isa::sub_signed`] leave it, to `[0, p)`.
    fn canonical(self, x: Self::V) -> Self::V;
}

/// [`Isa::rows_to_columns`]: a step moves the lowest bit of an element's index to the top; log2(N)
/// steps exchange the row and column bits.
#[inline(always)]
pub(crate) fn unzip_rows<I: Isa, const N: usize>(isa: I, v: &mut [I::V; N]) {
    for _ in 0..N.ilog2() {
        let mut next = *v;
        for i in 0..N / 2 {
            (next[i], next[i + N / 2]) = isa.unzip(v[2 * i], v[2 * i + 1]);
        }
        *v = next;
    }
}

/// The inverse of [`unzip_rows`].
#[inline(always)]
pub(crate) fn zip_columns<I: Isa, const N: usize>(isa: I, v: &mut [I::V; N]) {
    for _ in 0..N.ilog2() {
        let mut next = *v;
        for i in 0..N / 2 {
            (next[2 * i], next[2 * i + 1]) = isa.zip(v[i], v[i + N / 2]);
        }
        *v = next;
    }
}

/// A constant as kernels add it to canonical words: its word minus p, in `[-p, 0)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NegativeForm {
    /// The element.
    pub(crate) value: F,
    /// Its Montgomery word minus p.
    pub(crate) word: i32,
}

impl NegativeForm {
    pub(crate) fn new(value: F) -> Self {
        let p = u64::from(F::ORDER_U32);
        let word = (u64::from(value.as_canonical_u32()) << 32) % p;
        // both are below 2^31
        let word = word as i32 - p as i32;
        Self { value, word }
    }
}

/// A CPU variant that has been checked to be available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant(CpuVariant);

impl Variant {
    /// `None` if this processor lacks the variant's instructions or this build has no code for it.
    pub(crate) fn new(variant: CpuVariant) -> Option<Self> {
        let has = CpuVariant::ALL.contains(&variant) && variant.is_available();
        has.then_some(Self(variant))
    }

    /// Which one it is.
    pub(crate) const fn kind(self) -> CpuVariant {
        self.0
    }

    /// Elements per vector.
    pub(crate) fn lanes(self) -> usize {
        struct Lanes;
        impl Kernel for Lanes {
            type Output = usize;
            #[inline(always)]
            fn run<I: Isa>(self, _: I) -> usize {
                I::LANES
            }
        }
        self.run(Lanes)
    }

    /// Runs `kernel`, compiled for this variant.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            CpuVariant::Avx512 => match Avx512::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            #[cfg(target_arch = "x86_64")]
            CpuVariant::Avx2 => match Avx2::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            #[cfg(target_arch = "aarch64")]
            CpuVariant::Neon => match super::aarch64::neon::Neon::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            _ => Portable.vectorize(kernel),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests;

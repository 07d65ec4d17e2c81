//! The CUDA kernels that add, run on the host, against arkworks: whatever the cut into segments and groups.

use ark_ec::{AffineRepr, CurveGroup, short_weierstrass as sw};
use fieldspar_msm::curve::{Affine, Bls12_377, Bls12_381, Bn254, edwards};
use fieldspar_msm::field::Fp;
use rand::{RngExt, rngs::StdRng};

use crate::library::DeviceCode;
use crate::support::{Ark, Both, Scalar, ours, points, rng};

/// As in sums.cpp.
const BASES: usize = 12;
const ITEMS: usize = 48;

fn words<const N: usize>(limbs: &[u64; N]) -> impl Iterator<Item = u32> {
    limbs.iter().flat_map(|x| [*x as u32, (*x >> 32) as u32])
}

/// Elements in Montgomery form, which have to be below the modulus.
fn elements<C: Both<N>, const N: usize>(words: &[u32]) -> Vec<Fp<C, N>> {
    let limb = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    words
        .chunks_exact(2 * N)
        .map(|w| Fp::from_montgomery(std::array::from_fn(|i| limb(&w[2 * i..2 * i + 2]))).unwrap())
        .collect()
}

/// The points that a curve's kernels add, and their sums.
trait Form<const N: usize>: Both<N> {
    /// Coordinates of a base.
    const RECORD: usize;

    fn record(point: &Affine<Self, N>) -> Vec<Fp<Self, N>>;
    fn sum(coordinates: &[Fp<Self, N>]) -> Affine<Self, N>;
}

macro_rules! weierstrass {
    ($curve:ident, $n:literal) => {
        impl Form<$n> for $curve {
            const RECORD: usize = 2;

            fn record(point: &Affine<Self, $n>) -> Vec<Fp<Self, $n>> {
                vec![point.x, point.y]
            }

            fn sum(c: &[Fp<Self, $n>]) -> Affine<Self, $n> {
                if c[2].is_zero() {
                    return Affine::INFINITY;
                }
                Affine {
                    x: c[0].mul(&c[2].invert().unwrap()),
                    y: c[1].mul(&c[3].invert().unwrap()),
                }
            }
        }
    };
}

weierstrass!(Bls12_381, 6);
weierstrass!(Bn254, 4);

impl Form<6> for Bls12_377 {
    const RECORD: usize = 3;

    fn record(point: &Affine<Self, 6>) -> Vec<Fp<Self, 6>> {
        let cached = edwards::Cached::from_weierstrass(&[*point])[0].unwrap();
        vec![cached.minus, cached.plus, cached.product]
    }

    fn sum(c: &[Fp<Self, 6>]) -> Affine<Self, 6> {
        let [x, y, z, t] = [c[0], c[1], c[2], c[3]];
        edwards::Extended { x, y, z, t }.to_weierstrass()
    }
}

/// Bases with equal and opposite ones among them, and infinity.
fn bases<C: Both<N>, const N: usize>(random: &mut StdRng) -> Vec<Ark<C, N>> {
    let mut all = points::<C, N>(BASES - 5, random);
    all.extend([all[0], -all[0], all[1], Ark::<C, N>::zero()]);
    all.push((all[2] + all[2]).into_affine());
    all
}

fn base_words<C: Both<N>, const N: usize>(bases: &[Ark<C, N>]) -> Vec<u32> {
    let own = bases.iter().map(ours::<C, N>);
    own.flat_map(|p| [p.x, p.y])
        .flat_map(|c| words(c.montgomery()).collect::<Vec<_>>())
        .collect()
}

fn sums<C: Form<N>, const N: usize>(code: &DeviceCode) {
    let mut random = rng(41);
    for round in 0..32_usize {
        let bases = bases::<C, N>(&mut random);
        let length = [1, 2, 3, 7, 16, 47, 48, 100][round % 8];
        let size = [1, 2, 4, 8][round / 8 % 4];
        let chunks = [0, 0, 1, 2][round / 4 % 4];
        let buckets = random.random_range(1..40);
        let total = [ITEMS, ITEMS, ITEMS - 1, 1, 0, 17][round % 6];
        // Some buckets of many entries, many of one or none.
        let mut entries: Vec<(u32, u32, bool)> = (0..total)
            .map(|i| {
                let bucket = match round % 3 {
                    0 => random.random_range(0..buckets),
                    1 if i % 4 != 0 => buckets / 2,
                    1 => random.random_range(0..buckets),
                    _ => buckets - 1,
                };
                (
                    bucket,
                    random.random_range(0..BASES as u32),
                    random.random(),
                )
            })
            .collect();
        entries.sort_by_key(|e| e.0);
        let mut want = sw::Projective::<C::Ark>::default();
        for (bucket, base, minus) in &entries {
            let term = bases[*base as usize] * Scalar::<C, N>::from(bucket + 1);
            want += if *minus { -term } else { term };
        }
        if chunks > 0 {
            want *= Scalar::<C, N>::from(chunks);
        }
        let mut input = vec![length, total as u32, buckets, size, chunks];
        for i in 0..ITEMS {
            let (bucket, base, minus) = entries.get(i).copied().unwrap_or((9999, 9999, false));
            input.extend([bucket, base | u32::from(minus) << 31]);
        }
        input.extend(base_words::<C, N>(&bases));
        let found = code.run("sums", &input);
        let (sum, bad) = found.split_at(found.len() - 1);
        assert_eq!(bad, [u32::MAX]);
        let sum = C::sum(&elements::<C, N>(sum));
        assert_eq!(sum, ours::<C, N>(&want.into_affine()), "round {round}");
    }
}

fn powers<C: Form<N>, const N: usize>(code: &DeviceCode) {
    let mut random = rng(42);
    for doublings in [0, 1, 2, 23] {
        let bases = bases::<C, N>(&mut random);
        let input = [vec![doublings], base_words::<C, N>(&bases)].concat();
        let found = elements::<C, N>(&code.run("powers", &input));
        let (records, multiples) = found.split_at(BASES * C::RECORD);
        for (i, base) in bases.iter().enumerate() {
            let at = i * C::RECORD..(i + 1) * C::RECORD;
            let multiple = (*base * Scalar::<C, N>::from(1_u64 << doublings)).into_affine();
            assert_eq!(records[at.clone()], C::record(&ours::<C, N>(base)));
            assert_eq!(multiples[at], C::record(&ours::<C, N>(&multiple)));
        }
    }
}

#[test]
fn bls12_377() {
    let code = DeviceCode::new("sums.cpp", "377");
    sums::<Bls12_377, 6>(&code);
    powers::<Bls12_377, 6>(&code);
    // The lowest base without an image is named.
    let mut random = rng(43);
    let mut input = [
        vec![0],
        base_words::<Bls12_377, 6>(&bases::<Bls12_377, 6>(&mut random)),
    ]
    .concat();
    let minus_one = Fp::<Bls12_377, 6>::ONE.neg();
    input.splice(
        1 + 7 * 24..1 + 8 * 24,
        words(minus_one.montgomery()).chain([0; 12]),
    );
    let mut all = vec![1, 0, 1, 1, 0];
    all.extend([0; 2 * ITEMS]);
    all.extend(&input[1..]);
    assert_eq!(code.run("sums", &all).last(), Some(&107));
}

#[test]
fn bls12_381() {
    let code = DeviceCode::new("sums.cpp", "381");
    sums::<Bls12_381, 6>(&code);
    powers::<Bls12_381, 6>(&code);
}

#[test]
fn bn254() {
    let code = DeviceCode::new("sums.cpp", "254");
    sums::<Bn254, 4>(&code);
    powers::<Bn254, 4>(&code);
}

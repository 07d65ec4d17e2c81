//! The arithmetic of the CUDA kernels, compiled for the host, against arkworks.

use ark_ec::{AffineRepr, CurveGroup, models::CurveConfig, short_weierstrass as sw};
use ark_ff::{AdditiveGroup, Field};
use fieldspar_msm::curve::{Affine, Bls12_377, Bls12_381, Bn254, edwards};
use fieldspar_msm::field::Fp;
use rand::{RngExt, rngs::StdRng};

use crate::library::DeviceCode;
use crate::support::{Ark, Both, ours, points, rng};

const RANDOM: usize = 2000;

/// The device code for a curve, on limbs of 64 bits.
struct Device<C, const N: usize> {
    code: DeviceCode,
    curve: std::marker::PhantomData<C>,
    /// The largest multiple of p that a lazy value may be below.
    lazy: u64,
}

type Limbs<const N: usize> = [u64; N];

impl<C: Both<N>, const N: usize> Device<C, N> {
    fn new(name: &str, lazy: u64) -> Self {
        Self {
            code: DeviceCode::new("exports.cpp", name),
            curve: std::marker::PhantomData,
            lazy,
        }
    }

    fn words(values: &[Limbs<N>]) -> Vec<u32> {
        let halves = |x: u64| [x as u32, (x >> 32) as u32];
        values.iter().flatten().copied().flat_map(halves).collect()
    }

    fn limbs(words: &[u32]) -> Vec<Limbs<N>> {
        let whole = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
        words
            .chunks_exact(2 * N)
            .map(|w| std::array::from_fn(|i| whole(&w[2 * i..2 * i + 2])))
            .collect()
    }

    fn run(&self, name: &str, input: &[Limbs<N>]) -> Vec<Limbs<N>> {
        Self::limbs(&self.code.run(name, &Self::words(input)))
    }

    /// A function of one result.
    fn one(&self, name: &str, input: &[Limbs<N>]) -> Limbs<N> {
        self.run(name, input)[0]
    }

    /// With one word more: a sign.
    fn signed(&self, name: &str, input: &[Limbs<N>], negate: bool) -> Vec<Limbs<N>> {
        let mut words = Self::words(input);
        words.push(u32::from(negate));
        Self::limbs(&self.code.run(name, &words))
    }
}

/// The element that limbs in Montgomery form stand for, whether below p or not, and how many p were
/// taken off.
fn value<C: Both<N>, const N: usize>(limbs: &Limbs<N>) -> (Fp<C, N>, u64) {
    let mut rest = *limbs;
    for taken in 0..200 {
        if let Some(value) = Fp::from_montgomery(rest) {
            return (value, taken);
        }
        subtract(&mut rest, &C::P);
    }
    panic!("{limbs:?} is not below 200 p");
}

fn subtract<const N: usize>(from: &mut Limbs<N>, what: &Limbs<N>) {
    let mut borrow = false;
    for (a, b) in from.iter_mut().zip(what) {
        let (d, first) = a.overflowing_sub(*b);
        let (d, second) = d.overflowing_sub(u64::from(borrow));
        (*a, borrow) = (d, first || second);
    }
}

/// `limbs + times p`.
fn lifted<C: Both<N>, const N: usize>(limbs: &Limbs<N>, times: u64) -> Limbs<N> {
    let mut sum = *limbs;
    for _ in 0..times {
        let mut carry = false;
        for (a, b) in sum.iter_mut().zip(&C::P) {
            let (s, first) = a.overflowing_add(*b);
            let (s, second) = s.overflowing_add(u64::from(carry));
            (*a, carry) = (s, first || second);
        }
        assert!(!carry);
    }
    sum
}

/// Montgomery forms where carries and corrections change, below p.
fn edges<C: Both<N>, const N: usize>() -> Vec<Limbs<N>> {
    let mut all = Vec::new();
    let mut push = |limbs: Limbs<N>| {
        if Fp::<C, N>::from_montgomery(limbs).is_some() {
            all.push(limbs);
        }
    };
    let small = |x: u64| std::array::from_fn(|i| if i == 0 { x } else { 0 });
    for x in [0, 1, 2, 0xFFFF_FFFF, 1 << 32, u64::MAX] {
        push(small(x));
    }
    for x in [1, 2, 0xFFFF_FFFF, 1 << 32, u64::MAX] {
        let mut limbs = C::P;
        subtract(&mut limbs, &small(x));
        push(limbs);
    }
    push(C::R);
    push(C::R2);
    // all ones, but for what the prime leaves no room for
    let top = C::P[N - 1];
    push(std::array::from_fn(|i| {
        if i == N - 1 { top - 1 } else { u64::MAX }
    }));
    // all ones in limbs of even, of odd places
    for pattern in [0xFFFF_FFFF, 0xFFFF_FFFF_0000_0000] {
        push(std::array::from_fn(|i| {
            if i == N - 1 {
                top & pattern & (top - 1)
            } else {
                pattern
            }
        }));
    }
    for at in 0..N {
        push(std::array::from_fn(|i| {
            if i == at && i < N - 1 { u64::MAX } else { 0 }
        }));
    }
    all
}

/// What the type of arkworks has for the same limbs.
fn ark<C: Both<N>, const N: usize>(value: &Fp<C, N>) -> <C::Ark as CurveConfig>::BaseField {
    C::field(value.montgomery())
}

fn field<C: Both<N>, const N: usize>(device: &Device<C, N>) {
    let mut random = rng(31);
    let edges = edges::<C, N>();
    let mut pairs: Vec<(Limbs<N>, Limbs<N>)> = Vec::new();
    for a in &edges {
        pairs.extend(edges.iter().map(|b| (*a, *b)));
    }
    let any = |random: &mut StdRng| C::limbs(&C::any(random));
    pairs.extend((0..RANDOM).map(|_| (any(&mut random), any(&mut random))));
    pairs.extend((0..RANDOM).map(|i| (edges[i % edges.len()], any(&mut random))));
    for (i, (a, b)) in pairs.iter().enumerate() {
        let (x, y) = (C::field(a), C::field(b));
        let same = |name: &str, input: &[Limbs<N>], want| {
            assert_eq!(
                device.one(name, input),
                C::limbs(&want),
                "{name} {input:x?}"
            );
        };
        same("fq_mul", &[*a, *b], x * y);
        same("fq_sqr", &[*a], x.square());
        same("fq_add", &[*a, *b], x + y);
        same("fq_sub", &[*a, *b], x - y);
        same("fq_neg", &[*a], -x);
        // Lazy: any representative below the bound, and a result below it.
        let lift = |limbs: &Limbs<N>, bits: usize| lifted::<C, N>(limbs, (i >> bits) as u64 & 1);
        let (p, q, r) = (lift(a, 0), lift(b, 1), lift(b, 2));
        let lazy = |name: &str, input: &[Limbs<N>], want, bound: u64| {
            let (found, taken) = value::<C, N>(&device.one(name, input));
            assert_eq!(ark(&found), want, "{name} {input:x?}");
            assert!(taken < bound, "{name} {input:x?}");
        };
        lazy("lz_mul", &[p, q], x * y, 2);
        lazy("lz_sqr", &[p], x.square(), 2);
        lazy("lz_mul_add", &[p, q, r, p], (x * y).double(), 3);
        lazy("lz_sub_mod", &[p, q], x - y, 2);
        lazy("lz_sub", &[p, q], x - y, 4);
        lazy("lz_reduce", &[lifted::<C, N>(&q, 1)], y, 2);
        let most = lifted::<C, N>(a, device.lazy - 1);
        lazy("lz_sqr", &[most], x.square(), 3);
        let more = lifted::<C, N>(a, (i % 4) as u64);
        let zero = device
            .code
            .run("lz_is_zero", &Device::<C, N>::words(&[more]));
        assert_eq!(zero, [u32::from(*a == [0; N])]);
    }
    for a in edges
        .iter()
        .chain(pairs[pairs.len() - 4..].iter().map(|(a, _)| a))
    {
        let want = C::field(a).inverse().unwrap_or_default();
        assert_eq!(device.one("fq_inverse", &[*a]), C::limbs(&want));
    }
    let constants = device.run("constants", &[]);
    assert_eq!(constants[..2], [C::P, C::R]);
}

/// Representatives of a point: other ZZ, and coordinates with p added.
fn accumulator<C: Both<N>, const N: usize>(
    point: &Affine<C, N>,
    random: &mut StdRng,
) -> Vec<Limbs<N>> {
    let mut scale = C::any(random);
    if random.random::<bool>() {
        scale = Field::ONE;
    }
    let (mut x, mut y) = (
        C::field(point.x.montgomery()),
        C::field(point.y.montgomery()),
    );
    let (mut zz, mut zzz) = (scale.square(), scale.square() * scale);
    if point.is_infinity() {
        (x, y, zz, zzz) = (
            C::any(random),
            C::any(random),
            AdditiveGroup::ZERO,
            AdditiveGroup::ZERO,
        );
    } else {
        (x, y) = (x * zz, y * zzz);
    }
    [x, y, zz, zzz]
        .iter()
        .enumerate()
        .map(|(i, value)| {
            let limbs = C::limbs(value);
            // The ZZ of infinity is all zero.
            let lift = !(i == 2 && point.is_infinity()) && random.random();
            lifted::<C, N>(&limbs, u64::from(lift))
        })
        .collect()
}

/// The point that an accumulator stands for.
fn affine<C: Both<N>, const N: usize>(coordinates: &[Limbs<N>]) -> Affine<C, N> {
    let bounds = [2, 3, 2, 2];
    let reduced: Vec<_> = coordinates.iter().map(value::<C, N>).collect();
    assert!(
        reduced
            .iter()
            .zip(bounds)
            .all(|((_, taken), most)| *taken < most)
    );
    if coordinates[2] == [0; N] {
        return Affine::INFINITY;
    }
    let (x, y) = (reduced[0].0, reduced[1].0);
    let (zz, zzz) = (reduced[2].0, reduced[3].0);
    assert_eq!(zz.square().mul(&zz), zzz.square());
    Affine {
        x: x.mul(&zz.invert().unwrap()),
        y: y.mul(&zzz.invert().unwrap()),
    }
}

/// Points with their doubles, inverses and infinity, so that pairs meet every case.
fn cases<C: Both<N>, const N: usize>(seed: u64) -> Vec<Ark<C, N>> {
    let mut random = rng(seed);
    let mut all = points::<C, N>(4, &mut random);
    all.push(all[0]);
    all.push(-all[1]);
    all.push((all[0] + all[0]).into_affine());
    all.push((-(all[2] + all[2])).into_affine());
    all.push((all[0] + all[1]).into_affine());
    all.push(Ark::<C, N>::generator());
    all.push(Ark::<C, N>::zero());
    all
}

fn additions<C: Both<N>, const N: usize>(device: &Device<C, N>) {
    let mut random = rng(32);
    let own = |p: sw::Projective<C::Ark>| ours::<C, N>(&p.into_affine());
    for _ in 0..4 {
        let cases = cases::<C, N>(random.random());
        for p in &cases {
            let left = accumulator(&ours::<C, N>(p), &mut random);
            let twice = device.run("twice", &left);
            assert_eq!(affine::<C, N>(&twice), own(*p + *p));
            let canonical = device.run("canonical", &left);
            assert_eq!(affine::<C, N>(&canonical), ours::<C, N>(p));
            assert!(canonical.iter().all(|c| value::<C, N>(c).1 == 0));
            let back = device.run("to_affine", &left);
            let point = ours::<C, N>(p);
            assert_eq!(back, [*point.x.montgomery(), *point.y.montgomery()]);
            for q in &cases {
                let other = ours::<C, N>(q);
                let right = accumulator(&other, &mut random);
                let sum = device.run("full", &[&left[..], &right].concat());
                assert_eq!(affine::<C, N>(&sum), own(*p + *q));
                let input = [&left[..], &[*other.x.montgomery(), *other.y.montgomery()]].concat();
                let sum = device.signed("mixed", &input, false);
                assert_eq!(affine::<C, N>(&sum), own(*p + *q));
                let sum = device.signed("mixed", &input, true);
                assert_eq!(affine::<C, N>(&sum), own(*p - *q));
            }
        }
        // A long sum, whose lazy coordinates feed the next addition.
        let mut sum = sw::Projective::<C::Ark>::default();
        let mut acc = accumulator(&Affine::<C, N>::INFINITY, &mut random);
        for i in 0..200 {
            let point = cases[i * i % cases.len()];
            let negate = i % 3 == 0;
            let own = ours::<C, N>(&point);
            acc.extend([*own.x.montgomery(), *own.y.montgomery()]);
            acc = device.signed("mixed", &acc, negate);
            sum += if negate { -point } else { point };
        }
        assert_eq!(affine::<C, N>(&acc), own(sum));
    }
}

#[test]
fn bls12_377() {
    let device = Device::<Bls12_377, 6>::new("377", 16);
    field(&device);
    additions(&device);
    edwards_form(&device);
}

#[test]
fn bls12_381() {
    let device = Device::<Bls12_381, 6>::new("381", 4);
    field(&device);
    additions(&device);
}

#[test]
fn bn254() {
    let device = Device::<Bn254, 4>::new("254", 2);
    field(&device);
    additions(&device);
}

/// The twisted Edwards form against the Weierstrass form, through the crate's own map.
fn edwards_form(device: &Device<Bls12_377, 6>) {
    type C = Bls12_377;
    let constant = |plain: [u64; 6]| *Fp::<C, 6>::constant(plain).montgomery();
    let identity = edwards::Extended::IDENTITY;
    let constants = device.run("edwards_constants", &[]);
    let want = [edwards::D, edwards::S, edwards::F_SCALE].map(constant);
    assert_eq!(constants[..3], want);
    let want = [identity.x, identity.y, identity.z, identity.t].map(|c| *c.montgomery());
    assert_eq!(constants[3..], want);

    let point = |coordinates: &[Limbs<6>]| {
        let reduced: Vec<_> = coordinates.iter().map(value::<C, 6>).collect();
        assert!(reduced.iter().all(|(_, taken)| *taken < 2));
        let p = edwards::Extended {
            x: reduced[0].0,
            y: reduced[1].0,
            z: reduced[2].0,
            t: reduced[3].0,
        };
        assert_eq!(p.x.mul(&p.y), p.z.mul(&p.t));
        p.to_weierstrass()
    };
    let mut random = rng(33);
    for _ in 0..3 {
        let cases = cases::<C, 6>(random.random());
        let own: Vec<_> = cases.iter().map(ours::<C, 6>).collect();
        let cached = edwards::Cached::from_weierstrass(&own);
        let record = |i: usize| {
            let cached = cached[i].unwrap();
            [cached.minus, cached.plus, cached.product].map(|c| *c.montgomery())
        };
        let extended = |i: usize, random: &mut StdRng| -> Vec<Limbs<6>> {
            let p = identity.add_cached(&cached[i].unwrap());
            let scale = Fp::<C, 6>::from_montgomery(C::limbs(&C::any(random))).unwrap();
            [p.x, p.y, p.z, p.t]
                .map(|c| {
                    lifted::<C, 6>(
                        c.mul(&scale).montgomery(),
                        u64::from(random.random::<bool>()),
                    )
                })
                .to_vec()
        };
        for (i, p) in cases.iter().enumerate() {
            let (x, y) = (*own[i].x.montgomery(), *own[i].y.montgomery());
            let words = device
                .code
                .run("edwards_image", &Device::<C, 6>::words(&[x, y]));
            assert_eq!(Device::<C, 6>::limbs(&words[..36]), record(i));
            assert_eq!(words[36], 1);
            let left = extended(i, &mut random);
            let twice = (*p + *p).into_affine();
            assert_eq!(
                point(&device.run("edwards_twice", &left)),
                ours::<C, 6>(&twice)
            );
            let canonical = device.run("edwards_canonical", &left);
            assert_eq!(point(&canonical), own[i]);
            assert!(canonical.iter().all(|c| value::<C, 6>(c).1 == 0));
            for (j, q) in cases.iter().enumerate() {
                let (plus, minus) = ((*p + *q).into_affine(), (*p - *q).into_affine());
                let right = extended(j, &mut random);
                let sum = device.run("edwards_full", &[&left[..], &right].concat());
                assert_eq!(point(&sum), ours::<C, 6>(&plus));
                let input = [&left[..], &record(j)].concat();
                let sum = device.signed("edwards_mixed", &input, false);
                assert_eq!(point(&sum), ours::<C, 6>(&plus));
                let sum = device.signed("edwards_mixed", &input, true);
                assert_eq!(point(&sum), ours::<C, 6>(&minus));
            }
        }
    }
    // The five points without an image.
    let minus_one = *Fp::<C, 6>::ONE.neg().montgomery();
    let s = Fp::<C, 6>::constant(edwards::S);
    let x = Fp::ONE.neg().mul(&s.invert().unwrap()).sub(&Fp::ONE);
    let order_4 = Affine::<C, 6>::from_x(x, false).unwrap();
    for [x, y] in [
        [minus_one, [0; 6]],
        [*order_4.x.montgomery(), *order_4.y.montgomery()],
        [*order_4.x.montgomery(), *order_4.neg().y.montgomery()],
    ] {
        let words = device
            .code
            .run("edwards_image", &Device::<C, 6>::words(&[x, y]));
        assert_eq!(words[36], 0);
    }
}

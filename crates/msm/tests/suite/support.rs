//! The three curves in arkworks' types and in ours.

use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM, short_weierstrass as sw};
use ark_ff::PrimeField;
use fieldspar_msm::{
    Bases, Engine, Scalars, Trusted,
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve},
    field::Fp,
    msm,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A curve, and the same curve of arkworks.
pub(crate) trait Both<const N: usize>: Curve<N> {
    type Ark: sw::SWCurveConfig<ScalarField: PrimeField<BigInt = ark_ff::BigInt<4>>>;

    fn limbs(value: &<Self::Ark as ark_ec::CurveConfig>::BaseField) -> [u64; N];

    /// The element with these limbs in Montgomery form, which are below the modulus.
    fn field(limbs: &[u64; N]) -> <Self::Ark as ark_ec::CurveConfig>::BaseField;

    /// Any element.
    fn any(rng: &mut StdRng) -> <Self::Ark as ark_ec::CurveConfig>::BaseField;
}

macro_rules! both {
    ($ours:ident, $n:literal, $ark:ident) => {
        impl Both<$n> for $ours {
            type Ark = $ark::g1::Config;

            fn limbs(value: &$ark::Fq) -> [u64; $n] {
                value.0.0
            }

            fn field(limbs: &[u64; $n]) -> $ark::Fq {
                $ark::Fq::new_unchecked(ark_ff::BigInt(*limbs))
            }

            fn any(rng: &mut StdRng) -> $ark::Fq {
                $ark::Fq::from_le_bytes_mod_order(&rng.random::<[u8; 64]>())
            }
        }
    };
}

both!(Bls12_377, 6, ark_bls12_377);
both!(Bls12_381, 6, ark_bls12_381);
both!(Bn254, 4, ark_bn254);

pub(crate) type Ark<C, const N: usize> = sw::Affine<<C as Both<N>>::Ark>;
pub(crate) type Scalar<C, const N: usize> =
    <<C as Both<N>>::Ark as ark_ec::CurveConfig>::ScalarField;

/// Our point for arkworks' point.
pub(crate) fn ours<C: Both<N>, const N: usize>(point: &Ark<C, N>) -> Affine<C, N> {
    let Some((x, y)) = point.xy() else {
        return Affine::INFINITY;
    };
    Affine {
        x: Fp::from_montgomery(C::limbs(&x)).unwrap(),
        y: Fp::from_montgomery(C::limbs(&y)).unwrap(),
    }
}

/// A random number generator with a fixed seed.
pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// `count` multiples of the generator in arkworks' types, by random small steps.
pub(crate) fn points<C: Both<N>, const N: usize>(count: usize, rng: &mut StdRng) -> Vec<Ark<C, N>> {
    let g = Ark::<C, N>::generator();
    let start: u64 = rng.random();
    let step: u64 = rng.random();
    let step = (g * Scalar::<C, N>::from(step)).into_affine();
    let mut point = g * Scalar::<C, N>::from(start);
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        all.push(point);
        point += step;
    }
    sw::Projective::normalize_batch(&all)
}

/// A scalar from below the order, anywhere.
pub(crate) fn scalar<C: Both<N>, const N: usize>(rng: &mut StdRng) -> [u64; 4] {
    let bytes: [u8; 48] = rng.random();
    Scalar::<C, N>::from_le_bytes_mod_order(&bytes)
        .into_bigint()
        .0
}

/// What arkworks says.
pub(crate) fn expected<C: Both<N>, const N: usize>(
    points: &[Ark<C, N>],
    scalars: &[[u64; 4]],
) -> Affine<C, N> {
    let scalars: Vec<_> = scalars
        .iter()
        .map(|s| Scalar::<C, N>::from_bigint(ark_ff::BigInt(*s)).unwrap())
        .collect();
    let sum = sw::Projective::<C::Ark>::msm(points, &scalars).unwrap();
    ours::<C, N>(&sum.into_affine())
}

/// What arkworks says, one multiplication after the other: where its MSM itself is in doubt.
pub(crate) fn expected_slowly<C: Both<N>, const N: usize>(
    points: &[Ark<C, N>],
    scalars: &[[u64; 4]],
) -> Affine<C, N> {
    let mut sum = sw::Projective::<C::Ark>::default();
    for (p, s) in points.iter().zip(scalars) {
        sum += p.mul_bigint(ark_ff::BigInt::<4>(*s));
    }
    ours::<C, N>(&sum.into_affine())
}

/// Our sum on one engine.
pub(crate) fn sum<'a, C: Curve<N>, const N: usize>(
    engine: &Engine,
    points: &[Affine<C, N>],
    scalars: impl Into<Scalars<'a>>,
) -> Affine<C, N> {
    let bases = Bases::<C, N, Trusted>::new(points.to_vec()).unwrap();
    msm(engine, &bases, scalars).unwrap()
}

/// Checks all engines against `want`.
pub(crate) fn check<C: Both<N>, const N: usize>(
    points: &[Ark<C, N>],
    scalars: &[[u64; 4]],
    want: &Affine<C, N>,
    what: &str,
) {
    let own: Vec<_> = points.iter().map(ours::<C, N>).collect();
    for engine in Engine::available() {
        let got = sum(&engine, &own, scalars);
        assert_eq!(got, *want, "{what} on {engine}, {}", C::NAME);
    }
}

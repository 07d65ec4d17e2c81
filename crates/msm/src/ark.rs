//! Conversions from and to arkworks' types, and functions shaped like its `VariableBaseMSM`.
//!
//! Coordinates have one form in both libraries and are copied as they are; a point of arkworks' is
//! wider by its flag, and its scalars are in Montgomery form, so both are copied.
#![forbid(unsafe_code)]

use ark_ec::{AffineRepr, CurveConfig, short_weierstrass as sw};
use ark_ff::{BigInt, PrimeField};
use rayon::prelude::*;

use crate::{
    bases::{Bases, Trusted},
    compute,
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve},
    engine::Engine,
    error::Error,
    field::Fp,
};

/// A curve that arkworks has too.
pub trait ArkCurve<const N: usize>: Curve<N> {
    /// arkworks' curve.
    type Config: sw::SWCurveConfig<ScalarField: PrimeField<BigInt = BigInt<4>>>;

    /// A coordinate's limbs in Montgomery form.
    fn limbs(value: &<Self::Config as CurveConfig>::BaseField) -> &[u64; N];

    /// The coordinate with these limbs in Montgomery form.
    fn field(limbs: [u64; N]) -> <Self::Config as CurveConfig>::BaseField;
}

macro_rules! ark_curve {
    ($ours:ident, $n:literal, $ark:ident) => {
        impl ArkCurve<$n> for $ours {
            type Config = $ark::g1::Config;

            fn limbs(value: &$ark::Fq) -> &[u64; $n] {
                &value.0.0
            }

            fn field(limbs: [u64; $n]) -> $ark::Fq {
                ark_ff::Fp(BigInt(limbs), core::marker::PhantomData)
            }
        }
    };
}

ark_curve!(Bls12_377, 6, ark_bls12_377);
ark_curve!(Bls12_381, 6, ark_bls12_381);
ark_curve!(Bn254, 4, ark_bn254);

/// arkworks' affine point of our curve.
pub type ArkAffine<C, const N: usize> = sw::Affine<<C as ArkCurve<N>>::Config>;
/// arkworks' scalar of our curve.
pub type ArkScalar<C, const N: usize> = <<C as ArkCurve<N>>::Config as CurveConfig>::ScalarField;

/// Our point.
#[must_use]
pub fn from_ark<C: ArkCurve<N>, const N: usize>(point: &ArkAffine<C, N>) -> Affine<C, N> {
    let coordinate = |v| Fp::from_montgomery_unchecked(*C::limbs(v));
    if point.is_zero() {
        return Affine::INFINITY;
    }
    Affine {
        x: coordinate(&point.x),
        y: coordinate(&point.y),
    }
}

/// arkworks' point.
pub fn to_ark<C: ArkCurve<N>, const N: usize>(point: &Affine<C, N>) -> ArkAffine<C, N> {
    if point.is_infinity() {
        return ArkAffine::<C, N>::zero();
    }
    let coordinate = |v: &Fp<C, N>| C::field(*v.montgomery());
    ArkAffine::<C, N>::new_unchecked(coordinate(&point.x), coordinate(&point.y))
}

/// The points as bases, trusted as arkworks trusts its own.
///
/// # Errors
///
/// None today.
pub fn bases<C: ArkCurve<N>, const N: usize>(
    points: &[ArkAffine<C, N>],
) -> Result<Bases<C, N, Trusted>, Error> {
    let each = points.par_iter().with_min_len(1 << 12);
    Bases::new(each.map(from_ark::<C, N>).collect())
}

/// `sum of scalars[i] * points[i]`, like `VariableBaseMSM::msm`.
///
/// # Errors
///
/// The smaller of the lengths if they differ.
pub fn msm<C: ArkCurve<N>, const N: usize>(
    engine: &Engine,
    points: &[ArkAffine<C, N>],
    scalars: &[ArkScalar<C, N>],
) -> Result<ArkAffine<C, N>, usize> {
    let shorter = points.len().min(scalars.len());
    if points.len() != scalars.len() {
        return Err(shorter);
    }
    let each = scalars.par_iter().with_min_len(1 << 12);
    let scalars: Vec<BigInt<4>> = each.map(|s| s.into_bigint()).collect();
    // Nothing is refused: lengths are equal, and a scalar of arkworks is below the order.
    msm_bigint::<C, N>(engine, points, &scalars).map_err(|_| shorter)
}

/// `sum of scalars[i] * points[i]` with plain values, like `VariableBaseMSM::msm_bigint`, but nothing is
/// cut off in silence.
///
/// # Errors
///
/// [`Error::Length`], or [`Error::Scalar`] for one that is not below the order.
pub fn msm_bigint<C: ArkCurve<N>, const N: usize>(
    engine: &Engine,
    points: &[ArkAffine<C, N>],
    scalars: &[BigInt<4>],
) -> Result<ArkAffine<C, N>, Error> {
    let scalars: Vec<[u64; 4]> = scalars.iter().map(|s| s.0).collect();
    let sum = compute::msm(engine, &bases::<C, N>(points)?, &scalars)?;
    Ok(to_ark::<C, N>(&sum))
}

//! Conversions from and to arkworks' types.
#![cfg(feature = "ark")]

use ark_ec::{AffineRepr, CurveGroup, VariableBaseMSM, short_weierstrass as sw};
use ark_ff::{BigInt, PrimeField};
use fieldspar_msm::{
    Engine, Error,
    ark::{ArkCurve, from_ark, msm, msm_bigint, to_ark},
    curve::{Bls12_377, Bls12_381, Bn254},
};

use crate::support::*;

fn same<C, const N: usize>()
where
    C: Both<N> + ArkCurve<N, Config = <C as Both<N>>::Ark>,
{
    let rng = &mut rng(30);
    let mut points = points::<C, N>(70, rng);
    points[5] = Ark::<C, N>::zero();
    for point in &points {
        assert_eq!(to_ark::<C, N>(&from_ark::<C, N>(point)), *point);
    }
    let scalars: Vec<Scalar<C, N>> = (0..70)
        .map(|_| Scalar::<C, N>::from_bigint(BigInt(scalar::<C, N>(rng))).unwrap())
        .collect();
    let engine = Engine::open(&"cpu".parse().unwrap()).unwrap();
    let want = sw::Projective::<<C as Both<N>>::Ark>::msm(&points, &scalars).unwrap();
    assert_eq!(
        msm::<C, N>(&engine, &points, &scalars),
        Ok(want.into_affine())
    );
    assert_eq!(msm::<C, N>(&engine, &points[..3], &scalars), Err(3));
    let plain = [Scalar::<C, N>::MODULUS; 3];
    let error = msm_bigint::<C, N>(&engine, &points[..3], &plain).unwrap_err();
    assert!(matches!(error, Error::Scalar { index: 0, .. }));
}

#[test]
fn functions_shaped_like_arkworks() {
    same::<Bls12_377, 6>();
    same::<Bls12_381, 6>();
    same::<Bn254, 4>();
}

//! The comparison of a form's kernels with the reference, at their first use.
#![forbid(unsafe_code)]

use fieldspar_device::Error;

use super::engine::CudaEngine;
use super::form::Form;
use super::kernels::CurveKernels;
use super::sum::{Points, Source};
use crate::{
    Scalars,
    cpu::Best,
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve},
    inputs::{self, Distribution},
    schedule::straus,
};

/// Points of the comparison: more than a warp has.
const POINTS: usize = 70;

pub(super) fn run(engine: &CudaEngine, kernels: &CurveKernels, form: Form) -> Result<(), Error> {
    match form {
        Form::Edwards377 | Form::Weierstrass377 => compare::<Bls12_377, 6>(engine, kernels, form),
        Form::Weierstrass381 => compare::<Bls12_381, 6>(engine, kernels, form),
        Form::Weierstrass254 => compare::<Bn254, 4>(engine, kernels, form),
    }
}

/// Points among which there are equal ones, opposite ones and infinity, with scalars that bring them
/// together.
fn compare<C: Curve<N>, const N: usize>(
    engine: &CudaEngine,
    kernels: &CurveKernels,
    form: Form,
) -> Result<(), Error> {
    let mut points = inputs::points::<C, N>(7, POINTS);
    points[3] = points[2];
    points[5] = points[4].neg();
    points[6] = Affine::INFINITY;
    points[9] = points[8];
    for (i, distribution) in Distribution::ALL.into_iter().enumerate() {
        let mut scalars = distribution.scalars(i as u64, POINTS, &C::ORDER);
        scalars[3] = scalars[2];
        scalars[5] = scalars[4];
        let want = straus::msm(Best::new(), &points, &scalars);
        let source = Source::Host(Scalars::Wide(&scalars));
        let got = engine.sum_form(&Points::Host(&points), true, source, form, kernels)?;
        if got != Some(Ok(want)) {
            return Err(Error::Mismatch {
                op: "msm",
                index: i,
            });
        }
    }
    Ok(())
}

//! `msm`: multi-scalar multiplication on points and scalars in files.
#![forbid(unsafe_code)]

pub(crate) mod bench;
pub(crate) mod generate;
mod html;
mod rival;
pub(crate) mod run;

use clap::ValueEnum;
use fieldspar_msm::Engine;

use crate::context::Context;
use crate::failure::{Failure, Kind};

/// The groups that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CurveName {
    /// BLS12-377 G1
    #[value(name = "bls12-377")]
    Bls12_377,
    /// BLS12-381 G1
    #[value(name = "bls12-381")]
    Bls12_381,
    /// BN254 G1
    Bn254,
}

impl CurveName {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bls12_377 => "bls12-377",
            Self::Bls12_381 => "bls12-381",
            Self::Bn254 => "bn254",
        }
    }
}

/// Calls a function that is generic over the curve and its limbs.
macro_rules! on_curve {
    ($name:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        use fieldspar_msm::curve::{Bls12_377, Bls12_381, Bn254};
        match $name {
            $crate::msm::CurveName::Bls12_377 => $function::<Bls12_377, 6>($($argument),*),
            $crate::msm::CurveName::Bls12_381 => $function::<Bls12_381, 6>($($argument),*),
            $crate::msm::CurveName::Bn254 => $function::<Bn254, 4>($($argument),*),
        }
    }};
}
pub(crate) use on_curve;

/// How points are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingName {
    /// arkworks' canonical compressed form
    Compressed,
    /// arkworks' canonical uncompressed form
    Uncompressed,
    /// x and y as plain values in little-endian 64-bit limbs; infinity is all zero
    Limbs,
}

impl From<EncodingName> for fieldspar_msm::files::Encoding {
    fn from(name: EncodingName) -> Self {
        match name {
            EncodingName::Compressed => Self::Compressed,
            EncodingName::Uncompressed => Self::Uncompressed,
            EncodingName::Limbs => Self::Limbs,
        }
    }
}

/// How scalars are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Skew {
    /// Anywhere below the order
    Uniform,
    /// Zero or one
    ZeroOne,
    /// Below 2^64
    U64,
    /// All the same
    Same,
    /// Few values often and many seldom
    Zipf,
    /// Only the top digits are not zero
    TopWindow,
}

impl From<Skew> for fieldspar_msm::inputs::Distribution {
    fn from(skew: Skew) -> Self {
        match skew {
            Skew::Uniform => Self::Uniform,
            Skew::ZeroOne => Self::ZeroOne,
            Skew::U64 => Self::U64,
            Skew::Same => Self::Same,
            Skew::Zipf => Self::Zipf,
            Skew::TopWindow => Self::TopWindow,
        }
    }
}

/// The engine that flag or environment name, else the best.
fn engine(context: &Context) -> Result<Engine, Failure> {
    let (spec, _) = context.device_spec()?;
    Ok(Engine::open(&spec)?)
}

impl From<fieldspar_msm::Error> for Failure {
    fn from(error: fieldspar_msm::Error) -> Self {
        match error {
            fieldspar_msm::Error::Device(error) => error.into(),
            other => Self::input(other.to_string()),
        }
    }
}

impl From<fieldspar_msm::files::FileError> for Failure {
    fn from(error: fieldspar_msm::files::FileError) -> Self {
        use fieldspar_msm::files::FileError as E;
        let message = error.to_string();
        match error {
            E::Msm(error) => error.into(),
            E::Point { offset, .. } | E::Scalar { offset, .. } => {
                Self::input(message).at(format!("byte {offset}"))
            }
            _ => Self::new(Kind::Input, message),
        }
    }
}

//! What can be wrong with an MSM's input.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

/// What is wrong with a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum PointProblem {
    /// A coordinate is the modulus or more.
    #[error("a coordinate is not below the field's modulus")]
    NotCanonical,
    /// The coordinates do not satisfy the curve's equation, or no y belongs to the x.
    #[error("it is not on the curve")]
    NotOnCurve,
    /// It is on the curve, and outside the subgroup of prime order.
    #[error("it is not in the subgroup of prime order")]
    NotInSubgroup,
    /// Flags that contradict each other, or infinity with coordinates that are not zero.
    #[error("its flags are not those of a point")]
    BadFlags,
}

/// Why an MSM is refused.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// There are not as many scalars as points.
    #[error("vector {vector} has {scalars} scalars for {points} points")]
    Length {
        /// Which vector of scalars.
        vector: usize,
        /// Number of points.
        points: usize,
        /// Number of scalars.
        scalars: usize,
    },
    /// A scalar is the group's order or more.
    #[error("scalar {index} of vector {vector} is not below the order of {curve}")]
    Scalar {
        /// Which vector of scalars.
        vector: usize,
        /// Its index.
        index: usize,
        /// The curve's name.
        curve: &'static str,
    },
    /// A point is refused.
    #[error("point {index} of {curve}: {problem}")]
    Point {
        /// Its index.
        index: usize,
        /// The curve's name.
        curve: &'static str,
        /// What is wrong with it.
        problem: PointProblem,
    },
    /// The device, or its memory.
    #[error(transparent)]
    Device(#[from] fieldspar_device::Error),
}

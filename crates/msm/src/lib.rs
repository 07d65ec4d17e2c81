//! Multi-scalar multiplication, `sum of s_i P_i`, on BLS12-377, BLS12-381 and BN254 G1.
//!
//! ```
//! use fieldspar_msm::{Bases, Engine, InSubgroup, curve::Bls12_381, inputs, msm};
//!
//! let points = inputs::points::<Bls12_381, 6>(1, 100);
//! let bases = Bases::<Bls12_381, 6, InSubgroup>::new(points)?;
//! let engine = Engine::open(&"cpu".parse()?)?;
//!
//! let sum = msm(&engine, &bases, &vec![3u64; 100])?;
//! let wide = msm(&engine, &bases, &vec![[3, 0, 0, 0]; 100])?;
//! assert_eq!(sum, wide);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Variable-time.** Which memory is touched, and for how long, depends on the scalars: they are
//! public, as those of proofs and commitments are. Never pass a secret.
//!
//! # What goes in
//!
//! - Points: [`Bases`], checked once. How far is said by the type: [`Trusted`] (not at all),
//!   [`OnCurve`], [`InSubgroup`]. Coordinates are [`field::Fp`], limbs in Montgomery form below the
//!   modulus, as arkworks holds them; `(0, 0)` is infinity. From files: [`files`]; from arkworks' types:
//!   the module `ark`, with the feature of that name.
//! - Scalars: [`Scalars`], plain values (not Montgomery form) below the group's order, or narrow numbers.
//!   The cost follows the bits that are there, narrow type or not.
//! - An [`Engine`]: `cpu`, or by name `cpu:portable`, `cpu:adx`, `cpu:avx512`, whose threads are those of
//!   rayon's current pool; or an NVIDIA GPU, `cuda` or `cuda:1`. [`Bases::prepare`] leaves the points on a
//!   GPU, with multiples that make sums shorter; [`msm_pinned`] takes scalars from page-locked memory.
//!
//! A wrong length, a scalar that is the order or more, a point that fails its check: an [`Error`] with
//! the index. The result is affine, so it is the same on every engine and number of threads.
//!
//! # How
//!
//! Pippenger's method. Scalars become signed digits; the digits of a window are counting-sorted by
//! bucket; inside every bucket, neighbours are added in pairs until one point is left. All pairs of a
//! level, over many buckets, are affine additions that share one inversion: 5M + 1S, and 3M for the
//! share. The buckets are then reduced by the same additions, in many segments side by side. There is no
//! queue of conflicts, and no distribution of digits is slow: equal scalars are one deep tree. The
//! window comes from a count of the operations ([`plan`] says it). Below 24 points there are tables and
//! one chain of doublings instead.
//!
//! A variant brings one thing, the addition of many pairs, exact in every case; all else is generic:
//!
//! | engine | needs | a product of six limbs |
//! |---|---|---|
//! | `cpu:portable` | nothing | 64-bit limbs in plain Rust |
//! | `cpu:adx` | x86-64 with BMI2 and ADX | MULX, ADCX and ADOX in assembly |
//! | `cpu:avx512` | x86-64 with AVX-512 IFMA and ADX | eight at a time on 52-bit limbs |
//!
//! On a GPU ([`cuda`]) the digits of a window are sorted the same way, and the sorted list is cut into pieces of
//! one length, one for each thread. Below 24 points the processor does it there too.
//!
//! [`reference`](mod@reference) is the definition of correct. [`delayed`] is a scheduler for devices
//! that stream, [`curve::edwards`] the form of BLS12-377 for them.
//!
//! There is no GLV decomposition: from 2^16 points on it would save between 1 and 5 % of the products,
//! and it is wrong for points outside the subgroup.
#![deny(unsafe_code)]

#[cfg(feature = "ark")]
pub mod ark;
mod bases;
mod compute;
mod cpu;
pub mod cuda;
pub mod curve;
pub mod delayed;
mod digits;
mod engine;
mod error;
pub mod field;
pub mod files;
pub mod inputs;
mod kernel;
pub mod reference;
mod scalars;
mod schedule;

pub use bases::{Bases, InSubgroup, Level, OnCurve, Trusted};
pub use compute::{msm, msm_many, msm_pinned, plan};
pub use engine::{Engine, Variant};
pub use error::{Error, PointProblem};
pub use scalars::Scalars;
pub use schedule::plan::Plan;

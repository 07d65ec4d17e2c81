//! The definition of correct: field, constants and permutation, to be read beside the paper.
#![forbid(unsafe_code)]

pub mod constants;
pub mod field;
mod keccak;
mod permutation;

pub use permutation::{ALPHA, INVERSE_ALPHA, MDS_ROW, permute};

//! The verbs of `whir`.
#![forbid(unsafe_code)]

pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod inspect;
pub(crate) mod output;
mod params_args;
pub(crate) mod plan;
mod point;
pub(crate) mod prove;
pub(crate) mod run;
mod statement;
pub(crate) mod verify;

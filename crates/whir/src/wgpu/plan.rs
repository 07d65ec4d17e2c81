//! How much memory of an adapter a proof takes, and whether its bindings hold it, before any work.
#![forbid(unsafe_code)]

use fieldspar_device::{Error as DeviceError, MemoryPlan};

use super::encode::log_entries;
use super::engine::WgpuEngine;
use crate::cuda::plan::{of_shape, shape};
use crate::error::ParamsError;
use crate::params::Params;

/// The memory of one proof of `n` variables at one point by a [`WgpuEngine`], phase by phase. As that of
/// the CUDA engine, see [`crate::cuda::plan::memory_plan`]; a codeword and its tree are made in one
/// submission, so that the second buffer of the encoding lives until the tree is there.
///
/// # Errors
///
/// As [`Params::config`].
pub fn memory_plan(params: &Params, n: usize) -> Result<MemoryPlan, ParamsError> {
    Ok(of_shape(&shape(params, n)?, true))
}

/// Whether the bindings of the adapter hold every table of such a proof.
///
/// # Errors
///
/// [`DeviceError::Unsupported`] with the table that is too large.
pub fn check_bindings(
    engine: &WgpuEngine,
    params: &Params,
    n: usize,
) -> Result<Result<(), DeviceError>, ParamsError> {
    let shape = shape(params, n)?;
    let limit = engine.binding_bytes();
    let refuse = |what: &str, bytes: u64| DeviceError::Unsupported {
        op: "whir plan",
        device: engine.gpu().spec().to_owned(),
        why: format!("{what} of {bytes} bytes, where a kernel sees {limit} at once"),
    };
    let bytes = |count: u64, log: usize| count.checked_shl(2 + log as u32).unwrap_or(u64::MAX);
    let n = shape.num_variables;
    if bytes(1, n) > limit {
        return Ok(Err(refuse("a polynomial", bytes(1, n))));
    }
    let mut bits = n;
    for (i, opening) in shape.openings().enumerate() {
        let fold = opening.width.ilog2() as usize;
        let degree = if opening.base { 1 } else { shape.degree };
        if log_entries(degree, opening.log_leaves, fold, limit).is_none() {
            let all = bytes((degree * opening.width) as u64, opening.log_leaves);
            return Ok(Err(refuse(&format!("codeword {i}"), all)));
        }
        bits = bits.saturating_sub(fold);
        if i == 0 && bytes(shape.degree as u64, bits) > limit {
            let table = bytes(shape.degree as u64, bits);
            return Ok(Err(refuse("the folded polynomial", table)));
        }
    }
    Ok(Ok(()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::memory_plan;
    use crate::params::Params;

    #[test]
    fn it_is_never_below_the_plan_of_cuda() {
        for n in [10, 16, 20, 24] {
            let params = Params::default();
            let here = memory_plan(&params, n).unwrap().peak_bytes();
            let there = crate::cuda::plan::memory_plan(&params, n).unwrap();
            assert!(here >= there.peak_bytes());
        }
    }
}

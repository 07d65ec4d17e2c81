//! Reed-Solomon encoding: a batch of zero-extended number-theoretic transforms.
//!
//! The height is split as h = h1 * h2 (the four-step transform, Bailey 1990), so that the codeword
//! crosses the memory bus twice, whatever its height. With input index i1 * h2 + i2 and output
//! index k1 + h1 * k2,
//!
//! ```text
//! out[k1 + h1 k2] = sum_{i2} w_{h2}^{i2 k2} ( w_h^{i2 k1} sum_{i1} w_{h1}^{i1 k1} in[i1 h2 + i2] )
//! ```
//!
//! The first pass gathers some columns i2, transforms them in a buffer that stays in cache,
//! multiplies and writes them transposed, contiguously for each i2. The second pass gathers columns
//! k1 and puts their transforms back where they came from, which is the natural order. There is no
//! bit reversal of the codeword, no padded copy of the message and no second buffer of its size.
#![forbid(unsafe_code)]

mod local;
mod passes;
mod plan;

use std::cell::RefCell;

use fieldspar_device::CpuVariant;
use p3_field::PrimeCharacteristicRing;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use self::passes::{FirstPass, SecondPass};
use self::plan::Plan;
use super::isa::Variant;
use super::pages::zeros;
use super::strided::for_each_column_block;
use crate::field::F;

/// How a message lies in memory: element (r, j) of `rows` rows and `width` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageOrder {
    /// At `r * width + j`.
    RowMajor,
    /// At `j * rows + r`.
    ColumnMajor,
}

/// The codeword of `message`: `rows * width` elements, both powers of two, in either order.
///
/// Every column is extended with zeros to `height = rows << log_inv_rate` and transformed:
/// `out[i * width + j] = sum_r message[r][j] * g^(i r)`, `g = F::two_adic_generator(log2 height)`.
/// Input and output are in natural order, the output is row-major. Equal to p3's `dft_batch` of
/// the padded matrix, element for element, on every variant and for every number of threads.
///
/// Panics if the lengths are not powers of two or the height exceeds the field's two-adicity.
pub(crate) fn encode(
    variant: Variant,
    message: &[F],
    width: usize,
    order: MessageOrder,
    log_inv_rate: usize,
) -> Vec<F> {
    // one anonymous mapping: the pages are first touched by the threads that write them
    let mut codeword = zeros(message.len() << log_inv_rate);
    encode_into(variant, message, width, order, log_inv_rate, &mut codeword);
    codeword
}

/// [`encode`] for several messages of one shape, such as the coordinate planes of an extension
/// message: one codeword per plane. All planes share the threads, so that small ones fill them.
pub(crate) fn encode_planes(
    variant: Variant,
    planes: &[&[F]],
    width: usize,
    order: MessageOrder,
    log_inv_rate: usize,
) -> Vec<Vec<F>> {
    planes
        .par_iter()
        .map(|plane| encode(variant, plane, width, order, log_inv_rate))
        .collect()
}

/// [`encode`] into a buffer of `message.len() << log_inv_rate` elements, whose contents are
/// overwritten. A buffer that is used again costs no page faults.
pub(crate) fn encode_into(
    variant: Variant,
    message: &[F],
    width: usize,
    order: MessageOrder,
    log_inv_rate: usize,
    codeword: &mut [F],
) {
    assert!(
        message.len().is_power_of_two() && width.is_power_of_two() && width <= message.len(),
        "rows and width must be powers of two"
    );
    let rows = message.len() / width;
    assert_eq!(
        codeword.len(),
        message.len() << log_inv_rate,
        "codeword length"
    );
    let plan = |lanes| Plan::new(lanes, rows, width, order, log_inv_rate);
    match plan(variant.lanes()) {
        Some(plan) => run(variant, &plan, message, codeword),
        // too small for full vectors
        None => {
            if let (Some(portable), Some(plan)) = (Variant::new(CpuVariant::Portable), plan(1)) {
                run(portable, &plan, message, codeword);
            }
        }
    }
}

fn run(variant: Variant, plan: &Plan, message: &[F], codeword: &mut [F]) {
    codeword
        .par_chunks_mut(plan.first.columns * plan.column_len())
        .enumerate()
        .for_each(|(index, out)| {
            with_scratch(plan.first_scratch(), |scratch| {
                variant.run(FirstPass {
                    plan,
                    message,
                    first_column: index * plan.first.columns,
                    out,
                    scratch,
                });
            });
        });
    if plan.log_h2 == 0 {
        return;
    }
    for_each_column_block(
        codeword,
        plan.column_len(),
        plan.second_block,
        |_, mut block| {
            with_scratch(plan.second_scratch(), |scratch| {
                variant.run(SecondPass {
                    log_h2: plan.log_h2,
                    block: &mut block,
                    scratch,
                });
            });
        },
    );
}

/// Runs `f` with a cache-aligned buffer of `len` elements of unspecified contents, which the thread
/// keeps for the next call.
fn with_scratch(len: usize, f: impl FnOnce(&mut [F])) {
    /// Elements of a cache line.
    const LINE: usize = 16;
    thread_local! {
        static SCRATCH: RefCell<Vec<F>> = const { RefCell::new(Vec::new()) };
    }
    SCRATCH.with_borrow_mut(|buffer| {
        if buffer.len() < len + LINE {
            *buffer = F::zero_vec(len + LINE);
        }
        let skip = buffer
            .as_ptr()
            .align_offset(LINE * size_of::<F>())
            .min(LINE);
        f(&mut buffer[skip..skip + len]);
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

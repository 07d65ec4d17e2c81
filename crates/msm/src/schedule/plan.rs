//! Which window: the cost of an MSM, counted.
//!
//! Unit: one affine addition in bulk. A window with `n` digits that are not zero and `B` buckets costs
//! `n - B` additions for the bucket sums (as long as no bucket is empty) and `2 B` for the reduction;
//! every digit is sorted; every segment of the reduction and every doubling is done alone.
#![forbid(unsafe_code)]

use crate::digits::{Lengths, Windows};

/// The widest window that is considered: its buckets take 200 MB.
const WIDEST: u32 = 22;

impl Plan {
    /// Products in the field that the bulk additions take: five, a square, and three for the shared
    /// inversion, less what those of one and the same call have in common.
    #[must_use]
    pub fn multiplications(&self) -> f64 {
        6.0 * (self.accumulate + self.reduce)
    }
}

/// What a variant's steps cost, relative to one addition in bulk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// Extracting and sorting one digit.
    pub digit: f64,
    /// One doubling, or addition, of the few that are done alone.
    pub alone: f64,
    /// One addition in bulk of points with six limbs, in nanoseconds: for the estimate that is printed,
    /// not for the choice.
    pub addition_ns: f64,
}

/// A choice of windows and what it is expected to cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Bits a window.
    pub width: u32,
    /// Number of windows.
    pub windows: u32,
    /// Additions in bulk for the bucket sums.
    pub accumulate: f64,
    /// Additions in bulk for the reduction.
    pub reduce: f64,
    /// The whole cost, in additions in bulk.
    pub cost: f64,
    /// What that is expected to take on one thread.
    pub expected_ms: f64,
}

/// The cost with windows of `width` bits.
pub(crate) fn plan(width: u32, lengths: &Lengths, costs: &Costs) -> Plan {
    let windows = Windows::new(width, lengths);
    let (mut digits, mut accumulate, mut buckets) = (0.0, 0.0, 0.0);
    for window in 0..windows.count {
        // A digit of 2^(c-1) or more carries up.
        let entries = lengths.reaching((window * width).saturating_sub(1)) as f64;
        let b = f64::from(windows.buckets(window));
        // buckets that hold at least one of the entries
        let filled = b * (1.0 - (-entries / b).exp());
        digits += lengths.reaching(0) as f64;
        accumulate += entries - filled;
        buckets += b;
    }
    let reduce = 2.0 * buckets;
    let alone = f64::from(windows.count * width) + 3.0 * f64::from(windows.count);
    let cost = accumulate + reduce + digits * costs.digit + alone * costs.alone;
    Plan {
        width,
        windows: windows.count,
        accumulate,
        reduce,
        cost,
        expected_ms: cost * costs.addition_ns / 1e6,
    }
}

/// The cheapest plan.
pub(crate) fn best(lengths: &Lengths, costs: &Costs) -> Plan {
    let mut best = plan(1, lengths, costs);
    for width in 2..=WIDEST.min(lengths.bits().max(1)) {
        let candidate = plan(width, lengths, costs);
        if candidate.cost < best.cost {
            best = candidate;
        }
    }
    best
}

//! The sum of `b` times bucket `b`, on the chip.
//!
//! Running sums from the last bucket down are two chains as long as there are buckets, and each addition
//! waits for the one before. The same number of additions has logarithmic depth if buckets are summed by
//! the bits of their weight:
//!
//! ```text
//! sum of b S_b = sum over k of 2^k U_k,    U_k = sum of the S_b whose b has bit k
//! ```
//!
//! Phase 1 is a tree in place: at level `k`, `S[i 2^(k+1)] += S[i 2^(k+1) + 2^k]`. After it the word at
//! an odd multiple of `2^k` holds the sum of a block of buckets that all have bit `k` set, so phase 2
//! sums, for all `k` side by side, the words at odd multiples of `2^k` into word `2^k`. Phase 3 is
//! Horner's rule from the bucket of weight `2^(c-1)` (word 0) down to word 1, the result. Before all
//! that, replicas of hot buckets are added up. Columns take turns at every operation.
//!
//! The operations are issued in order by the busy bits alone, so a schedule can be slow but not wrong.
#![forbid(unsafe_code)]

use crate::machine::Machine;

/// A full addition in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The word that the sum goes to.
    pub to: u32,
    /// The word that is added.
    pub from: u32,
}

/// The additions of an aggregation, in order; `None` is a cycle spent on a table entry not in use.
#[must_use]
pub fn additions(machine: &Machine, hot: &[Option<u32>]) -> Vec<Option<Addition>> {
    let mut all = Vec::new();
    if hot.iter().any(Option::is_some) {
        let (first, slots) = (machine.first_slot(), machine.hot * machine.replicas);
        let mut half = 1;
        while half < machine.replicas {
            for slot in (0..slots).step_by(2 * half as usize) {
                let to = first + slot;
                all.push(Some(Addition {
                    to,
                    from: to + half,
                }));
            }
            half *= 2;
        }
        for entry in 0..machine.hot {
            let word = hot.get(entry as usize).copied().flatten();
            all.push(word.map(|to| Addition {
                to,
                from: first + entry * machine.replicas,
            }));
        }
    }
    let bits = machine.index_bits();
    let buckets = machine.buckets();
    let mut each = |to: u32, from: u32| {
        for v in 0..machine.columns {
            let high = v << bits;
            all.push(Some(Addition {
                to: high | to,
                from: high | from,
            }));
        }
    };
    let mut low = 1;
    while low <= buckets / 4 {
        for to in (2 * low..buckets).step_by(2 * low as usize) {
            each(to, to + low);
        }
        low *= 2;
    }
    let mut base = 2;
    while base <= buckets / 2 {
        let (mut low, mut half) = (1, base);
        while half <= buckets / 2 {
            let mut to = low;
            while to + half < buckets {
                each(to, to + half);
                to += 2 * half;
            }
            low *= 2;
            half *= 2;
        }
        base *= 2;
    }
    let mut weight = buckets;
    while weight > 1 {
        let word = weight & (buckets - 1);
        each(word, word);
        each(weight / 2, word);
        weight /= 2;
    }
    all
}

/// What an aggregation takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Aggregation {
    /// Full additions.
    pub additions: u64,
    /// Cycles from the first in which one may be issued to the last before the result is read.
    pub cycles: u64,
    /// The cycle, from the first one, in which each was issued.
    pub issued: Vec<(u64, Addition)>,
}

/// Runs the additions, cycle by cycle, through an empty pipeline.
#[must_use]
pub fn aggregate(machine: &Machine, hot: &[Option<u32>], trace: bool) -> Aggregation {
    const NEVER: u64 = u64::MAX;
    let reentry = u64::from(machine.reentry);
    let back = reentry + u64::from(machine.latency) + 1;
    let mut free = vec![0u64; machine.words() as usize];
    // A ring of the cycles in which second passes take the multipliers.
    let mut again = vec![false; machine.reentry as usize];
    let mut waiting: Option<u32> = None;
    let mut out = Aggregation::default();
    let mut last = 0;
    let mut now = 0u64;
    let mut place = 0usize;
    let mut step = |waiting: &mut Option<u32>, free: &mut [u64], now: u64, last: &mut u64| {
        // The adder takes what was read, unless a second pass is due: then reading waits too.
        let ready = !core::mem::take(&mut again[place]);
        if ready && let Some(to) = waiting.take() {
            again[place] = true;
            free[to as usize] = now + back;
            *last = now + back;
        }
        place += 1;
        if place == again.len() {
            place = 0;
        }
    };
    for addition in additions(machine, hot) {
        loop {
            step(&mut waiting, &mut free, now, &mut last);
            let cycle = now;
            now += 1;
            let Some(Addition { to, from }) = addition else {
                break;
            };
            let idle = free[to as usize] <= cycle && free[from as usize] <= cycle;
            if waiting.is_none() && idle {
                free[to as usize] = NEVER;
                waiting = Some(to);
                out.additions += 1;
                if trace {
                    out.issued.push((cycle, Addition { to, from }));
                }
                break;
            }
        }
    }
    while waiting.is_some() {
        step(&mut waiting, &mut free, now, &mut last);
        now += 1;
    }
    // The state that waits for the pipeline to be empty lasts at least a cycle.
    out.cycles = now.max(last) + 1;
    out
}

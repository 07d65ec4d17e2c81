//! Which buckets of a group are worth replicas.
#![forbid(unsafe_code)]

use crate::machine::Machine;

/// The table of hot buckets for a group's digits: of the buckets that get more digits than the pipeline
/// can take one after the other, those with the most.
///
/// A bucket alone takes a digit in `window` cycles; one whose share of the adder's places is more than
/// half of that would make others wait.
#[must_use]
pub fn choose(machine: &Machine, digits: &[i32]) -> Vec<Option<u32>> {
    if machine.hot == 0 {
        return Vec::new();
    }
    let mut counts = vec![0u32; machine.first_slot() as usize];
    let mut v = 0;
    let mut issued = 0u64;
    for &digit in digits {
        if digit != 0 || !machine.zero_bypass {
            counts[machine.word(v, digit) as usize] += 1;
            issued += 1;
        }
        v += 1;
        if v == machine.columns {
            v = 0;
        }
    }
    from_counts(machine, &counts, issued)
}

/// The same from the number of digits of each word of the bucket memory and their sum.
#[must_use]
pub fn from_counts(machine: &Machine, counts: &[u32], issued: u64) -> Vec<Option<u32>> {
    let enough = |count: u32| u64::from(count) * u64::from(machine.window()) * 2 > issued;
    let mut found: Vec<(u32, u32)> = (0u32..)
        .zip(counts)
        .filter(|&(_, &count)| count > 1 && enough(count))
        .map(|(word, &count)| (word, count))
        .collect();
    // Most first; equal ones by their place, so that the table is always the same.
    found.sort_by_key(|&(word, count)| (core::cmp::Reverse(count), word));
    let mut table: Vec<Option<u32>> = found.into_iter().map(|(word, _)| Some(word)).collect();
    table.resize(machine.hot as usize, None);
    table
}

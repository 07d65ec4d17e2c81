//! Proof of work: the smallest witness whose transcript sample has enough zero bits.
#![forbid(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering};

use p3_field::{PrimeCharacteristicRing, PrimeField32};

use super::isa::{Isa, Kernel, Variant};
use super::portable::Portable;
use super::poseidon2::{WIDTH, constants, external_linear, permute_mixed};
use crate::field::F;

/// The word that a challenger samples first: the last of the rate.
const SAMPLED: usize = 7;

/// The smallest witness w in `0..p`, as a field element, such that the canonical value of word 7
/// of the permuted `state`, with w in `slot`, has its low `bits` bits zero; `None` if no w has.
///
/// The other words of `state` are as they will be permuted, length tag included. Threads take
/// windows of witnesses in ascending order, so the result does not depend on their number and
/// little is searched beyond it.
pub(crate) fn grind(variant: Variant, state: [F; WIDTH], slot: usize, bits: usize) -> Option<F> {
    if bits >= 32 {
        return None;
    }
    let mask = ((1_u64 << bits) - 1) as u32;
    let threads = rayon::current_num_threads();
    // What the other threads still search when one has found is lost: a window is short against the
    // expected search, and long against the atomic addition that hands it out.
    let window = (1_u32 << bits.min(24).saturating_sub(6)).clamp(256, 1 << 10);
    let windows = F::ORDER_U32.div_ceil(window);
    let mut first = state;
    first[slot] = F::ZERO;
    external_linear(Portable, &mut first);
    let next = AtomicU32::new(0);
    let best = AtomicU32::new(u32::MAX);
    let search = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= windows {
                return;
            }
            let start = index * window;
            if start > best.load(Ordering::Relaxed) {
                return;
            }
            let end = start.saturating_add(window).min(F::ORDER_U32);
            let found = variant.run(Window {
                first: &first,
                slot,
                mask,
                start,
                end,
            });
            if let Some(w) = found {
                best.fetch_min(w, Ordering::Relaxed);
                return;
            }
        }
    };
    if threads == 1 || bits < 8 {
        search();
    } else {
        rayon::scope(|s| {
            for _ in 0..threads {
                s.spawn(|_| search());
            }
        });
    }
    let best = best.into_inner();
    (best != u32::MAX).then(|| F::from_u32(best))
}

/// The smallest witness in `start..end`.
struct Window<'a> {
    /// The state after the first linear layer, for the witness zero.
    first: &'a [F; WIDTH],
    slot: usize,
    mask: u32,
    start: u32,
    end: u32,
}

impl Kernel for Window<'_> {
    type Output = Option<u32>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<u32> {
        let mut words = vec![F::ZERO; I::LANES];
        for (l, w) in words.iter_mut().enumerate() {
            *w = F::from_u32(self.start) + F::from_usize(l);
        }
        let mut witness = isa.load(&words);
        let step = isa.splat(F::from_usize(I::LANES));
        let coefficients = column(self.slot);
        let mut at = self.start;
        while at < self.end {
            // the first linear layer, which is linear in the witness
            let w2 = isa.add(witness, witness);
            let w3 = isa.add(w2, witness);
            let w4 = isa.add(w2, w2);
            let w6 = isa.add(w3, w3);
            let multiples = [witness, witness, w2, w3, w4, w4, w6];
            let mut state = [[witness; WIDTH]];
            for i in 0..WIDTH {
                state[0][i] = isa.add(isa.splat(self.first[i]), multiples[coefficients[i]]);
            }
            permute_mixed(isa, constants(), &mut state);
            isa.store(state[0][SAMPLED], &mut words);
            for (l, w) in words.iter().enumerate() {
                let candidate = at + l as u32;
                if w.as_canonical_u32() & self.mask == 0 && candidate < self.end {
                    return Some(candidate);
                }
            }
            witness = isa.add(witness, step);
            // below p + LANES, which fits
            at += I::LANES as u32;
        }
        None
    }
}

/// Column `slot` of the external linear layer; its entries are 1, 2, 3, 4 and 6.
fn column(slot: usize) -> [usize; WIDTH] {
    let mut unit = [F::ZERO; WIDTH];
    unit[slot] = F::ONE;
    external_linear(Portable, &mut unit);
    unit.map(|x| x.as_canonical_u32() as usize)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

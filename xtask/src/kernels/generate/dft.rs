//! Small discrete Fourier transforms in registers: decimation in frequency, radix 2, unrolled.
#![forbid(unsafe_code)]

use super::{
    babybear::root_of_unity,
    dialect::Dialect,
    writer::{Value, Writer},
};

const ABOUT: &str = "Fourier transforms of 2, 4, 8 and 16 points in registers: canonical words in \
Montgomery form, natural order\nin, bit-reversed positions out. The roots are Plonky3's two-adic generators. A product \
with a known\nfactor takes its quotient from the factor's ratio to p: one slot of the multiplier less than Montgomery's.";

pub(crate) fn generate<D: Dialect>(dialect: &D) -> String {
    let mut w = Writer::new(dialect, ABOUT);
    for bits in 1..=4_u32 {
        let length = 1 << bits;
        let comment = format!(
            "{length} points, w = {} (not in Montgomery form).",
            root_of_unity(bits).0
        );
        w.procedure(&comment, &format!("dft{length}"), length, &[], |w| {
            let mut x: Vec<Value> = (0..length).map(|i| w.load(i)).collect();
            transform(w, &mut x, bits);
            w.store_all(&x);
        });
    }
    w.finish()
}

/// [`generate`], and for 2, 4 and 8 points the transforms of all rows of a sixteen-word array, for
/// languages without pointers into it.
pub(crate) fn generate_with_rows<D: Dialect>(dialect: &D) -> String {
    let mut w = Writer::new(dialect, ABOUT);
    for bits in 1..=4_u32 {
        let length = 1 << bits;
        let root = root_of_unity(bits).0;
        let comment = format!("{length} points, w = {root} (not in Montgomery form).");
        w.procedure(&comment, &format!("dft{length}"), length, &[], |w| {
            rows(w, 1, bits);
        });
        if bits < 4 {
            let comment = format!("The same of each {length} of sixteen words.");
            w.procedure(&comment, &format!("dft{length}_rows"), 16, &[], |w| {
                rows(w, 16 >> bits, bits);
            });
        }
    }
    w.finish()
}

fn rows<D: Dialect>(w: &mut Writer<'_, D>, count: usize, bits: u32) {
    let length = 1 << bits;
    for first in (0..count).map(|row| row << bits) {
        let mut x: Vec<Value> = (first..first + length).map(|i| w.load(i)).collect();
        transform(w, &mut x, bits);
        for (i, value) in (first..).zip(&x) {
            w.store(i, value);
        }
    }
}

/// Halves become sums, and differences times powers of the root; then each half in the same way.
fn transform<D: Dialect>(w: &mut Writer<'_, D>, x: &mut [Value], bits: u32) {
    if bits == 0 {
        return;
    }
    let root = root_of_unity(bits);
    let (low, high) = x.split_at_mut(1 << (bits - 1));
    for (j, (a, b)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
        let sum = w.add(a, b);
        *b = match j {
            0 => w.sub(a, b),
            _ => w.sub_mul_known(a, b, root.pow(j as u64)),
        };
        *a = sum;
    }
    transform(w, low, bits - 1);
    transform(w, high, bits - 1);
}

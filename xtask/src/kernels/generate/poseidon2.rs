//! The Poseidon2 permutation of width 16 over BabyBear (Grassi, Khovratovich, Schofnegger,
//! "Poseidon2"): 4 + 13 + 4 rounds, S-box x^7, M4 = circ(2, 3, 1, 1), the internal diagonal of Plonky3.
#![forbid(unsafe_code)]

use super::{
    babybear::{Element, poseidon2_constants},
    dialect::Dialect,
    writer::{Value, Writer},
};

const ABOUT: &str = "Poseidon2 of width 16 over BabyBear, equal to Plonky3's \
`default_babybear_poseidon2_16`:\n4 + 13 + 4 rounds on canonical words in Montgomery form. The loops over rounds stay \
rolled:\n32 registers, and code that fits the instruction cache.";

const CONSTANTS: &str = "POSEIDON2_16_RC";

/// An entry of the internal layer's diagonal: M = 1 + diag(d), 1 the matrix of ones.
enum Diagonal {
    /// A small multiple.
    Times(i32),
    /// 2^-k.
    Over(u32),
    /// -2^-k.
    MinusOver(u32),
}

/// The entries from the second on; the first is -2.
const DIAGONAL: [Diagonal; 15] = {
    use Diagonal::{MinusOver, Over, Times};
    [
        Times(1),
        Times(2),
        Over(1),
        Times(3),
        Times(4),
        MinusOver(1),
        Times(-3),
        Times(-4),
        Over(8),
        Over(2),
        Over(3),
        Over(27),
        MinusOver(8),
        MinusOver(4),
        MinusOver(27),
    ]
};

pub(crate) fn generate<D: Dialect>(dialect: &D) -> String {
    let mut w = Writer::new(dialect, ABOUT);
    let words: Vec<u32> = poseidon2_constants()
        .into_iter()
        .map(Element::montgomery)
        .collect();
    w.table(CONSTANTS, &words);
    w.procedure(
        "The linear layer of the external rounds.",
        "poseidon2_16_external_linear",
        16,
        &[],
        |w| {
            let s = w.load_all();
            external_linear(w, s);
        },
    );
    w.procedure(
        "An external round with the constants from `first` on.",
        "poseidon2_16_external_round",
        16,
        &["first"],
        |w| {
            let s = std::array::from_fn(|i| {
                let x = w.load(i);
                let constant = w.entry(CONSTANTS, &format!("first + {i}"));
                sbox(w, &x, &constant)
            });
            external_linear(w, s);
        },
    );
    w.procedure(
        "An internal round with the constant at `index`.",
        "poseidon2_16_internal_round",
        16,
        &["index"],
        internal_round,
    );
    w.procedure("The permutation.", "poseidon2_16_permute", 16, &[], |w| {
        w.call("poseidon2_16_external_linear", &[]);
        w.rolled("r", 4, |w| {
            w.call("poseidon2_16_external_round", &["16 * r"])
        });
        w.rolled("r", 13, |w| {
            w.call("poseidon2_16_internal_round", &["64 + r"])
        });
        w.rolled("r", 4, |w| {
            w.call("poseidon2_16_external_round", &["77 + 16 * r"])
        });
    });
    w.finish()
}

/// (x + constant)^7. In multiples of p: x^2 < 1.47, x^3 < 1.69, x^4 < 2.02, after its correction < 1.02,
/// x^7 < 1.81.
fn sbox<D: Dialect>(w: &mut Writer<'_, D>, x: &Value, constant: &Value) -> Value {
    let x = w.add(x, constant);
    let x2 = w.mul_lazy(&x, &x);
    let x3 = w.mul_lazy(&x2, &x);
    let x4 = w.mul_lazy(&x2, &x2);
    let x4 = w.reduce_once(&x4);
    let x7 = w.mul_lazy(&x3, &x4);
    w.reduce_once(&x7)
}

/// circ(2, 3, 1, 1) on four elements, eleven additions.
fn mat4<D: Dialect>(w: &mut Writer<'_, D>, x: &[Value]) -> [Value; 4] {
    let x01 = w.add(&x[0], &x[1]);
    let x23 = w.add(&x[2], &x[3]);
    let all = w.add(&x01, &x23);
    let all_1 = w.add(&all, &x[1]);
    let all_3 = w.add(&all, &x[3]);
    let twice_2 = w.double(&x[2]);
    let twice_0 = w.double(&x[0]);
    [
        w.add(&all_1, &x01),
        w.add(&all_1, &twice_2),
        w.add(&all_3, &x23),
        w.add(&all_3, &twice_0),
    ]
}

/// circ(2 M4, M4, M4, M4), stored.
fn external_linear<D: Dialect>(w: &mut Writer<'_, D>, s: [Value; 16]) {
    let rows: [[Value; 4]; 4] = std::array::from_fn(|j| mat4(w, &s[4 * j..4 * j + 4]));
    for k in 0..4 {
        let low = w.add(&rows[0][k], &rows[1][k]);
        let high = w.add(&rows[2][k], &rows[3][k]);
        let sum = w.add(&low, &high);
        for (j, row) in rows.iter().enumerate() {
            let out = w.add(&row[k], &sum);
            w.store(4 * j + k, &out);
        }
    }
}

fn internal_round<D: Dialect>(w: &mut Writer<'_, D>) {
    let x = w.load(0);
    let constant = w.entry(CONSTANTS, "index");
    let x = sbox(w, &x, &constant);
    let mut level: Vec<Value> = (1..16).map(|i| w.load(i)).collect();
    let others = level.clone();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => w.add(a, b),
                _ => pair[0].clone(),
            })
            .collect();
    }
    let rest = &level[0];
    let sum = w.add(rest, &x);
    // sum - 2x
    let first = w.sub(rest, &x);
    w.store(0, &first);
    for (i, (s, diagonal)) in others.iter().zip(&DIAGONAL).enumerate() {
        let out = match *diagonal {
            Diagonal::Times(times) => {
                let multiple = multiple(w, s, times.unsigned_abs());
                if times > 0 {
                    w.add(&multiple, &sum)
                } else {
                    w.sub(&sum, &multiple)
                }
            }
            Diagonal::Over(k) => {
                let part = w.div_2exp(s, k);
                w.add(&part, &sum)
            }
            Diagonal::MinusOver(k) => {
                let part = w.div_2exp(s, k);
                w.sub(&sum, &part)
            }
        };
        w.store(i + 1, &out);
    }
}

/// One to four times a value.
fn multiple<D: Dialect>(w: &mut Writer<'_, D>, x: &Value, times: u32) -> Value {
    match times {
        1 => x.clone(),
        2 => w.double(x),
        3 => {
            let twice = w.double(x);
            w.add(&twice, x)
        }
        _ => {
            let twice = w.double(x);
            w.double(&twice)
        }
    }
}

//! The Poseidon2 permutation of width 16 over BabyBear (Grassi, Khovratovich, Schofnegger,
//! "Poseidon2"): 4 + 13 + 4 rounds, S-box x^7, M4 = circ(2, 3, 1, 1), the internal diagonal of Plonky3.
#![forbid(unsafe_code)]

use super::{
    babybear::{Element, P, poseidon2_constants},
    dialect::Dialect,
    writer::{Value, Writer},
};

const ABOUT: &str = "Poseidon2 of width 16 over BabyBear, equal to Plonky3's \
`default_babybear_poseidon2_16`:\n4 + 13 + 4 rounds on canonical words in Montgomery form. The loops over rounds stay \
rolled:\n32 registers, and code that fits the instruction cache.";

const CONSTANTS: &str = "POSEIDON2_16_RC";

/// Elements whose entries of the internal diagonal are d and -d. The internal layer adds the sum of
/// the state to d times each element (`diagonal + ones`), so that of a pair (a, b) it is enough to
/// hold u = (a + b) / 2 and w = d (a - b) / 2: a round makes u' = w + sum and w' = d^2 u of them, one
/// product and one sum where there were four operations, and 2 u of the pair enters the sum.
struct Pair {
    a: usize,
    b: usize,
    d: Element,
}

const fn over(k: u32) -> Element {
    // p = 15 * 2^27 + 1, so 1 / 2^k = -15 * 2^(27 - k)
    Element(P - (15 << (27 - k)))
}

const PAIRS: [Pair; 5] = [
    Pair {
        a: 3,
        b: 6,
        d: over(1),
    },
    Pair {
        a: 4,
        b: 7,
        d: Element(3),
    },
    Pair {
        a: 5,
        b: 8,
        d: Element(4),
    },
    Pair {
        a: 9,
        b: 13,
        d: over(8),
    },
    Pair {
        a: 12,
        b: 15,
        d: over(27),
    },
];

/// A factor that is known beforehand.
#[derive(Clone, Copy)]
enum Factor {
    /// 2^k, k at most 1.
    Times(u32),
    /// 2^-k.
    Over(u32),
    /// -2^-k.
    MinusOver(u32),
}

/// The elements that have no partner, with their entries. Element 0, with -2, has the S-box.
const SINGLES: [(usize, Factor); 5] = [
    (1, Factor::Times(0)),
    (2, Factor::Times(1)),
    (10, Factor::Over(2)),
    (11, Factor::Over(3)),
    (14, Factor::MinusOver(4)),
];

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
        "Brings the state into the form of the internal rounds: sums and differences of the elements \
         with opposite\nentries of the diagonal.",
        "poseidon2_16_pair",
        16,
        &[],
        pair,
    );
    w.procedure("Brings it back.", "poseidon2_16_unpair", 16, &[], unpair);
    w.procedure(
        "An internal round with the constant at `index`.",
        "poseidon2_16_internal_round",
        16,
        &["index"],
        internal_round,
    );
    w.procedure("The permutation.", "poseidon2_16_permute", 16, &[], |w| {
        w.call("poseidon2_16_external_linear", &[]);
        if w.copies_calls() {
            w.rolled("half", 2, |w| {
                w.rolled("r", 4, |w| {
                    w.call("poseidon2_16_external_round", &["77 * half + 16 * r"]);
                });
                w.only("half == 0", internal_rounds);
            });
            return;
        }
        w.rolled("r", 4, |w| {
            w.call("poseidon2_16_external_round", &["16 * r"])
        });
        internal_rounds(w);
        w.rolled("r", 4, |w| {
            w.call("poseidon2_16_external_round", &["77 + 16 * r"])
        });
    });
    w.finish()
}

fn internal_rounds<D: Dialect>(w: &mut Writer<'_, D>) {
    w.call("poseidon2_16_pair", &[]);
    w.rolled("r", 13, |w| {
        w.call("poseidon2_16_internal_round", &["64 + r"])
    });
    w.call("poseidon2_16_unpair", &[]);
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

/// The product with a factor; by shifts where it is a power of two.
fn product<D: Dialect>(w: &mut Writer<'_, D>, x: &Value, factor: Element) -> Value {
    if factor == Element(2) {
        return w.double(x);
    }
    match (1..=27).find(|&k| over(k) == factor) {
        Some(k) => w.div_2exp(x, k),
        None => w.mul_known(x, factor),
    }
}

fn pair<D: Dialect>(w: &mut Writer<'_, D>) {
    for Pair { a, b, d } in PAIRS {
        let (x, y) = (w.load(a), w.load(b));
        let sum = w.add(&x, &y);
        let u = w.div_2exp(&sum, 1);
        let difference = w.sub(&x, &y);
        let v = product(w, &difference, d.mul(over(1)));
        w.store(a, &u);
        w.store(b, &v);
    }
}

fn unpair<D: Dialect>(w: &mut Writer<'_, D>) {
    for Pair { a, b, d } in PAIRS {
        let (u, v) = (w.load(a), w.load(b));
        let half = product(w, &v, d.pow(u64::from(P) - 2));
        let x = w.add(&u, &half);
        let y = w.sub(&u, &half);
        w.store(a, &x);
        w.store(b, &y);
    }
}

fn sum<D: Dialect>(w: &mut Writer<'_, D>, mut level: Vec<Value>) -> Value {
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => w.add(a, b),
                _ => pair[0].clone(),
            })
            .collect();
    }
    level.swap_remove(0)
}

fn internal_round<D: Dialect>(w: &mut Writer<'_, D>) {
    let x = w.load(0);
    let constant = w.entry(CONSTANTS, "index");
    let x = sbox(w, &x, &constant);
    let pairs: Vec<(Value, Value)> = PAIRS.iter().map(|p| (w.load(p.a), w.load(p.b))).collect();
    let singles: Vec<Value> = SINGLES.iter().map(|&(i, _)| w.load(i)).collect();
    let halves = pairs.iter().map(|(u, _)| u.clone()).collect();
    let halves = sum(w, halves);
    let twice = w.double(&halves);
    let rest = sum(w, singles.clone());
    let rest = w.add(&twice, &rest);
    let all = w.add(&rest, &x);
    // sum - 2x
    let first = w.sub(&rest, &x);
    w.store(0, &first);
    for (Pair { a, b, d }, (u, v)) in PAIRS.iter().zip(&pairs) {
        let next = w.add(v, &all);
        w.store(*a, &next);
        let next = product(w, u, d.mul(*d));
        w.store(*b, &next);
    }
    for (&(i, factor), s) in SINGLES.iter().zip(&singles) {
        let next = match factor {
            Factor::Times(0) => w.add(s, &all),
            Factor::Times(_) => {
                let twice = w.double(s);
                w.add(&twice, &all)
            }
            Factor::Over(k) => {
                let part = w.div_2exp(s, k);
                w.add(&part, &all)
            }
            Factor::MinusOver(k) => {
                let part = w.div_2exp(s, k);
                w.sub(&all, &part)
            }
        };
        w.store(i, &next);
    }
}

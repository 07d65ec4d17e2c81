//! The CUDA kernels' arithmetic on the host, against the reference.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use fieldspar_rpo::reference::constants::ROUND_CONSTANTS;
use fieldspar_rpo::reference::field::{add, canonical, mul, pow};
use fieldspar_rpo::reference::{ALPHA, INVERSE_ALPHA, MDS_ROW, permute};
use fieldspar_rpo::{MODULUS, WIDTH};

use crate::library::DeviceCode;
use crate::{EDGES, Random};

const RANDOM: usize = 3000;

static CODE: LazyLock<DeviceCode> = LazyLock::new(DeviceCode::new);

thread_local! {
    /// The operations that a test has compared.
    static SEEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

fn run(name: &str, input: &[u64]) -> Vec<u64> {
    SEEN.with_borrow_mut(|seen| seen.insert(name.to_owned()));
    CODE.run(name, input)
}

fn one(name: &str, input: &[u64]) -> u64 {
    run(name, input)[0]
}

fn field() {
    // 2^64, whose inverse is its square.
    let r = canonical(0xFFFF_FFFF);
    let inverse = mul(r, r);
    assert_eq!(mul(r, inverse), 1);
    let mut random = Random::new();
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    for a in EDGES {
        pairs.extend(EDGES.map(|b| (a, b)));
    }
    pairs.extend((0..RANDOM).map(|_| (random.word(), random.word())));
    for (a, b) in pairs {
        let product = mul(mul(canonical(a), canonical(b)), inverse);
        assert_eq!(canonical(one("multiply", &[a, b])), product, "{a} {b}");
        let square = mul(mul(canonical(a), canonical(a)), inverse);
        assert_eq!(canonical(one("square", &[a])), square, "{a}");
        assert_eq!(one("canonical", &[a]), a % MODULUS);
        let seventh = one("power_7", &[a]);
        assert_eq!(canonical(seventh), pow(a, ALPHA), "{a}");
        let root = one("power_inverse_7", &[a]);
        assert_eq!(canonical(root), pow(a, INVERSE_ALPHA), "{a}");
    }
}

fn linear() {
    let mut random = Random::new();
    for state in random.states(RANDOM) {
        let constants = random.states(1)[0].map(canonical);
        let out = run("mds", &[state, constants].concat());
        for (i, out) in out.into_iter().enumerate() {
            let terms = state.iter().enumerate();
            let sum = terms.fold(constants[i], |sum, (j, x)| {
                add(sum, mul(MDS_ROW[(WIDTH + j - i) % WIDTH], canonical(*x)))
            });
            assert_eq!(canonical(out), sum, "{state:?}, {i}");
        }
    }
}

fn permutation() {
    let constants: Vec<u64> = ROUND_CONSTANTS.into_iter().flatten().flatten().collect();
    for state in Random::new().states(200) {
        let found = run("permute", &[&state[..], &constants].concat());
        let mut expected = state;
        permute(&mut expected);
        assert_eq!(found, expected, "{state:?}");
    }
}

#[test]
fn device_code_is_the_references_arithmetic() {
    field();
    linear();
    permutation();
    // Whoever exports a function has it compared.
    let seen = SEEN.with_borrow(|seen| seen.iter().cloned().collect::<Vec<_>>());
    assert_eq!(seen, CODE.names());
}

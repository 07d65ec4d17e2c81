//! Multipliers and modular sums against arkworks, at every number of Karatsuba levels.

use ark_bls12_377::Fq;
use ark_ff::{Field, PrimeField};
use fieldspar_fpga::rtl::{Library, Port, Simulation};
use rand::{SeedableRng, rngs::StdRng};

use crate::support::{self, Limbs, P, SEEDS, add, edges, less, reduced};

/// What the blocks have to give for one pair; `None` where the pair is outside a block's domain.
struct Expected {
    product: [u64; 12],
    montgomery: Option<Limbs>,
    barrett: Option<Limbs>,
    sum: Option<Limbs>,
    difference: Option<Limbs>,
}

/// By the school's method.
fn product(a: Limbs, b: Limbs) -> [u64; 12] {
    let mut out = [0; 12];
    for i in 0..6 {
        let mut carry = 0;
        for j in 0..6 {
            (out[i + j], carry) = a[i].carrying_mul_add(b[j], out[i + j], carry);
        }
        out[i + 6] = carry;
    }
    out
}

impl Expected {
    fn new(a: Limbs, b: Limbs, inverse_of_r: Fq) -> Self {
        let product = product(a, b);
        let (x, y) = (reduced(a), reduced(b));
        let high: Limbs = product[6..].try_into().unwrap();
        let limbs = |x: Fq| x.into_bigint().0;
        let at_most_p = |a| !less(P, a);
        let double_p = add(P, P).0;
        Self {
            product,
            montgomery: less(high, P).then(|| limbs(x * y * inverse_of_r)),
            // Below 2^758.
            barrett: (high[5] >> (758 - 384 - 5 * 64) == 0).then(|| limbs(x * y)),
            sum: (at_most_p(a) && at_most_p(b) && less(add(a, b).0, double_p))
                .then(|| limbs(x + y)),
            difference: (less(a, P) && at_most_p(b)).then(|| limbs(x - y)),
        }
    }
}

/// An output, and the cycles after which it shows a result.
struct Output {
    port: Port,
    latency: usize,
}

impl Output {
    fn new(simulation: &mut Simulation, name: &str, bits: u32, latency: &str) -> Self {
        let port = simulation.port(name, bits).unwrap();
        let latency = simulation.port(latency, 16).unwrap();
        Self {
            port,
            latency: simulation.get(latency) as usize,
        }
    }

    /// Compares what it shows after `edges` with what it has to show; 1 if there was something.
    fn check<const N: usize>(
        &self,
        simulation: &Simulation,
        edges: usize,
        expected: &[Expected],
        choose: impl Fn(&Expected) -> Option<[u64; N]>,
        what: &str,
    ) -> usize {
        let Some(index) = edges.checked_sub(self.latency) else {
            return 0;
        };
        let Some(wanted) = expected.get(index).and_then(choose) else {
            return 0;
        };
        let mut have = [0; N];
        simulation.get_wide(self.port, &mut have);
        assert_eq!(have, wanted, "{what}, pair {index}");
        1
    }
}

/// A new pair each cycle, and each block compared each cycle; gives how many results each compared.
fn compare(library: &Library, seed: u32, pairs: &[(Limbs, Limbs)]) -> [usize; 6] {
    let inverse_of_r = Fq::from(2u8).pow([384]).inverse().unwrap();
    let expected: Vec<Expected> = pairs
        .iter()
        .map(|(a, b)| Expected::new(*a, *b, inverse_of_r))
        .collect();
    let mut simulation = library.simulation(seed).unwrap();
    let sim = &mut simulation;
    let rst = sim.port("rst", 1).unwrap();
    let (a, b) = (sim.port("a", 384).unwrap(), sim.port("b", 384).unwrap());
    sim.settle();
    let kmul = Output::new(sim, "kmul", 768, "kmul_latency");
    let kmul_lo = Output::new(sim, "kmul_lo", 384, "kmul_lo_latency");
    let mont = Output::new(sim, "mont", 384, "mont_latency");
    let barrett = Output::new(sim, "barrett", 384, "barrett_latency");
    let sum = Output::new(sim, "sum", 384, "mod_latency");
    let difference = Output::new(sim, "difference", 384, "mod_latency");
    support::reset(sim, rst);

    let longest = mont.latency.max(barrett.latency);
    let mut compared = [0; 6];
    for cycle in 0..pairs.len() + longest {
        let (x, y) = pairs.get(cycle).copied().unwrap_or_default();
        sim.set_wide(a, &x);
        sim.set_wide(b, &y);
        sim.settle();
        sim.edge();
        let edges = cycle + 1;
        let low = |e: &Expected| -> Option<Limbs> { e.product[..6].try_into().ok() };
        let counts = [
            kmul.check(sim, edges, &expected, |e| Some(e.product), "product"),
            kmul_lo.check(sim, edges, &expected, low, "low half"),
            mont.check(sim, edges, &expected, |e| e.montgomery, "Montgomery"),
            barrett.check(sim, edges, &expected, |e| e.barrett, "Barrett"),
            sum.check(sim, edges, &expected, |e| e.sum, "sum"),
            difference.check(sim, edges, &expected, |e| e.difference, "difference"),
        ];
        for (total, n) in compared.iter_mut().zip(counts) {
            *total += n;
        }
    }
    compared
}

/// All pairs of edges, then random ones up to `count`.
fn pairs(count: usize, seed: u64) -> Vec<(Limbs, Limbs)> {
    let edges = edges();
    let mut pairs: Vec<_> = edges
        .iter()
        .flat_map(|a| edges.iter().map(|b| (*a, *b)))
        .collect();
    let mut rng = StdRng::seed_from_u64(seed);
    while pairs.len() < count {
        pairs.push((support::operand(&mut rng), support::operand(&mut rng)));
    }
    pairs
}

/// Every block at one number of levels. Pairs outside a block's domain do not count for it, and about
/// one in four is inside that of the sums, so there are more pairs than `count` asks for.
fn blocks(levels: u64) {
    let Some(library) = support::design(&format!("blocks_l{levels}")) else {
        return;
    };
    let count = support::count(2000);
    let compared = compare(&library, 1, &pairs(5 * count, levels));
    assert!(compared.iter().all(|n| *n >= count), "{compared:?}");
}

#[test]
fn soak_rtl_blocks_of_two_levels() {
    blocks(2);
}

#[test]
fn soak_rtl_blocks_of_three_levels() {
    blocks(3);
}

#[test]
fn soak_rtl_blocks_of_four_levels() {
    blocks(4);
}

#[test]
fn rtl_blocks_forget_their_initial_values() {
    for levels in 2..=4 {
        let Some(library) = support::design(&format!("blocks_l{levels}")) else {
            return;
        };
        for seed in SEEDS {
            compare(&library, seed, &pairs(0, 0)[..100]);
        }
    }
}

#[test]
fn rtl_montgomery_products_are_the_bytes_of_arkworks() {
    let Some(library) = support::design("blocks_l3") else {
        return;
    };
    let mut simulation = library.simulation(0).unwrap();
    let sim = &mut simulation;
    let (a, b) = (sim.port("a", 384).unwrap(), sim.port("b", 384).unwrap());
    let rst = sim.port("rst", 1).unwrap();
    support::reset(sim, rst);
    sim.settle();
    let mont = Output::new(sim, "mont", 384, "mont_latency");
    let mut rng = StdRng::seed_from_u64(5);
    for _ in 0..50 {
        let (x, y) = (support::element(&mut rng), support::element(&mut rng));
        // The limbs as they lie in memory, no conversion.
        sim.set_wide(a, &x.0.0);
        sim.set_wide(b, &y.0.0);
        for _ in 0..mont.latency {
            sim.settle();
            sim.edge();
        }
        let mut have = [0; 6];
        sim.get_wide(mont.port, &mut have);
        assert_eq!(have, (x * y).0.0);
    }
}

/// The comparison itself sees a wrong bit.
#[test]
#[should_panic(expected = "Montgomery, pair 3")]
fn rtl_blocks_a_wrong_expectation_is_noticed() {
    let Some(library) = support::design("blocks_l2") else {
        panic!("Montgomery, pair 3: skipped");
    };
    let mut simulation = library.simulation(0).unwrap();
    let mont = Output::new(&mut simulation, "mont", 384, "mont_latency");
    let expected: Vec<Expected> = (0..4)
        .map(|i| {
            let mut e = Expected::new([0; 6], [0; 6], Fq::from(1u8));
            e.montgomery = Some([u64::from(i == 3), 0, 0, 0, 0, 0]);
            e
        })
        .collect();
    let rst = simulation.port("rst", 1).unwrap();
    support::reset(&mut simulation, rst);
    for edges in 1..=mont.latency + 4 {
        simulation.settle();
        simulation.edge();
        mont.check(
            &simulation,
            edges,
            &expected,
            |e| e.montgomery,
            "Montgomery",
        );
    }
}

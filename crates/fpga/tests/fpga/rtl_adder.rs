//! The Edwards adder against arkworks: mixed and full additions, at random among each other.

use std::collections::BTreeMap;

use ark_bls12_377::{Fq, G1TEAffine, G1TEProjective, g1::Config};
use ark_ec::{AffineRepr, CurveGroup, twisted_edwards::TECurveConfig};
use ark_ff::{AdditiveGroup, BigInt, Field, Fp};
use fieldspar_fpga::rtl::{Library, Port, Simulation};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::support::{self, Limbs, P, SEEDS, less};

/// The design, and the levels of it.
const DESIGN: (&str, &str) = ("ec_adder_l3", "blocks_l3");

/// Extended coordinates.
#[derive(Clone, Copy)]
struct Extended {
    x: Fq,
    y: Fq,
    z: Fq,
    t: Fq,
}

impl Extended {
    fn new(point: G1TEAffine, z: Fq) -> Self {
        let (x, y) = (point.x, point.y);
        Self {
            x: x * z,
            y: y * z,
            z,
            t: x * y * z,
        }
    }
}

/// One addition: `accumulator + operand`, or minus.
#[derive(Clone)]
struct Addition {
    accumulator: Extended,
    operand: [Limbs; 4],
    full: bool,
    negate: bool,
    sum: G1TEAffine,
}

impl Addition {
    /// Mixed or full, plus or minus; scaled so that no Z is 1 by rule.
    fn new(a: G1TEAffine, b: G1TEAffine, full: bool, negate: bool, rng: &mut StdRng) -> Self {
        let scale = |rng: &mut StdRng| match rng.random_range(0..8) {
            0 => Fq::ONE,
            _ => support::element(rng),
        };
        let operand = match full {
            true => {
                let b = Extended::new(b, scale(rng));
                [b.x, b.y, b.z, b.t]
            }
            false => {
                let kt = (b.x * b.y * Config::COEFF_D).double();
                // The fourth is not to be read.
                [b.y - b.x, b.y + b.x, kt, support::element(rng)]
            }
        };
        let sum = match negate {
            true => a.into_group() - b,
            false => a.into_group() + b,
        };
        Self {
            accumulator: Extended::new(a, scale(rng)),
            operand: operand.map(|x| limbs(x, rng)),
            full,
            negate,
            sum: sum.into_affine(),
        }
    }
}

/// Montgomery form; zero is sometimes `p`, which the adder takes too.
fn limbs(x: Fq, rng: &mut StdRng) -> Limbs {
    match x == Fq::ZERO && rng.random() {
        true => P,
        false => x.0.0,
    }
}

/// Points of the subgroup, the identity first.
fn pool(count: usize) -> Vec<G1TEAffine> {
    let step = G1TEAffine::generator() * ark_bls12_377::Fr::from(0x1234_5678_9abc_def1u64);
    let mut point = G1TEProjective::from(G1TEAffine::generator());
    let mut points = vec![G1TEProjective::from(G1TEAffine::zero())];
    while points.len() < count {
        points.push(point);
        point += step;
    }
    G1TEProjective::normalize_batch(&points)
}

/// Random pairs, one in eight of them equal, opposite, or with the identity.
fn additions(count: usize, seed: u64) -> Vec<Addition> {
    let pool = pool(500);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        let (a, b) = (
            pool[rng.random_range(0..pool.len())],
            pool[rng.random_range(0..pool.len())],
        );
        let (a, b) = match rng.random_range(0..32) {
            0 => (a, a),
            1 => (a, -a),
            2 => (a, pool[0]),
            3 => (pool[0], *[a, pool[0]].get(rng.random_range(0..2)).unwrap()),
            _ => (a, b),
        };
        all.push(Addition::new(a, b, rng.random(), rng.random(), &mut rng));
    }
    all
}

/// The adder with its ports.
struct Adder {
    sim: Simulation,
    latency: usize,
    reentry: usize,
    rst: Port,
    in_valid: Port,
    in_ready: Port,
    in_full: Port,
    in_neg: Port,
    in_tag: Port,
    accumulator: [Port; 4],
    operand: [Port; 4],
    out_valid: Port,
    out_full: Port,
    out_tag: Port,
    out: [Port; 4],
}

impl Adder {
    fn new(library: &Library, seed: u32) -> Self {
        let (latency, reentry) = {
            let blocks = support::design(DESIGN.1).unwrap();
            let mut blocks = blocks.simulation(0).unwrap();
            blocks.settle();
            let mut read = |name| {
                let port = blocks.port(name, 16).unwrap();
                blocks.get(port) as usize
            };
            (read("ec_latency"), read("ec_reentry"))
        };
        let mut sim = library.simulation(seed).unwrap();
        let wide =
            |sim: &mut Simulation, names: [&str; 4]| names.map(|n| sim.port(n, 384).unwrap());
        Self {
            latency,
            reentry,
            rst: sim.port("rst", 1).unwrap(),
            in_valid: sim.port("in_valid", 1).unwrap(),
            in_ready: sim.port("in_ready", 1).unwrap(),
            in_full: sim.port("in_full", 1).unwrap(),
            in_neg: sim.port("in_neg", 1).unwrap(),
            in_tag: sim.port("in_tag", 16).unwrap(),
            accumulator: wide(&mut sim, ["acc_x", "acc_y", "acc_z", "acc_t"]),
            operand: wide(&mut sim, ["op0", "op1", "op2", "op3"]),
            out_valid: sim.port("out_valid", 1).unwrap(),
            out_full: sim.port("out_full", 1).unwrap(),
            out_tag: sim.port("out_tag", 16).unwrap(),
            out: wide(&mut sim, ["out_x", "out_y", "out_z", "out_t"]),
            sim,
        }
    }

    /// Puts an addition at the inputs, or garbage that does not count; whether the adder takes it.
    fn offer(&mut self, addition: Option<&Addition>, tag: usize, rng: &mut StdRng) -> bool {
        let sim = &mut self.sim;
        sim.set(self.in_valid, u64::from(addition.is_some()));
        if let Some(addition) = addition {
            sim.set(self.in_full, addition.full.into());
            sim.set(self.in_neg, addition.negate.into());
            sim.set(self.in_tag, tag as u64);
            let a = &addition.accumulator;
            for (port, x) in self.accumulator.iter().zip([a.x, a.y, a.z, a.t]) {
                sim.set_wide(*port, &limbs(x, rng));
            }
            for (port, x) in self.operand.iter().zip(&addition.operand) {
                sim.set_wide(*port, x);
            }
        } else {
            sim.set(self.in_full, rng.random_range(0..2));
            for port in self.accumulator.iter().chain(&self.operand) {
                sim.set_wide(*port, &support::operand(rng));
            }
        }
        sim.settle();
        sim.get(self.in_ready) == 1 && addition.is_some()
    }

    fn idle(&mut self, cycles: usize, rng: &mut StdRng) {
        for _ in 0..cycles {
            self.offer(None, 0, rng);
            self.sim.edge();
        }
    }

    /// Looks at the outputs of this cycle: the result that is due and no other.
    fn check(&self, due: Option<(usize, &Addition)>) {
        let valid = self.sim.get(self.out_valid) == 1;
        let Some((tag, addition)) = due else {
            assert!(!valid, "a result that nobody asked for");
            return;
        };
        assert!(valid, "addition {tag} is late");
        assert_eq!(self.sim.get(self.out_tag), tag as u64 & 0xffff);
        assert_eq!(self.sim.get(self.out_full), u64::from(addition.full));
        let [x, y, z, t] = self.out.map(|port| {
            let mut limbs = [0; 6];
            self.sim.get_wide(port, &mut limbs);
            assert!(less(limbs, P), "addition {tag}: not reduced");
            Fq::from(Raw(limbs))
        });
        let sum = addition.sum;
        assert_ne!(z, Fq::ZERO, "addition {tag}");
        assert_eq!(x, sum.x * z, "addition {tag}: x");
        assert_eq!(y, sum.y * z, "addition {tag}: y");
        assert_eq!(t * z, x * y, "addition {tag}: t");
    }

    /// Runs all of them, offering one in a cycle with the given chance in 256, and checks each result in
    /// its cycle; gives the cycles in which the adder was not ready.
    fn run(&mut self, additions: &[Addition], chance: u32, rng: &mut StdRng) -> usize {
        let mut due: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut next, mut cycle, mut refused) = (0, 0, 0);
        while next < additions.len() || !due.is_empty() {
            self.check(due.remove(&cycle).map(|tag| (tag, &additions[tag])));
            let offered = additions
                .get(next)
                .filter(|_| rng.random_range(0..256) < chance);
            if self.offer(offered, next, rng) {
                let second = if additions[next].full {
                    self.reentry
                } else {
                    0
                };
                let twice = due.insert(cycle + second + self.latency, next);
                assert!(twice.is_none(), "two results in one cycle");
                next += 1;
            } else if offered.is_some() {
                refused += 1;
            }
            self.sim.edge();
            cycle += 1;
        }
        refused
    }
}

/// A Montgomery form as an element.
struct Raw(Limbs);

impl From<Raw> for Fq {
    fn from(raw: Raw) -> Self {
        Fp::new_unchecked(BigInt(raw.0))
    }
}

fn adder(seed: u32) -> Option<Adder> {
    let library = support::design(DESIGN.0)?;
    support::design(DESIGN.1)?;
    let mut adder = Adder::new(&library, seed);
    support::reset(&mut adder.sim, adder.rst);
    Some(adder)
}

#[test]
fn soak_rtl_additions_equal_arkworks() {
    let Some(mut adder) = adder(1) else { return };
    let mut rng = StdRng::seed_from_u64(3);
    let count = support::count(2000);
    // In parts: the expected points take memory.
    for part in 0..count.div_ceil(2000) {
        let all = additions(2000.min(count - 2000 * part), part as u64);
        let chance = [256, 230, 60][part % 3];
        adder.run(&all, chance, &mut rng);
    }
}

#[test]
fn rtl_mixed_additions_take_one_cycle_each() {
    let Some(mut adder) = adder(2) else { return };
    let mut rng = StdRng::seed_from_u64(4);
    let mut all = additions(300, 9);
    all.retain(|a| !a.full);
    assert_eq!(adder.run(&all, 256, &mut rng), 0);
}

#[test]
fn rtl_full_additions_take_two_cycles_each() {
    let Some(mut adder) = adder(2) else { return };
    let mut rng = StdRng::seed_from_u64(4);
    let mut all = additions(600, 10);
    all.retain(|a| a.full);
    // At every other cycle none is refused.
    for (n, addition) in all.iter().enumerate() {
        assert!(adder.offer(Some(addition), n, &mut rng), "addition {n}");
        adder.sim.edge();
        adder.idle(1, &mut rng);
    }
    adder.idle(adder.reentry + adder.latency, &mut rng);
    // Offered in every cycle, they take two each in the long run.
    let refused = adder.run(&all, 256, &mut rng);
    let reentry = adder.reentry;
    assert!(
        refused <= all.len() && refused + reentry + 1 >= all.len(),
        "{refused}"
    );
}

#[test]
fn rtl_additions_of_equal_opposite_and_neutral_points() {
    let Some(mut adder) = adder(0) else { return };
    let mut rng = StdRng::seed_from_u64(6);
    let pool = pool(3);
    let mut all = Vec::new();
    for a in &pool {
        for b in pool.iter().flat_map(|b| [*b, -*b]) {
            for full in [false, true] {
                for negate in [false, true] {
                    all.push(Addition::new(*a, b, full, negate, &mut rng));
                }
            }
        }
    }
    adder.run(&all, 256, &mut rng);
}

#[test]
fn rtl_additions_after_reset_do_not_depend_on_what_was_before() {
    for seed in SEEDS {
        let Some(mut adder) = adder(seed) else { return };
        let mut rng = StdRng::seed_from_u64(seed.into());
        // Nothing comes out of the initial values.
        for _ in 0..adder.latency + adder.reentry + 2 {
            adder.check(None);
            adder.idle(1, &mut rng);
        }
        let all = additions(60, seed.into());
        adder.run(&all, 200, &mut rng);
        // Reset with the pipeline full, both kinds in flight.
        for (n, addition) in all.iter().enumerate() {
            adder.offer(Some(addition), n, &mut rng);
            adder.sim.edge();
        }
        adder.sim.set(adder.in_valid, 0);
        support::reset(&mut adder.sim, adder.rst);
        adder.run(&all, 200, &mut rng);
    }
}

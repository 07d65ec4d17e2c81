//! Multi-scalar multiplication on `fpga:sim`, against the processor's and arkworks.

use std::env;

use ark_bls12_377::{Fq, Fr, G1Affine, G1Projective};
use ark_ec::{CurveGroup, VariableBaseMSM};
use ark_ff::{BigInt, PrimeField};
use fieldspar_fpga::designs::design;
use fieldspar_fpga::{Engine, Error, Machine, Policy, msm, rtl};
use fieldspar_msm::curve::{Affine, Bls12_377, Curve};
use fieldspar_msm::inputs::{self, Distribution};
use fieldspar_msm::{Bases, InSubgroup, OnCurve, Trusted, field::Fp};

type Point = Affine<Bls12_377, 6>;

fn to_ark(point: &Point) -> G1Affine {
    if point.is_infinity() {
        return G1Affine::identity();
    }
    let coordinate = |x: Fp<Bls12_377, 6>| Fq::from_bigint(BigInt(x.to_canonical())).unwrap();
    G1Affine::new_unchecked(coordinate(point.x), coordinate(point.y))
}

fn arkworks(points: &[Point], scalars: &[[u64; 4]]) -> G1Affine {
    let points: Vec<G1Affine> = points.iter().map(to_ark).collect();
    let scalars: Vec<Fr> = scalars
        .iter()
        .map(|s| Fr::from_bigint(BigInt(*s)).unwrap())
        .collect();
    G1Projective::msm(&points, &scalars).unwrap().into_affine()
}

fn order() -> [u64; 4] {
    <Bls12_377 as Curve<6>>::ORDER
}

/// Points with infinity, a point twice and its opposite among them.
fn points(seed: u64, count: usize) -> Vec<Point> {
    let mut points = inputs::points::<Bls12_377, 6>(seed, count);
    if count > 8 {
        points[3] = Point::INFINITY;
        points[5] = points[4];
        points[6] = points[4].neg();
    }
    points
}

fn check(engine: &Engine, count: usize, distribution: Distribution, seed: u64) -> u64 {
    let points = points(seed, count);
    let scalars = distribution.scalars(seed, count, &order());
    let want = arkworks(&points, &scalars);
    let bases = Bases::<_, 6, Trusted>::new(points).unwrap();
    let (sum, report) = msm(engine, &bases, &scalars).unwrap();
    assert_eq!(
        to_ark(&sum),
        want,
        "{} {count} {distribution:?}",
        engine.name()
    );
    report.counters.cycles
}

fn machine(bits: u32, columns: u32, policy: Policy, hot: u32) -> Machine {
    let mut machine = Machine::default();
    machine.digit_bits = bits;
    machine.columns = columns;
    machine.policy = policy;
    machine.hot = hot;
    machine.replicas = 8;
    machine
}

const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution::Uniform,
    Distribution::ZeroOne,
    Distribution::Same,
    Distribution::U64,
    Distribution::TopWindow,
];

#[test]
fn model_gives_the_sum_of_arkworks() {
    for machine in [
        machine(8, 1, Policy::Stall, 0),
        machine(9, 4, Policy::Fifo(16), 4),
        machine(10, 3, Policy::Append, 2),
    ] {
        let engine = Engine::Model(machine);
        for distribution in DISTRIBUTIONS {
            check(&engine, 60, distribution, 5);
        }
        for count in [0, 1, 2, 9] {
            check(&engine, count, Distribution::Uniform, 6);
        }
    }
}

#[test]
fn bad_inputs_are_refused() {
    let engine = Engine::Model(machine(8, 1, Policy::Append, 0));
    let points = points(1, 3);
    let bases = Bases::<_, 6, InSubgroup>::new(points.clone()).unwrap();
    let error = msm(&engine, &bases, &vec![1u64; 2]).unwrap_err();
    assert!(
        matches!(error, Error::Msm(fieldspar_msm::Error::Length { .. })),
        "{error}"
    );
    let error = msm(&engine, &bases, &vec![[1, 0, 0, 0], order(), [0; 4]]).unwrap_err();
    let at_one = matches!(
        error,
        Error::Msm(fieldspar_msm::Error::Scalar { index: 1, .. })
    );
    assert!(at_one, "{error}");
    let bases = Bases::<_, 6, OnCurve>::new(points.clone()).unwrap();
    let error = msm(&engine, &bases, &vec![1u64; 3]).unwrap_err();
    assert!(matches!(error, Error::Subgroup), "{error}");
    let engine = Engine::Model(machine(2, 1, Policy::Append, 0));
    let bases = Bases::<_, 6, InSubgroup>::new(points).unwrap();
    let error = msm(&engine, &bases, &vec![1u64; 3]).unwrap_err();
    assert!(matches!(error, Error::Machine { .. }), "{error}");
}

#[test]
fn points_without_an_edwards_form_are_added_by_the_host() {
    // (-1, 0) has order 2
    let special = Point {
        x: Fp::ONE.neg(),
        y: Fp::ZERO,
    };
    let mut points = points(2, 10);
    points[1] = special;
    let scalars = vec![3u64; 10];
    let wide: Vec<[u64; 4]> = scalars.iter().map(|&s| [s, 0, 0, 0]).collect();
    let want = fieldspar_msm::reference::msm(&points, &wide);
    let bases = Bases::<_, 6, Trusted>::new(points).unwrap();
    let engine = Engine::Model(machine(8, 2, Policy::Fifo(4), 0));
    let (sum, report) = msm(&engine, &bases, &scalars).unwrap();
    assert_eq!(sum, want);
    assert_eq!(report.on_host, 1);
}

/// The RTL's engine, or nothing if it is not built.
fn rtl_engine(name: &str) -> Option<Engine> {
    let found = design(name).unwrap();
    let built = rtl::Library::open(name).map_err(Error::Rtl);
    crate::support::built(built)?;
    Some(Engine::Rtl(found, 9))
}

/// The sum, and the cycles of the model.
fn rtl_msm(name: &str, count: usize, distribution: Distribution) {
    let Some(engine) = rtl_engine(name) else {
        return;
    };
    let begin = std::time::Instant::now();
    let cycles = check(&engine, count, distribution, 3);
    println!(
        "{name} {count} {distribution:?}: {cycles} cycles, {:.1?}",
        begin.elapsed()
    );
    let model = Engine::Model(engine.machine().clone());
    assert_eq!(cycles, check(&model, count, distribution, 3));
}

#[test]
fn rtl_msm_is_that_of_arkworks() {
    for count in [0, 1, 2, 20] {
        rtl_msm("msm_c8", count, Distribution::Uniform);
    }
    rtl_msm("msm_c8", 40, Distribution::Same);
    rtl_msm("msm_c8", 40, Distribution::ZeroOne);
    rtl_msm("msm_c8", 1 << 10, Distribution::Uniform);
}

#[test]
fn soak_fpga_msm() {
    let Ok(log) = env::var("FIELDSPAR_SOAK_FPGA") else {
        return;
    };
    for name in ["msm_c8", "msm_c9", "msm_c10"] {
        rtl_msm(name, 1 << 12, Distribution::Uniform);
        rtl_msm(name, 1 << 8, Distribution::Same);
    }
    rtl_msm(
        "msm_c8",
        1 << log.parse::<u32>().unwrap(),
        Distribution::Uniform,
    );
}

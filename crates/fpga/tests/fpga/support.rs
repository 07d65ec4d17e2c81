//! Operands, and designs that may not be built.

use std::env;

use ark_bls12_377::Fq;
use ark_ff::{BigInt, PrimeField};
use fieldspar_fpga::rtl::{Error, Library, Port, Simulation};
use rand::{Rng, RngExt};

/// Six words of 64 bits, lowest first.
pub(crate) type Limbs = [u64; 6];

/// The modulus.
pub(crate) const P: Limbs = Fq::MODULUS.0;

/// Seeds of initial values: zeros, and three random states.
pub(crate) const SEEDS: [u32; 4] = [0, 1, 77, 0x7eed_5eed];

/// The design, or `None` after saying so: where FIELDSPAR_RTL or a soak asks for it, it has to be there.
pub(crate) fn design(name: &str) -> Option<Library> {
    match Library::open(name) {
        Ok(library) => Some(library),
        Err(Error::NotBuilt { .. })
            if env::var_os("FIELDSPAR_RTL").is_none()
                && env::var_os("FIELDSPAR_SOAK_RTL").is_none() =>
        {
            eprintln!("skipped: {name} is not built (cargo xtask rtl)");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A driver, or `None` after saying so, as [`design`].
pub(crate) fn built<T>(opened: Result<T, fieldspar_fpga::Error>) -> Option<T> {
    match opened {
        Ok(driver) => Some(driver),
        Err(fieldspar_fpga::Error::Rtl(Error::NotBuilt { name, .. }))
            if env::var_os("FIELDSPAR_RTL").is_none()
                && env::var_os("FIELDSPAR_SOAK_FPGA").is_none() =>
        {
            eprintln!("skipped: {name} is not built (cargo xtask rtl)");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// How many operands to try: `ci` here, FIELDSPAR_SOAK_RTL in a soak.
pub(crate) fn count(ci: usize) -> usize {
    env::var("FIELDSPAR_SOAK_RTL").map_or(ci, |text| text.parse().unwrap())
}

/// Three cycles of reset.
pub(crate) fn reset(simulation: &mut Simulation, rst: Port) {
    simulation.set(rst, 1);
    for _ in 0..3 {
        simulation.settle();
        simulation.edge();
    }
    simulation.set(rst, 0);
}

/// `a + b`, and whether it left 384 bits.
pub(crate) fn add(a: Limbs, b: Limbs) -> (Limbs, bool) {
    let (mut sum, mut carry) = ([0; 6], false);
    for i in 0..6 {
        (sum[i], carry) = a[i].carrying_add(b[i], carry);
    }
    (sum, carry)
}

/// `a - 1`.
fn before(a: Limbs) -> Limbs {
    add(a, [u64::MAX; 6]).0
}

pub(crate) fn less(a: Limbs, b: Limbs) -> bool {
    BigInt(a) < BigInt(b)
}

/// Values at which carries and corrections change.
pub(crate) fn edges() -> Vec<Limbs> {
    let small = |n| [n, 0, 0, 0, 0, 0];
    let double = add(P, P).0;
    let mut all = vec![
        small(0),
        small(1),
        small(2),
        small(u64::MAX),
        before(P),
        P,
        add(P, small(1)).0,
        before(double),
        double,
        [u64::MAX; 6],
        before([u64::MAX; 6]),
        // R mod P and 2^383.
        Fq::from(1u8).0.0,
        [0, 0, 0, 0, 0, 1 << 63],
    ];
    for i in 0..6 {
        let mut one_limb = [0; 6];
        one_limb[i] = u64::MAX;
        all.push(one_limb);
    }
    // Boundaries of the halves at every level.
    for bit in [24, 48, 96, 192, 193, 376, 377] {
        let mut power = [0; 6];
        power[bit / 64] = 1 << (bit % 64);
        all.push(power);
        all.push(before(power));
    }
    all
}

/// Any 384 bits, an element, or limbs of zeros and ones among random ones.
pub(crate) fn operand(rng: &mut impl Rng) -> Limbs {
    let any: Limbs = std::array::from_fn(|_| rng.random());
    match rng.random_range(0..4) {
        0 => any,
        1 => any.map(|limb| [0, u64::MAX, limb, limb][rng.random_range(0..4)]),
        _ => element(rng).0.0,
    }
}

/// An element, all of them about equally likely.
pub(crate) fn element(rng: &mut impl Rng) -> Fq {
    let bytes: [u8; 64] = std::array::from_fn(|_| rng.random());
    Fq::from_le_bytes_mod_order(&bytes)
}

/// The element of any 384 bits.
pub(crate) fn reduced(a: Limbs) -> Fq {
    let bytes: Vec<u8> = a.iter().flat_map(|limb| limb.to_le_bytes()).collect();
    Fq::from_le_bytes_mod_order(&bytes)
}

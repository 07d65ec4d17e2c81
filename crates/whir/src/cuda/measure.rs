//! How fast the kernels are, each alone, and what bounds it.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use p3_field::{BasedVectorSpace, PrimeCharacteristicRing};
use p3_sumcheck::strategy::VariableOrder;

use super::encode::{Message, encode};
use super::engine::CudaEngine;
use super::eval::{evaluate, partial_evaluations};
use super::sumcheck::{Tables, read_message};
use super::tree::Tree;
use super::weights;
use crate::driver::Error as ProveError;
use crate::engine::{Engine, GrindTask, HiKind, HiWeight};
use crate::field::{EF4, Extension, F};

/// What a kernel does, counted once per value: bytes of device memory read and written, permutations.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// The kernel and its size.
    pub name: String,
    /// Median time in milliseconds, launches included.
    pub ms: f64,
    /// Bytes that it must move, each input read once and each output written once.
    pub bytes: u64,
    /// Poseidon2 permutations that it computes.
    pub permutations: u64,
}

impl Figure {
    /// Gigabytes a second.
    #[must_use]
    pub fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.ms / 1e6
    }

    /// Thousand million permutations a second.
    #[must_use]
    pub fn gperm_per_s(&self) -> f64 {
        self.permutations as f64 / self.ms / 1e6
    }
}

/// Times single kernels on the engine's GPU, on pseudorandom input of degree 4.
///
/// # Errors
///
/// The device's.
pub fn figures(engine: &CudaEngine) -> Result<Vec<Figure>, ProveError> {
    let mut all = Vec::new();
    copies(engine, &mut all)?;
    codes(engine, &mut all)?;
    sums(engine, &mut all)?;
    rounds(engine, &mut all)?;
    grinding(engine, &mut all)?;
    Ok(all)
}

const RUNS: usize = 7;

/// The median of some runs, each of `repeats` between two events.
fn time(
    engine: &CudaEngine,
    repeats: usize,
    mut work: impl FnMut() -> Result<(), Error>,
) -> Result<f64, Error> {
    let stream = engine.stream();
    work()?;
    let mut times = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        stream.synchronize()?;
        let start = stream.event()?;
        for _ in 0..repeats {
            work()?;
        }
        let end = stream.event()?;
        stream.synchronize()?;
        times.push(f64::from(stream.elapsed(&start, &end)?) / repeats as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

fn elements(len: usize) -> Vec<F> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            F::new((x >> 33) as u32 % 0x7800_0001)
        })
        .collect()
}

fn element(i: usize) -> EF4 {
    EF4::from_basis_coefficients_fn(|d| F::from_usize(1_234_567 * (i + 1) + 89 * d))
}

fn copies(engine: &CudaEngine, all: &mut Vec<Figure>) -> Result<(), Error> {
    let stream = engine.stream();
    let len = 1 << 28;
    let (from, mut to) = (stream.zeros::<u32>(len)?, stream.alloc::<u32>(len)?);
    let ms = time(engine, 4, || stream.copy(&from, 0..len, &mut to, 0))?;
    all.push(Figure {
        name: "copy of 1 GiB".into(),
        ms,
        bytes: 8 << 28,
        permutations: 0,
    });
    Ok(())
}

fn codes(engine: &CudaEngine, all: &mut Vec<Figure>) -> Result<(), ProveError> {
    let (stream, kernels, roots) = (engine.stream(), engine.kernels(), engine.roots());
    let polynomial = Engine::<EF4>::load(engine, elements(1 << 24))?;
    // variables, columns, words of an element, rate
    for (n, fold, degree, rate) in [
        (24, 0, 1, 0),
        (23, 0, 1, 1),
        (24, 4, 1, 1),
        (24, 1, 1, 1),
        (20, 4, 4, 2),
        (16, 4, 4, 3),
        (8, 1, 4, 4),
    ] {
        let message = Message {
            planes: polynomial.buffer(),
            degree,
            log_rows: n - fold,
            log_width: fold,
            row_major: true,
        };
        let words = (degree as u64) << n;
        let ms = time(engine, 4, || {
            encode(stream, kernels, roots, message, rate).map(drop)
        })?;
        let shape = format!("2^{} x {}", n - fold + rate, degree << fold);
        all.push(Figure {
            name: format!("encode {shape}, rate 2^-{rate}"),
            ms,
            bytes: 4 * (words + (words << rate)),
            permutations: 0,
        });
        let code = encode(stream, kernels, roots, message, rate)?;
        let columns = degree << fold;
        let log_height = n - fold + rate;
        let ms = time(engine, 4, || {
            let workspace = &mut engine.workspace();
            let meanwhile = &mut || ();
            let code = (&code, columns);
            Tree::build(stream, kernels, code, log_height, 0, workspace, meanwhile).map(drop)
        })?;
        let leaves = 1_u64 << log_height;
        all.push(Figure {
            name: format!("tree {shape}"),
            ms,
            bytes: 4 * (words << rate) + 32 * 2 * leaves,
            permutations: leaves * columns.div_ceil(8) as u64 + leaves - 1,
        });
    }
    Ok(())
}

fn sums(engine: &CudaEngine, all: &mut Vec<Figure>) -> Result<(), ProveError> {
    let (stream, kernels) = (engine.stream(), engine.kernels());
    let polynomial = Engine::<EF4>::load(engine, elements(1 << 24))?;
    let f = (polynomial.buffer(), 24);
    for fold in [1, 4] {
        let point: Vec<EF4> = (0..24 - fold).map(element).collect();
        let weight = HiWeight {
            leading: Vec::new(),
            point: point.clone(),
            trailing: Vec::new(),
            kind: HiKind::Eq,
        };
        let order = VariableOrder::Suffix;
        let ms = time(engine, 4, || {
            let workspace = &mut engine.workspace();
            partial_evaluations(stream, kernels, workspace, f, order, fold, &weight).map(drop)
        })?;
        all.push(Figure {
            name: format!("partial evaluations 2^24, fold {fold}"),
            ms,
            bytes: 4 << 24,
            permutations: 0,
        });
        let lo: Vec<EF4> = (0..1 << fold).map(element).collect();
        let degree = kernels.degree(4);
        let ms = time(engine, 4, || {
            Tables::fold_base(stream, degree, f, order, fold, &lo).map(drop)
        })?;
        let folded = 16_u64 << (24 - fold);
        all.push(Figure {
            name: format!("first fold 2^24, fold {fold}"),
            ms,
            bytes: (4 << 24) + folded,
            permutations: 0,
        });
        let mut tables = Tables::fold_base(stream, degree, f, order, fold, &lo)?;
        for terms in [1, 3] {
            let weights: Vec<_> = (0..terms).map(|i| (element(i), weight.clone())).collect();
            let ms = time(engine, 4, || {
                weights::begin(stream, degree, &mut tables, &weights)
            })?;
            all.push(Figure {
                name: format!("weights 2^{}, {terms} terms", 24 - fold),
                ms,
                bytes: folded,
                permutations: 0,
            });
        }
        let select: Vec<(EF4, F)> = (0..80)
            .map(|i| (element(i), F::from_usize(3 + 1000 * i)))
            .collect();
        let planes = tables.weights(EF4::D);
        let ms = time(engine, 4, || {
            weights::add_select(stream, degree, planes, &select)
        })?;
        all.push(Figure {
            name: format!("weights of 80 powers 2^{}", 24 - fold),
            ms,
            bytes: 2 * folded,
            permutations: 0,
        });
    }
    Ok(())
}

fn rounds(engine: &CudaEngine, all: &mut Vec<Figure>) -> Result<(), ProveError> {
    let (stream, kernels) = (engine.stream(), engine.kernels());
    let degree = kernels.degree(4);
    for (name, order) in [
        ("suffix", VariableOrder::Suffix),
        ("prefix", VariableOrder::Prefix),
    ] {
        for bits in [22, 16, 8] {
            let polynomial = Engine::<EF4>::load(engine, elements(2 << bits))?;
            let f = (polynomial.buffer(), bits + 1);
            let lo = [element(1), element(2)];
            let rounds = match order {
                VariableOrder::Suffix => &degree.suffix,
                VariableOrder::Prefix => &degree.prefix,
            };
            let mut tables = Tables::fold_base(stream, degree, f, order, 1, &lo)?;
            weights::begin::<EF4>(stream, degree, &mut tables, &[])?;
            let values = 32_u64 << bits;
            let mut letter = stream.mailbox(2 * EF4::D)?;
            let ms = time(engine, 4, || {
                tables.message(stream, rounds, &engine.workspace(), &mut letter)?;
                read_message::<EF4>(&letter).map(drop)
            })?;
            all.push(Figure {
                name: format!("message 2^{bits}, {name}"),
                ms,
                bytes: values,
                permutations: 0,
            });
            let ms = time(engine, 4, || {
                let workspace = &mut engine.workspace();
                let mut folded = tables.share();
                folded
                    .fold_message(stream, rounds, workspace, element(3))
                    .map(drop)
            })?;
            all.push(Figure {
                name: format!("fold and message 2^{bits}, {name}"),
                ms,
                bytes: values * 3 / 2,
                permutations: 0,
            });
            let point: Vec<EF4> = (0..bits).map(element).collect();
            let planes = (tables.planes(), 1 << bits);
            let ms = time(engine, 4, || {
                let workspace = &mut engine.workspace();
                evaluate(stream, kernels, workspace, planes, &point).map(drop)
            })?;
            all.push(Figure {
                name: format!("evaluation 2^{bits}"),
                ms,
                bytes: values / 2,
                permutations: 0,
            });
        }
    }
    Ok(())
}

fn grinding(engine: &CudaEngine, all: &mut Vec<Figure>) -> Result<(), ProveError> {
    for bits in [0, 16, 24] {
        let mut state = [F::ONE; 16];
        let mut tried = 0;
        let searches: u32 = if bits > 16 { 16 } else { 128 };
        let begin = std::time::Instant::now();
        for i in 0..searches as usize {
            state[9] = F::from_usize(i);
            let task = GrindTask {
                state,
                slot: 2,
                bits,
            };
            let witness = Engine::<EF4>::grind(engine, &task)?;
            tried += u64::from(p3_field::PrimeField32::as_canonical_u32(&witness)) + 1;
        }
        all.push(Figure {
            name: format!("proof of work, {bits} bits"),
            ms: begin.elapsed().as_secs_f64() * 1e3 / f64::from(searches),
            bytes: 0,
            permutations: tried / u64::from(searches),
        });
    }
    Ok(())
}

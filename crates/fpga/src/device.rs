//! The device `fpga:sim`: multi-scalar multiplication on the simulated accelerator.
#![forbid(unsafe_code)]

use std::path::Path;

use fieldspar_msm::{
    Bases, Level, Scalars,
    curve::{
        Affine, Bls12_377, Curve,
        edwards::{Cached, Extended},
    },
    field::Fp,
    reference,
};
use rayon::prelude::*;

use crate::{
    designs::Design,
    digits,
    driver::{Driver, Group, Options},
    error::Error,
    hot,
    machine::Machine,
    model::{
        column::{Column, Counters, Silent, packets},
        feed::Ideal,
    },
};

type Point = Affine<Bls12_377, 6>;

/// Its name.
pub const DEVICE: &str = "fpga:sim";
/// Points that the model adds up at most.
pub const MOST_MODEL: usize = 1 << 20;
/// Points that the RTL adds up at most.
pub const MOST_RTL: usize = 1 << 16;

/// What stands for the hardware.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Engine {
    /// The cycle model, and plain arithmetic for the points.
    Model(Machine),
    /// The Verilated design, and the seed of its registers' initial values.
    Rtl(Design, u32),
}

impl Engine {
    /// `model` or `rtl`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Model(_) => "model",
            Self::Rtl(..) => "rtl",
        }
    }

    /// The machine.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        match self {
            Self::Model(machine) => machine,
            Self::Rtl(design, _) => &design.machine,
        }
    }
}

/// What an MSM took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Columns of digits.
    pub columns: u32,
    /// Groups of columns that ran one behind the other.
    pub groups: u32,
    /// The sum over the groups.
    pub counters: Counters,
    /// Points that the host added up, since they have no Edwards form.
    pub on_host: usize,
}

/// Writes the waveform of the first group of columns as a VCD file, from a build with
/// `cargo xtask rtl --trace`. Scalars and points as for [`msm`].
///
/// # Errors
///
/// As [`msm`]; [`Error::Rtl`] if there is no such build or the file cannot be written.
pub fn waveform<'a, L: Level>(
    design: &Design,
    seed: u32,
    bases: &Bases<Bls12_377, 6, L>,
    scalars: impl Into<Scalars<'a>>,
    path: &Path,
) -> Result<Counters, Error> {
    let engine = Engine::Rtl(design.clone(), seed);
    let (machine, prepared) = prepare(&engine, bases, scalars.into())?;
    let name = format!("{}-trace", design.name);
    let mut driver = Driver::open(&name, machine, design.width, seed)?;
    driver.simulation().trace(path)?;
    let group = prepared.groups.get(..1).unwrap_or_default();
    let points = limbs(&prepared.records);
    let outcome = driver.run(&points, group, &mut Ideal, &Options::default())?;
    Ok(outcome.counters)
}

/// `sum of scalars[i] * bases[i]`, and what it took. Scalars and points as `fieldspar_msm::msm` takes
/// them, on BLS12-377.
///
/// # Errors
///
/// [`Error::Subgroup`] for points that are not known to be in the subgroup of prime order;
/// [`Error::TooMany`]; [`Error::Msm`] as `fieldspar_msm::msm`; [`Error::Rtl`] if the design is not built.
pub fn msm<'a, L: Level>(
    engine: &Engine,
    bases: &Bases<Bls12_377, 6, L>,
    scalars: impl Into<Scalars<'a>>,
) -> Result<(Point, Report), Error> {
    let (machine, prepared) = prepare(engine, bases, scalars.into())?;
    let Prepared {
        columns,
        groups,
        records,
        rest,
        on_host,
    } = prepared;
    let (sums, counters) = match engine {
        Engine::Model(machine) => model(machine, &groups, &records),
        Engine::Rtl(design, seed) => rtl(design, *seed, &groups, &records)?,
    };
    // The host: doublings between the columns.
    let mut sum = Extended::IDENTITY;
    for column in sums.iter().take(columns as usize).rev() {
        for _ in 0..machine.digit_bits {
            sum = sum.add(&sum);
        }
        sum = sum.add(column);
    }
    let report = Report {
        columns,
        groups: columns.div_ceil(machine.columns),
        counters,
        on_host,
    };
    Ok((reference::add(&sum.to_weierstrass(), &rest), report))
}

/// What the device is given.
struct Prepared {
    columns: u32,
    groups: Vec<Group>,
    records: Vec<Cached>,
    /// The sum of the host's points.
    rest: Point,
    on_host: usize,
}

/// Checks everything, and does the host's part before the machine starts.
fn prepare<'e, L: Level>(
    engine: &'e Engine,
    bases: &Bases<Bls12_377, 6, L>,
    scalars: Scalars<'_>,
) -> Result<(&'e Machine, Prepared), Error> {
    if !L::SUBGROUP {
        return Err(Error::Subgroup);
    }
    let machine = engine.machine();
    machine.check()?;
    let most = match engine {
        Engine::Model(_) => MOST_MODEL,
        Engine::Rtl(..) => MOST_RTL,
    };
    if bases.len() > most {
        return Err(Error::TooMany {
            points: bases.len(),
            engine: engine.name(),
            most,
        });
    }
    let mut values = wide(scalars, bases.len())?;
    let images = Cached::from_weierstrass(bases.points());
    let mut rest = Point::INFINITY;
    let mut on_host = 0;
    let mut records = Vec::with_capacity(images.len());
    let neutral = Cached {
        minus: Fp::ONE,
        plus: Fp::ONE,
        product: Fp::ZERO,
    };
    for ((image, point), value) in images.iter().zip(bases.points()).zip(&mut values) {
        if image.is_none() {
            rest = reference::add(&rest, &reference::multiply(point, value));
            *value = [0; 4];
            on_host += 1;
        }
        records.push(image.unwrap_or(neutral));
    }

    let columns = digits::columns(machine.digit_bits);
    let groups = groups(machine, columns, &values);
    let prepared = Prepared {
        columns,
        groups,
        records,
        rest,
        on_host,
    };
    Ok((machine, prepared))
}

fn wide(scalars: Scalars<'_>, points: usize) -> Result<Vec<[u64; 4]>, Error> {
    if scalars.len() != points {
        return Err(Error::Msm(fieldspar_msm::Error::Length {
            vector: 0,
            points,
            scalars: scalars.len(),
        }));
    }
    let narrow = |v: u64| [v, 0, 0, 0];
    Ok(match scalars {
        Scalars::Wide(s) => {
            let order = <Bls12_377 as Curve<6>>::ORDER;
            let below = |s: &[u64; 4]| s.iter().rev().lt(order.iter().rev());
            if let Some(index) = s.iter().position(|s| !below(s)) {
                return Err(Error::Msm(fieldspar_msm::Error::Scalar {
                    vector: 0,
                    index,
                    curve: <Bls12_377 as Curve<6>>::NAME,
                }));
            }
            s.to_vec()
        }
        Scalars::U64(s) => s.iter().map(|&v| narrow(v)).collect(),
        Scalars::U32(s) => s.iter().map(|&v| narrow(v.into())).collect(),
        Scalars::U16(s) => s.iter().map(|&v| narrow(v.into())).collect(),
        Scalars::U8(s) => s.iter().map(|&v| narrow(v.into())).collect(),
        Scalars::Bool(s) => s.iter().map(|&v| narrow(v.into())).collect(),
        _ => return Err(Error::Scalars),
    })
}

/// The digits as the machine wants them. Columns that the last group has too many are zero.
fn groups(machine: &Machine, columns: u32, values: &[[u64; 4]]) -> Vec<Group> {
    let turns = machine.columns as usize;
    let count = (columns as usize).div_ceil(turns);
    let mut all = vec![vec![0i32; values.len() * turns]; count];
    for (i, value) in values.iter().enumerate() {
        digits::recode(value, machine.digit_bits, columns, |column, digit| {
            let column = column as usize;
            all[column / turns][i * turns + column % turns] = digit;
        });
    }
    all.into_iter()
        .map(|digits| Group {
            hot: hot::choose(machine, &digits),
            digits,
        })
        .collect()
}

fn model(machine: &Machine, groups: &[Group], records: &[Cached]) -> (Vec<Extended>, Counters) {
    let points = records.len() as u64;
    let turns = machine.columns as usize;
    let one = |group: &Group| {
        let mut column = Column::new(machine, Ideal, packets(machine, points));
        let mut digits = group.digits.iter();
        let next = || digits.next().copied().unwrap_or(0);
        let counters = column.run(points, &group.hot, next, &mut Silent);
        let sums = (0..turns).map(|v| {
            let mut buckets = vec![Extended::IDENTITY; machine.buckets() as usize + 1];
            for (record, &digit) in records
                .iter()
                .zip(group.digits.iter().skip(v).step_by(turns))
            {
                if digit != 0 {
                    let bucket = &mut buckets[digit.unsigned_abs() as usize];
                    *bucket = match digit < 0 {
                        true => bucket.add_cached(&record.neg()),
                        false => bucket.add_cached(record),
                    };
                }
            }
            let (mut running, mut sum) = (Extended::IDENTITY, Extended::IDENTITY);
            for bucket in buckets[1..].iter().rev() {
                running = running.add(bucket);
                sum = sum.add(&running);
            }
            sum
        });
        (sums.collect::<Vec<_>>(), counters)
    };
    let found: Vec<_> = groups.par_iter().map(one).collect();
    let mut all = Vec::new();
    let mut counters = Counters::default();
    for (sums, more) in found {
        all.extend(sums);
        counters = counters.plus(&more);
    }
    (all, counters)
}

/// Points as the memory holds them.
fn limbs(records: &[Cached]) -> Vec<Vec<u64>> {
    let one = |r: &Cached| {
        let words = [r.minus, r.plus, r.product];
        words.iter().flat_map(|w| *w.montgomery()).collect()
    };
    records.iter().map(one).collect()
}

fn rtl(
    design: &Design,
    seed: u32,
    groups: &[Group],
    records: &[Cached],
) -> Result<(Vec<Extended>, Counters), Error> {
    let mut driver = Driver::open(design.name, &design.machine, design.width, seed)?;
    let points = limbs(records);
    let mut sums = Vec::new();
    let mut counters = Counters::default();
    for group in groups {
        let group = core::slice::from_ref(group);
        let outcome = driver.run(&points, group, &mut Ideal, &Options::default())?;
        counters = counters.plus(&outcome.counters);
        for words in outcome.results {
            let column = sums.len();
            let word = |i: usize| {
                let part: Option<[u64; 6]> = words.get(6 * i..6 * i + 6)?.try_into().ok();
                Fp::from_montgomery(part?)
            };
            match (word(0), word(1), word(2), word(3)) {
                (Some(x), Some(y), Some(z), Some(t)) => sums.push(Extended { x, y, z, t }),
                _ => return Err(Error::Output { column }),
            }
        }
    }
    Ok((sums, counters))
}

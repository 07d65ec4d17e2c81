//! Times of sums on an NVIDIA GPU, each checked by the known logarithms of its points.
//!
//! Every argument is a row: `curve=bls12-377,log=22,budget=40,runs=10`, with `budget` the GiB for the
//! bases and their multiples (0: the points alone), `skew` a distribution of the scalars, and, instead of
//! what the cost model would choose, `width`, `columns`, `length`, `group`, `first`; `image` is a file with
//! another build of the accumulation, from then on. `n` is a size that is
//! no power of two, `pageable=1` leaves the scalars in ordinary memory, `host=1` the points too. The row
//! `check` runs small sums of all curves instead. A line of JSON for each row.
#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use fieldspar_msm::cuda::{Budget, CudaEngine, Tuning, measure};
use fieldspar_msm::curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve};
use fieldspar_msm::inputs::{self, Distribution};
use fieldspar_msm::{Bases, Engine, Level, OnCurve, Trusted, msm, msm_pinned};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// A row as it was asked for.
struct Row(HashMap<String, String>);

impl Row {
    fn new(text: &str) -> Fallible<Self> {
        let pair = |part: &str| {
            let (key, value) = part.split_once('=').ok_or(format!("no `=` in `{part}`"))?;
            Ok((key.to_owned(), value.to_owned()))
        };
        let pairs: Result<_, String> = text.split(',').map(pair).collect();
        Ok(Self(pairs?))
    }

    fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.0.get(key).map_or(default, String::as_str)
    }

    fn number(&self, key: &str) -> Fallible<Option<u32>> {
        let value = self.0.get(key).map(|v| v.parse::<u32>());
        Ok(value.transpose()?)
    }

    fn count(&self) -> Fallible<usize> {
        let log = self.number("log")?.unwrap_or(16);
        Ok(self.number("n")?.map_or(1 << log, |n| n as usize))
    }

    fn tuning(&self) -> Fallible<Tuning> {
        let mut tuning = Tuning::default();
        tuning.width = self.number("width")?;
        tuning.columns = self.number("columns")?;
        tuning.length = self.number("length")?;
        tuning.group = self.number("group")?;
        tuning.first = self.number("first")?;
        Ok(tuning)
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn bench<C: Curve<N>, const N: usize>(
    engine: &Engine,
    cuda: &CudaEngine,
    all: &[Affine<C, N>],
    row: &Row,
) -> Fallible<String> {
    let count = row.count()?;
    let points = all.get(..count).ok_or("too few points")?.to_vec();
    let skew: Distribution = row.text("skew", "uniform").parse()?;
    let scalars = skew.scalars(1, count, &C::ORDER);
    let want = inputs::expected::<C, N>(1, &scalars);
    cuda.tune(row.tuning()?);
    if let Some(path) = row.0.get("image") {
        cuda.replace_accumulation::<C, N>(&std::fs::read(path)?)?;
    }
    let budget = match row.number("budget")?.unwrap_or(0) {
        0 => Budget::Points,
        gib => Budget::Bytes(u64::from(gib) << 30),
    };
    let start = Instant::now();
    let bases = if row.number("host")?.is_some() {
        Bases::<C, N, Trusted>::new(points)?
    } else {
        Bases::<C, N, Trusted>::prepare(engine, points, budget)?
    };
    let prepare = start.elapsed().as_secs_f64() * 1e3;
    let mut pinned = cuda.cuda().pinned::<[u64; 4]>(count)?;
    pinned.copy_from_slice(&scalars);
    let pageable = row.number("pageable")?.is_some();
    let sum = || {
        if pageable {
            msm(engine, &bases, &scalars)
        } else {
            msm_pinned(cuda, &bases, &pinned)
        }
    };
    let mut wrong = usize::from(sum()? != want);
    let mut times = Vec::new();
    for _ in 0..row.number("runs")?.unwrap_or(10) {
        let start = Instant::now();
        let got = sum()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        wrong += usize::from(got != want);
    }
    measure::start();
    wrong += usize::from(sum()? != want);
    let phases: Vec<String> = measure::take()
        .iter()
        .map(|(name, times, length)| {
            format!("\"{name}\": [{times}, {:.3}]", length.as_secs_f64() * 1e3)
        })
        .collect();
    let (bytes, multiples) = bases.on_device().unwrap_or_default();
    let mut asked: Vec<_> = row.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
    asked.sort();
    let min = times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(format!(
        "{{\"row\": \"{}\", \"curve\": \"{}\", \"n\": {count}, \"skew\": \"{skew}\", \"ms\": {:.3}, \
         \"min_ms\": {min:.3}, \"runs\": {}, \"wrong\": {wrong}, \"multiples\": {multiples}, \
         \"base_bytes\": {bytes}, \"prepare_ms\": {prepare:.1}, \"plan\": \"{}\", \"phases\": {{{}}}}}",
        asked.join(","),
        C::NAME,
        median(times.clone()),
        times.len(),
        cuda.last_plan(),
        phases.join(", "),
    ))
}

/// Sums of many sizes and skews, each against the logarithms; how many were wrong.
fn check<C: Curve<N>, const N: usize, L: Level>(
    engine: &Engine,
    all: &[Affine<C, N>],
) -> Fallible<String> {
    let (mut sums, mut wrong, mut first) = (0, 0, String::new());
    let mut sizes: Vec<usize> = (24..=300).step_by(23).collect();
    for log in 9..=16 {
        sizes.extend([(1 << log) - 1, 1 << log, (1 << log) + 1]);
    }
    for count in sizes {
        let points = all.get(..count).ok_or("too few points")?;
        for budget in [Budget::Points, Budget::Bytes(1 << 30)] {
            let bases = Bases::<C, N, L>::prepare(engine, points.to_vec(), budget)?;
            for skew in Distribution::ALL {
                let scalars = skew.scalars(1, count, &C::ORDER);
                let want = inputs::expected::<C, N>(1, &scalars);
                sums += 1;
                if msm(engine, &bases, &scalars)? != want {
                    wrong += 1;
                    if first.is_empty() {
                        first = format!("{count} {skew} {budget:?}");
                    }
                }
            }
        }
    }
    let name = C::NAME;
    Ok(format!(
        "{{\"check\": \"{name}\", \"sums\": {sums}, \"wrong\": {wrong}, \"first\": \"{first}\"}}"
    ))
}

fn curve<C: Curve<N>, const N: usize>(
    engine: &Engine,
    cuda: &CudaEngine,
    rows: &[Row],
    checks: bool,
) -> Fallible<()> {
    let own: Vec<&Row> = rows
        .iter()
        .filter(|r| r.text("curve", "bls12-377") == C::NAME)
        .collect();
    let mut most = if checks { (1 << 16) + 1 } else { 0 };
    for row in &own {
        most = most.max(row.count()?);
    }
    if most == 0 {
        return Ok(());
    }
    let start = Instant::now();
    let points = inputs::points::<C, N>(1, most);
    eprintln!(
        "{}: {most} points, {:.1} s",
        C::NAME,
        start.elapsed().as_secs_f64()
    );
    if checks {
        let said = check::<C, N, Trusted>(engine, &points);
        println!(
            "{}",
            said.unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
        );
        let said = check::<C, N, OnCurve>(engine, &points);
        println!(
            "{}",
            said.unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
        );
    }
    for row in own {
        match bench(engine, cuda, &points, row) {
            Ok(line) => println!("{line}"),
            Err(error) => println!("{{\"row\": \"{:?}\", \"error\": \"{error}\"}}", row.0),
        }
    }
    Ok(())
}

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let checks = arguments.iter().any(|a| a == "check");
    let rows: Fallible<Vec<Row>> = arguments
        .iter()
        .filter(|a| *a != "check")
        .map(|a| Row::new(a))
        .collect();
    let rows = rows?;
    let engine = Engine::open(&"cuda".parse()?)?;
    let cuda = engine.cuda().ok_or("no GPU")?;
    let info = cuda.cuda().info();
    println!(
        "{{\"device\": \"{}\", \"driver\": \"{}\", \"multiprocessors\": {}}}",
        info.name,
        info.driver.as_deref().unwrap_or_default(),
        info.multiprocessors
    );
    curve::<Bls12_377, 6>(&engine, cuda, &rows, checks)?;
    curve::<Bls12_381, 6>(&engine, cuda, &rows, checks)?;
    curve::<Bn254, 4>(&engine, cuda, &rows, checks)?;
    Ok(())
}

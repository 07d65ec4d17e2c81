//! The column engine in RTL against the model: cycles, counters, the order of additions, the sums.

use fieldspar_fpga::designs::{Design, design, designs};
use fieldspar_fpga::driver::{Driver, Group, Options};
use fieldspar_fpga::model::column::{Column, Counters, Issue, packets};
use fieldspar_fpga::model::feed::{Feed, Ideal, Noise, Rates};
use fieldspar_msm::inputs::Stream;

use crate::support;

/// Distributions of digits.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    /// Half of all in four buckets.
    Skewed,
    Equal,
    Sorted,
    /// Mostly zero.
    Zeros,
}

const SHAPES: [Shape; 5] = [
    Shape::Uniform,
    Shape::Skewed,
    Shape::Equal,
    Shape::Sorted,
    Shape::Zeros,
];

fn digits(shape: Shape, design: &Design, points: usize, seed: u64) -> Vec<i32> {
    let mut stream = Stream::new(seed, 77);
    let half = 1i64 << (design.machine.digit_bits - 1);
    let count = points * design.machine.columns as usize;
    let any = |stream: &mut Stream| (stream.next_u64() % (2 * half as u64)) as i64 - half;
    let equal = any(&mut stream);
    let mut all: Vec<i64> = (0..count)
        .map(|_| match shape {
            Shape::Equal => equal,
            Shape::Skewed if stream.next_u64() & 1 == 0 => (stream.next_u64() % 4) as i64 + 1,
            Shape::Zeros if !stream.next_u64().is_multiple_of(8) => 0,
            _ => any(&mut stream),
        })
        .collect();
    if matches!(shape, Shape::Sorted) {
        all.sort_unstable();
    }
    all.into_iter().map(|d| d as i32).collect()
}

/// The hot buckets that a host would choose: the most frequent ones.
fn hot(design: &Design, digits: &[i32]) -> Vec<Option<u32>> {
    fieldspar_fpga::hot::choose(&design.machine, digits)
}

/// Points that name themselves in their first word, from which `point` of an issue is read.
fn points(count: usize) -> Vec<Vec<u64>> {
    // three words of 32 bits
    let word =
        |i: u64, k: u64| (i + 1).wrapping_mul(0x9e37_79b9).rotate_left(k as u32) & 0xffff_ffff;
    (0..count as u64)
        .map(|i| vec![i | word(i, 7) << 32, word(i, 13)])
        .collect()
}

/// Sums of digits times points modulo 2^32, X, Y, Z of each column.
fn sums(columns: usize, digits: &[i32], points: &[Vec<u64>]) -> Vec<[u32; 3]> {
    let mut sums = vec![[0u32; 3]; columns];
    for (i, &digit) in digits.iter().enumerate() {
        let point = &points[i / columns];
        let words = [point[0] as u32, (point[0] >> 32) as u32, point[1] as u32];
        for (sum, word) in sums[i % columns].iter_mut().zip(words) {
            *sum = sum.wrapping_add(word.wrapping_mul(digit.cast_unsigned()));
        }
    }
    sums
}

/// The model's run of one group after a reset.
fn model<F: Feed>(design: &Design, group: &Group, count: usize, feed: F) -> (Counters, Vec<Issue>) {
    let mut issues = Vec::new();
    let total = packets(&design.machine, count as u64);
    let mut column = Column::new(&design.machine, feed, total);
    let mut digits = group.digits.iter();
    let counters = column.run(
        count as u64,
        &group.hot,
        || *digits.next().unwrap(),
        &mut issues,
    );
    assert_eq!(digits.next(), None);
    issues.sort_by_key(|issue| issue.cycle);
    (counters, issues)
}

/// One stream in both, under the same back-pressure.
fn compare<F: Feed + Clone>(
    driver: &mut Driver,
    design: &Design,
    shape: Shape,
    count: usize,
    feed: F,
) {
    let what = format!("{} {shape:?} {count}", design.name);
    let digits = digits(shape, design, count, count as u64);
    let hot = hot(design, &digits);
    let group = Group { digits, hot };
    let points = points(count);
    driver.reset();
    let options = Options {
        trace: true,
        most_cycles: 3_000_000,
        ..Options::default()
    };
    let groups = [group.clone()];
    let found = driver
        .run(&points, &groups, &mut feed.clone(), &options)
        .unwrap();
    let (counters, issues) = model(design, &group, count, feed);
    assert_eq!(found.counters, counters, "{what}");
    assert_eq!(found.dropped, 0, "{what}");
    assert_eq!(found.issues.len(), issues.len(), "{what}");
    for (rtl, model) in found.issues.iter().zip(&issues) {
        let zero = model.point.is_some() && !design.machine.zero_bypass && rtl.point == Some(0);
        if zero {
            assert_eq!((rtl.cycle, rtl.word), (model.cycle, model.word), "{what}");
        } else {
            assert_eq!(rtl, model, "{what}");
        }
    }
    let columns = design.machine.columns as usize;
    for (result, want) in found
        .results
        .iter()
        .zip(sums(columns, &group.digits, &points))
    {
        let words = [result[0] as u32, (result[0] >> 32) as u32, result[1] as u32];
        assert_eq!(words, want, "{what}");
    }
}

/// Opens the design, or says that it is not here.
fn open(design: &Design, seed: u32) -> Option<Driver> {
    support::built(Driver::open(
        design.name,
        &design.machine,
        design.width,
        seed,
    ))
}

fn schedulers() -> impl Iterator<Item = Design> {
    designs().into_iter().filter(|d| !d.curve)
}

#[test]
fn rtl_column_is_the_model_on_every_stream() {
    let mut streams = 0;
    for design in schedulers() {
        let Some(mut driver) = open(&design, 1) else {
            continue;
        };
        for shape in SHAPES {
            for count in [0, 1, 2, 61, 700] {
                compare(&mut driver, &design, shape, count, Ideal);
                streams += 1;
            }
            compare(&mut driver, &design, shape, 400, Rates::new(9.5, 1.3));
            for seed in 0..2 {
                let of_256 = [[40, 200, 128, 90], [200, 60, 20, 250]][seed as usize];
                compare(&mut driver, &design, shape, 300, Noise { seed, of_256 });
            }
            streams += 3;
        }
    }
    println!("{streams} streams");
}

#[test]
fn rtl_column_starts_from_any_state() {
    let design = design("sched_append_hot").unwrap();
    for seed in 2..12 {
        let Some(mut driver) = open(&design, seed) else {
            return;
        };
        compare(&mut driver, &design, Shape::Uniform, 120, Ideal);
    }
}

#[test]
fn rtl_column_is_reset_in_the_middle() {
    for design in schedulers() {
        let Some(mut driver) = open(&design, 3) else {
            continue;
        };
        let count = 200;
        let digits = digits(Shape::Skewed, &design, count, 5);
        let groups = [Group {
            hot: hot(&design, &digits),
            digits,
        }];
        for stop in [1, 17, 60, 150, 260, 400, 520] {
            let options = Options {
                stop_after: Some(stop),
                ..Options::default()
            };
            driver.reset();
            driver
                .run(&points(count), &groups, &mut Ideal, &options)
                .unwrap();
            compare(&mut driver, &design, Shape::Uniform, 90, Ideal);
        }
    }
}

#[test]
fn rtl_groups_follow_each_other_without_a_gap() {
    for design in schedulers() {
        let Some(mut driver) = open(&design, 4) else {
            continue;
        };
        let (count, machine) = (150, &design.machine);
        let groups: Vec<Group> = SHAPES
            .iter()
            .map(|&shape| {
                let digits = digits(shape, &design, count, 8);
                let hot = hot(&design, &digits);
                Group { digits, hot }
            })
            .collect();
        let feed = Rates::new(8.3, 1.1);
        driver.reset();
        let options = Options::default();
        let found = driver
            .run(&points(count), &groups, &mut feed.clone(), &options)
            .unwrap();
        let total = packets(machine, count as u64) * groups.len() as u64;
        let mut column = Column::new(machine, feed, total);
        let mut last = Counters::default();
        for group in &groups {
            let mut digits = group.digits.iter();
            let silent = &mut fieldspar_fpga::model::column::Silent;
            last = column.run(count as u64, &group.hot, || *digits.next().unwrap(), silent);
        }
        assert_eq!(found.cycles, column.now(), "{}", design.name);
        assert_eq!(found.counters, last, "{}", design.name);
        assert_eq!(found.results.len(), SHAPES.len() * machine.columns as usize);
    }
}

#[test]
fn rtl_column_is_no_model_of_another_machine() {
    type Change = (&'static str, fn(&mut Design));
    // The comparison sees a cycle more in the adder, a place less in the FIFO, other numbers of replicas.
    let changes: [Change; 3] = [
        ("sched_append", |d| d.machine.latency += 1),
        ("sched_fifo_turns", |d| {
            d.machine.policy = fieldspar_fpga::Policy::Fifo(4)
        }),
        ("sched_fifo_hot", |d| d.machine.replicas = 8),
    ];
    for (name, change) in changes {
        let design = design(name).unwrap();
        let Some(mut driver) = open(&design, 5) else {
            continue;
        };
        let count = 500;
        let digits = digits(Shape::Skewed, &design, count, 2);
        let hot = hot(&design, &digits);
        let group = Group { digits, hot };
        driver.reset();
        let groups = [group.clone()];
        let options = Options::default();
        let found = driver
            .run(&points(count), &groups, &mut Ideal, &options)
            .unwrap();
        let mut other = design.clone();
        change(&mut other);
        assert_eq!(
            model(&design, &group, count, Ideal).0,
            found.counters,
            "{name}"
        );
        assert_ne!(
            model(&other, &group, count, Ideal).0,
            found.counters,
            "{name}"
        );
    }
}

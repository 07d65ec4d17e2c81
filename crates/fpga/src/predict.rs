//! Whole MSMs of any size: the column engine with a link, a memory, an aggregation and a clock.
//!
//! What comes out is a prediction by a model. The engine's cycles are those of the RTL; the clock, the
//! rates and the fixed times are what the caller says, and no hardware was run.
#![forbid(unsafe_code)]

use fieldspar_msm::inputs::Stream;

use crate::{
    error::Error,
    hot,
    machine::{Machine, Policy},
    model::{
        aggregate::aggregate,
        column::{Column, Counters, Silent, packets},
        feed::Rates,
    },
};

/// How buckets become one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregation {
    /// As the RTL does: sums by the bits of the weight.
    Bits,
    /// Two running sums from the last bucket down, each addition after the one before, of so many cycles.
    Serial(u32),
    /// Running sums in so many segments side by side, then one over the segments.
    Segments(u32),
}

/// How digits are distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skew {
    /// Every digit equally often.
    #[default]
    Uniform,
    /// Half of all digits in four buckets.
    Four,
    /// Every second digit zero.
    Zeros,
    /// All the same.
    Equal,
}

/// A whole system.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct System {
    /// The column engine.
    pub machine: Machine,
    /// Columns of an MSM.
    pub columns: u32,
    /// Megahertz.
    pub clock_mhz: f64,
    /// Bytes on the link for a digit.
    pub digit_bytes: f64,
    /// Bytes a second on the link, in units of 10^9.
    pub link_gbs: f64,
    /// Bytes of a point in memory.
    pub point_bytes: f64,
    /// Bytes a second of a memory channel, in units of 10^9.
    pub channel_gbs: f64,
    /// Memory channels.
    pub channels: u32,
    /// The aggregation.
    pub aggregation: Aggregation,
    /// Seconds of an MSM in which the machine does nothing.
    pub fixed_s: f64,
    /// The digits.
    pub skew: Skew,
}

/// What a system would take.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prediction {
    /// Points.
    pub points: u64,
    /// Points of a column that were simulated; the rest is in proportion.
    pub simulated: u64,
    /// Cycles, of all columns.
    pub cycles: u64,
    /// Where they went.
    pub counters: Counters,
    /// Additions of points over all cycles.
    pub efficiency: f64,
    /// What limits: `adder`, `link`, `memory`, `conflicts`, `aggregation`, `fixed`.
    pub bottleneck: &'static str,
    /// Seconds.
    pub seconds: f64,
    /// Cycles if the adder took a digit in each and nothing else had to be done.
    pub ideal_cycles: u64,
}

impl System {
    /// Cycles that a packet of eight commands takes on the link, at least one.
    fn packet_cycles(&self) -> f64 {
        (8.0 * self.digit_bytes / self.link_gbs / 1e3 * self.clock_mhz).max(1.0)
    }

    /// Cycles that a point takes from the memory.
    fn point_cycles(&self) -> f64 {
        self.point_bytes / (self.channel_gbs * f64::from(self.channels)) / 1e3 * self.clock_mhz
    }

    /// Cycles of the aggregation of a group, and its full additions.
    #[must_use]
    pub fn aggregation_cycles(&self) -> (u64, u64) {
        let machine = &self.machine;
        let buckets = u64::from(machine.buckets());
        let columns = u64::from(machine.columns);
        let full = u64::from(machine.latency + machine.reentry + 2);
        match self.aggregation {
            Aggregation::Bits => {
                let found = aggregate(machine, &vec![None; machine.hot as usize], false);
                (found.cycles, found.additions)
            }
            Aggregation::Serial(cycles) => {
                // Columns of a group take turns, so their chains overlap; a full addition has two passes.
                let additions = 2 * buckets;
                let each = u64::from(cycles).max(2 * columns);
                (additions * each, additions * columns)
            }
            Aggregation::Segments(segments) => {
                let segments = u64::from(segments).clamp(1, buckets);
                let side_by_side = segments * columns;
                let long = 2 * (buckets / segments) * full.max(2 * side_by_side);
                let short = 2 * segments * full.max(2 * columns);
                (long + short, 2 * (buckets + segments) * columns)
            }
        }
    }

    /// Simulates one group of columns with at most `simulate` points, and scales.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`].
    pub fn predict(&self, points: u64, simulate: u64, seed: u64) -> Result<Prediction, Error> {
        self.check()?;
        let machine = &self.machine;
        let count = points.min(simulate);
        let mut digit = self.digits(seed);
        let mut table = vec![None; machine.hot as usize];
        if machine.hot > 0 {
            // The host counts the digits that it sends.
            let mut sample = self.digits(seed);
            let few = count.min(1 << 16) * u64::from(machine.columns);
            let digits: Vec<i32> = (0..few).map(|_| sample()).collect();
            table = hot::choose(machine, &digits);
        }
        let feed = Rates::new(self.packet_cycles(), self.point_cycles());
        let mut column = Column::new(machine, feed, packets(machine, count));
        let mut counters = column.run(count, &table, &mut digit, &mut Silent);
        if !matches!(self.aggregation, Aggregation::Bits) {
            let (cycles, additions) = self.aggregation_cycles();
            counters.cycles = counters.cycles - counters.aggregate + cycles;
            counters.aggregate = cycles;
            counters.full = additions;
        }
        let groups = u64::from(self.columns.div_ceil(machine.columns));
        let counters = scaled(&counters, points, count, groups);
        let columns = u64::from(self.columns);
        let fixed = self.fixed_s * self.clock_mhz * 1e6;
        let seconds = counters.cycles as f64 / (self.clock_mhz * 1e6) + self.fixed_s;
        let efficiency = match counters.cycles {
            0 => 1.0,
            cycles => counters.issued as f64 / cycles as f64,
        };
        Ok(Prediction {
            points,
            simulated: count,
            cycles: counters.cycles,
            efficiency,
            bottleneck: bottleneck(&counters, fixed),
            counters,
            seconds,
            ideal_cycles: points * columns,
        })
    }

    fn check(&self) -> Result<(), Error> {
        self.machine.check()?;
        let rates = [
            ("clock", self.clock_mhz),
            ("bytes a digit", self.digit_bytes),
            ("link", self.link_gbs),
            ("bytes a point", self.point_bytes),
            ("memory channel", self.channel_gbs),
            ("memory channels", f64::from(self.channels)),
            ("columns", f64::from(self.columns)),
        ];
        for (what, value) in rates {
            if !(value > 0.0 && value < 1e9) {
                return Err(Error::Machine {
                    what,
                    value: value.max(0.0) as u64,
                    least: 1,
                    most: 1_000_000_000,
                });
            }
        }
        Ok(())
    }

    /// Digits of the distribution, without end.
    fn digits(&self, seed: u64) -> impl FnMut() -> i32 + use<> {
        let mut stream = Stream::new(seed, 16);
        let (skew, bits) = (self.skew, self.machine.digit_bits);
        let half = 1i32 << (bits - 1);
        move || {
            let random = stream.next_u64();
            let uniform = (random >> 8 & ((1 << bits) - 1)) as i32 - half;
            match skew {
                Skew::Uniform => uniform,
                Skew::Four if random & 1 == 0 => (random >> 1 & 3) as i32 + 1,
                Skew::Zeros if random & 1 == 0 => 0,
                Skew::Equal => 1,
                _ => uniform,
            }
        }
    }
}

/// Counters of `count` points as those of `points`, for all groups. What does not depend on the number
/// of points is not scaled.
fn scaled(one: &Counters, points: u64, count: u64, groups: u64) -> Counters {
    let by = |value: u64| match count {
        0 => value,
        _ => (u128::from(value) * u128::from(points) / u128::from(count)) as u64,
    };
    let mut all = Counters {
        issued: by(one.issued),
        zero: by(one.zero),
        digit: by(one.digit),
        point: by(one.point),
        conflict: by(one.conflict),
        append: by(one.append),
        write: by(one.write),
        conflicts: by(one.conflicts),
        zeros: by(one.zeros),
        ..*one
    };
    let parts: u64 = all.causes().iter().map(|(_, cycles)| cycles).sum();
    all.cycles = parts + all.issued + 1;
    let mut sum = Counters::default();
    for _ in 0..groups {
        sum = sum.plus(&all);
    }
    sum
}

/// What limits: where most of the cycles without an addition went, or the adder if they are few.
fn bottleneck(counters: &Counters, fixed_cycles: f64) -> &'static str {
    let c = counters;
    let idle = [
        ("link", c.digit as f64),
        ("memory", (c.point + c.write) as f64),
        ("conflicts", (c.conflict + c.append + c.turn) as f64),
        ("aggregation", (c.aggregate + c.drain + c.result) as f64),
        ("fixed", fixed_cycles),
    ];
    let all: f64 = c.cycles as f64 + fixed_cycles;
    let worst = idle
        .into_iter()
        .fold(("adder", 0.0), |a, b| if b.1 > a.1 { b } else { a });
    if worst.1 > 0.02 * all {
        worst.0
    } else {
        "adder"
    }
}

/// The designs whose times were published, and one that was not built.
pub const PRESETS: [&str; 3] = ["cyclone-f1", "hardcaml-f1", "f2-hbm"];

/// CycloneMSM's published milliseconds for 2^22 to 2^26 points.
pub const CYCLONE_MS: [(u32, f64); 5] = [
    (22, 817.9),
    (23, 1133.0),
    (24, 1761.0),
    (25, 3016.0),
    (26, 5660.0),
];

/// Bytes a second that the host of CycloneMSM writes, in units of 10^9, fitted on 2^26 points: what is
/// left of 5.66 s without the aggregation, for 8 bytes a digit of 2^26 x 16.
const CYCLONE_LINK: f64 = 1.639;

impl System {
    /// A preset.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let machine = Machine::default();
        let system = match name {
            // ePrint 2022/1396: 250 MHz, additions pending for 7 + 7 + 100 cycles, 2^15 buckets, 64-byte
            // words on three channels of DDR4, conflicts behind the points. Its aggregation: 2 x 2^15
            // additions of a hundred cycles, each after the one before.
            "cyclone-f1" => Self {
                machine: Machine {
                    latency: 112,
                    policy: Policy::Append,
                    queue: 64,
                    ..machine
                },
                columns: 16,
                clock_mhz: 250.0,
                digit_bytes: 8.0,
                link_gbs: CYCLONE_LINK,
                point_bytes: 192.0,
                channel_gbs: 17.0,
                channels: 3,
                aggregation: Aggregation::Serial(100),
                fixed_s: 0.0,
                skew: Skew::Uniform,
            },
            // hardcaml_zprize: 278 MHz, 238 stages, 20 windows of 13 bits that take turns, a FIFO of 4;
            // the scalars are on the card before.
            "hardcaml-f1" => Self {
                machine: Machine {
                    latency: 238,
                    digit_bits: 13,
                    columns: 20,
                    policy: Policy::Fifo(4),
                    ..machine
                },
                columns: 20,
                clock_mhz: 278.0,
                digit_bytes: 2.0,
                link_gbs: 16.0,
                point_bytes: 192.0,
                channel_gbs: 17.0,
                channels: 3,
                aggregation: Aggregation::Serial(240),
                fixed_s: 0.0,
                skew: Skew::Uniform,
            },
            // The same engine beside the memory of the successor card; digits packed in two bytes.
            "f2-hbm" => Self {
                machine: Machine {
                    latency: 98,
                    policy: Policy::Fifo(64),
                    hot: 4,
                    replicas: 32,
                    ..machine
                },
                columns: 16,
                clock_mhz: 250.0,
                digit_bytes: 2.0,
                link_gbs: 8.0,
                point_bytes: 192.0,
                channel_gbs: 14.4,
                channels: 32,
                aggregation: Aggregation::Bits,
                fixed_s: 0.0,
                skew: Skew::Uniform,
            },
            _ => return None,
        };
        Some(system)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn published_times_of_cyclone_are_predicted_within_ten_percent() {
        let system = System::preset("cyclone-f1").unwrap();
        for (log, ms) in CYCLONE_MS {
            let found = system.predict(1 << log, 1 << 20, 1).unwrap();
            let error = 1e3 * found.seconds / ms - 1.0;
            println!(
                "2^{log}: {:.1} ms for {ms}, {:+.1} %",
                1e3 * found.seconds,
                100.0 * error
            );
            let allowed = if log == 26 { 0.005 } else { 0.10 };
            assert!(error.abs() < allowed, "2^{log}: {error}");
            assert_eq!(found.ideal_cycles, 16 << log);
        }
        // 2^23 x 16 x 4 ns, the article's 537 ms
        assert!((16.0 * f64::from(1 << 23) * 4e-9 - 0.537f64).abs() < 1e-3);
    }

    #[test]
    fn hot_buckets_want_replicas() {
        let mut system = System::preset("f2-hbm").unwrap();
        system.skew = Skew::Four;
        let mut efficiency = |hot, policy| {
            system.machine.hot = hot;
            system.machine.policy = policy;
            let c = system.predict(1 << 18, 1 << 18, 1).unwrap().counters;
            // of the accumulation: 17 accumulations of 16 columns are alike
            c.issued as f64 / (c.cycles - c.aggregate) as f64
        };
        for policy in [Policy::Stall, Policy::Fifo(64), Policy::Append] {
            let (without, with) = (efficiency(0, policy), efficiency(4, policy));
            println!("{policy:?}: {without:.4} -> {with:.4}");
            assert!((0.03..0.09).contains(&without), "{policy:?} {without}");
            assert!(with > 0.6, "{policy:?} {with}");
        }
    }
}

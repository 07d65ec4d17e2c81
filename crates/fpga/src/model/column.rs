//! The column engine, cycle by cycle: what `rtl/msm_column.sv` does.
#![forbid(unsafe_code)]

use std::collections::VecDeque;

use crate::{
    machine::{Machine, Policy},
    model::{aggregate::aggregate, feed::Feed},
};

/// Told of every addition at the cycle in which it is issued.
pub trait Trace {
    /// Whether full additions are to be told of, too.
    const FULL: bool;
    /// A mixed addition of the point with that index into a word of the bucket memory.
    fn mixed(&mut self, cycle: u64, word: u32, point: u32);
    /// A full addition.
    fn full(&mut self, cycle: u64, to: u32);
}

/// Listens to nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Trace for Silent {
    const FULL: bool = false;
    #[inline(always)]
    fn mixed(&mut self, _: u64, _: u32, _: u32) {}
    #[inline(always)]
    fn full(&mut self, _: u64, _: u32) {}
}

/// An addition that was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The cycle.
    pub cycle: u64,
    /// The word of the bucket memory.
    pub word: u32,
    /// The point, or none for a full addition.
    pub point: Option<u32>,
}

impl Trace for Vec<Issue> {
    const FULL: bool = true;
    fn mixed(&mut self, cycle: u64, word: u32, point: u32) {
        self.push(Issue {
            cycle,
            word,
            point: Some(point),
        });
    }
    fn full(&mut self, cycle: u64, to: u32) {
        self.push(Issue {
            cycle,
            word: to,
            point: None,
        });
    }
}

/// Where the cycles went: each belongs to exactly one line, but for `conflicts` and `zeros`, which count
/// items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Cycles from the command that starts the column to the last result, both counted.
    pub cycles: u64,
    /// Mixed additions issued.
    pub issued: u64,
    /// Cycles in which only a zero digit was taken.
    pub zero: u64,
    /// Cycles that waited for a digit.
    pub digit: u64,
    /// Cycles that waited for a point.
    pub point: u64,
    /// Cycles that waited for a bucket in use.
    pub conflict: u64,
    /// Cycles in which a conflict was written behind the points: the place in the adder is lost.
    pub append: u64,
    /// Cycles that waited for the memory to take a point back.
    pub write: u64,
    /// Cycles between two passes.
    pub turn: u64,
    /// Cycles in which the accumulation's last additions came out.
    pub drain: u64,
    /// Cycles of the aggregation.
    pub aggregate: u64,
    /// Cycles in which results were read and taken.
    pub result: u64,
    /// Items that met a bucket in use and were put aside.
    pub conflicts: u64,
    /// Zero digits that took no place.
    pub zeros: u64,
    /// Passes over points.
    pub passes: u64,
    /// Full additions.
    pub full: u64,
}

impl Counters {
    /// The causes and their cycles.
    #[must_use]
    pub fn causes(&self) -> [(&'static str, u64); 10] {
        [
            ("zero", self.zero),
            ("digit", self.digit),
            ("point", self.point),
            ("conflict", self.conflict),
            ("append", self.append),
            ("write", self.write),
            ("turn", self.turn),
            ("drain", self.drain),
            ("aggregate", self.aggregate),
            ("result", self.result),
        ]
    }

    /// The RTL's registers, in their order.
    #[must_use]
    pub const fn from_registers(registers: &[u64; 17]) -> Self {
        let [
            cycles,
            issued,
            zero,
            digit,
            point,
            conflict,
            append,
            write,
            turn,
            drain,
            aggregate,
            result,
            conflicts,
            zeros,
            passes,
            full,
            _,
        ] = *registers;
        Self {
            cycles,
            issued,
            zero,
            digit,
            point,
            conflict,
            append,
            write,
            turn,
            drain,
            aggregate,
            result,
            conflicts,
            zeros,
            passes,
            full,
        }
    }

    /// Cycles of the accumulation: from the first item to the last one issued.
    #[must_use]
    pub fn accumulation(&self) -> u64 {
        // One for the command itself.
        self.cycles - self.drain - self.aggregate - self.result - 1
    }

    /// Mixed additions a cycle of the accumulation; 1 if there were none.
    #[must_use]
    pub fn efficiency(&self) -> f64 {
        match (self.issued, self.accumulation()) {
            (0, _) | (_, 0) => 1.0,
            (issued, cycles) => issued as f64 / cycles as f64,
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(mut self, other: &Self) -> Self {
        let all = [
            (&mut self.cycles, other.cycles),
            (&mut self.issued, other.issued),
            (&mut self.zero, other.zero),
            (&mut self.digit, other.digit),
            (&mut self.point, other.point),
            (&mut self.conflict, other.conflict),
            (&mut self.append, other.append),
            (&mut self.write, other.write),
            (&mut self.turn, other.turn),
            (&mut self.drain, other.drain),
            (&mut self.aggregate, other.aggregate),
            (&mut self.result, other.result),
            (&mut self.conflicts, other.conflicts),
            (&mut self.zeros, other.zeros),
            (&mut self.passes, other.passes),
            (&mut self.full, other.full),
        ];
        for (sum, more) in all {
            *sum += more;
        }
        self
    }
}

/// Commands before the digits of a group of columns: the table of hot buckets, and the start.
#[must_use]
pub fn commands(machine: &Machine, points: u64) -> u64 {
    u64::from(machine.hot) + 1 + points * u64::from(machine.columns)
}

/// Packets of a group of columns.
#[must_use]
pub fn packets(machine: &Machine, points: u64) -> u64 {
    commands(machine, points).div_ceil(8)
}

/// An item: a digit with its point.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The word of the digit's bucket.
    word: u32,
    point: u32,
    /// The table's entry if the bucket is hot, else [`COLD`].
    hot: u8,
    zero: bool,
}

const COLD: u8 = u8::MAX;

/// The engine, in the state between two groups of columns.
#[derive(Debug)]
pub struct Column<'a, F> {
    machine: &'a Machine,
    /// What is around it.
    pub feed: F,
    now: u64,
    /// For each word of the bucket memory the cycle from which on it may be used.
    free: Vec<u64>,
    fifo: VecDeque<(u32, u32)>,
    queue: Queue,
    /// The last aggregation's table and cycles: the next is most often the same.
    aggregation: Option<(Vec<Option<u32>>, u64, u64)>,
}

/// The queue of packets.
#[derive(Clone, Copy, Debug)]
struct Queue {
    capacity: u64,
    /// Packets that will ever come.
    total: u64,
    arrived: u64,
    /// Commands taken.
    at: u64,
}

impl Queue {
    #[inline(always)]
    const fn there(&self) -> bool {
        self.at >> 3 < self.arrived
    }

    #[inline(always)]
    fn tick(&mut self, feed: &mut impl Feed, now: u64, pop: bool) {
        let room = self.arrived - (self.at >> 3) < self.capacity;
        if room && self.arrived < self.total && feed.packet(now) {
            feed.packet_taken(now);
            self.arrived += 1;
        }
        self.at += u64::from(pop);
    }
}

impl<'a, F: Feed> Column<'a, F> {
    /// After a reset, with so many packets to come in all.
    pub fn new(machine: &'a Machine, feed: F, packets: u64) -> Self {
        Self {
            machine,
            feed,
            now: 0,
            free: vec![0; machine.words() as usize],
            fifo: VecDeque::new(),
            queue: Queue {
                capacity: machine.queue.into(),
                total: packets,
                arrived: 0,
                at: 0,
            },
            aggregation: None,
        }
    }

    /// The cycle.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Runs a group of `columns` columns. `digit()` gives the digits in the order of the stream: those
    /// of a point one after the other. `hot` is the table, its entries words of the bucket memory.
    pub fn run<T: Trace>(
        &mut self,
        points: u64,
        hot: &[Option<u32>],
        mut digit: impl FnMut() -> i32,
        trace: &mut T,
    ) -> Counters {
        let machine = self.machine;
        let end = self.queue.at + commands(machine, points);
        let padded = end.next_multiple_of(8);
        // The table, and the start.
        for _ in 0..=machine.hot {
            loop {
                let pop = self.queue.there();
                self.queue.tick(&mut self.feed, self.now, pop);
                self.now += 1;
                if pop {
                    break;
                }
            }
        }
        let start = self.now - 1;
        let mut counters = Counters::default();
        let last = self.accumulate(points, hot, &mut digit, trace, padded, &mut counters);
        // The pipeline runs empty.
        let drained = self.now.max(last) + 1;
        counters.drain = drained - self.now;
        self.wait(drained, padded);
        let (cycles, additions) = self.aggregate(hot, trace);
        counters.full = additions;
        counters.aggregate = cycles;
        self.wait(drained + cycles, padded);
        let before = self.now;
        for _ in 0..machine.columns {
            self.wait(self.now + 1, padded);
            loop {
                let taken = self.feed.result(self.now);
                self.wait(self.now + 1, padded);
                if taken {
                    break;
                }
            }
        }
        counters.result = self.now - before;
        counters.cycles = self.now - start;
        counters
    }

    /// Lets the cycles before `until` pass, in which only the queue does anything.
    fn wait(&mut self, until: u64, padded: u64) {
        while self.now < until {
            let queue = &mut self.queue;
            let pop = queue.at < padded && queue.there();
            let full = queue.arrived - (queue.at >> 3) == queue.capacity;
            if !pop && (full || queue.arrived == queue.total) {
                self.now = until;
                return;
            }
            queue.tick(&mut self.feed, self.now, pop);
            self.now += 1;
        }
    }

    fn aggregate<T: Trace>(&mut self, hot: &[Option<u32>], trace: &mut T) -> (u64, u64) {
        if T::FULL {
            let found = aggregate(self.machine, hot, true);
            for (cycle, addition) in found.issued {
                trace.full(self.now + cycle, addition.to);
            }
            return (found.cycles, found.additions);
        }
        match &self.aggregation {
            Some((table, cycles, additions)) if table == hot => (*cycles, *additions),
            _ => {
                let found = aggregate(self.machine, hot, false);
                self.aggregation = Some((hot.to_vec(), found.cycles, found.additions));
                (found.cycles, found.additions)
            }
        }
    }

    /// All passes. Ends in the cycle in which the drain begins; gives the cycle in which the last
    /// addition is written back.
    fn accumulate<T: Trace>(
        &mut self,
        points: u64,
        hot: &[Option<u32>],
        digit: &mut impl FnMut() -> i32,
        trace: &mut T,
        padded: u64,
        counters: &mut Counters,
    ) -> u64 {
        let machine = self.machine;
        let window = u64::from(machine.window());
        let columns = machine.columns;
        let depth = match machine.policy {
            Policy::Fifo(depth) => depth as usize,
            _ => 0,
        };
        let append = machine.policy == Policy::Append;
        let (first_slot, replicas) = (machine.first_slot(), machine.replicas);
        let mut turns = vec![0u32; hot.len()];
        let any_hot = hot.iter().any(Option::is_some);
        let find = |word: u32| {
            let place = hot.iter().position(|h| *h == Some(word));
            place.map_or(COLD, |p| u8::try_from(p).unwrap_or(COLD))
        };

        let mut now = self.now;
        let mut queue = self.queue;
        let free = &mut self.free[..];
        let (mut point, mut v) = (0u32, 0u32);
        let mut items = points * u64::from(columns);
        let mut taken = 0u64;
        let mut first = true;
        let mut pending: Option<Item> = None;
        let mut late: Vec<(u32, u32)> = Vec::new();
        let mut again: Vec<(u32, u32)> = Vec::new();
        let mut last = 0u64;
        counters.passes = 1;
        loop {
            let mut issued = false;
            let mut pop = false;
            if depth > 0
                && let Some(&(word, point)) = self.fifo.front()
                && free[word as usize] <= now
            {
                self.fifo.pop_front();
                free[word as usize] = now + window;
                trace.mixed(now, word, point);
                issued = true;
            }
            if taken == items {
                // What follows the digits in their last packet is taken by the way.
                pop = queue.at < padded && queue.there();
                if issued {
                    counters.issued += 1;
                    last = now + window;
                } else if !self.fifo.is_empty() {
                    counters.conflict += 1;
                } else {
                    counters.turn += 1;
                    queue.tick(&mut self.feed, now, pop);
                    now += 1;
                    if late.is_empty() {
                        break;
                    }
                    core::mem::swap(&mut late, &mut again);
                    late.clear();
                    items = again.len() as u64;
                    taken = 0;
                    first = false;
                    pending = None;
                    counters.passes += 1;
                    continue;
                }
            } else if first && !queue.there() {
                if issued {
                    counters.issued += 1;
                    last = now + window;
                } else {
                    counters.digit += 1;
                }
            } else if !self.feed.point(now) {
                if issued {
                    counters.issued += 1;
                    last = now + window;
                } else {
                    counters.point += 1;
                }
                if !first {
                    pop = queue.at < padded && queue.there();
                }
            } else {
                let item = match pending {
                    Some(item) => item,
                    None if first => {
                        let digit = digit();
                        let word = machine.word(v, digit);
                        let zero = digit == 0 && machine.zero_bypass;
                        let item = Item {
                            word,
                            point,
                            hot: if any_hot { find(word) } else { COLD },
                            zero,
                        };
                        pending = Some(item);
                        item
                    }
                    None => {
                        let (word, point) = again[taken as usize];
                        let item = Item {
                            word,
                            point,
                            hot: if any_hot { find(word) } else { COLD },
                            zero: false,
                        };
                        pending = Some(item);
                        item
                    }
                };
                let word = if item.hot == COLD {
                    item.word
                } else {
                    let entry = usize::from(item.hot);
                    first_slot + u32::from(item.hot) * replicas + turns[entry]
                };
                let mut consumed = false;
                let mut turned = false;
                if item.zero {
                    consumed = true;
                    counters.zeros += 1;
                    counters.zero += u64::from(!issued);
                } else if issued {
                    // The head of the FIFO has the place.
                } else if free[word as usize] <= now {
                    free[word as usize] = now + window;
                    trace.mixed(now, word, item.point);
                    issued = true;
                    consumed = true;
                    turned = true;
                } else if depth > 0 && self.fifo.len() < depth {
                    self.fifo.push_back((word, item.point));
                    consumed = true;
                    turned = true;
                    counters.conflicts += 1;
                    counters.conflict += 1;
                } else if append && items > window {
                    if self.feed.late(now) {
                        self.feed.late_taken(now);
                        late.push((item.word, item.point));
                        consumed = true;
                        counters.conflicts += 1;
                        counters.append += 1;
                    } else {
                        counters.write += 1;
                    }
                } else {
                    counters.conflict += 1;
                }
                if issued {
                    counters.issued += 1;
                    last = now + window;
                }
                if turned && item.hot != COLD {
                    let turn = &mut turns[usize::from(item.hot)];
                    *turn = (*turn + 1) & (replicas - 1);
                }
                if consumed {
                    pending = None;
                    taken += 1;
                    if first {
                        pop = true;
                        v += 1;
                        if v == columns {
                            v = 0;
                            point += 1;
                            self.feed.point_taken(now);
                        }
                    } else {
                        self.feed.point_taken(now);
                    }
                }
                if !first {
                    pop = queue.at < padded && queue.there();
                }
            }
            queue.tick(&mut self.feed, now, pop);
            now += 1;
        }
        self.now = now;
        self.queue = queue;
        last
    }
}

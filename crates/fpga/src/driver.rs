//! Drives the RTL's column engine as a host, a memory and a reader of results would.
#![forbid(unsafe_code)]

use crate::{
    error::Error,
    machine::Machine,
    model::{
        column::{Counters, Issue},
        feed::Feed,
    },
    rtl::{Library, Port, Simulation},
};

/// What a group of columns is made of.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The digits in the order of the stream: those of a point, one a column, follow each other.
    pub digits: Vec<i32>,
    /// The table of hot buckets.
    pub hot: Vec<Option<u32>>,
}

impl Group {
    /// The host's packets, eight commands each.
    ///
    /// # Errors
    ///
    /// [`Error::Digit`] for a digit without a bucket.
    pub fn packets(&self, machine: &Machine) -> Result<Vec<[u64; 8]>, Error> {
        let mut commands = Vec::with_capacity(self.digits.len() + 1 + self.hot.len());
        for entry in 0..machine.hot {
            let word = self.hot.get(entry as usize).copied().flatten();
            let in_use = u64::from(word.is_some()) << 63;
            let word = u64::from(word.unwrap_or(0));
            commands.push(5 | u64::from(entry) << 4 | word << 14 | in_use);
        }
        commands.push(1);
        for (index, &digit) in self.digits.iter().enumerate() {
            let narrow = i16::try_from(digit).ok();
            let fits = digit.unsigned_abs() <= machine.buckets();
            let Some(narrow) = narrow.filter(|_| fits) else {
                return Err(Error::Digit {
                    index,
                    digit,
                    bits: machine.digit_bits,
                });
            };
            commands.push(3 | u64::from(narrow.cast_unsigned()) << 14);
        }
        let packet = |part: &[u64]| core::array::from_fn(|i| part.get(i).copied().unwrap_or(0));
        Ok(commands.chunks(8).map(packet).collect())
    }
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// X, Y, Z, T of each column, limbs lowest first.
    pub results: Vec<Vec<u64>>,
    /// Cycles from the first after the reset to the last result, counted.
    pub cycles: u64,
    /// The additions, if they were asked for.
    pub issues: Vec<Issue>,
    /// The counters of the last group.
    pub counters: Counters,
    /// Commands dropped since the reset.
    pub dropped: u64,
}

/// What to do besides running.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether additions are recorded.
    pub trace: bool,
    /// Cycles after which an unfinished run is an error.
    pub most_cycles: u64,
    /// Stop, unfinished, after so many.
    pub stop_after: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            trace: false,
            most_cycles: 1 << 32,
            stop_after: None,
        }
    }
}

#[derive(Debug)]
struct Ports {
    rst: Port,
    packet_valid: Port,
    packet_ready: Port,
    packet: Port,
    restart: Port,
    point_valid: Port,
    point_ready: Port,
    point: Port,
    point_tag: Port,
    late_valid: Port,
    late_ready: Port,
    late_point: Port,
    late_tag: Port,
    result_valid: Port,
    result_ready: Port,
    result: Port,
    reg_write: Port,
    reg_address: Port,
    reg_data: Port,
    reg_read: Port,
    issue: Port,
    issue_full: Port,
    issue_word: Port,
    issue_point: Port,
}

/// A point in the memory: three words, and the tag of one that was written back.
#[derive(Clone, Debug)]
struct Record {
    limbs: Vec<u64>,
    tag: u32,
}

/// A Verilated column engine.
#[derive(Debug)]
pub struct Driver {
    machine: Machine,
    simulation: Simulation,
    ports: Ports,
    /// Bits of a coordinate.
    width: u32,
}

impl Driver {
    /// Opens the design. `width` is that of a coordinate; `seed` of the initial values of all registers.
    ///
    /// # Errors
    ///
    /// [`Error::Rtl`] if it is not built or another one.
    pub fn open(name: &str, machine: &Machine, width: u32, seed: u32) -> Result<Self, Error> {
        machine.check()?;
        let mut simulation = Library::open(name)?.simulation(seed)?;
        let mut port = |name, bits| simulation.port(name, bits);
        let ports = Ports {
            rst: port("rst", 1)?,
            packet_valid: port("packet_valid", 1)?,
            packet_ready: port("packet_ready", 1)?,
            packet: port("packet", 512)?,
            restart: port("restart", 1)?,
            point_valid: port("point_valid", 1)?,
            point_ready: port("point_ready", 1)?,
            point: port("point", 3 * width)?,
            point_tag: port("point_tag", 32)?,
            late_valid: port("late_valid", 1)?,
            late_ready: port("late_ready", 1)?,
            late_point: port("late_point", 3 * width)?,
            late_tag: port("late_tag", 32)?,
            result_valid: port("result_valid", 1)?,
            result_ready: port("result_ready", 1)?,
            result: port("result", 4 * width)?,
            reg_write: port("reg_write", 1)?,
            reg_address: port("reg_address", 8)?,
            reg_data: port("reg_data", 64)?,
            reg_read: port("reg_read", 64)?,
            issue: port("issue", 1)?,
            issue_full: port("issue_full", 1)?,
            issue_word: port("issue_word", 32)?,
            issue_point: port("issue_point", 32)?,
        };
        let mut driver = Self {
            machine: machine.clone(),
            simulation,
            ports,
            width,
        };
        driver.reset();
        Ok(driver)
    }

    /// The simulation, for a waveform.
    pub fn simulation(&mut self) -> &mut Simulation {
        &mut self.simulation
    }

    /// Resets the engine, whatever it is doing.
    pub fn reset(&mut self) {
        let (sim, ports) = (&mut self.simulation, &self.ports);
        for input in [
            ports.packet_valid,
            ports.point_valid,
            ports.late_ready,
            ports.result_ready,
            ports.reg_write,
        ] {
            sim.set(input, 0);
        }
        sim.set(ports.rst, 1);
        for _ in 0..2 {
            sim.settle();
            sim.edge();
        }
        sim.set(ports.rst, 0);
    }

    fn write_register(&mut self, address: u64, data: u64) {
        let (sim, ports) = (&mut self.simulation, &self.ports);
        sim.set(ports.reg_write, 1);
        sim.set(ports.reg_address, address);
        sim.set(ports.reg_data, data);
        sim.settle();
        sim.edge();
        sim.set(ports.reg_write, 0);
    }

    /// Reads a register.
    pub fn read_register(&mut self, address: u64) -> u64 {
        let (sim, ports) = (&mut self.simulation, &self.ports);
        sim.set(ports.reg_address, address);
        sim.settle();
        sim.get(ports.reg_read)
    }

    /// Runs groups of columns, one behind the other. `points` are the memory's contents, three
    /// coordinates each, limbs lowest first.
    ///
    /// # Errors
    ///
    /// [`Error::Digit`], [`Error::Hung`].
    pub fn run(
        &mut self,
        points: &[Vec<u64>],
        groups: &[Group],
        feed: &mut impl Feed,
        options: &Options,
    ) -> Result<Outcome, Error> {
        let mut packets = Vec::new();
        for group in groups {
            packets.extend(group.packets(&self.machine)?);
        }
        self.write_register(0x20, points.len() as u64);
        let limbs = (4 * self.width).div_ceil(64) as usize;
        let want = groups.len() * self.machine.columns as usize;
        let mut memory: Vec<Record> = points
            .iter()
            .map(|limbs| Record {
                limbs: limbs.clone(),
                tag: 0,
            })
            .collect();
        let mut out = Outcome::default();
        let (mut sent, mut read) = (0, 0);
        let (mut shown_packet, mut shown_point) = (usize::MAX, usize::MAX);
        let mut now = 0;
        let (sim, ports) = (&mut self.simulation, &self.ports);
        while out.results.len() < want {
            if options.stop_after == Some(now) {
                out.cycles = now;
                return Ok(out);
            }
            if now == options.most_cycles {
                let state = self.read_register(0x35);
                return Err(Error::Hung {
                    cycles: now,
                    state: format!("state {state}, {} results of {want}", out.results.len()),
                });
            }
            let packet_valid = sent < packets.len() && feed.packet(now);
            let point_valid = read < memory.len() && feed.point(now);
            let late_ready = feed.late(now);
            let result_ready = feed.result(now);
            if shown_packet != sent && sent < packets.len() {
                sim.set_wide(ports.packet, &packets[sent]);
                shown_packet = sent;
            }
            if shown_point != read && read < memory.len() {
                sim.set_wide(ports.point, &memory[read].limbs);
                sim.set(ports.point_tag, memory[read].tag.into());
                shown_point = read;
            }
            sim.set(ports.packet_valid, packet_valid.into());
            sim.set(ports.point_valid, point_valid.into());
            sim.set(ports.late_ready, late_ready.into());
            sim.set(ports.result_ready, result_ready.into());
            sim.settle();
            if packet_valid && sim.get(ports.packet_ready) == 1 {
                sent += 1;
                feed.packet_taken(now);
            }
            if late_ready && sim.get(ports.late_valid) == 1 {
                let mut limbs = vec![0; (3 * self.width).div_ceil(64) as usize];
                sim.get_wide(ports.late_point, &mut limbs);
                let tag = sim.get(ports.late_tag) as u32;
                memory.push(Record { limbs, tag });
                feed.late_taken(now);
            }
            if point_valid && sim.get(ports.point_ready) == 1 {
                read += 1;
                feed.point_taken(now);
            }
            if sim.get(ports.restart) == 1 {
                memory.truncate(points.len());
                read = 0;
                shown_point = usize::MAX;
            }
            if result_ready && sim.get(ports.result_valid) == 1 {
                let mut words = vec![0; limbs];
                sim.get_wide(ports.result, &mut words);
                out.results.push(words);
            }
            if options.trace && sim.get(ports.issue) == 1 {
                let full = sim.get(ports.issue_full) == 1;
                out.issues.push(Issue {
                    cycle: now,
                    word: sim.get(ports.issue_word) as u32,
                    point: (!full).then(|| sim.get(ports.issue_point) as u32),
                });
            }
            sim.edge();
            now += 1;
        }
        out.cycles = now;
        for input in [ports.packet_valid, ports.point_valid, ports.result_ready] {
            sim.set(input, 0);
        }
        let mut registers = [0; 17];
        for (counter, register) in (0..).zip(&mut registers) {
            self.write_register(0x10, counter);
            *register = self.read_register(0x20);
        }
        out.dropped = registers[16];
        out.counters = Counters::from_registers(&registers);
        Ok(out)
    }
}

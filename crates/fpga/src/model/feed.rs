//! What the machine's surroundings give it, cycle by cycle: the link, the memory, the reader of results.
//!
//! The same object drives the model and the RTL, so that both see the same signals.
#![forbid(unsafe_code)]

/// The other side of the machine's interfaces. Each method without `taken` is asked at most once a cycle.
pub trait Feed {
    /// Whether a packet of commands is offered in this cycle.
    fn packet(&mut self, now: u64) -> bool;
    /// It was taken.
    fn packet_taken(&mut self, now: u64);
    /// Whether the memory offers the next point in this cycle.
    fn point(&mut self, now: u64) -> bool;
    /// It was taken.
    fn point_taken(&mut self, now: u64);
    /// Whether the memory would take a point that is written back.
    fn late(&mut self, now: u64) -> bool;
    /// It took one.
    fn late_taken(&mut self, now: u64);
    /// Whether the result would be taken.
    fn result(&mut self, now: u64) -> bool;
}

/// Everything is there at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ideal;

impl Feed for Ideal {
    #[inline(always)]
    fn packet(&mut self, _: u64) -> bool {
        true
    }
    #[inline(always)]
    fn packet_taken(&mut self, _: u64) {}
    #[inline(always)]
    fn point(&mut self, _: u64) -> bool {
        true
    }
    #[inline(always)]
    fn point_taken(&mut self, _: u64) {}
    #[inline(always)]
    fn late(&mut self, _: u64) -> bool {
        true
    }
    #[inline(always)]
    fn late_taken(&mut self, _: u64) {}
    #[inline(always)]
    fn result(&mut self, _: u64) -> bool {
        true
    }
}

/// One thing every so many cycles, in units of 2^-16 cycles.
#[derive(Clone, Copy, Debug)]
struct Pace {
    interval: u64,
    next: u64,
}

impl Pace {
    fn new(cycles: f64) -> Self {
        Self {
            interval: (cycles.clamp(0.0, 1e9) * 65536.0).round() as u64,
            next: 0,
        }
    }

    #[inline(always)]
    const fn ready(&self, now: u64) -> bool {
        self.next <= (now << 16) + 0xffff
    }

    #[inline(always)]
    fn take(&mut self, now: u64) {
        // What was not taken in time is lost, but for the fraction of a cycle.
        self.next = self.next.max(now << 16) + self.interval;
    }
}

/// A link and a memory of limited speed. Points written back share the memory with those read.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    link: Pace,
    memory: Pace,
}

impl Rates {
    /// With so many cycles for a packet and for a point.
    #[must_use]
    pub fn new(packet_cycles: f64, point_cycles: f64) -> Self {
        Self {
            link: Pace::new(packet_cycles),
            memory: Pace::new(point_cycles),
        }
    }
}

impl Feed for Rates {
    #[inline(always)]
    fn packet(&mut self, now: u64) -> bool {
        self.link.ready(now)
    }
    #[inline(always)]
    fn packet_taken(&mut self, now: u64) {
        self.link.take(now);
    }
    #[inline(always)]
    fn point(&mut self, now: u64) -> bool {
        self.memory.ready(now)
    }
    #[inline(always)]
    fn point_taken(&mut self, now: u64) {
        self.memory.take(now);
    }
    #[inline(always)]
    fn late(&mut self, _: u64) -> bool {
        true
    }
    #[inline(always)]
    fn late_taken(&mut self, now: u64) {
        self.memory.take(now);
    }
    #[inline(always)]
    fn result(&mut self, _: u64) -> bool {
        true
    }
}

/// Back-pressure at random: each interface works in so many of 256 cycles.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// Other seeds, other cycles.
    pub seed: u64,
    /// Of 256, for packets, points, points written back, results.
    pub of_256: [u8; 4],
}

impl Noise {
    fn roll(&self, now: u64, which: usize) -> bool {
        let mut z =
            (now << 2 | which as u64).wrapping_add(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 56) < u64::from(self.of_256[which])
    }
}

impl Feed for Noise {
    fn packet(&mut self, now: u64) -> bool {
        self.roll(now, 0)
    }
    fn packet_taken(&mut self, _: u64) {}
    fn point(&mut self, now: u64) -> bool {
        self.roll(now, 1)
    }
    fn point_taken(&mut self, _: u64) {}
    fn late(&mut self, now: u64) -> bool {
        self.roll(now, 2)
    }
    fn late_taken(&mut self, _: u64) {}
    fn result(&mut self, now: u64) -> bool {
        self.roll(now, 3)
    }
}

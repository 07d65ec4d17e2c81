//! The parameters of the machine, the same in the RTL and in the model.
#![forbid(unsafe_code)]

use crate::error::Error;

/// What happens to an item whose bucket is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The pipeline waits.
    Stall,
    /// It waits in a FIFO of so many entries, and the next item is looked at. The head of the FIFO goes
    /// before new items as soon as its bucket is free (hardcaml_zprize, and the greedy scheduler of
    /// ePrint 2022/1396).
    Fifo(u32),
    /// It is written to memory behind the points and read again in the next pass (CycloneMSM,
    /// ePrint 2022/1396, section 5.3). A pass of no more items than the window waits instead, since all
    /// of it could be written back for ever.
    Append,
}

impl Policy {
    /// Its name: `stall`, `fifo-16`, `append`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Stall => "stall".into(),
            Self::Fifo(depth) => format!("fifo-{depth}"),
            Self::Append => "append".into(),
        }
    }
}

/// Which RTL adder, and so which latency: the levels of Karatsuba.
#[must_use]
pub const fn adder(levels: u32) -> (u32, u32) {
    // fieldspar_pkg: kmul 2 + 3 L, its low half 1 + 3 L, the Montgomery product two of one and one of
    // the other and 2, the addition two products and 2
    let montgomery = 2 * (2 + 3 * levels) + 1 + 3 * levels + 2;
    (2 + 2 * montgomery, (1 + montgomery) | 1)
}

/// A column engine: `rtl/msm_column.sv`, by its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Machine {
    /// Cycles from the operands of a mixed addition to its sum.
    pub latency: u32,
    /// Cycles from the first pass of a full addition to the second.
    pub reentry: u32,
    /// Bits of a signed digit, `c`: there are `2^(c-1)` buckets.
    pub digit_bits: u32,
    /// Columns that take turns at the adder; each has its own buckets.
    pub columns: u32,
    /// What happens to conflicts.
    pub policy: Policy,
    /// Whether a zero digit takes no place in the adder. Without, it occupies bucket 0 with the neutral
    /// element.
    pub zero_bypass: bool,
    /// Buckets that can be declared hot.
    pub hot: u32,
    /// Accumulators of a hot bucket; a power of two, at least 2 if there are hot ones.
    pub replicas: u32,
    /// Packets of eight commands that the queue holds.
    pub queue: u32,
}

impl Default for Machine {
    /// The adder with three levels of Karatsuba, 2^15 buckets, a FIFO of 64, no hot buckets.
    fn default() -> Self {
        let (latency, reentry) = adder(3);
        Self {
            latency,
            reentry,
            digit_bits: 16,
            columns: 1,
            policy: Policy::Fifo(64),
            zero_bypass: true,
            hot: 0,
            replicas: 2,
            queue: 8,
        }
    }
}

impl Machine {
    /// Cycles from the issue of an addition to the first cycle in which its bucket may be issued again:
    /// one to read the memory, the adder, one to write back.
    #[must_use]
    pub const fn window(&self) -> u32 {
        self.latency + 2
    }

    /// `c - 1`.
    #[must_use]
    pub const fn index_bits(&self) -> u32 {
        self.digit_bits - 1
    }

    /// Buckets of a column.
    #[must_use]
    pub const fn buckets(&self) -> u32 {
        1 << (self.digit_bits - 1)
    }

    /// Words of the bucket memory: the buckets of all columns, then the replicas.
    #[must_use]
    pub const fn words(&self) -> u32 {
        self.first_slot() + self.hot * self.replicas
    }

    /// Where the replicas begin.
    #[must_use]
    pub const fn first_slot(&self) -> u32 {
        self.columns << (self.digit_bits - 1)
    }

    /// Whether such a machine can be built.
    ///
    /// # Errors
    ///
    /// [`Error::Machine`] with the parameter and what it may be.
    pub fn check(&self) -> Result<(), Error> {
        let within = |what, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(Error::Machine {
                    what,
                    value: value.into(),
                    least: least.into(),
                    most: most.into(),
                })
            }
        };
        within("adder latency", self.latency, 2, 4096)?;
        within(
            "cycles between the passes of a full addition",
            self.reentry,
            1,
            4096,
        )?;
        within("digit bits", self.digit_bits, 3, 20)?;
        within("columns at once", self.columns, 1, 64)?;
        within("hot buckets", self.hot, 0, 254)?;
        within("queue", self.queue, 1, 1 << 16)?;
        if self.hot > 0 {
            within("replicas", self.replicas, 2, 1 << 12)?;
            if !self.replicas.is_power_of_two() {
                return Err(Error::Machine {
                    what: "replicas (a power of two)",
                    value: self.replicas.into(),
                    least: 2,
                    most: 1 << 12,
                });
            }
        }
        match self.policy {
            Policy::Fifo(depth) => within("FIFO", depth, 1, 1 << 24),
            _ => Ok(()),
        }
    }

    /// The bucket memory's word of a digit of column `v` that is not zero, before replicas: the bucket
    /// of weight `2^(c-1)` stands at 0, where no digit but zero would.
    #[inline]
    #[must_use]
    pub const fn word(&self, v: u32, digit: i32) -> u32 {
        (v << (self.digit_bits - 1)) | (digit.unsigned_abs() & ((1 << (self.digit_bits - 1)) - 1))
    }
}

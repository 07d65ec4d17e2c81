//! The column engines that `cargo xtask rtl` knows: the parameters there are these.
#![forbid(unsafe_code)]

use crate::machine::{Machine, Policy, adder};

/// A column engine that can be built.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Design {
    /// Its name.
    pub name: &'static str,
    /// Its parameters.
    pub machine: Machine,
    /// Bits of a coordinate.
    pub width: u32,
    /// Whether it has the adder of the curve, and not a delay line.
    pub curve: bool,
}

fn delay(name: &'static str, machine: Machine) -> Design {
    Design {
        name,
        machine,
        width: 32,
        curve: false,
    }
}

fn curve(name: &'static str, machine: Machine) -> Design {
    let (latency, reentry) = adder(3);
    Design {
        name,
        machine: Machine {
            latency,
            reentry,
            ..machine
        },
        width: 384,
        curve: true,
    }
}

/// All of them: those with a delay line in the adder's place for tests of the schedulers, then those
/// that compute.
#[must_use]
pub fn designs() -> Vec<Design> {
    let machine = |digit_bits, latency, reentry, policy| Machine {
        digit_bits,
        latency,
        reentry,
        policy,
        ..Machine::default()
    };
    vec![
        delay(
            "sched_stall",
            Machine {
                queue: 2,
                ..machine(5, 20, 9, Policy::Stall)
            },
        ),
        delay("sched_fifo", machine(8, 70, 35, Policy::Fifo(16))),
        delay(
            "sched_fifo_turns",
            Machine {
                columns: 3,
                queue: 1,
                ..machine(6, 33, 7, Policy::Fifo(5))
            },
        ),
        delay(
            "sched_fifo_hot",
            Machine {
                hot: 4,
                replicas: 16,
                ..machine(8, 52, 27, Policy::Fifo(8))
            },
        ),
        delay("sched_append", machine(7, 52, 27, Policy::Append)),
        delay(
            "sched_append_hot",
            Machine {
                columns: 2,
                hot: 3,
                replicas: 8,
                ..machine(5, 18, 10, Policy::Append)
            },
        ),
        delay(
            "sched_append_zero",
            Machine {
                zero_bypass: false,
                queue: 3,
                ..machine(4, 12, 5, Policy::Append)
            },
        ),
        curve(
            "msm_c8",
            Machine {
                columns: 4,
                hot: 4,
                replicas: 16,
                ..machine(8, 0, 0, Policy::Fifo(16))
            },
        ),
        curve("msm_c9", machine(9, 0, 0, Policy::Append)),
        curve(
            "msm_c10",
            Machine {
                columns: 2,
                ..machine(10, 0, 0, Policy::Fifo(64))
            },
        ),
    ]
}

/// The design of that name.
#[must_use]
pub fn design(name: &str) -> Option<Design> {
    designs().into_iter().find(|d| d.name == name)
}

//! The pipelined MSM accelerator, simulated: open RTL, and a cycle model that equals it.
//!
//! The machine is that of CycloneMSM (ePrint 2022/1396) for G1 of BLS12-377: a pipelined adder on the
//! twisted Edwards form takes a point a cycle, a memory holds one accumulator a bucket, and a scheduler
//! keeps away from buckets whose sums are still in the pipeline. The RTL stands in `rtl/`; its top is
//! `rtl/msm_column.sv`, whose parameters are a [`Machine`].
//!
//! ```
//! use fieldspar_fpga::{Engine, Machine, msm};
//! use fieldspar_msm::{Bases, InSubgroup, curve::Bls12_377, inputs};
//!
//! let points = inputs::points::<Bls12_377, 6>(1, 20);
//! let bases = Bases::<Bls12_377, 6, InSubgroup>::new(points)?;
//! let mut machine = Machine::default();
//! machine.digit_bits = 8;
//!
//! let (sum, report) = msm(&Engine::Model(machine), &bases, &vec![3u64; 20])?;
//! println!("{sum:?} in {} cycles", report.counters.cycles);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`msm`] is the device `fpga:sim`, with two engines: the model, which needs no tools, and the RTL as
//!   Verilator compiles it (`cargo xtask rtl`).
//! - [`model`] counts cycles: the total, where each went, and every addition in its cycle, all equal to
//!   the RTL's. Tests run both on the same digits, under the same back-pressure.
//! - [`predict`] puts a link, a memory and a clock around it. What it says in seconds is a prediction.
//!
//! An addition occupies its bucket for [`Machine::window`] cycles. Conflicts wait, go to a FIFO, or are
//! written behind the points ([`Policy`]). Skewed digits bring all of these down to a few per cent, since
//! one accumulator takes one addition in `window` cycles; buckets that the host declares hot ([`hot`])
//! have several accumulators that take turns. Zero digits take no place in the adder.
//!
//! The buckets' weighted sum is made on the chip ([`model::aggregate`]).
#![deny(unsafe_code)]

pub mod designs;
mod device;
pub mod digits;
pub mod driver;
mod error;
pub mod hot;
pub mod machine;
pub mod model;
pub mod predict;
pub mod rtl;

pub use device::{DEVICE, Engine, MOST_MODEL, MOST_RTL, Report, msm, waveform};
pub use error::Error;
pub use machine::{Machine, Policy};

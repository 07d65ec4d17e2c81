//! The hardware itself, in simulation: the designs under `rtl/` as Verilator compiles them.
//!
//! `cargo xtask rtl` builds each design into a shared object; [`Library::open`] finds it at run time, so
//! that this crate compiles where no Verilator is. The folder is `FIELDSPAR_RTL`, else `target/rtl` of
//! the workspace that this crate was compiled in.
//!
//! A clock cycle is: write the inputs, [`Simulation::settle`], read what follows from them without a
//! register (`in_ready`, for one), [`Simulation::edge`], read the rest.

pub mod area;
mod library;

pub use library::{Library, Port, Simulation};

use std::path::PathBuf;

/// Why a design cannot be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The shared object is not there.
    #[error(
        "{} is not there: `apt-get install verilator yosys`, then `cargo xtask rtl {name}`, \
         or say with FIELDSPAR_RTL where it lies",
        path.display()
    )]
    NotBuilt {
        /// The design.
        name: String,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It is there, and no shared object with the functions of `rtl/sim/shim.cpp`.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: String,
    },
    /// Built for another version of this crate.
    #[error(
        "{} has interface {have}, this program needs {need}: `cargo xtask rtl {name}`",
        path.display()
    )]
    Interface {
        /// The design.
        name: String,
        /// The file.
        path: PathBuf,
        /// Its interface.
        have: u32,
        /// Ours.
        need: u32,
    },
    /// The design could not be set up.
    #[error("{name}: no memory for a simulation")]
    NoMemory {
        /// The design.
        name: String,
    },
    /// The design has no such port.
    #[error("{name} has no port `{port}`")]
    NoPort {
        /// The design.
        name: String,
        /// The port.
        port: String,
    },
    /// The port is not as wide as the caller needs.
    #[error("port `{port}` of {name} has {have} bits, not {need}")]
    Width {
        /// The design.
        name: String,
        /// The port.
        port: String,
        /// Its width.
        have: u32,
        /// The width asked for.
        need: u32,
    },
    /// No waveform: the build has none, or the file cannot be written.
    #[error("{name}: no waveform in {}: {why}", path.display())]
    Trace {
        /// The design.
        name: String,
        /// The file.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
}

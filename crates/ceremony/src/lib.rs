//! A coordinator's record of threshold-signing ceremonies: who contributed what, in which order, and
//! roots that anyone can recompute.
//!
//! It holds no secrets and makes no signatures. [`rules`] are state machines without clock,
//! randomness or I/O: the same operations give the same bytes everywhere. [`rules::v1`] is byte for
//! byte the public engine of luxfi/mpcvm, with its defects; [`mod@reference`] is a plain port of it, the
//! definition of correct. [`rules::v2`] is what to use; [`store`] keeps its state on disk, and
//! [`verify`] checks what the messages say, and names who is at fault.
//!
//! ```
//! use fieldspar_ceremony::rules::v1::{Engine, scenario};
//!
//! let mut engine = Engine::default();
//! for round in scenario::Scenario::Small.chunks() {
//!     let report = engine.round(
//!         &scenario::descriptor(),
//!         &round.ceremony_ops,
//!         &round.contributions,
//!     );
//!     assert_eq!(report.result.state.active, 10);
//!     assert_eq!(report.drops.total(), 0);
//! }
//! ```
//!
//! All hashing is Keccak-256 as Ethereum uses it ([`keccak256`]), several states side by side where
//! the processor has the registers for it; the variant is chosen at run time.
#![deny(unsafe_code)]

mod cpu;
pub mod hex;
pub mod reference;
pub mod rules;
pub mod store;
pub mod verify;

pub use cpu::keccak::keccak256;

/// A Keccak-256 digest.
pub type Digest = [u8; 32];

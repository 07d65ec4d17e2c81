//! Errors of parameters, input files and proof files.
#![forbid(unsafe_code)]

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a set of parameters cannot be used. Every text says what to change.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ParamsError {
    /// A single value lies outside what the format, the field or p3-whir can express.
    #[error("{name} is {have}; it must lie in {min}..={max}: {why}")]
    OutOfRange {
        /// The parameter, as the command line and JSON name it.
        name: &'static str,
        /// The value found.
        have: usize,
        /// Smallest value allowed.
        min: usize,
        /// Largest value allowed.
        max: usize,
        /// The reason for the bounds.
        why: &'static str,
    },
    /// The configuration was asked for another extension than the parameters name.
    #[error("the parameters name extension degree {want}, but the field in use has degree {have}")]
    DegreeMismatch {
        /// Degree in the parameters.
        want: usize,
        /// Degree of the field type.
        have: usize,
    },
    /// The evaluation domain after folding exceeds the two-adicity of the field.
    #[error(
        "{phase}: the folded domain has 2^{need} points, but the field has roots of unity only up to 2^{have}; \
         lower the rate parameter or n by {}, or raise the fold", need - have
    )]
    TwoAdicity {
        /// Where in the protocol.
        phase: String,
        /// log2 of the domain needed.
        need: usize,
        /// The two-adicity of the field.
        have: usize,
    },
    /// The per-round folds cannot fold a polynomial of this size.
    #[error("folds {folds:?} do not fit n = {n}: {why}")]
    Folds {
        /// The folds given.
        folds: Vec<usize>,
        /// Number of variables.
        n: usize,
        /// What is wrong and what to change.
        why: String,
    },
    /// The number of per-round rates differs from the number of rounds.
    #[error(
        "{have} per-round rates given, n = {n} with these folds has {need} rounds; give {need}"
    )]
    RateCount {
        /// Number of variables.
        n: usize,
        /// Entries needed.
        need: usize,
        /// Entries given.
        have: usize,
    },
    /// A round's rate would need a larger domain than the round before.
    #[error(
        "round {round}: rate parameter {have} would enlarge the domain; at most {max} (previous rate + fold)"
    )]
    RateGrowsDomain {
        /// Round index, from 0.
        round: usize,
        /// The rate parameter given.
        have: usize,
        /// Largest that keeps the domain from growing.
        max: usize,
    },
    /// Some step opens no position: it would accept any committed function.
    #[error(
        "{phase} makes no query and would accept any function: the PoW budget ({pow_bits} bits) covers the whole \
         security level ({security_level}); lower the PoW budget or raise the level"
    )]
    ZeroQueries {
        /// Where in the protocol.
        phase: String,
        /// PoW budget.
        pow_bits: usize,
        /// Security level.
        security_level: usize,
    },
    /// Out-of-domain samples cannot reach the level with this extension.
    #[error(
        "no number of out-of-domain samples reaches {security_level} bits with a {field_bits}-bit extension; {}",
        advice(*.max_level, "use extension degree 5, or the level")
    )]
    OodInfeasible {
        /// Security level asked for.
        security_level: usize,
        /// Bits of the extension field.
        field_bits: usize,
        /// Highest level that the other parameters accept.
        max_level: Option<usize>,
    },
    /// A proof-of-work step would need more bits than the budget.
    #[error(
        "{phase} needs {need} PoW bits, the budget is {have}; raise the PoW budget to {need} (at most 30), use a \
         lower rate of the code (a larger rate parameter) or extension degree 5; {}",
        advice(*.max_level, "or lower the level:")
    )]
    PowBits {
        /// Where in the protocol.
        phase: String,
        /// Bits needed.
        need: usize,
        /// Bits allowed.
        have: usize,
        /// Highest level that the other parameters accept.
        max_level: Option<usize>,
    },
    /// Batching the initial claims loses too many bits.
    #[error(
        "batching {claims} initial claims keeps {have:.2} bits, below the level of {need}; use extension degree 5, \
         the Johnson bound or a smaller rate parameter; {}", advice(*.max_level, "or lower the level:")
    )]
    InitialClaims {
        /// Number of claims: openings and out-of-domain samples.
        claims: usize,
        /// Bits kept.
        have: f64,
        /// Bits asked for.
        need: usize,
        /// Highest level that the other parameters accept.
        max_level: Option<usize>,
    },
    /// p3-whir refused for a reason that has no variant of its own here.
    #[error("p3-whir 0.8.0 refuses these parameters: {0}")]
    Refused(String),
}

fn advice(max_level: Option<usize>, lead: &str) -> String {
    match max_level {
        Some(level) => {
            format!("{lead} {level} bits is the highest that the other parameters accept")
        }
        None => "no security level is accepted with the other parameters".to_owned(),
    }
}

/// Why an input cannot be read as field elements.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// There is no element.
    #[error("the input is empty; a polynomial needs at least one element")]
    Empty,
    /// The length is not a whole number of elements.
    #[error("the input has {have} bytes, not a multiple of 4{hint}")]
    Length {
        /// Bytes found.
        have: usize,
        /// A note on compressed input, or nothing.
        hint: &'static str,
    },
    /// A value is not below the modulus.
    #[error(
        "element {index} is {value}, not below the BabyBear modulus 2013265921; reduce it, or use encoding bytes{hint}"
    )]
    NotCanonical {
        /// Element index, from 0.
        index: usize,
        /// The value found.
        value: u64,
        /// A note on compressed input, or nothing.
        hint: &'static str,
    },
    /// A malformed `.npy` file.
    #[error("npy, byte {offset}: {what}")]
    Npy {
        /// Byte offset in the file.
        offset: usize,
        /// What was found and what was expected.
        what: String,
    },
    /// A dtype other than little-endian uint32 or uint64.
    #[error("npy dtype {found:?} is not supported; convert with .astype('<u4') or .astype('<u8')")]
    Dtype {
        /// The dtype string of the header.
        found: String,
    },
    /// The padded polynomial cannot be held.
    #[error("a polynomial of 2^{n} elements cannot be held in memory")]
    TooLarge {
        /// Number of variables.
        n: usize,
    },
}

/// Why a proof file cannot be decoded, encoded or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The file ends early, or a length claims more bytes than are left.
    #[error("byte {offset}: {what} needs {need} bytes, {have} are left")]
    Truncated {
        /// Byte offset in the file.
        offset: usize,
        /// What was being read.
        what: &'static str,
        /// Bytes needed.
        need: u64,
        /// Bytes left.
        have: u64,
    },
    /// Not a proof file.
    #[error("byte 0: not a .fsp proof file: found {found:02x?}, expected {expected:02x?}")]
    Magic {
        /// The first bytes.
        found: Vec<u8>,
        /// The magic.
        expected: [u8; 8],
    },
    /// A version, tag, identifier or length differs from the one value possible here.
    #[error("byte {offset}: {what} is {found}, expected {expected}")]
    Unexpected {
        /// Byte offset in the file.
        offset: usize,
        /// What was being read.
        what: &'static str,
        /// The value found.
        found: u64,
        /// The values possible.
        expected: String,
    },
    /// A field element is not below the modulus.
    #[error("byte {offset}: {what} is {found}, not below the modulus 2013265921")]
    NotCanonical {
        /// Byte offset in the file.
        offset: usize,
        /// What was being read.
        what: &'static str,
        /// The word found (canonical in the header, Montgomery form in the proof).
        found: u32,
    },
    /// A length is not written in its shortest form.
    #[error("byte {offset}: the length of {what} is not a shortest-form varint")]
    Varint {
        /// Byte offset in the file.
        offset: usize,
        /// What was being read.
        what: &'static str,
    },
    /// Bytes after the end.
    #[error("byte {offset}: {have} bytes after the end of {what}")]
    Trailing {
        /// Offset of the first extra byte.
        offset: usize,
        /// Extra bytes.
        have: usize,
        /// What has ended.
        what: &'static str,
    },
    /// The parameters are refused.
    #[error("parameters: {0}")]
    Params(#[from] ParamsError),
    /// The decoded proof does not encode to the bytes read, or cannot be (de)serialised.
    #[error("byte {offset}: the proof is not in its one canonical encoding: {reason}")]
    Encoding {
        /// Byte offset in the file where the proof starts.
        offset: usize,
        /// The reason.
        reason: String,
    },
    /// The target exists and overwriting was not asked for.
    #[error("{0} exists; pass --force to replace it")]
    Exists(PathBuf),
    /// An input or output operation failed.
    #[error("cannot {op} {path}: {source}")]
    Io {
        /// What was attempted.
        op: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
}

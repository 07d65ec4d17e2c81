//! The workloads of the published benchmark, and of its determinism cases.
//!
//! Each is a list of rounds that run on new, empty states, one after another. Only contributions of
//! the first round are made, so that no ceremony of a scenario ends; [`full_keygen`] goes on to the
//! shares.
#![forbid(unsafe_code)]

use super::{CeremonyOp, ContributionOp, Kind, MAX_PAYLOAD, Mode, Operation, RoundDescriptor};

/// The time of every round, in nanoseconds.
pub const NOW: u64 = 1_700_000_000_000_000_000;

/// The deadline of every ceremony.
pub const DEADLINE: u64 = 2_000_000_000_000_000_000;

/// A round's operations.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// Begins.
    pub ceremony_ops: Vec<CeremonyOp>,
    /// Contributions.
    pub contributions: Vec<ContributionOp>,
}

/// A workload of the published benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scenario {
    /// 10 FROST key generations.
    Small,
    /// 100 FROST and 100 CGGMP21 key generations.
    Medium,
    /// 200 FROST, 200 CGGMP21 and 200 Corona key generations.
    Large,
    /// 250 FROST key generations and signatures, 150 of CGGMP21 each, 200 Corona.
    Xlarge,
    /// 100 ceremonies of one kind.
    Micro(Kind),
}

/// What the benchmark does with a kind.
struct Shape {
    base: u8,
    threshold: u32,
    total: u32,
    payload: usize,
}

const fn shape(kind: Kind) -> Shape {
    let (base, threshold, total, payload) = match kind {
        Kind::FROST_KEYGEN => (0xc0, 7, 10, 64),
        Kind::FROST_SIGN => (0xd0, 5, 7, 64),
        Kind::CGGMP21_KEYGEN => (0xa0, 5, 9, 64),
        Kind::CGGMP21_SIGN => (0xb0, 4, 7, 64),
        _ => (0xe0, 4, 7, 256),
    };
    Shape {
        base,
        threshold,
        total,
        payload,
    }
}

/// The most ceremonies and contributions of a chunk, and ceremonies of one kind in it.
const CHUNK: (usize, usize) = (200, 3500);

impl Scenario {
    /// The published ones, `micro` for each kind.
    pub const ALL: [Self; 9] = [
        Self::Small,
        Self::Medium,
        Self::Large,
        Self::Xlarge,
        Self::Micro(Kind::FROST_KEYGEN),
        Self::Micro(Kind::FROST_SIGN),
        Self::Micro(Kind::CGGMP21_KEYGEN),
        Self::Micro(Kind::CGGMP21_SIGN),
        Self::Micro(Kind::CORONA_KEYGEN),
    ];

    /// Its name: `small`, `medium`, `large`, `xlarge`, `micro-<kind>`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
            Self::Xlarge => "xlarge",
            Self::Micro(Kind::FROST_KEYGEN) => "micro-frost-keygen",
            Self::Micro(Kind::FROST_SIGN) => "micro-frost-sign",
            Self::Micro(Kind::CGGMP21_KEYGEN) => "micro-cggmp21-keygen",
            Self::Micro(Kind::CGGMP21_SIGN) => "micro-cggmp21-sign",
            Self::Micro(_) => "micro-corona-keygen",
        }
    }

    /// Ceremonies by kind, in the order of their ids.
    fn counts(self) -> Vec<(Kind, usize)> {
        match self {
            Self::Small => vec![(Kind::FROST_KEYGEN, 10)],
            Self::Medium => vec![(Kind::FROST_KEYGEN, 100), (Kind::CGGMP21_KEYGEN, 100)],
            Self::Large => vec![
                (Kind::FROST_KEYGEN, 200),
                (Kind::CGGMP21_KEYGEN, 200),
                (Kind::CORONA_KEYGEN, 200),
            ],
            Self::Xlarge => vec![
                (Kind::FROST_KEYGEN, 250),
                (Kind::FROST_SIGN, 250),
                (Kind::CGGMP21_KEYGEN, 150),
                (Kind::CGGMP21_SIGN, 150),
                (Kind::CORONA_KEYGEN, 200),
            ],
            Self::Micro(kind) => vec![(kind, 100)],
        }
    }

    /// The chunks; each is for a new, empty state.
    #[must_use]
    pub fn chunks(self) -> Vec<Round> {
        // What is left of each kind, with its next id.
        let mut left = Vec::new();
        let mut first = 1;
        for (kind, count) in self.counts() {
            left.push((kind, count, first));
            first += count as u64;
        }
        let mut chunks = Vec::new();
        while left.iter().any(|&(_, count, _)| count > 0) {
            let mut chunk = Round::default();
            for (kind, count, next) in &mut left {
                let most = if *kind == Kind::CORONA_KEYGEN { 32 } else { 64 };
                for _ in 0..(*count).min(most) {
                    let contributions = shape(*kind).threshold as usize;
                    if chunk.ceremony_ops.len() == CHUNK.0
                        || chunk.contributions.len() + contributions > CHUNK.1
                    {
                        break;
                    }
                    add(&mut chunk, *kind, *next);
                    *next += 1;
                    *count -= 1;
                }
            }
            chunks.push(chunk);
        }
        chunks
    }
}

fn add(chunk: &mut Round, kind: Kind, id: u64) {
    let Shape {
        base,
        threshold,
        total,
        payload,
    } = shape(kind);
    let fill = base.wrapping_add((id & 15) as u8);
    chunk.ceremony_ops.push(begin(
        id,
        kind,
        (threshold, total),
        [fill ^ 0x5a; 32],
        [fill; 32],
    ));
    for holder in 0..threshold {
        let addr = 0xa_0000_0000 + (id << 8) + u64::from(holder);
        chunk
            .contributions
            .push(contribution(id, 0, holder, addr, fill, payload));
    }
}

/// A begin with [`DEADLINE`].
#[must_use]
pub const fn begin(
    id: u64,
    kind: Kind,
    (threshold, total): (u32, u32),
    subject: [u8; 32],
    seed: [u8; 32],
) -> CeremonyOp {
    CeremonyOp {
        id,
        deadline: DEADLINE,
        op: Operation::BEGIN,
        kind: kind.0,
        threshold,
        total,
        subject,
        seed,
    }
}

/// A contribution of `len` bytes, byte `k` of which is `fill ^ k`.
#[must_use]
pub fn contribution(
    id: u64,
    round: u32,
    holder: u32,
    holder_addr: u64,
    fill: u8,
    len: usize,
) -> ContributionOp {
    let len = len.min(MAX_PAYLOAD);
    let mut payload = [0; MAX_PAYLOAD];
    for (k, byte) in payload[..len].iter_mut().enumerate() {
        *byte = fill ^ k as u8;
    }
    ContributionOp {
        ceremony_id: id,
        holder_addr,
        round,
        holder,
        payload_len: len as u32,
        payload,
    }
}

/// The description of a scenario's round: nothing before it, epoch 0, closing.
#[must_use]
pub fn descriptor() -> RoundDescriptor {
    RoundDescriptor {
        timestamp: NOW,
        mode: Mode::NORMAL,
        closing: true,
        ..RoundDescriptor::default()
    }
}

/// A key generation from its begin to its shares, a round each, with a contribution of every
/// participant.
#[must_use]
pub fn full_keygen(id: u64, kind: Kind, threshold: u32, total: u32) -> Vec<Round> {
    (0..kind.rounds())
        .map(|round| Round {
            ceremony_ops: if round == 0 {
                vec![begin(id, kind, (threshold, total), [0xaa; 32], [0xab; 32])]
            } else {
                Vec::new()
            },
            contributions: (0..total)
                .map(|holder| {
                    let addr = 0xa_0000_0000 + u64::from(holder);
                    contribution(id, round, holder, addr, 0xc0 + round as u8, 64)
                })
                .collect(),
        })
        .collect()
}

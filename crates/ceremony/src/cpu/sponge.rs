//! Many sponges in the lanes of one state vector: leaves of any length in any order, and serial
//! folds over them, `acc = keccak(acc | leaf digest)`.
//!
//! A fold is a chain in which each step waits for the one before, so one lane carries it and the
//! others hash the leaves that it will need: as long as the leaves are fewer than the lanes left
//! over, they cost nothing. Chains run beside each other in the same way.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::keccak::{Block, Digest, RATE, permute};

/// A message to be hashed, or already hashed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// Where its padded blocks begin in [`Chain::blocks`].
    pub(crate) start: u32,
    /// How many there are; 0 once `digest` is known.
    pub(crate) blocks: u32,
    /// Its digest, if known.
    pub(crate) digest: Digest,
}

/// Leaves in order.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    /// Padded messages.
    pub(crate) blocks: &'a [Block],
    /// The leaves. When done, all digests are known.
    pub(crate) leaves: &'a mut [Leaf],
    /// The fold's value: begins with what is here; `None` if the leaves are not to be folded.
    pub(crate) acc: Option<Digest>,
}

/// Hashes every leaf of every chain and folds those that are to be folded.
pub(crate) struct Sponges<'a, 'b>(pub(crate) &'b mut [Chain<'a>]);

/// What a lane is working on.
#[derive(Clone, Copy, Debug)]
enum Job {
    Idle,
    Leaf { chain: usize, leaf: usize },
    Fold { chain: usize },
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    job: Job,
    /// The next block of a leaf.
    next: u32,
    /// Blocks of a leaf that are left after this one.
    left: u32,
    /// The state goes on; otherwise it begins anew.
    goes_on: bool,
}

/// A chain's progress.
struct Progress {
    /// Leaves before this one are hashed or in a lane.
    hashing: usize,
    /// Leaves folded.
    folded: usize,
    /// A lane carries the fold.
    in_flight: bool,
    /// `acc | leaf digest | padding`.
    block: Block,
}

/// The most chains in one call.
const MAX_CHAINS: usize = 3;

const IDLE: Lane = Lane {
    job: Job::Idle,
    next: 0,
    left: 0,
    goes_on: false,
};

impl Progress {
    fn new(chain: &Chain<'_>) -> Self {
        let mut block = [0; RATE];
        block[..32].copy_from_slice(&chain.acc.unwrap_or_default());
        block[64] = 0x01;
        block[RATE - 1] = 0x80;
        Self {
            hashing: 0,
            folded: if chain.acc.is_some() {
                0
            } else {
                chain.leaves.len()
            },
            in_flight: false,
            block,
        }
    }
}

/// A lane's next job: a fold that can go on, else a leaf of the chain that has most left.
#[inline(always)]
fn next_job(chains: &[Chain<'_>], progress: &mut [Progress]) -> Lane {
    for (chain, (c, p)) in chains.iter().zip(&mut *progress).enumerate() {
        if !p.in_flight
            && let Some(leaf) = c.leaves.get(p.folded)
            && leaf.blocks == 0
        {
            p.in_flight = true;
            p.block[32..64].copy_from_slice(&leaf.digest);
            return Lane {
                job: Job::Fold { chain },
                ..IDLE
            };
        }
    }
    let mut best = (0, 0);
    for (chain, (c, p)) in chains.iter().zip(&mut *progress).enumerate() {
        while c.leaves.get(p.hashing).is_some_and(|leaf| leaf.blocks == 0) {
            p.hashing += 1;
        }
        let left = c.leaves.len() - p.hashing;
        if left > best.0 {
            best = (left, chain);
        }
    }
    let (left, chain) = best;
    if left == 0 {
        return IDLE;
    }
    let leaf = progress[chain].hashing;
    progress[chain].hashing += 1;
    let Leaf { start, blocks, .. } = chains[chain].leaves[leaf];
    Lane {
        job: Job::Leaf { chain, leaf },
        next: start,
        left: blocks,
        goes_on: false,
    }
}

impl Kernel for Sponges<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let chains = &mut self.0[..];
        assert!(chains.len() <= MAX_CHAINS, "at most {MAX_CHAINS} chains");
        let nothing = [0; RATE];
        let mut progress: Vec<Progress> = chains.iter().map(Progress::new).collect();
        let mut lanes = [IDLE; MAX_LANES];
        let mut state = [isa.splat(0); 25];
        let mut digests = [[0; 32]; MAX_LANES];
        loop {
            let mut busy = false;
            for lane in &mut lanes[..I::LANES] {
                if matches!(lane.job, Job::Idle) {
                    *lane = next_job(chains, &mut progress);
                }
                busy |= !matches!(lane.job, Job::Idle);
            }
            if !busy {
                return;
            }
            let mut keep = [0; MAX_LANES];
            let mut blocks = [&nothing; MAX_LANES];
            for ((lane, keep), block) in lanes[..I::LANES].iter().zip(&mut keep).zip(&mut blocks) {
                *keep = if lane.goes_on { u64::MAX } else { 0 };
                match lane.job {
                    Job::Idle => {}
                    Job::Leaf { chain, .. } => *block = &chains[chain].blocks[lane.next as usize],
                    Job::Fold { chain } => *block = &progress[chain].block,
                }
            }
            let keep = isa.load(&keep);
            let words = isa.transpose_in(&blocks);
            for i in 0..17 {
                state[i] = isa.xor(isa.and(state[i], keep), words[i]);
            }
            for word in &mut state[17..] {
                *word = isa.and(*word, keep);
            }
            permute(isa, &mut state);
            isa.transpose_out([state[0], state[1], state[2], state[3]], &mut digests);
            for (lane, digest) in lanes[..I::LANES].iter_mut().zip(&digests) {
                match lane.job {
                    Job::Idle => {}
                    Job::Fold { chain } => {
                        let p = &mut progress[chain];
                        p.block[..32].copy_from_slice(digest);
                        chains[chain].acc = Some(*digest);
                        p.folded += 1;
                        p.in_flight = false;
                        *lane = IDLE;
                    }
                    Job::Leaf { chain, leaf } => {
                        lane.next += 1;
                        lane.left -= 1;
                        lane.goes_on = true;
                        if lane.left == 0 {
                            let leaf = &mut chains[chain].leaves[leaf];
                            leaf.digest = *digest;
                            leaf.blocks = 0;
                            *lane = IDLE;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

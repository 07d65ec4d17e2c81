//! Every length in a proof, from the parameters alone.
//!
//! p3-whir's verifier checks most of them; it ignores the final sumcheck where that has no
//! rounds, so that a proof would have many encodings. Here each is fixed before decoding.
#![forbid(unsafe_code)]

use p3_whir::parameters::{RoundConfig, WhirConfig};

use crate::error::ParamsError;
use crate::field::{Extension, F};
use crate::params::Params;

/// The openings of one committed codeword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningShape {
    /// Rows opened, repeats included.
    pub rows: usize,
    /// Field elements in a row: base elements for the first codeword, extension ones later.
    pub width: usize,
    /// Whether rows hold base elements.
    pub base: bool,
    /// log2 of the number of leaves.
    pub log_leaves: usize,
    /// Levels that a path climbs: `log_leaves` less the cap.
    pub levels: usize,
    /// Whether every position is opened, in order, instead of drawn ones.
    pub saturated: bool,
}

impl OpeningShape {
    fn new(round: &RoundConfig, base: bool, cap_height: usize) -> Self {
        let log_leaves = round.log_folded_domain_size;
        let leaves = 1_usize << log_leaves;
        Self {
            rows: round.num_queries.min(leaves),
            width: 1 << round.folding_factor,
            base,
            log_leaves,
            levels: log_leaves - cap_height.min(log_leaves),
            saturated: round.num_queries >= leaves,
        }
    }
}

/// One intermediate round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundShape {
    /// Digests in the round's commitment.
    pub cap: usize,
    /// Out-of-domain answers.
    pub ood: usize,
    /// Openings of the codeword committed before.
    pub openings: OpeningShape,
    /// Sumcheck rounds.
    pub sumcheck: usize,
    /// Proof-of-work witnesses among them.
    pub witnesses: usize,
}

/// Every length in a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofShape {
    /// Degree of the extension.
    pub degree: usize,
    /// Coordinates of the point.
    pub num_variables: usize,
    /// Digests in the commitment.
    pub cap: usize,
    /// Out-of-domain answers of the commitment.
    pub ood: usize,
    /// Rounds of the first sumcheck, and its proof-of-work witnesses.
    pub initial_sumcheck: (usize, usize),
    /// Intermediate rounds.
    pub rounds: Vec<RoundShape>,
    /// log2 of the number of coefficients of the final polynomial; also its sumcheck rounds.
    pub final_variables: usize,
    /// Proof-of-work witnesses of the final sumcheck.
    pub final_witnesses: usize,
    /// Openings of the last codeword.
    pub final_openings: OpeningShape,
}

impl ProofShape {
    /// The shape for `n` variables and one opening at one point.
    ///
    /// # Errors
    /// As [`Params::config`].
    pub fn of<EF: Extension>(params: &Params, n: usize) -> Result<Self, ParamsError> {
        Ok(Self::from_config(
            &params.config::<EF>(n)?,
            params.cap_height,
        ))
    }

    /// The shape for a configuration.
    pub fn from_config<EF: Extension, C>(config: &WhirConfig<EF, F, C>, cap_height: usize) -> Self
    where
        C: p3_challenger::FieldChallenger<F> + p3_challenger::GrindingChallenger<Witness = F>,
    {
        let folds = config.folding_schedule();
        let witnesses = |rounds, bits| if bits > 0 { rounds } else { 0 };
        let cap_of = |leaves: usize| 1_usize << cap_height.min(leaves);
        let rounds = config
            .round_parameters()
            .iter()
            .enumerate()
            .map(|(i, round)| {
                let fold = folds[i + 1];
                RoundShape {
                    cap: cap_of(round.num_variables + round.log_inv_rate - fold),
                    ood: round.ood_samples,
                    openings: OpeningShape::new(round, i == 0, cap_height),
                    sumcheck: fold,
                    witnesses: witnesses(fold, round.folding_pow_bits),
                }
            })
            .collect();
        let last = config.final_round_config();
        Self {
            degree: EF::D,
            num_variables: config.num_variables(),
            cap: cap_of(config.max_fft_size()),
            ood: config.commitment_ood_samples(),
            initial_sumcheck: (
                folds[0],
                witnesses(folds[0], config.starting_folding_pow_bits()),
            ),
            rounds,
            final_variables: config.final_sumcheck_rounds(),
            final_witnesses: witnesses(
                config.final_sumcheck_rounds(),
                config.final_folding_pow_bits(),
            ),
            final_openings: OpeningShape::new(&last, config.n_rounds() == 0, cap_height),
        }
    }

    /// All openings, in order.
    pub fn openings(&self) -> impl Iterator<Item = &OpeningShape> {
        self.rounds
            .iter()
            .map(|round| &round.openings)
            .chain([&self.final_openings])
    }
}

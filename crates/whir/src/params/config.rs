//! From parameters to p3-whir's configuration, and from its refusals to what to change.
#![forbid(unsafe_code)]

use p3_challenger::{FieldChallenger, GrindingChallenger};
use p3_whir::WhirConfigError;
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};

use super::{Assumption, ExtensionDegree, Folds, MAX_POW_BITS, Params, RateSchedule};
use crate::error::ParamsError;
use crate::field::{Challenger, EF4, EF5, Extension, F};

/// A refusal before the search for the highest accepted level.
enum Refusal {
    Plain(ParamsError),
    Pow { phase: String, need: usize },
    Claims { claims: usize, have: f64 },
    Ood { field_bits: usize },
}

impl Params {
    /// p3-whir's own parameters for a polynomial of `n` variables.
    ///
    /// # Errors
    /// As [`Self::round_log_inv_rates`].
    pub fn protocol_parameters(&self, n: usize) -> Result<ProtocolParameters, ParamsError> {
        let rates = self.round_log_inv_rates(n)?;
        Ok(ProtocolParameters {
            starting_log_inv_rate: self.log_inv_rate,
            round_log_inv_rates: match self.rates {
                RateSchedule::Standard => Vec::new(),
                RateSchedule::Article | RateSchedule::PerRound(_) => rates,
            },
            folding_factor: match &self.folds {
                Folds::Constant(k) => FoldingFactor::Constant(*k),
                Folds::PerRound(v) => FoldingFactor::PerRound(v.clone()),
            },
            soundness_type: match self.assumption {
                Assumption::UniqueDecoding => SecurityAssumption::UniqueDecoding,
                Assumption::Johnson => SecurityAssumption::JohnsonBound,
                Assumption::Capacity => SecurityAssumption::CapacityBound,
            },
            security_level: self.security_level,
            pow_bits: self.pow_bits,
        })
    }

    /// p3-whir's configuration for one polynomial of `n` variables, opened at one point.
    ///
    /// `n` below the first fold gives the configuration of the padded polynomial
    /// ([`Self::padded_num_variables`]).
    ///
    /// # Errors
    /// Whatever p3-whir 0.8.0 refuses, and whatever would make it panic: see [`ParamsError`].
    pub fn config<EF: Extension>(
        &self,
        n: usize,
    ) -> Result<WhirConfig<EF, F, Challenger>, ParamsError> {
        self.config_with::<EF, Challenger>(n, 1)
    }

    /// As [`Self::config`], for another transcript type and `openings` claims.
    ///
    /// # Errors
    /// As [`Self::config`].
    pub fn config_with<EF, C>(
        &self,
        n: usize,
        openings: usize,
    ) -> Result<WhirConfig<EF, F, C>, ParamsError>
    where
        EF: Extension,
        C: FieldChallenger<F> + GrindingChallenger<Witness = F>,
    {
        let max_level = || self.max_level_with::<EF>(n, openings);
        self.try_config(n, openings)
            .map_err(|refusal| match refusal {
                Refusal::Plain(error) => error,
                Refusal::Pow { phase, need } => ParamsError::PowBits {
                    phase,
                    need,
                    have: self.pow_bits,
                    max_level: max_level(),
                },
                Refusal::Claims { claims, have } => ParamsError::InitialClaims {
                    claims,
                    have,
                    need: self.security_level,
                    max_level: max_level(),
                },
                Refusal::Ood { field_bits } => ParamsError::OodInfeasible {
                    security_level: self.security_level,
                    field_bits,
                    max_level: max_level(),
                },
            })
    }

    /// The highest security level that is accepted for a polynomial of `n` variables with these
    /// other parameters, or `None` if none is.
    #[must_use]
    pub fn max_security_level(&self, n: usize) -> Option<usize> {
        match self.degree {
            ExtensionDegree::Four => self.max_level_with::<EF4>(n, 1),
            ExtensionDegree::Five => self.max_level_with::<EF5>(n, 1),
        }
    }

    /// Whether a polynomial of `n` variables, opened at one point, can be proven.
    ///
    /// # Errors
    /// As [`Self::config`].
    pub fn check(&self, n: usize) -> Result<(), ParamsError> {
        match self.degree {
            ExtensionDegree::Four => self.config::<EF4>(n).map(drop),
            ExtensionDegree::Five => self.config::<EF5>(n).map(drop),
        }
    }

    fn max_level_with<EF: Extension>(&self, n: usize, openings: usize) -> Option<usize> {
        // No error term exceeds the size of the field plus the PoW budget.
        let mut trial = self.clone();
        (1..=EF::bits() + MAX_POW_BITS).rev().find(|&level| {
            trial.security_level = level;
            trial.try_config::<EF, Challenger>(n, openings).is_ok()
        })
    }

    fn try_config<EF, C>(&self, n: usize, openings: usize) -> Result<WhirConfig<EF, F, C>, Refusal>
    where
        EF: Extension,
        C: FieldChallenger<F> + GrindingChallenger<Witness = F>,
    {
        if EF::D != self.degree.get() {
            return Err(Refusal::Plain(ParamsError::DegreeMismatch {
                want: self.degree.get(),
                have: EF::D,
            }));
        }
        self.check_ranges().map_err(Refusal::Plain)?;
        self.check_domains(n).map_err(Refusal::Plain)?;
        let parameters = self.protocol_parameters(n).map_err(Refusal::Plain)?;
        let num_variables = self.padded_num_variables(n);
        let config = match WhirConfig::<EF, F, C>::new(num_variables, parameters) {
            Ok(config) => config,
            Err(WhirConfigError::PowBitsExceedBudget { required, .. }) => {
                // p3 names the bits, not the step.
                return Err(Refusal::Pow {
                    phase: self.over_budget::<EF>(num_variables, required),
                    need: required,
                });
            }
            Err(WhirConfigError::OodSamplesInfeasible {
                field_size_bits, ..
            }) => {
                return Err(Refusal::Ood {
                    field_bits: field_size_bits,
                });
            }
            Err(WhirConfigError::ZeroQueries) => return Err(self.zero("the schedule".to_owned())),
            Err(other) => return Err(Refusal::Plain(ParamsError::Refused(other.to_string()))),
        };
        // p3 refuses only schedules without any query at all; a single round without one is as
        // unsound.
        for (i, round) in config.round_parameters().iter().enumerate() {
            if round.num_queries == 0 {
                return Err(self.zero(format!("round {i}")));
            }
        }
        if config.terminal().num_queries == 0 {
            return Err(self.zero("the final round".to_owned()));
        }
        debug_assert!(config.max_pow_bits() <= MAX_POW_BITS);
        let claims = openings.saturating_add(config.commitment_ood_samples());
        if let Err(error) = config.validate_initial_claims(claims) {
            return Err(match error {
                WhirConfigError::InitialClaimsBelowTarget {
                    num_claims, bits, ..
                } => Refusal::Claims {
                    claims: num_claims,
                    have: bits,
                },
                other => Refusal::Plain(ParamsError::Refused(other.to_string())),
            });
        }
        Ok(config)
    }

    fn zero(&self, phase: String) -> Refusal {
        Refusal::Plain(ParamsError::ZeroQueries {
            phase,
            pow_bits: self.pow_bits,
            security_level: self.security_level,
        })
    }

    /// Which step needs `required` bits, by the bounds that p3-whir derives them from.
    fn over_budget<EF: Extension>(&self, num_variables: usize, required: usize) -> String {
        let bound = match self.assumption {
            Assumption::UniqueDecoding => SecurityAssumption::UniqueDecoding,
            Assumption::Johnson => SecurityAssumption::JohnsonBound,
            Assumption::Capacity => SecurityAssumption::CapacityBound,
        };
        let needs = |gap: f64| gap.max(0.0).ceil() as usize == required;
        let fold =
            |vars, rate| needs(bound.folding_pow_bits(self.security_level, EF::bits(), vars, rate));
        if fold(num_variables, self.log_inv_rate) {
            return "the first fold".to_owned();
        }
        let (Ok(folds), Ok(rates)) = (
            self.folding_schedule(num_variables),
            self.round_log_inv_rates(num_variables),
        ) else {
            return "a step".to_owned();
        };
        let mut vars = num_variables;
        let mut old_rate = self.log_inv_rate;
        let protocol_level = self.security_level.saturating_sub(self.pow_bits);
        for (i, &rate) in rates.iter().enumerate() {
            vars -= folds[i];
            if fold(vars, rate) {
                return format!("the fold of round {i}");
            }
            let queries = bound.queries(protocol_level, old_rate);
            let ood = bound
                .determine_ood_samples(self.security_level, vars, rate, EF::bits())
                .unwrap_or(0);
            let combination = bound.queries_combination_error(EF::bits(), vars, rate, ood, queries);
            let error = bound.queries_error(old_rate, queries).min(combination);
            if needs(self.security_level as f64 - error) {
                return format!("the queries of round {i}");
            }
            old_rate = rate;
        }
        "the final sumcheck".to_owned()
    }
}

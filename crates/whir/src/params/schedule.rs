//! Folds and rates, round by round, checked before p3-whir sees them.
#![forbid(unsafe_code)]

use super::{
    Folds, MAX_NUM_VARIABLES, MAX_POW_BITS, MAX_ROUNDS, MAX_SECURITY_LEVEL, Params, RateSchedule,
    TWO_ADICITY,
};
use crate::error::ParamsError;

/// p3-whir sends the polynomial in the clear once this many variables or fewer are left.
const DIRECT_SEND: usize = 6;

fn range(
    name: &'static str,
    have: usize,
    min: usize,
    max: usize,
    why: &'static str,
) -> Result<(), ParamsError> {
    if (min..=max).contains(&have) {
        return Ok(());
    }
    Err(ParamsError::OutOfRange {
        name,
        have,
        min,
        max,
        why,
    })
}

impl Params {
    /// Checks that need no size of a polynomial.
    pub(super) fn check_ranges(&self) -> Result<(), ParamsError> {
        range(
            "security_level",
            self.security_level,
            1,
            MAX_SECURITY_LEVEL,
            "level 0 makes no query",
        )?;
        range(
            "pow_bits",
            self.pow_bits,
            0,
            MAX_POW_BITS,
            "a witness is one element of a 31-bit field",
        )?;
        range(
            "rate",
            self.log_inv_rate,
            1,
            TWO_ADICITY,
            "rate 0 is a code without redundancy, which needs no query and proves nothing; \
             the field's two-adicity is 27",
        )?;
        range(
            "cap_height",
            self.cap_height,
            0,
            TWO_ADICITY,
            "a tree has at most 27 levels",
        )?;
        let list = |name, v: &[usize]| {
            range(
                name,
                v.len(),
                0,
                MAX_ROUNDS,
                "a proof has at most as many rounds as variables",
            )
        };
        let fold = |k| {
            range(
                "fold",
                k,
                1,
                MAX_NUM_VARIABLES,
                "a round folds at least one variable and at most n",
            )
        };
        match &self.folds {
            Folds::Constant(k) => fold(*k)?,
            Folds::PerRound(v) => {
                list("number of folds", v)?;
                range(
                    "number of folds",
                    v.len(),
                    1,
                    MAX_ROUNDS,
                    "the first fold is always done",
                )?;
                v.iter().try_for_each(|&k| fold(k))?;
            }
        }
        if let RateSchedule::PerRound(v) = &self.rates {
            list("number of rates", v)?;
            v.iter().try_for_each(|&r| {
                range(
                    "per-round rate",
                    r,
                    1,
                    2 * MAX_NUM_VARIABLES,
                    "rate 0 is a code without redundancy, which needs no query and proves nothing",
                )
            })?;
        }
        Ok(())
    }

    /// The folds of a polynomial of `n` variables, the first included, as p3-whir derives them.
    ///
    /// # Errors
    /// Values out of range, and lists that fold too much, too little or too long.
    pub fn folding_schedule(&self, n: usize) -> Result<Vec<usize>, ParamsError> {
        self.check_ranges()?;
        range(
            "n",
            n,
            0,
            MAX_NUM_VARIABLES,
            "2^32 base elements are 16 GiB",
        )?;
        let n = self.padded_num_variables(n);
        match &self.folds {
            Folds::Constant(k) => {
                let (mut left, mut schedule) = (n, Vec::new());
                loop {
                    let fold = (*k).min(left);
                    schedule.push(fold);
                    left -= fold;
                    if left <= DIRECT_SEND {
                        return Ok(schedule);
                    }
                }
            }
            Folds::PerRound(folds) => {
                let fail = |why: String| ParamsError::Folds {
                    folds: folds.clone(),
                    n,
                    why,
                };
                let mut left = n;
                for (i, &fold) in folds.iter().enumerate() {
                    if fold > left {
                        return Err(fail(format!(
                            "fold {i} is {fold}, but {left} variables are left"
                        )));
                    }
                    left -= fold;
                    if left <= DIRECT_SEND {
                        let used = i + 1;
                        if used < folds.len() {
                            return Err(fail(format!(
                                "{used} folds reach the final polynomial; drop the rest"
                            )));
                        }
                        return Ok(folds.clone());
                    }
                }
                Err(fail(format!(
                    "{left} variables are left, and at most {DIRECT_SEND} may be sent in the clear; fold {} more",
                    left - DIRECT_SEND
                )))
            }
        }
    }

    /// log2 of the inverse rate of the code that each intermediate round commits.
    ///
    /// # Errors
    /// Those of [`Self::folding_schedule`]; a list of rates of another length than the rounds;
    /// a rate that would enlarge the domain.
    pub fn round_log_inv_rates(&self, n: usize) -> Result<Vec<usize>, ParamsError> {
        let folds = self.folding_schedule(n)?;
        let n = self.padded_num_variables(n);
        let rounds = folds.len() - 1;
        let mut rate = self.log_inv_rate;
        let mut grow = |reduction: &dyn Fn(usize, usize) -> usize| {
            folds[..rounds]
                .iter()
                .enumerate()
                .map(|(i, &fold)| {
                    rate += fold - reduction(i, fold);
                    rate
                })
                .collect::<Vec<_>>()
        };
        let rates = match &self.rates {
            RateSchedule::Standard => grow(&|_, _| 1),
            RateSchedule::Article => grow(&|i, fold| if i == 0 { fold.min(3) } else { 1 }),
            RateSchedule::PerRound(v) => {
                if v.len() != rounds {
                    return Err(ParamsError::RateCount {
                        n,
                        need: rounds,
                        have: v.len(),
                    });
                }
                v.clone()
            }
        };
        let mut before = self.log_inv_rate;
        for (round, &have) in rates.iter().enumerate() {
            let max = before + folds[round];
            if have > max {
                return Err(ParamsError::RateGrowsDomain { round, have, max });
            }
            before = have;
        }
        Ok(rates)
    }

    /// Checks that every folded domain, of queries and of transforms, lies in the base field,
    /// and that the cap lies inside the first tree. p3-whir checks only the first domain.
    pub(super) fn check_domains(&self, n: usize) -> Result<(), ParamsError> {
        let folds = self.folding_schedule(n)?;
        let rates = self.round_log_inv_rates(n)?;
        let mut vars = self.padded_num_variables(n);
        let mut rate = self.log_inv_rate;
        for (i, &fold) in folds.iter().enumerate() {
            let need = vars + rate - fold;
            if need > TWO_ADICITY {
                let phase = if i == 0 {
                    "commitment".to_owned()
                } else {
                    format!("round {}", i - 1)
                };
                return Err(ParamsError::TwoAdicity {
                    phase,
                    need,
                    have: TWO_ADICITY,
                });
            }
            if i == 0 {
                range(
                    "cap_height",
                    self.cap_height,
                    0,
                    need,
                    "the cap is a layer of the first tree",
                )?;
            }
            vars -= fold;
            rate = rates.get(i).copied().unwrap_or(rate);
        }
        Ok(())
    }
}

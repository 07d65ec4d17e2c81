//! What the original drops without a word.
#![forbid(unsafe_code)]

use serde::Serialize;

/// Operations of one round that had no effect, by reason. The reasons are tested in the order of the
/// fields, and an operation is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Drops {
    /// Neither begin nor cancel.
    pub unknown_operation: u32,
    /// Begin with threshold 0.
    pub begin_zero_threshold: u32,
    /// Begin with a threshold above the number of participants.
    pub begin_threshold_above_total: u32,
    /// Begin with more than 64 participants.
    pub begin_too_many_participants: u32,
    /// Begin of a new ceremony while every slot is taken.
    pub begin_table_full: u32,
    /// Cancel of a ceremony that is not stored.
    pub cancel_unknown: u32,
    /// Cancel of a ceremony that has ended.
    pub cancel_not_in_progress: u32,
    /// Contribution with a claimed length above 384.
    pub contribution_too_long: u32,
    /// Contribution to a ceremony that is not stored.
    pub contribution_unknown: u32,
    /// Contribution to a ceremony that has ended.
    pub contribution_not_in_progress: u32,
    /// Contribution for another round than the ceremony's.
    pub contribution_wrong_round: u32,
    /// Contribution of a holder that the ceremony does not have.
    pub contribution_holder_out_of_range: u32,
    /// Contribution to a (ceremony, round, holder) that is stored already.
    pub contribution_duplicate: u32,
    /// Contribution while every slot is taken.
    pub contribution_table_full: u32,
    /// Share that found every slot taken.
    pub share_table_full: u32,
    /// Not a drop: a begin that restarted a stored ceremony, whatever its status.
    pub restarts: u32,
}

impl Drops {
    /// All drops together, without restarts.
    #[must_use]
    pub fn total(&self) -> u64 {
        [
            self.unknown_operation,
            self.begin_zero_threshold,
            self.begin_threshold_above_total,
            self.begin_too_many_participants,
            self.begin_table_full,
            self.cancel_unknown,
            self.cancel_not_in_progress,
            self.contribution_too_long,
            self.contribution_unknown,
            self.contribution_not_in_progress,
            self.contribution_wrong_round,
            self.contribution_holder_out_of_range,
            self.contribution_duplicate,
            self.contribution_table_full,
            self.share_table_full,
        ]
        .map(u64::from)
        .into_iter()
        .sum()
    }
}

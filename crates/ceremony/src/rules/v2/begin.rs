//! What must hold before a ceremony begins, or a key is taken in.
#![forbid(unsafe_code)]

use std::collections::BTreeSet;

use super::MAX_PARTICIPANTS;
use super::answer::Reason;
use super::operation::{Begin, ImportKey};
use super::state::State;

/// The number of participants and the threshold of a key generation or an imported key.
fn check_shape(participants: usize, threshold: u16) -> Result<(), Reason> {
    let most = MAX_PARTICIPANTS;
    if participants < 2 || participants > most as usize {
        return Err(Reason::Participants {
            have: participants,
            least: 2,
            most: most.into(),
        });
    }
    // Not above 128.
    let most = participants as u16;
    if threshold < 2 || threshold > most {
        return Err(Reason::Threshold {
            have: threshold,
            most,
        });
    }
    Ok(())
}

impl State {
    /// All places are members', and no two the same.
    fn check_members(&self, places: &[u32]) -> Result<(), Reason> {
        let mut seen = BTreeSet::new();
        for (at, &place) in places.iter().enumerate() {
            if self.core.members.get(place as usize).is_none() {
                return Err(Reason::UnknownMember { place });
            }
            if !seen.insert(place) {
                return Err(Reason::ParticipantOrder { at });
            }
        }
        Ok(())
    }

    pub(super) fn check_import(&self, key: &ImportKey) -> Result<(), Reason> {
        if !key.kind.is_keygen() || key.group_key.len() != key.kind.key_len() {
            return Err(Reason::KindMismatch);
        }
        check_shape(key.members.len(), key.threshold)?;
        self.check_members(&key.members)
    }

    /// The participants' places in the roster.
    pub(super) fn check_begin(&self, begin: &Begin) -> Result<Vec<u32>, Reason> {
        if self
            .places
            .contains_key(&begin.id(&self.core.genesis.network))
        {
            return Err(Reason::UsedId);
        }
        self.check_deadlines(begin)?;
        if begin.kind.is_keygen() {
            if begin.key != [0; 32] || !begin.message.is_empty() {
                return Err(Reason::KindMismatch);
            }
            check_shape(begin.participants.len(), begin.threshold)?;
            self.check_members(&begin.participants)?;
            return Ok(begin.participants.clone());
        }
        self.check_signing(begin)
    }

    fn check_signing(&self, begin: &Begin) -> Result<Vec<u32>, Reason> {
        let at = self.key_places.get(&begin.key).ok_or(Reason::UnknownKey)?;
        let key = self.core.keys.get(*at as usize).ok_or(Reason::UnknownKey)?;
        if key.kind != begin.kind.keygen() {
            return Err(Reason::KindMismatch);
        }
        if key.threshold != begin.threshold {
            return Err(Reason::Threshold {
                have: begin.threshold,
                most: key.threshold,
            });
        }
        let signers = &begin.participants;
        let (least, most) = (usize::from(key.threshold), key.members.len());
        if signers.len() < least || signers.len() > most {
            return Err(Reason::Participants {
                have: signers.len(),
                least,
                most,
            });
        }
        if let Some(at) = signers.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(Reason::ParticipantOrder { at: at + 1 });
        }
        let member = |&signer: &u32| {
            let member = key.members.get(signer as usize).copied();
            member.ok_or(Reason::Index {
                have: u16::try_from(signer).unwrap_or(u16::MAX),
                total: most as u16,
            })
        };
        signers.iter().map(member).collect()
    }

    fn check_deadlines(&self, begin: &Begin) -> Result<(), Reason> {
        let need = begin.kind.rounds();
        if begin.deadlines.len() != usize::from(need) {
            return Err(Reason::Deadlines {
                have: begin.deadlines.len(),
                need,
            });
        }
        let mut earliest = self.core.now;
        for (round, &deadline) in (0..).zip(&begin.deadlines) {
            if deadline < earliest {
                return Err(Reason::DeadlineOrder { round });
            }
            earliest = deadline;
        }
        Ok(())
    }
}

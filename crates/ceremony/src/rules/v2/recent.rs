//! The last ceremonies that ended, with their messages, which the archive does not have.
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};

use super::state::Live;
use crate::Digest;

/// The most ceremonies that are kept.
const MOST: usize = 1024;

/// The most bytes of payloads.
const MOST_BYTES: usize = 16 << 20;

/// Bounded; the oldest go first. Who signs needs the shares of the last round, whose arrival ends the
/// ceremony.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    order: VecDeque<Digest>,
    by_id: HashMap<Digest, Box<Live>>,
    bytes: usize,
}

fn size(live: &Live) -> usize {
    live.messages.values().map(|m| m.payload.len()).sum()
}

impl Recent {
    pub(super) fn keep(&mut self, live: Box<Live>) {
        self.bytes += size(&live);
        self.order.push_back(live.id);
        self.by_id.insert(live.id, live);
        while self.order.len() > MOST || self.bytes > MOST_BYTES {
            let oldest = self.order.pop_front();
            let Some(gone) = oldest.and_then(|id| self.by_id.remove(&id)) else {
                break;
            };
            self.bytes -= size(&gone);
        }
    }

    pub(super) fn get(&self, id: &Digest) -> Option<&Live> {
        self.by_id.get(id).map(AsRef::as_ref)
    }
}

//! What a device does for the rest of the crate.
#![forbid(unsafe_code)]

use crate::{Digest, Error, Sponge, State};

/// Permutations and hashes in bulk, on one device. Same input, same output on each.
pub trait Engine {
    /// The device, as specifications name it (`cpu:avx2`, `cuda:0`).
    fn device(&self) -> String;

    /// Permutes each state. Takes any representatives, gives canonical ones.
    ///
    /// # Errors
    ///
    /// [`Error::Device`]; the states are then unspecified.
    fn permute_many(&self, states: &mut [State]) -> Result<(), Error>;

    /// Hashes of inputs of `width` elements each, one after another in `elements`; none if `width` is 0.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if `elements` is not a whole number of inputs, [`Error::NotCanonical`] with
    /// the index in `elements`, [`Error::Device`].
    fn hash_rows(
        &self,
        sponge: Sponge,
        elements: &[u64],
        width: usize,
    ) -> Result<Vec<Digest>, Error>;

    /// Hashes of inputs of any lengths.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] with the index through all inputs, [`Error::Device`].
    fn hash_many(&self, sponge: Sponge, inputs: &[&[u64]]) -> Result<Vec<Digest>, Error>;

    /// Sets `parents[i]` to the merge of `children[2 i]` and `children[2 i + 1]`: a level of a tree.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if there are not twice as many children as parents, [`Error::Device`].
    fn merge_level(
        &self,
        sponge: Sponge,
        children: &[Digest],
        parents: &mut [Digest],
    ) -> Result<(), Error>;

    /// The levels of a tree over `leaves`, whose number is a power of two: the leaves first, the root
    /// last.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if the number is no power of two, [`Error::Device`].
    fn levels(&self, sponge: Sponge, leaves: Vec<Digest>) -> Result<Vec<Vec<Digest>>, Error> {
        if !leaves.len().is_power_of_two() {
            return Err(Error::Length {
                what: "leaves of a tree",
                have: leaves.len(),
                expected: "a power of two".into(),
            });
        }
        let mut levels = vec![leaves];
        while let Some(children) = levels.last().filter(|level| level.len() > 1) {
            let mut parents = vec![Digest::ZERO; children.len() / 2];
            self.merge_level(sponge, children, &mut parents)?;
            levels.push(parents);
        }
        Ok(levels)
    }
}

//! What a device does for the rest of the crate.
#![forbid(unsafe_code)]

use crate::{Digest, Error, Sponge, State};

/// Permutations and hashes in bulk, on one device. Same input, same output on each.
pub trait Engine {
    /// The device, as specifications name it (`cpu:avx2`, `cuda:0`).
    fn device(&self) -> &str;

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
}

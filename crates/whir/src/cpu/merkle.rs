//! Merkle trees over codewords that lie in planes of coefficients.
//!
//! Leaf i is the hash of row i, with Plonky3's `PaddingFreeSponge<16, 8, 8>` in overwrite mode;
//! inner nodes are `TruncatedPermutation`s of their two children. The roots and the openings are
//! those of [`crate::field::Mmcs`]. A task hashes the leaves of a subtree and climbs towards its
//! root while the digests are in the cache.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use super::isa::{Isa, Kernel, Variant};
use super::pages::zeros;
use super::poseidon2::{WIDTH, constants, permute};
use crate::field::{Commitment, Digest, F};

/// Elements of a digest, and of a sponge block.
const RATE: usize = 8;
/// Leaves of a task, unless there are too few to occupy the threads.
const TASK_LEAVES: usize = 1 << 10;

/// A binary tree, from the leaf digests up to the cap.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// Level l holds `height >> l` digests, one after another; the last level is the cap.
    levels: Vec<Vec<F>>,
}

impl Tree {
    /// Hashes a codeword of `height x width` rows in natural order.
    ///
    /// `planes[d]` holds coefficient d of every entry, row-major, `height * width` elements; the
    /// height is a power of two. A cap above the leaves is lowered to them, as Plonky3 does.
    pub(crate) fn build(
        variant: Variant,
        planes: &[&[F]],
        width: usize,
        cap_height: usize,
    ) -> Self {
        let height = planes[0].len() / width;
        debug_assert!(height.is_power_of_two());
        debug_assert!(planes.iter().all(|p| p.len() == height * width));
        let depth = depth(height, cap_height);
        let mut levels: Vec<Vec<F>> = (0..=depth).map(|l| zeros((height >> l) * RATE)).collect();

        let threads = rayon::current_num_threads();
        let task = TASK_LEAVES
            .min((height / (4 * threads).next_power_of_two()).max(64))
            .min(height);
        // the last levels of a task would leave lanes empty
        let local = (task.ilog2() as usize).saturating_sub(4).min(depth);
        let mut tasks: Vec<Vec<&mut [F]>> = (0..height / task).map(|_| Vec::new()).collect();
        for (l, level) in levels[..=local].iter_mut().enumerate() {
            for (t, chunk) in tasks
                .iter_mut()
                .zip(level.chunks_exact_mut((task >> l) * RATE))
            {
                t.push(chunk);
            }
        }
        tasks.into_par_iter().enumerate().for_each(|(t, levels)| {
            variant.run(Subtree {
                planes,
                width,
                first: t * task,
                levels,
            });
        });
        for l in local..depth {
            let (children, parents) = levels.split_at_mut(l + 1);
            let (children, parents) = (&children[l], &mut parents[0]);
            let chunk = TASK_LEAVES * RATE;
            parents
                .par_chunks_mut(chunk)
                .zip(children.par_chunks(2 * chunk))
                .for_each(|(parents, children)| variant.run(Level { children, parents }));
        }
        Self { levels }
    }

    /// The commitment.
    pub(crate) fn cap(&self) -> Commitment {
        let cap = self.levels.last().map_or(&[][..], |level| level);
        Commitment::new(cap.chunks_exact(RATE).map(digest).collect())
    }

    /// The sibling digests that a verifier of these leaves lacks: level 0 first, groups by
    /// ascending parent; `indices` in any order, repeats allowed.
    pub(crate) fn prune(&self, indices: &[usize]) -> Vec<Digest> {
        let mut nodes = indices.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let mut out = Vec::new();
        for level in &self.levels[..self.levels.len() - 1] {
            let mut parents = Vec::with_capacity(nodes.len());
            let mut rest = nodes.iter().copied().peekable();
            while let Some(node) = rest.next() {
                if node % 2 == 1 || rest.next_if_eq(&(node + 1)).is_none() {
                    let sibling = (node ^ 1) * RATE;
                    out.push(digest(&level[sibling..sibling + RATE]));
                }
                parents.push(node / 2);
            }
            nodes = parents;
        }
        out
    }
}

/// Levels between the leaf digests and the cap.
fn depth(height: usize, cap_height: usize) -> usize {
    (height.ilog2() as usize).saturating_sub(cap_height)
}

fn digest(words: &[F]) -> Digest {
    let mut out = [F::ZERO; RATE];
    out.copy_from_slice(words);
    out
}

/// The leaves and nodes of one task: `levels[0]` are the digests of the rows from `first` on.
struct Subtree<'a> {
    planes: &'a [&'a [F]],
    width: usize,
    first: usize,
    levels: Vec<&'a mut [F]>,
}

impl Kernel for Subtree<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let Some((leaves, mut above)) = self.levels.split_first_mut() else {
            return;
        };
        hash_rows(isa, self.planes, self.width, self.first, leaves);
        let mut children: &[F] = leaves;
        while let Some((parents, rest)) = above.split_first_mut() {
            compress_level(isa, children, parents);
            (children, above) = (parents, rest);
        }
    }
}

/// One level of nodes.
struct Level<'a> {
    children: &'a [F],
    parents: &'a mut [F],
}

impl Kernel for Level<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        compress_level(isa, self.children, self.parents);
    }
}

#[inline(always)]
fn compress_level<I: Isa>(isa: I, children: &[F], parents: &mut [F]) {
    let (from, to) = (2 * RATE * I::LANES, RATE * I::LANES);
    let mut parents = parents.chunks_exact_mut(to);
    let mut children = children.chunks_exact(from);
    for (parents, children) in (&mut parents).zip(&mut children) {
        compress_nodes(isa, children, parents);
    }
    let parents = parents.into_remainder();
    if !parents.is_empty() {
        let children = children.remainder();
        let mut padded = vec![F::ZERO; from + to];
        let (source, target) = padded.split_at_mut(from);
        source[..children.len()].copy_from_slice(children);
        compress_nodes(isa, source, target);
        parents.copy_from_slice(&target[..parents.len()]);
    }
}

/// `LANES` nodes: both children of a node lie side by side.
#[inline(always)]
fn compress_nodes<I: Isa>(isa: I, children: &[F], parents: &mut [F]) {
    let mut state = [[isa.splat(F::ZERO); WIDTH]];
    for i in 0..WIDTH {
        state[0][i] = isa.load(&children[i * I::LANES..]);
    }
    isa.rows_to_columns(&mut state[0]);
    permute(isa, constants(), &mut state);
    store_digests(isa, &state[0], parents);
}

/// Writes the first eight words of every lane as rows.
#[inline(always)]
fn store_digests<I: Isa>(isa: I, state: &[I::V; WIDTH], out: &mut [F]) {
    let mut v = [state[0]; RATE];
    v.copy_from_slice(&state[..RATE]);
    isa.columns_to_rows(&mut v);
    for i in 0..RATE {
        isa.store(v[i], &mut out[i * I::LANES..]);
    }
}

#[inline(always)]
fn hash_rows<I: Isa>(isa: I, planes: &[&[F]], width: usize, first: usize, digests: &mut [F]) {
    let w = I::LANES;
    let row = width * planes.len();
    // the columns of LANES rows, then a tile
    let mut scratch = vec![F::ZERO; (row + RATE) * w];
    let (columns, tile) = scratch.split_at_mut(row * w);
    let count = digests.len() / RATE;
    let mut done = 0;
    while done < count {
        let rows = w.min(count - done);
        gather_columns(isa, planes, width, first + done, rows, columns, tile);
        let mut state = [[isa.splat(F::ZERO); WIDTH]];
        for block in columns.chunks(RATE * w) {
            for i in 0..block.len() / w {
                state[0][i] = isa.load(&block[i * w..]);
            }
            permute(isa, constants(), &mut state);
        }
        let out = &mut digests[done * RATE..(done + rows) * RATE];
        if rows == w {
            store_digests(isa, &state[0], out);
        } else {
            store_digests(isa, &state[0], tile);
            out.copy_from_slice(&tile[..out.len()]);
        }
        done += rows;
    }
}

/// Transposes `rows <= LANES` rows: entry e of the flattened rows goes to `columns[e * LANES..]`.
#[inline(always)]
fn gather_columns<I: Isa>(
    isa: I,
    planes: &[&[F]],
    width: usize,
    first: usize,
    rows: usize,
    columns: &mut [F],
    tile: &mut [F],
) {
    for (d, plane) in planes.iter().enumerate() {
        let plane = &plane[first * width..(first + rows) * width];
        let stride = planes.len() * I::LANES;
        let mut j = 0;
        while j < width {
            let n = RATE.min(1 << (width - j).ilog2());
            let source = if n == width && rows == I::LANES {
                plane
            } else {
                for r in 0..rows {
                    let at = r * width + j;
                    tile[r * n..(r + 1) * n].copy_from_slice(&plane[at..at + n]);
                }
                &*tile
            };
            let out = &mut columns[(j * planes.len() + d) * I::LANES..];
            match n {
                8 => transpose_tile::<I, 8>(isa, source, out, stride),
                4 => transpose_tile::<I, 4>(isa, source, out, stride),
                2 => transpose_tile::<I, 2>(isa, source, out, stride),
                _ => transpose_tile::<I, 1>(isa, source, out, stride),
            }
            j += n;
        }
    }
}

#[inline(always)]
fn transpose_tile<I: Isa, const N: usize>(isa: I, source: &[F], out: &mut [F], stride: usize) {
    let mut v = [isa.splat(F::ZERO); N];
    for i in 0..N {
        v[i] = isa.load(&source[i * I::LANES..]);
    }
    isa.rows_to_columns(&mut v);
    for i in 0..N {
        isa.store(v[i], &mut out[i * stride..]);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

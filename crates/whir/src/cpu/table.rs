//! Tables of extension elements, one plane per basis coefficient.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use super::ext::element;
use super::pages::zeros;
use crate::field::{Extension, F};

/// A multilinear polynomial over the extension field by its values on the hypercube, planar:
/// plane `d` holds basis coefficient `d` of every value (Montgomery form).
#[derive(Clone, Debug)]
pub(crate) struct ExtTable<EF> {
    planes: Vec<Vec<F>>,
    _element: PhantomData<EF>,
}

impl<EF: Extension> ExtTable<EF> {
    /// `len` zeros; `len` is a power of two.
    pub(crate) fn zeros(len: usize) -> Self {
        debug_assert!(len.is_power_of_two());
        Self::from_planes((0..EF::D).map(|_| zeros(len)).collect())
    }

    /// The table of these values; their number is a power of two.
    pub(crate) fn from_evaluations(values: &[EF]) -> Self {
        debug_assert!(values.len().is_power_of_two());
        Self::from_planes(
            (0..EF::D)
                .map(|d| {
                    values
                        .iter()
                        .map(|v| v.as_basis_coefficients_slice()[d])
                        .collect()
                })
                .collect(),
        )
    }

    /// The table with these `EF::D` planes of equal length.
    pub(crate) fn from_planes(planes: Vec<Vec<F>>) -> Self {
        debug_assert_eq!(planes.len(), EF::D);
        debug_assert!(planes.iter().all(|p| p.len() == planes[0].len()));
        Self {
            planes,
            _element: PhantomData,
        }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.planes[0].len()
    }

    /// The number of variables.
    pub(crate) fn num_variables(&self) -> usize {
        self.len().ilog2() as usize
    }

    /// Value `i`.
    pub(crate) fn get(&self, i: usize) -> EF {
        EF::from_basis_coefficients_fn(|d| self.planes[d][i])
    }

    /// Adds `x` to value `i`.
    pub(super) fn add_at(&mut self, i: usize, x: EF) {
        let c = x.as_basis_coefficients_slice();
        for (plane, &c) in self.planes.iter_mut().zip(c) {
            plane[i] += c;
        }
    }

    /// All values, in order.
    pub(crate) fn to_vec(&self) -> Vec<EF> {
        (0..self.len()).map(|i| self.get(i)).collect()
    }

    /// The planes.
    pub(crate) fn planes(&self) -> &[Vec<F>] {
        &self.planes
    }

    /// The planes, to be written.
    pub(super) fn planes_mut(&mut self) -> &mut [Vec<F>] {
        &mut self.planes
    }

    /// Keeps the first `len` values.
    pub(super) fn truncate(&mut self, len: usize) {
        for plane in &mut self.planes {
            plane.truncate(len);
        }
    }

    /// Keeps the first half of every chunk of `size` values (or of the table, if that is shorter)
    /// and closes the gaps.
    pub(super) fn keep_first_halves(&mut self, size: usize) {
        let half = self.len() / 2;
        if size < self.len() {
            self.planes.par_iter_mut().for_each(|plane| {
                // a chunk lands below where it was, on places that were moved or dropped before
                for from in (size..plane.len()).step_by(size) {
                    plane.copy_within(from..from + size / 2, from / 2);
                }
            });
        }
        self.truncate(half);
    }
}

/// All planes' subslices of `size` values (the last may be shorter), in order.
pub(super) fn chunks<const D: usize, P: AsRef<[F]>>(
    planes: &[P],
    size: usize,
) -> impl Iterator<Item = [&[F]; D]> {
    let mut parts: [_; D] = core::array::from_fn(|d| planes[d].as_ref().chunks(size));
    let count = planes[0].as_ref().len().div_ceil(size);
    (0..count).map(move |_| core::array::from_fn(|d| parts[d].next().unwrap_or_default()))
}

/// [`chunks`] to be written.
pub(super) fn chunks_mut<const D: usize>(
    planes: [&mut [F]; D],
    size: usize,
) -> impl Iterator<Item = [&mut [F]; D]> {
    let count = planes[0].len().div_ceil(size);
    let mut parts = planes.map(|p| p.chunks_mut(size));
    (0..count).map(move |_| core::array::from_fn(|d| parts[d].next().unwrap_or_default()))
}

/// The planes as an array of slices.
pub(super) fn views<const D: usize>(planes: &[Vec<F>]) -> [&[F]; D] {
    core::array::from_fn(|d| planes[d].as_slice())
}

/// The planes as an array of slices to be written.
pub(super) fn views_mut<const D: usize>(planes: &mut [Vec<F>]) -> [&mut [F]; D] {
    let mut planes = planes.iter_mut();
    core::array::from_fn(|_| planes.next().map(Vec::as_mut_slice).unwrap_or_default())
}

/// Both halves of every slice.
pub(super) fn halves_mut<const D: usize>(
    planes: [&mut [F]; D],
    mid: usize,
) -> ([&mut [F]; D], [&mut [F]; D]) {
    let mut parts = planes.map(|p| {
        let (a, b) = p.split_at_mut(mid);
        (Some(a), Some(b))
    });
    let low = core::array::from_fn(|d| parts[d].0.take().unwrap_or_default());
    let high = core::array::from_fn(|d| parts[d].1.take().unwrap_or_default());
    (low, high)
}

/// Both halves of every slice.
pub(super) fn halves<'a, const D: usize>(
    planes: &[&'a [F]; D],
    mid: usize,
) -> ([&'a [F]; D], [&'a [F]; D]) {
    (planes.map(|p| &p[..mid]), planes.map(|p| &p[mid..]))
}

/// The sum of the elements with these coefficients.
pub(super) fn total<EF: Extension, const D: usize>(parts: impl IntoIterator<Item = [F; D]>) -> EF {
    let sum = parts
        .into_iter()
        .fold([F::ZERO; D], |a, b| core::array::from_fn(|d| a[d] + b[d]));
    element(&sum)
}

//! Points that scalars are multiplied with, checked once.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use rayon::prelude::*;

use crate::{
    cpu::Best,
    cuda::{Budget, Resident},
    curve::{Affine, Curve, Subgroup},
    engine::Engine,
    error::{Error, PointProblem},
};

mod sealed {
    pub trait Sealed {}
}

/// What is known of some points.
pub trait Level: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Whether the equation of the curve is checked.
    const CHECK_CURVE: bool;
    /// Whether membership of the subgroup of prime order is checked.
    const CHECK_SUBGROUP: bool;
    /// Whether every point counts as one of the subgroup, checked or not.
    const SUBGROUP: bool;
}

/// Nothing is checked: the points come from where all of them are in the subgroup of prime order.
/// If one is not, the sum is another point or a meaningless pair of coordinates, and nothing worse.
#[derive(Clone, Copy, Debug)]
pub struct Trusted;

/// Every point satisfies the curve's equation. The sum is right outside the subgroup too.
#[derive(Clone, Copy, Debug)]
pub struct OnCurve;

/// Every point is in the subgroup of prime order.
#[derive(Clone, Copy, Debug)]
pub struct InSubgroup;

macro_rules! level {
    ($name:ident: $curve:literal, $subgroup:literal, $member:literal) => {
        impl sealed::Sealed for $name {}

        impl Level for $name {
            const CHECK_CURVE: bool = $curve;
            const CHECK_SUBGROUP: bool = $subgroup;
            const SUBGROUP: bool = $member;
        }
    };
}

level!(Trusted: false, false, true);
level!(OnCurve: true, false, false);
level!(InSubgroup: true, true, true);

/// Points to multiply with scalars, and what is known of them.
///
/// The check is done once, when they are made; the type says how far it went.
#[derive(Debug)]
pub struct Bases<C: Curve<N>, const N: usize, L: Level = Trusted> {
    points: Vec<Affine<C, N>>,
    /// Where infinity stands, ascending: such a point takes no part.
    infinite: Vec<usize>,
    /// The points on a GPU, where sums of this engine find them.
    resident: Option<Resident>,
    level: PhantomData<L>,
}

impl<C: Curve<N>, const N: usize, L: Level> Bases<C, N, L> {
    /// Checks the points as far as `L` says.
    ///
    /// # Errors
    ///
    /// [`Error::Point`] with the first index that fails.
    pub fn new(points: Vec<Affine<C, N>>) -> Result<Self, Error> {
        let best = Best::new();
        let problem = |p: &Affine<C, N>| {
            if L::CHECK_CURVE && !p.is_on_curve() {
                return Some(PointProblem::NotOnCurve);
            }
            let member = !L::CHECK_SUBGROUP || p.is_in_subgroup(best);
            (!member).then_some(PointProblem::NotInSubgroup)
        };
        if L::CHECK_CURVE {
            let each = points.par_iter().enumerate().with_min_len(16);
            let found = each.find_map_first(|(i, p)| problem(p).map(|problem| (i, problem)));
            if let Some((index, problem)) = found {
                return Err(Error::Point {
                    index,
                    curve: C::NAME,
                    problem,
                });
            }
        }
        let infinite = (0..).zip(&points).filter(|(_, p)| p.is_infinity());
        Ok(Self {
            infinite: infinite.map(|(i, _)| i).collect(),
            points,
            resident: None,
            level: PhantomData,
        })
    }

    /// [`Self::new`], and on a GPU the points are brought there, where they stay as long as these bases:
    /// sums of that GPU then take the scalars over the bus only. With a budget for multiples, sums take
    /// fewer additions.
    ///
    /// # Errors
    ///
    /// Those of [`Self::new`]; [`Error::Device`] if the GPU has not the memory for the points, or fails.
    pub fn prepare(
        engine: &Engine,
        points: Vec<Affine<C, N>>,
        budget: Budget,
    ) -> Result<Self, Error> {
        let mut bases = Self::new(points)?;
        if let Some(cuda) = engine.cuda() {
            let subgroup = bases.counts_as_subgroup();
            bases.resident = Some(cuda.prepare(&bases.points, subgroup, budget)?);
        }
        Ok(bases)
    }

    /// Bytes that the points and their multiples take on a GPU, and how many multiples there are of
    /// each; `None` if they are on none.
    #[must_use]
    pub fn on_device(&self) -> Option<(u64, u32)> {
        let resident = self.resident.as_ref()?;
        Some((resident.bytes(), resident.multiples()))
    }

    pub(crate) fn resident(&self) -> Option<&Resident> {
        self.resident.as_ref()
    }

    /// Whether `(r - s) P = -s P` may be used.
    #[allow(clippy::unused_self, reason = "of these bases, by their type")]
    pub(crate) fn counts_as_subgroup(&self) -> bool {
        L::SUBGROUP || matches!(C::SUBGROUP, Subgroup::Whole)
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[Affine<C, N>] {
        &self.points
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Where infinity stands.
    pub(crate) fn infinite(&self) -> &[usize] {
        &self.infinite
    }
}

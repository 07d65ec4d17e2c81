//! What a device does for the prover.
//!
//! The [driver](crate::driver) is the protocol: transcript, schedule, proof. An [`Engine`] owns the
//! data: polynomial, codewords, Merkle trees and sumcheck tables stay on its device. Only roots,
//! evaluations, two extension elements a sumcheck round, opened rows and the final polynomial
//! cross.
#![forbid(unsafe_code)]

use std::time::Instant;

use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;

use crate::driver::Error;
use crate::field::{Commitment, Digest, Extension, F};
use crate::profile::{Profile, Span};

/// How one codeword is made from a message and committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeShape {
    /// Which variables the rows gather.
    pub order: VariableOrder,
    /// log2 of the row width in elements: the variables folded when the rows are opened.
    pub fold: usize,
    /// log2 of the inverse rate.
    pub log_inv_rate: usize,
    /// log2 of the number of digests in the commitment.
    pub cap_height: usize,
}

/// The kind of weight over the middle coordinates of a [`HiWeight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HiKind {
    /// `eq(point, y)`.
    Eq,
    /// `eq(point, y - 1)` for y >= 1, and 0 at y = 0.
    Shift,
    /// 1 at the given y, else 0; the point's values do not matter, its length does.
    Delta(usize),
}

/// A weight over the variables that the first fold leaves: zero outside the indices whose leading
/// and trailing bits match, a [`HiKind`] of the middle bits `y` inside.
///
/// Coordinate 0 is the most significant index bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiWeight<EF> {
    /// Boolean coordinates at the most significant end.
    pub leading: Vec<bool>,
    /// The middle coordinates.
    pub point: Vec<EF>,
    /// Boolean coordinates at the least significant end.
    pub trailing: Vec<bool>,
    /// The weight over the middle coordinates.
    pub kind: HiKind,
}

/// Opened rows and the digests that authenticate them.
#[derive(Clone, Debug)]
pub struct Opened<EF> {
    /// One row per index, in the order asked for, repeats included.
    pub rows: OpenedRows<EF>,
    /// The missing siblings of the sorted distinct indices, bottom level first.
    pub siblings: Vec<Digest>,
}

/// Rows of a base-field or of an extension codeword.
#[derive(Clone, Debug)]
pub enum OpenedRows<EF> {
    /// From the first commitment.
    Base(Vec<Vec<F>>),
    /// From a folded one.
    Extension(Vec<Vec<EF>>),
}

/// An opening that may still be under way on the device: gives its result, and waits for it.
pub type Later<EF> = Box<dyn FnOnce() -> Result<Opened<EF>, Error> + Send>;

/// The sponge state a proof of work starts from.
#[derive(Clone, Copy, Debug)]
pub struct GrindTask {
    /// The state as it will be permuted but for the witness: buffered inputs written, unused rate
    /// words zero, length tag added.
    pub state: [F; 16],
    /// The word that the witness takes.
    pub slot: usize,
    /// Low bits of the canonical form of output word 7 that must be zero.
    pub bits: usize,
}

/// A device that holds the prover's data and runs its kernels.
///
/// Every engine gives the same bits: results are field elements, which have one canonical form,
/// and the proof of work takes the smallest witness.
///
/// # Errors
///
/// Every operation returns the device's error ([`Error::Device`]); none panics or gives zeros.
pub trait Engine<EF: Extension>: Send + Sync {
    /// A base-field polynomial, given by its values on the hypercube.
    type Polynomial: Clone + Send + Sync;
    /// A committed codeword with its tree.
    type Codeword: Clone + Send + Sync;
    /// The folded polynomial and the weights of a running sumcheck.
    type Sumcheck: Send;

    /// Where the time goes.
    fn profile(&self) -> &Profile;

    /// From here on the times of the device's own work are kept, if it has a clock of its own. Work
    /// is slower then.
    fn start_timeline(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The device's own work since [`Self::start_timeline`], in its order, and the instant that the
    /// spans count from.
    fn take_timeline(&self) -> Result<Option<(Instant, Vec<Span>)>, Error> {
        Ok(None)
    }

    /// Takes the 2^n values of a polynomial.
    fn load(&self, evaluations: Vec<F>) -> Result<Self::Polynomial, Error>;

    /// Encodes and commits the polynomial.
    fn commit(
        &self,
        polynomial: &Self::Polynomial,
        shape: CodeShape,
    ) -> Result<(Commitment, Self::Codeword), Error>;

    /// With the first `fold` variables of `order` set apart as `lo`:
    /// `P[lo] = sum_hi weight(hi) f(hi, lo)`, 2^fold values.
    fn partial_evaluations(
        &self,
        polynomial: &Self::Polynomial,
        order: VariableOrder,
        fold: usize,
        weight: &HiWeight<EF>,
    ) -> Result<Vec<EF>, Error>;

    /// [`partial_evaluations`](Self::partial_evaluations) of several weights, in their order. Many
    /// columns opened at one point ask for theirs together.
    fn partial_evaluations_of(
        &self,
        polynomial: &Self::Polynomial,
        order: VariableOrder,
        fold: usize,
        weights: &[HiWeight<EF>],
    ) -> Result<Vec<Vec<EF>>, Error> {
        weights
            .iter()
            .map(|weight| self.partial_evaluations(polynomial, order, fold, weight))
            .collect()
    }

    /// Binds the first `fold` variables at once, `f(hi) = sum_lo lo_weights[lo] f(hi, lo)`, with
    /// the weight polynomial `sum_t c_t weight_t(hi)`.
    fn begin(
        &self,
        polynomial: &Self::Polynomial,
        order: VariableOrder,
        fold: usize,
        lo_weights: &[EF],
        weights: &[(EF, HiWeight<EF>)],
    ) -> Result<Self::Sumcheck, Error>;

    /// Encodes and commits the folded polynomial.
    fn commit_folded(
        &self,
        sumcheck: &Self::Sumcheck,
        shape: CodeShape,
    ) -> Result<(Commitment, Self::Codeword), Error>;

    /// [`Self::commit_folded`] with `meanwhile`, work of the host that does not depend on it, done
    /// once the device has its own.
    ///
    /// # Errors
    ///
    /// Those of [`Self::commit_folded`].
    fn commit_folded_beside(
        &self,
        sumcheck: &Self::Sumcheck,
        shape: CodeShape,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Commitment, Self::Codeword), Error> {
        meanwhile();
        self.commit_folded(sumcheck, shape)
    }

    /// The folded polynomial at a point.
    fn evaluate(&self, sumcheck: &Self::Sumcheck, point: &Point<EF>) -> Result<EF, Error>;

    /// Adds `sum c eq(point, x) + sum c z^x` to the weights.
    fn accumulate(
        &self,
        sumcheck: &mut Self::Sumcheck,
        eq: &[(EF, Point<EF>)],
        select: &[(EF, F)],
    ) -> Result<(), Error>;

    /// The next round's `[h(0), h(inf)]`.
    fn message(&self, sumcheck: &mut Self::Sumcheck) -> Result<[EF; 2], Error>;

    /// Binds the next variable to `r`. `more` says that a message of the next variable follows
    /// with unchanged weights, so that both may be done in one pass.
    fn fold(&self, sumcheck: &mut Self::Sumcheck, r: EF, more: bool) -> Result<(), Error>;

    /// The folded polynomial's values.
    fn values(&self, sumcheck: &Self::Sumcheck) -> Result<Vec<EF>, Error>;

    /// Rows of a codeword, with their multiproof.
    fn open(&self, codeword: &Self::Codeword, indices: &[usize]) -> Result<Opened<EF>, Error>;

    /// [`Self::open`] without waiting for the device: no message of the protocol depends on what is
    /// opened.
    ///
    /// # Errors
    ///
    /// The device's, here or with the result.
    fn open_later(&self, codeword: &Self::Codeword, indices: &[usize]) -> Result<Later<EF>, Error> {
        let opened = self.open(codeword, indices)?;
        Ok(Box::new(|| Ok(opened)))
    }

    /// The smallest witness of a proof of work.
    fn grind(&self, task: &GrindTask) -> Result<F, Error>;
}

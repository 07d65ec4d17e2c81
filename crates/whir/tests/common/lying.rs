//! A cheating prover: an engine whose `at`-th answer is wrong, while it plays on as if it were right.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fieldspar_whir::driver::Error;
use fieldspar_whir::engine::{CodeShape, Engine, GrindTask, HiWeight, Opened, OpenedRows};
use fieldspar_whir::field::{Commitment, Extension, F};
use fieldspar_whir::profile::Profile;
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;
use p3_symmetric::MerkleCap;

#[derive(Debug)]
pub struct Lying<E> {
    inner: E,
    at: usize,
    /// Opened rows if true, their siblings if false.
    rows: bool,
    calls: Mutex<Vec<&'static str>>,
    tasks: Mutex<Vec<GrindTask>>,
    lied: AtomicUsize,
}

impl<E> Lying<E> {
    /// Lies at call `at`; `usize::MAX` is honest.
    pub fn new(inner: E, at: usize, rows: bool) -> Self {
        Self {
            inner,
            at,
            rows,
            calls: Mutex::default(),
            tasks: Mutex::default(),
            lied: AtomicUsize::new(0),
        }
    }

    /// The operations asked for, in order.
    pub fn calls(&self) -> Vec<&'static str> {
        self.calls.lock().unwrap().clone()
    }

    /// The proofs of work asked for, in order.
    pub fn tasks(&self) -> Vec<GrindTask> {
        self.tasks.lock().unwrap().clone()
    }

    /// Whether a wrong answer was given.
    pub fn lied(&self) -> bool {
        self.lied.load(Ordering::Relaxed) > 0
    }

    fn turn(&self, name: &'static str) -> bool {
        let mut calls = self.calls.lock().unwrap();
        calls.push(name);
        calls.len() - 1 == self.at
    }

    fn lie<T: PrimeCharacteristicRing>(&self, value: &mut T) {
        *value += T::ONE;
        self.lied.fetch_add(1, Ordering::Relaxed);
    }

    fn root(&self, cap: &Commitment) -> Commitment {
        let mut digests = cap.roots().to_vec();
        self.lie(&mut digests[0][3]);
        MerkleCap::new(digests)
    }
}

impl<EF: Extension, E: Engine<EF>> Engine<EF> for Lying<E> {
    type Polynomial = E::Polynomial;
    type Codeword = E::Codeword;
    type Sumcheck = E::Sumcheck;

    fn profile(&self) -> &Profile {
        self.inner.profile()
    }

    fn load(&self, evaluations: Vec<F>) -> Result<Self::Polynomial, Error> {
        // another polynomial is no lie: the commitment binds it
        self.turn("load");
        self.inner.load(evaluations)
    }

    fn commit(
        &self,
        f: &Self::Polynomial,
        shape: CodeShape,
    ) -> Result<(Commitment, Self::Codeword), Error> {
        let (mut cap, code) = self.inner.commit(f, shape)?;
        if self.turn("commit") {
            cap = self.root(&cap);
        }
        Ok((cap, code))
    }

    fn partial_evaluations(
        &self,
        f: &Self::Polynomial,
        order: VariableOrder,
        fold: usize,
        weight: &HiWeight<EF>,
    ) -> Result<Vec<EF>, Error> {
        let mut values = self.inner.partial_evaluations(f, order, fold, weight)?;
        if self.turn("partial_evaluations") {
            self.lie(&mut values[0]);
        }
        Ok(values)
    }

    fn begin(
        &self,
        f: &Self::Polynomial,
        order: VariableOrder,
        fold: usize,
        lo_weights: &[EF],
        weights: &[(EF, HiWeight<EF>)],
    ) -> Result<Self::Sumcheck, Error> {
        let mut lo_weights = lo_weights.to_vec();
        if self.turn("begin") {
            self.lie(&mut lo_weights[0]);
        }
        self.inner.begin(f, order, fold, &lo_weights, weights)
    }

    fn commit_folded(
        &self,
        t: &Self::Sumcheck,
        shape: CodeShape,
    ) -> Result<(Commitment, Self::Codeword), Error> {
        let (mut cap, code) = self.inner.commit_folded(t, shape)?;
        if self.turn("commit_folded") {
            cap = self.root(&cap);
        }
        Ok((cap, code))
    }

    fn evaluate(&self, t: &Self::Sumcheck, point: &Point<EF>) -> Result<EF, Error> {
        let mut value = self.inner.evaluate(t, point)?;
        if self.turn("evaluate") {
            self.lie(&mut value);
        }
        Ok(value)
    }

    fn accumulate(
        &self,
        t: &mut Self::Sumcheck,
        eq: &[(EF, Point<EF>)],
        select: &[(EF, F)],
    ) -> Result<(), Error> {
        let mut select = select.to_vec();
        if self.turn("accumulate") {
            self.lie(&mut select[0].0);
        }
        self.inner.accumulate(t, eq, &select)
    }

    fn message(&self, t: &mut Self::Sumcheck) -> Result<[EF; 2], Error> {
        let mut message = self.inner.message(t)?;
        if self.turn("message") {
            self.lie(&mut message[usize::from(self.rows)]);
        }
        Ok(message)
    }

    fn fold(&self, t: &mut Self::Sumcheck, mut r: EF, more: bool) -> Result<(), Error> {
        if self.turn("fold") {
            self.lie(&mut r);
        }
        self.inner.fold(t, r, more)
    }

    fn values(&self, t: &Self::Sumcheck) -> Result<Vec<EF>, Error> {
        let mut values = self.inner.values(t)?;
        if self.turn("values") {
            self.lie(&mut values[0]);
        }
        Ok(values)
    }

    fn open(&self, code: &Self::Codeword, indices: &[usize]) -> Result<Opened<EF>, Error> {
        let mut opened = self.inner.open(code, indices)?;
        if self.turn("open") {
            match (&mut opened.rows, opened.siblings.first_mut()) {
                (_, Some(sibling)) if !self.rows => self.lie(&mut sibling[0]),
                (OpenedRows::Base(rows), _) => self.lie(&mut rows[0][0]),
                (OpenedRows::Extension(rows), _) => self.lie(&mut rows[0][0]),
            }
        }
        Ok(opened)
    }

    fn grind(&self, task: &GrindTask) -> Result<F, Error> {
        self.tasks.lock().unwrap().push(*task);
        let mut witness = self.inner.grind(task)?;
        if self.turn("grind") {
            self.lie(&mut witness);
        }
        Ok(witness)
    }
}

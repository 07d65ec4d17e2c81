//! p3-multi-stark over a WHIR PCS: the configuration, for this crate's PCS and for p3-whir's own,
//! with the PCS's time kept apart from the rest.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::sync::Mutex;
use std::time::{Duration, Instant};

use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{Challenger, Commitment, Extension, F};
use fieldspar_whir::pcs::{P3Whir, WhirPcs};
use p3_commit::MultilinearPcs;
use p3_multi_stark::config::{MultiStarkConfig, ProverData};
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, Table, Witness};
use p3_sumcheck::{OpeningEvals, OpeningProtocol, PrescribedOpeningSecurity, PrescribedPointPcs};

/// A WHIR PCS whose prover keeps the committed tables.
pub trait StarkPcs<EF: Extension>:
    PrescribedPointPcs<
        EF,
        Challenger,
        Val = F,
        Commitment = Commitment,
        Witness = Witness<F>,
        OpeningProtocol = OpeningProtocol,
        ProverData = <Self as StarkPcs<EF>>::Data,
    >
{
    /// The prover's data, which p3-multi-stark wants to clone.
    type Data: Clone;

    fn witness(tables: Vec<Table<F>>, fold: usize) -> Witness<F>;
    fn table(data: &Self::ProverData, index: usize) -> &Table<F>;
}

impl<EF: Extension, L: Layout<F, EF> + Clone, E: Engine<EF>> StarkPcs<EF> for WhirPcs<EF, L, E> {
    type Data = <Self as MultilinearPcs<EF, Challenger>>::ProverData;

    fn witness(tables: Vec<Table<F>>, fold: usize) -> Witness<F> {
        L::new_witness(tables, fold)
    }

    fn table(data: &Self::ProverData, index: usize) -> &Table<F> {
        data.table::<EF>(index)
    }
}

impl<EF: Extension, L: Layout<F, EF> + Clone> StarkPcs<EF> for P3Whir<EF, L> {
    type Data = <Self as MultilinearPcs<EF, Challenger>>::ProverData;

    fn witness(tables: Vec<Table<F>>, fold: usize) -> Witness<F> {
        L::new_witness(tables, fold)
    }

    fn table(data: &Self::ProverData, index: usize) -> &Table<F> {
        data.table(index)
    }
}

/// How long the prover's half of a PCS took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub commit: Duration,
    pub open: Duration,
}

/// A PCS with a clock.
pub struct Timed<P> {
    inner: P,
    times: Mutex<Times>,
}

impl<P> Timed<P> {
    pub fn new(inner: P) -> Self {
        Self {
            inner,
            times: Mutex::default(),
        }
    }

    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Since the last call.
    pub fn take(&self) -> Times {
        self.times
            .lock()
            .map(|mut t| std::mem::take(&mut *t))
            .unwrap_or_default()
    }

    fn time<R>(&self, run: impl FnOnce() -> R, add: impl FnOnce(&mut Times, Duration)) -> R {
        let start = Instant::now();
        let result = run();
        let length = start.elapsed();
        if let Ok(mut times) = self.times.lock() {
            add(&mut times, length);
        }
        result
    }
}

impl<EF: Extension, P: StarkPcs<EF>> MultilinearPcs<EF, Challenger> for Timed<P> {
    type Val = F;
    type Commitment = Commitment;
    type ProverData = P::ProverData;
    type Proof = P::Proof;
    type Error = P::Error;
    type ProverError = P::ProverError;
    type Witness = Witness<F>;
    type OpeningProtocol = OpeningProtocol;

    fn num_vars(&self) -> usize {
        self.inner.num_vars()
    }

    fn commit(
        &self,
        witness: Witness<F>,
        challenger: &mut Challenger,
    ) -> Result<(Commitment, P::ProverData), P::ProverError> {
        self.time(
            || self.inner.commit(witness, challenger),
            |times, length| times.commit += length,
        )
    }

    fn observe_commitment(&self, commitment: &Commitment, challenger: &mut Challenger) {
        self.inner.observe_commitment(commitment, challenger);
    }

    fn open(
        &self,
        data: P::ProverData,
        protocol: OpeningProtocol,
        challenger: &mut Challenger,
    ) -> Result<P::Proof, P::ProverError> {
        self.time(
            || self.inner.open(data, protocol, challenger),
            |times, length| times.open += length,
        )
    }

    fn verify(
        &self,
        commitment: &Commitment,
        proof: &P::Proof,
        challenger: &mut Challenger,
        protocol: OpeningProtocol,
    ) -> Result<(), P::Error> {
        self.inner.verify(commitment, proof, challenger, protocol)
    }
}

impl<EF: Extension, P: StarkPcs<EF>> PrescribedPointPcs<EF, Challenger> for Timed<P> {
    fn prescribed_security(&self, protocol: &OpeningProtocol) -> Option<PrescribedOpeningSecurity> {
        self.inner.prescribed_security(protocol)
    }

    fn open_at(
        &self,
        data: P::ProverData,
        protocol: &OpeningProtocol,
        points: &[Point<EF>],
        challenger: &mut Challenger,
    ) -> Result<P::Proof, P::ProverError> {
        self.time(
            || self.inner.open_at(data, protocol, points, challenger),
            |times, length| times.open += length,
        )
    }

    fn verify_at(
        &self,
        commitment: &Commitment,
        proof: &P::Proof,
        protocol: &OpeningProtocol,
        points: &[Point<EF>],
        challenger: &mut Challenger,
    ) -> Result<Vec<OpeningEvals<EF>>, P::Error> {
        self.inner
            .verify_at(commitment, proof, protocol, points, challenger)
    }
}

/// The wiring that p3-multi-stark asks for.
pub struct Config<EF, P> {
    main: Timed<P>,
    preprocessed: Option<Timed<P>>,
    fold: usize,
    _extension: std::marker::PhantomData<fn() -> EF>,
}

impl<EF, P> Config<EF, P> {
    /// `fold` is the first fold of both: the fewest variables that a table may have.
    pub fn new(main: P, preprocessed: Option<P>, fold: usize) -> Self {
        Self {
            main: Timed::new(main),
            preprocessed: preprocessed.map(Timed::new),
            fold,
            _extension: std::marker::PhantomData,
        }
    }

    /// The main traces' PCS.
    pub fn main(&self) -> &Timed<P> {
        &self.main
    }
}

impl<EF: Extension, P: StarkPcs<EF>> MultiStarkConfig for Config<EF, P> {
    type Val = F;
    type Challenge = EF;
    type Challenger = Challenger;
    type Pcs = Timed<P>;

    fn pcs(&self) -> &Timed<P> {
        &self.main
    }

    fn preprocessed_pcs(&self) -> &Timed<P> {
        self.preprocessed.as_ref().unwrap_or(&self.main)
    }

    /// Eight elements of BabyBear: 124 bits against collisions.
    fn collision_resistance_bits(&self) -> Option<usize> {
        Some(124)
    }

    fn min_num_variables(&self) -> usize {
        self.fold
    }

    fn build_witness(&self, tables: Vec<Table<F>>) -> Witness<F> {
        P::witness(tables, self.fold)
    }

    fn committed_table<'a>(&self, data: &'a ProverData<Self>, index: usize) -> &'a Table<F> {
        P::table(data, index)
    }
}

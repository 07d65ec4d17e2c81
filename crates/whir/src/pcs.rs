//! The drop-in: Plonky3's multilinear PCS traits over an [`Engine`].
#![forbid(unsafe_code)]

use core::fmt;

use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{
    Layout, Table, TablePlacement, Witness, observe_commitment, plan_stacked_layout,
};
use p3_sumcheck::{OpeningEvals, OpeningProtocol, PrescribedOpeningSecurity, PrescribedPointPcs};
use p3_whir::VerifierError;
use p3_whir::parameters::WhirConfig;
use p3_whir::pcs::prover::WhirProver;
use rayon::prelude::*;

use crate::driver::{Error, Opening, Proof};
use crate::engine::Engine;
use crate::field::{Challenger, Commitment, Extension, F, LeafHash, Mmcs, NodeHash, Perm};

/// p3-whir's own prover over the same types: it verifies, and is never asked to prove here.
pub type P3Whir<EF, L> = WhirProver<EF, F, Radix2DFTSmallBatch<F>, Mmcs, Challenger, L>;

/// WHIR as a [`MultilinearPcs`] and [`PrescribedPointPcs`]: replace
/// [`p3_whir::pcs::prover::WhirProver`] by this type and the prover runs on `E`.
///
/// Commitments, proofs and the verifier are p3-whir's own; `L` is p3's `SuffixProver` or
/// `PrefixProver` and fixes the variable order.
pub struct WhirPcs<EF: Extension, L, E> {
    p3: P3Whir<EF, L>,
    engine: E,
    cap_height: usize,
}

impl<EF: Extension, L, E: fmt::Debug> fmt::Debug for WhirPcs<EF, L, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhirPcs")
            .field("engine", &self.engine)
            .field("cap_height", &self.cap_height)
            .finish_non_exhaustive()
    }
}

/// What the prover keeps between commitment and opening.
#[derive(Clone)]
pub struct ProverData<L, P, C> {
    layout: L,
    polynomial: P,
    codeword: C,
}

impl<L, P, C> ProverData<L, P, C> {
    /// Source table `index` of the committed witness.
    pub fn table<EF: Extension>(&self, index: usize) -> &Table<F>
    where
        L: Layout<F, EF>,
    {
        self.layout.table(index)
    }
}

impl<L, P, C> fmt::Debug for ProverData<L, P, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProverData").finish_non_exhaustive()
    }
}

impl<EF: Extension, L: Layout<F, EF>, E: Engine<EF>> WhirPcs<EF, L, E> {
    /// A PCS for polynomials of `config.num_variables()` variables, with commitments of
    /// 2^`cap_height` digests and `permutation` for leaves and nodes.
    ///
    /// The engines compute `default_babybear_poseidon2_16`; see [`crate::field`].
    pub fn new(config: WhirConfig<EF, F, Challenger>, cap_height: usize, engine: E) -> Self {
        let dft = Radix2DFTSmallBatch::default();
        Self {
            p3: P3Whir::new(config, dft, mmcs(cap_height)),
            engine,
            cap_height,
        }
    }

    /// The derived protocol parameters.
    pub fn config(&self) -> &WhirConfig<EF, F, Challenger> {
        &self.p3
    }

    /// The engine that proves.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    fn opening<'a>(&'a self, protocol: &'a OpeningProtocol) -> Opening<'a, EF, E> {
        Opening {
            engine: &self.engine,
            config: &self.p3,
            strategy: L::strategy(),
            cap_height: self.cap_height,
            protocol,
        }
    }

    fn prove(
        &self,
        data: ProverData<L, E::Polynomial, E::Codeword>,
        protocol: &OpeningProtocol,
        points: Option<&[Point<EF>]>,
        challenger: &mut Challenger,
    ) -> Result<Proof<EF>, Error> {
        self.opening(protocol)
            .prove(data.polynomial, data.codeword, points, challenger)
    }
}

/// Plonky3's Merkle scheme with this crate's hashes.
#[must_use]
pub fn mmcs(cap_height: usize) -> Mmcs {
    let permutation: Perm = p3_baby_bear::default_babybear_poseidon2_16();
    Mmcs::new(
        LeafHash::new(permutation.clone()),
        NodeHash::new(permutation),
        cap_height,
    )
}

/// A transcript at its start.
#[must_use]
pub fn challenger() -> Challenger {
    Challenger::new(p3_baby_bear::default_babybear_poseidon2_16())
}

/// The stacked polynomial of a layout's tables.
fn stack<EF: Extension, L: Layout<F, EF>>(layout: &L) -> Vec<F> {
    let (num_variables, mut placements) = plan_stacked_layout(&layout.table_shapes());
    let interleaved = L::strategy().reverse_selectors;
    if interleaved {
        placements
            .iter_mut()
            .for_each(TablePlacement::reverse_selectors);
    }
    let mut columns = placements
        .iter()
        .flat_map(|p| {
            let table = layout.table(p.idx());
            p.selectors()
                .iter()
                .enumerate()
                .map(move |(i, selector)| (selector, table.poly(i)))
        })
        .collect::<Vec<_>>();
    let mut stacked = F::zero_vec(1 << num_variables);
    if !interleaved {
        // columns lie one after the other, in slot order
        let mut rest = stacked.as_mut_slice();
        let mut slots = Vec::with_capacity(columns.len());
        for (_, column) in &columns {
            let (slot, tail) = rest.split_at_mut(column.as_slice().len());
            slots.push((slot, column.as_slice()));
            rest = tail;
        }
        slots
            .into_par_iter()
            .for_each(|(slot, column)| slot.copy_from_slice(column));
        return stacked;
    }
    // columns interleave: every block of rows of the smallest selector's stride is filled alone
    let widest = columns.iter().map(|(s, _)| s.num_variables()).max();
    let block = 1 << widest.unwrap_or(0).max(num_variables.min(12));
    columns.sort_by_key(|(s, _)| s.index());
    stacked
        .par_chunks_mut(block)
        .enumerate()
        .for_each(|(b, out)| {
            for (selector, column) in &columns {
                let stride = 1 << selector.num_variables();
                let rows = out.len() / stride;
                let values = &column.as_slice()[b * rows..(b + 1) * rows];
                for (row, &value) in values.iter().enumerate() {
                    out[row * stride + selector.index()] = value;
                }
            }
        });
    stacked
}

impl<EF: Extension, L: Layout<F, EF>, E: Engine<EF>> MultilinearPcs<EF, Challenger>
    for WhirPcs<EF, L, E>
{
    type Val = F;
    type Commitment = Commitment;
    type ProverData = ProverData<L, E::Polynomial, E::Codeword>;
    type Proof = Proof<EF>;
    type Error = VerifierError;
    type ProverError = Error;
    type Witness = Witness<F>;
    type OpeningProtocol = OpeningProtocol;

    fn num_vars(&self) -> usize {
        self.p3.num_variables()
    }

    fn commit(
        &self,
        witness: Witness<F>,
        challenger: &mut Challenger,
    ) -> Result<(Commitment, Self::ProverData), Error> {
        let (expected, found) = (self.p3.num_variables(), witness.num_variables());
        if expected != found {
            return Err(Error::Statement {
                what: "variables of the witness",
                expected,
                found,
            });
        }
        let layout = L::from_witness(witness);
        let stacked = self.engine.profile().time("stack", || stack(&layout));
        let polynomial = self.engine.load(stacked)?;
        let protocol = OpeningProtocol::new(Vec::new());
        let code = self.opening(&protocol).first_code();
        let (commitment, codeword) = self.engine.commit(&polynomial, code)?;
        self.observe_commitment(&commitment, challenger);
        let data = ProverData {
            layout,
            polynomial,
            codeword,
        };
        Ok((commitment, data))
    }

    fn observe_commitment(&self, commitment: &Commitment, challenger: &mut Challenger) {
        observe_commitment::<F, _, _>(challenger, commitment.clone());
    }

    fn open(
        &self,
        data: Self::ProverData,
        protocol: OpeningProtocol,
        challenger: &mut Challenger,
    ) -> Result<Proof<EF>, Error> {
        self.prove(data, &protocol, None, challenger)
    }

    fn verify(
        &self,
        commitment: &Commitment,
        proof: &Proof<EF>,
        challenger: &mut Challenger,
        protocol: OpeningProtocol,
    ) -> Result<(), VerifierError> {
        self.p3.verify(commitment, proof, challenger, protocol)
    }
}

impl<EF: Extension, L: Layout<F, EF>, E: Engine<EF>> PrescribedPointPcs<EF, Challenger>
    for WhirPcs<EF, L, E>
{
    fn prescribed_security(&self, protocol: &OpeningProtocol) -> Option<PrescribedOpeningSecurity> {
        self.p3.prescribed_security(protocol)
    }

    fn open_at(
        &self,
        data: Self::ProverData,
        protocol: &OpeningProtocol,
        points: &[Point<EF>],
        challenger: &mut Challenger,
    ) -> Result<Proof<EF>, Error> {
        self.prove(data, protocol, Some(points), challenger)
    }

    fn verify_at(
        &self,
        commitment: &Commitment,
        proof: &Proof<EF>,
        protocol: &OpeningProtocol,
        points: &[Point<EF>],
        challenger: &mut Challenger,
    ) -> Result<Vec<OpeningEvals<EF>>, VerifierError> {
        self.p3
            .verify_at(commitment, proof, protocol, points, challenger)
    }
}

#[cfg(test)]
mod tests {
    use p3_multilinear_util::poly::Poly;
    use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver, Table};
    use rand::SeedableRng;
    use rand::rngs::SmallRng;

    use super::stack;
    use crate::field::{EF4, F};

    fn stacks_as_p3_does<L: Layout<F, EF4>>() {
        let mut rng = SmallRng::seed_from_u64(3);
        for shapes in [
            vec![(1, 3)],
            vec![(3, 5), (1, 7), (2, 4)],
            vec![(5, 2), (1, 2)],
        ] {
            let tables = shapes
                .iter()
                .map(|&(columns, arity)| Table::<F>::rand(&mut rng, columns, arity))
                .collect();
            let witness = L::new_witness(tables, 2);
            let expected: Poly<F> = witness.stacked_poly();
            let layout = L::from_witness(witness);
            assert!(
                stack::<EF4, L>(&layout) == expected.as_slice(),
                "{shapes:?}"
            );
        }
    }

    #[test]
    fn both_orders_stack_as_p3_does() {
        stacks_as_p3_does::<SuffixProver<F, EF4>>();
        stacks_as_p3_does::<PrefixProver<F, EF4>>();
    }
}

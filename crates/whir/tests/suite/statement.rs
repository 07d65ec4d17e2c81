//! Statements of p3-multi-stark over our PCS and over p3-whir's prover: one proof, one verdict.

use fieldspar_whir::field::F;
use p3_air::BaseAir;
use p3_matrix::Matrix;
use p3_matrix::dense::RowMajorMatrix;
use p3_sumcheck::TableShape;
use p3_sumcheck::layout::plan_stacked_layout;

/// What the code that [`provers`] writes stands on.
pub mod prelude {
    pub use fieldspar_device::CpuVariant;
    pub use fieldspar_whir::cpu::CpuEngine;
    pub use fieldspar_whir::pcs::{P3Whir, WhirPcs, challenger};
    pub use p3_multi_stark::config::{PcsError, PcsProverError};
    pub use p3_multi_stark::{
        MultiStarkProof, ProverInstance, ProverInstances, ProvingError, VerificationError,
        VerifierInstance, VerifierInstances, VerifyingKey, prove_with_security, setup,
        verify_with_security,
    };
    pub use p3_sumcheck::layout::{PrefixProver, SuffixProver, Table};
    pub use p3_whir::parameters::{ProtocolParameters, SecurityAssumption, WhirConfig};

    pub use super::{FOLD, TARGET, sizes};
    pub use crate::common::{p3, params};
    pub use crate::stark::{Config, StarkPcs};
}

/// The first fold, and the fewest variables of a table.
pub const FOLD: usize = 2;
/// Bits that the statement as a whole must reach.
pub const TARGET: usize = 20;

/// One table of a statement: main trace and public values.
#[derive(Clone)]
pub struct Instance {
    pub trace: RowMajorMatrix<F>,
    pub public: Vec<F>,
}

impl Instance {
    pub fn new(trace: RowMajorMatrix<F>, public: Vec<F>) -> Self {
        Self { trace, public }
    }

    pub fn log_height(&self) -> usize {
        self.trace.height().ilog2() as usize
    }
}

/// Variables of the main traces and, if there are any, of the preprocessed ones.
pub fn sizes<A: BaseAir<F>>(airs: &[A], instances: &[Instance]) -> (usize, Option<usize>) {
    let shapes = |width: &dyn Fn(&A) -> usize| -> Vec<TableShape> {
        let tables = airs.iter().zip(instances);
        tables
            .map(|(air, instance)| (instance.log_height(), width(air)))
            .filter(|&(_, width)| width > 0)
            .map(|(height, width)| TableShape::new(height, width))
            .collect()
    };
    let preprocessed = shapes(&|air| air.preprocessed_width());
    let n = plan_stacked_layout(&shapes(&|air| air.width())).0;
    let preprocessed = (!preprocessed.is_empty()).then(|| plan_stacked_layout(&preprocessed).0);
    (n, preprocessed)
}

/// A module `$name` that proves statements of one type of AIR over one extension and layout: for
/// p3-multi-stark's bounds to hold, none may be a parameter.
macro_rules! prover {
    ($name:ident, $extension:ty, $layout:ident, $air:ty) => {
        mod $name {
            #[allow(unused_imports)]
            use super::*;
            use crate::statement::prelude::*;

            type EF = $extension;
            type L = $layout<F, EF>;
            type A = $air;

            type Proof<P> = MultiStarkProof<Config<EF, P>>;
            type Refusal<P> = ProvingError<PcsProverError<Config<EF, P>>>;

            /// A statement over one PCS: its keys are made, it proves, it verifies.
            struct Statement<'a, P: StarkPcs<EF>> {
                config: Config<EF, P>,
                airs: &'a [A],
                instances: &'a [Instance],
            }

            impl<P> Statement<'_, P>
            where
                P: StarkPcs<EF>,
            {
                fn prove(&self) -> (VerifyingKey<Config<EF, P>>, Result<Proof<P>, Refusal<P>>) {
                    let airs: Vec<&A> = self.airs.iter().collect();
                    let (pk, vk) = setup(&self.config, &airs, &mut challenger()).unwrap();
                    let instances = self.airs.iter().zip(self.instances).map(|(air, instance)| {
                        let table = Table::new(instance.trace.transpose());
                        ProverInstance::new(air, table, &pk, &instance.public)
                    });
                    let instances = ProverInstances::new(instances.collect());
                    let proof =
                        prove_with_security(&self.config, instances, 0, TARGET, &mut challenger());
                    (vk, proof)
                }

                fn verify(
                    &self,
                    vk: &VerifyingKey<Config<EF, P>>,
                    proof: &Proof<P>,
                    target: usize,
                ) -> Result<(), VerificationError<PcsError<Config<EF, P>>>> {
                    let instances = self.airs.iter().zip(self.instances).map(|(air, instance)| {
                        VerifierInstance::new(air, vk, instance.log_height(), &instance.public)
                    });
                    let instances = VerifierInstances::new(instances.collect());
                    verify_with_security(
                        &self.config,
                        instances,
                        proof,
                        0,
                        target,
                        &mut challenger(),
                    )
                }
            }

            /// Proves over both PCS. Whether the proof was made and verified; its bytes are equal either way.
            pub(super) fn holds(variant: CpuVariant, airs: &[A], instances: &[Instance]) -> bool {
                let params: ProtocolParameters = params(45, FOLD, SecurityAssumption::JohnsonBound);
                let (n, preprocessed) = sizes(airs, instances);
                let ours = |n| {
                    let config = WhirConfig::new(n, params.clone()).unwrap();
                    WhirPcs::<EF, L, _>::new(config, 1, CpuEngine::new(variant).unwrap())
                };
                let theirs = |n| p3::<EF, L>(n, &params, 1).unwrap();
                let ours = Statement {
                    config: Config::<EF, WhirPcs<EF, L, CpuEngine>>::new(
                        ours(n),
                        preprocessed.map(ours),
                        FOLD,
                    ),
                    airs,
                    instances,
                };
                let theirs = Statement {
                    config: Config::<EF, P3Whir<EF, L>>::new(
                        theirs(n),
                        preprocessed.map(theirs),
                        FOLD,
                    ),
                    airs,
                    instances,
                };
                let (our_key, our_proof) = ours.prove();
                let (their_key, their_proof) = theirs.prove();
                let (our_proof, their_proof) = match (our_proof, their_proof) {
                    (Ok(our_proof), Ok(their_proof)) => (our_proof, their_proof),
                    (Err(a), Err(b)) => {
                        assert_eq!(a.to_string(), b.to_string());
                        return false;
                    }
                    (a, b) => panic!("ours made: {}, p3's made: {}", a.is_ok(), b.is_ok()),
                };
                let bytes = postcard::to_allocvec(&our_proof).unwrap();
                assert!(
                    bytes == postcard::to_allocvec(&their_proof).unwrap(),
                    "bytes"
                );
                let crossed: Proof<P3Whir<EF, L>> = postcard::from_bytes(&bytes).unwrap();
                let verdict = ours.verify(&our_key, &our_proof, TARGET);
                assert_eq!(
                    verdict.is_ok(),
                    theirs.verify(&their_key, &crossed, TARGET).is_ok()
                );
                // no parameters of this size reach 124 bits: the PCS's own part is assessed
                assert!(ours.verify(&our_key, &our_proof, 124).is_err());
                verdict.is_ok()
            }
        }
    };
}

/// `everywhere(airs, instances, expected)` for one type of AIR: whether the statement holds, in both
/// degrees, one in each order, on every variant. (Each pair is a prover to compile.)
macro_rules! provers {
    ($air:ty) => {
        prover!(four, fieldspar_whir::field::EF4, PrefixProver, $air);
        prover!(five, fieldspar_whir::field::EF5, SuffixProver, $air);

        fn everywhere(airs: &[$air], instances: &[Instance], expected: bool) {
            for variant in fieldspar_device::variants_to_test().unwrap() {
                let found = [
                    four::holds(variant, airs, instances),
                    five::holds(variant, airs, instances),
                ];
                assert_eq!(found, [expected; 2], "{variant:?}");
            }
        }
    };
}

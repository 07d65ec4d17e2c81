//! A prepared statement: proving it from scratch, verifying it, and the levels p3 accepts for it.
use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_challenger::{CanObserve, FieldChallenger};
use p3_commit::MultilinearPcs;
use p3_field::{ExtensionField, PrimeCharacteristicRing, PrimeField32, TwoAdicField};
use p3_matrix::dense::RowMajorMatrix;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout as _, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use sha2::{Digest, Sha256};

use crate::challenger::SmallestFirst;
use crate::protocol::{MaxLevel, Run, Statement};
use crate::types::{Commitment, Compress, Config, Dft, F, Hash, Layout, Mmcs, Pcs, Proof};
use crate::{memory, types};

/// A session with its extension degree erased.
pub trait Job: Send + Sync {
    /// The measured figures and the proof's postcard bytes.
    fn run(&self) -> Result<(Run, Vec<u8>), String>;
}

pub fn prepare(s: &Statement) -> Result<Box<dyn Job>, String> {
    match s.extension {
        4 => Ok(Box::new(Session::<types::Ext<4>>::new(s)?)),
        5 => Ok(Box::new(Session::<types::Ext<5>>::new(s)?)),
        d => Err(unsupported(d)),
    }
}

pub fn max_level(s: &Statement) -> Result<MaxLevel, String> {
    match s.extension {
        4 => Ok(highest_level::<types::Ext<4>>(s)),
        5 => Ok(highest_level::<types::Ext<5>>(s)),
        d => Err(unsupported(d)),
    }
}

fn unsupported(degree: usize) -> String {
    format!("extension degree {degree} is not 4 or 5")
}

/// p3 checks the claim budget only when opening; asking for it here gives the refusal at once.
fn config<EF>(s: &Statement, level: usize) -> Result<Config<EF>, String>
where
    EF: ExtensionField<F> + TwoAdicField,
{
    Config::new_with_initial_claims(s.committed_variables(), s.parameters(level), 1)
        .map_err(|e| e.to_string())
}

fn highest_level<EF>(s: &Statement) -> MaxLevel
where
    EF: ExtensionField<F> + TwoAdicField,
{
    let refusal = config::<EF>(s, s.security_level).err();
    let max_level = (1..=s.security_level)
        .rev()
        .find(|&level| config::<EF>(s, level).is_ok());
    MaxLevel {
        ok: true,
        max_level,
        refusal,
    }
}

struct Session<EF: ExtensionField<F>> {
    pcs: Pcs<EF>,
    protocol: OpeningProtocol,
    preamble: Vec<F>,
    point: Point<EF>,
    table: Table<F>,
    grind_ns: Arc<AtomicU64>,
}

impl<EF: ExtensionField<F> + TwoAdicField> Session<EF> {
    fn new(s: &Statement) -> Result<Self, String> {
        let config = config::<EF>(s, s.security_level)?;
        let tree_height = config.max_fft_size();
        if s.cap_height > tree_height {
            return Err(format!(
                "cap_height {} exceeds the first tree's height {tree_height}",
                s.cap_height
            ));
        }
        let spec = TableSpec::new(
            TableShape::new(s.n, 1),
            vec![OpeningBatch::new(vec![0], Vec::new())]
                .into_iter()
                .collect(),
        );
        let perm = default_babybear_poseidon2_16();
        // Twiddles are made ahead, as p3-whir's example and benches do.
        let dft = Dft::new(1 << config.max_fft_size());
        let mmcs = Mmcs::new(Hash::new(perm.clone()), Compress::new(perm), s.cap_height);
        Ok(Self {
            protocol: OpeningProtocol::new(vec![spec]).pad_to_min_num_variables(s.first_fold()),
            preamble: elements(&s.preamble, "preamble")?,
            point: point(s)?,
            table: Table::new(RowMajorMatrix::new(read_input(s)?, 1 << s.n)),
            pcs: Pcs::new(config, dft, mmcs),
            grind_ns: Arc::default(),
        })
    }

    fn challenger(&self) -> SmallestFirst {
        let mut challenger =
            SmallestFirst::new(default_babybear_poseidon2_16(), self.grind_ns.clone());
        challenger.observe_slice(&self.preamble);
        challenger
    }

    /// Binds the point as it is opened, that is with p3's padding.
    fn observe_point(&self, challenger: &mut SmallestFirst) {
        for &coordinate in self.point.as_slice() {
            challenger.observe_algebra_element(coordinate);
        }
    }

    fn verify(&self, commitment: &Commitment, proof: &Proof<EF>) -> Result<(), String> {
        let mut challenger = self.challenger();
        self.pcs.observe_commitment(commitment, &mut challenger);
        self.observe_point(&mut challenger);
        self.pcs
            .verify_at(
                commitment,
                proof,
                &self.protocol,
                core::slice::from_ref(&self.point),
                &mut challenger,
            )
            .map(drop)
            .map_err(|e| e.to_string())
    }
}

impl<EF> Job for Session<EF>
where
    EF: ExtensionField<F> + TwoAdicField,
    Proof<EF>: serde::Serialize,
{
    fn run(&self) -> Result<(Run, Vec<u8>), String> {
        let tables = vec![self.table.clone()];
        let mut challenger = self.challenger();
        self.grind_ns.store(0, Ordering::Relaxed);
        memory::reset_peak();

        let start = Instant::now();
        let witness = Layout::<EF>::new_witness(tables, self.pcs.folding_schedule()[0]);
        let witness_time = start.elapsed();

        let start = Instant::now();
        let (commitment, data) = self
            .pcs
            .commit(witness, &mut challenger)
            .map_err(|e| e.to_string())?;
        let commit_time = start.elapsed();

        let start = Instant::now();
        self.observe_point(&mut challenger);
        let proof = self
            .pcs
            .open_at(
                data,
                &self.protocol,
                core::slice::from_ref(&self.point),
                &mut challenger,
            )
            .map_err(|e| e.to_string())?;
        let open_time = start.elapsed();
        let peak_memory_bytes = memory::peak();

        let start = Instant::now();
        let verdict = self.verify(&commitment, &proof);
        let verify_time = start.elapsed();

        let bytes = postcard::to_allocvec(&proof).map_err(|e| e.to_string())?;
        let value = proof
            .evals
            .first()
            .and_then(|batch| batch.current().first())
            .ok_or("the proof carries no evaluation")?;
        let run = Run {
            ok: true,
            witness_ms: ms(witness_time),
            commit_ms: ms(commit_time),
            open_ms: ms(open_time),
            prove_ms: ms(commit_time + open_time),
            grind_ms: self.grind_ns.load(Ordering::Relaxed) as f64 / 1e6,
            verify_ms: ms(verify_time),
            verified: verdict.is_ok(),
            verify_error: verdict.err(),
            proof_bytes: bytes.len(),
            proof_sha256: hex(Sha256::digest(&bytes)),
            commitment: hex(commitment
                .roots()
                .iter()
                .flatten()
                .flat_map(|x| x.as_canonical_u32().to_le_bytes())),
            value: value
                .as_basis_coefficients_slice()
                .iter()
                .map(PrimeField32::as_canonical_u32)
                .collect(),
            peak_memory_bytes,
        };
        Ok((run, bytes))
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().map(|b| format!("{b:02x}")).collect()
}

fn element(value: u32, what: &str) -> Result<F, String> {
    if value < F::ORDER_U32 {
        Ok(F::from_u32(value))
    } else {
        Err(format!(
            "{what}: {value} is not a canonical BabyBear element"
        ))
    }
}

fn elements(values: &[u32], what: &str) -> Result<Vec<F>, String> {
    values.iter().map(|&v| element(v, what)).collect()
}

fn point<EF: ExtensionField<F>>(s: &Statement) -> Result<Point<EF>, String> {
    if s.point.len() != s.n {
        return Err(format!(
            "point: {} coordinates for n = {}",
            s.point.len(),
            s.n
        ));
    }
    // Padding appends zero rows, so the added variables are the leading ones and stand at zero.
    let mut coordinates = vec![EF::ZERO; s.committed_variables() - s.n];
    for coordinate in &s.point {
        let basis = elements(coordinate, "point")?;
        coordinates.push(
            EF::from_basis_coefficients_slice(&basis)
                .ok_or_else(|| format!("point: a coordinate has {} coefficients", basis.len()))?,
        );
    }
    Ok(Point::new(coordinates))
}

fn read_input(s: &Statement) -> Result<Vec<F>, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", s.input);
    let file = File::open(&s.input).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len();
    // n is below 64 here: WhirConfig refuses a domain that does not fit a usize.
    if size != 4u64 << s.n {
        return Err(format!(
            "{}: {size} bytes, not 2^{} elements of 4",
            s.input, s.n
        ));
    }
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut word = [0; 4];
    (0..1usize << s.n)
        .map(|_| {
            reader.read_exact(&mut word).map_err(fail)?;
            element(u32::from_le_bytes(word), "input")
        })
        .collect()
}

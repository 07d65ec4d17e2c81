//! Verifies what `fieldspar whir export` wrote, with Plonky3 alone.
//!
//! The crate depends on nothing of Fieldspar. It is the program that a reader of docs/proof-format.md
//! would write, and it shows that an exported folder says all that is needed.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use p3_baby_bear::{BabyBear, Poseidon2BabyBear, default_babybear_poseidon2_16};
use p3_challenger::{CanObserve, DuplexChallenger, FieldChallenger};
use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_field::extension::BinomialExtensionField;
use p3_field::{BasedVectorSpace, ExtensionField, Field, PrimeField32, TwoAdicField};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::SuffixProver;
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use p3_symmetric::{MerkleCap, PaddingFreeSponge, TruncatedPermutation};
use p3_whir::PcsProof;
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};
use p3_whir::pcs::prover::WhirProver;
use serde::de::DeserializeOwned;
use serde_json::Value;

type F = BabyBear;
type Perm = Poseidon2BabyBear<16>;
type LeafHash = PaddingFreeSponge<Perm, 16, 8, 8>;
type NodeHash = TruncatedPermutation<Perm, 2, 8, 16>;
type Mmcs = MerkleTreeMmcs<<F as Field>::Packing, <F as Field>::Packing, LeafHash, NodeHash, 2, 8>;
type Challenger = DuplexChallenger<F, Perm, 16, 8>;
type Pcs<EF> = WhirProver<EF, F, Radix2DFTSmallBatch<F>, Mmcs, Challenger, SuffixProver<F, EF>>;

/// What this crate can read; anything else is another protocol.
const EXPECTED: [(&str, &str); 6] = [
    ("p3_version", "0.8.0"),
    ("permutation", "default_babybear_poseidon2_16"),
    (
        "leaf_hash",
        "PaddingFreeSponge<Poseidon2BabyBear<16>, 16, 8, 8>",
    ),
    (
        "node_hash",
        "TruncatedPermutation<Poseidon2BabyBear<16>, 2, 8, 16>",
    ),
    (
        "challenger",
        "DuplexChallenger<BabyBear, Poseidon2BabyBear<16>, 16, 8>",
    ),
    ("layout", "SuffixProver"),
];

/// Verifies the exported folder.
///
/// # Errors
///
/// What cannot be read, or why p3-whir refuses the proof, in words.
pub fn check(folder: &Path) -> Result<(), String> {
    let text = read(folder, "statement.json")?;
    let statement: Value =
        serde_json::from_slice(&text).map_err(|e| format!("statement.json: {e}"))?;
    for (key, expected) in EXPECTED {
        if statement[key] != expected {
            return Err(format!("{key} is {}, not {expected}", statement[key]));
        }
    }
    match number(&statement["extension"], "degree")? {
        4 => check_over::<BinomialExtensionField<F, 4>>(folder, &statement),
        5 => check_over::<BinomialExtensionField<F, 5>>(folder, &statement),
        other => Err(format!("extension degree {other}")),
    }
}

fn check_over<EF>(folder: &Path, statement: &Value) -> Result<(), String>
where
    EF: ExtensionField<F> + TwoAdicField + BasedVectorSpace<F>,
{
    let n = number(statement, "num_variables")?;
    let parameters = parameters(&statement["protocol_parameters"])?;
    let config = WhirConfig::<EF, F, Challenger>::new(n, parameters).map_err(|e| e.to_string())?;
    let permutation = default_babybear_poseidon2_16();
    let mmcs = Mmcs::new(
        LeafHash::new(permutation.clone()),
        NodeHash::new(permutation.clone()),
        number(statement, "cap_height")?,
    );
    let verifier = Pcs::<EF>::new(config, Radix2DFTSmallBatch::default(), mmcs);

    let commitment: MerkleCap<F, [F; 8]> = decode(folder, "commitment.postcard")?;
    let proof: PcsProof<F, EF, Mmcs> = decode(folder, "proof.postcard")?;
    let stated = list(&statement["commitment"], "commitment")?
        .iter()
        .map(|digest| base_elements(digest, "commitment"))
        .collect::<Result<Vec<_>, _>>()?;
    if !commitment
        .roots()
        .iter()
        .map(<[F; 8]>::as_slice)
        .eq(&stated)
    {
        return Err("commitment.postcard is not the commitment of statement.json".into());
    }
    let point = list(&statement["point"], "point")?
        .iter()
        .map(|x| extension_element::<EF>(x, "point"))
        .collect::<Result<Vec<_>, _>>()?;
    if point.len() != n {
        return Err(format!("the point has {} coordinates", point.len()));
    }
    let value = extension_element::<EF>(&statement["value"], "value")?;

    let mut challenger = Challenger::new(permutation);
    for element in base_elements(&statement["transcript_preamble"], "transcript_preamble")? {
        challenger.observe(element);
    }
    verifier.observe_commitment(&commitment, &mut challenger);
    for &coordinate in &point {
        challenger.observe_algebra_element(coordinate);
    }
    let batch = core::iter::once(OpeningBatch::new(vec![0], Vec::new())).collect();
    let protocol = OpeningProtocol::new(vec![TableSpec::new(TableShape::new(n, 1), batch)]);
    let points = [Point::new(point)];
    let opened = verifier
        .verify_at(&commitment, &proof, &protocol, &points, &mut challenger)
        .map_err(|e| e.to_string())?;
    match opened.first().map(OpeningBatch::current) {
        Some([found]) if *found == value => Ok(()),
        _ => Err("the proof is about another value".into()),
    }
}

fn parameters(from: &Value) -> Result<ProtocolParameters, String> {
    let folding = &from["folding_factor"];
    Ok(ProtocolParameters {
        starting_log_inv_rate: number(from, "starting_log_inv_rate")?,
        round_log_inv_rates: numbers(&from["round_log_inv_rates"], "round_log_inv_rates")?,
        folding_factor: match folding.get("PerRound") {
            Some(folds) => FoldingFactor::PerRound(numbers(folds, "folding_factor")?),
            None => FoldingFactor::Constant(number(folding, "Constant")?),
        },
        soundness_type: match from["soundness_type"].as_str() {
            Some("UniqueDecoding") => SecurityAssumption::UniqueDecoding,
            Some("JohnsonBound") => SecurityAssumption::JohnsonBound,
            Some("CapacityBound") => SecurityAssumption::CapacityBound,
            _ => return Err(format!("soundness_type {}", from["soundness_type"])),
        },
        security_level: number(from, "security_level")?,
        pow_bits: number(from, "pow_bits")?,
    })
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))
}

fn decode<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, String> {
    let data = read(folder, name)?;
    match postcard::take_from_bytes(&data) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(format!("{name}: {} bytes after the end", rest.len())),
        Err(e) => Err(format!("{name}: {e}")),
    }
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("{what} is no list"))
}

fn number(from: &Value, key: &str) -> Result<usize, String> {
    let value = from[key].as_u64().and_then(|x| usize::try_from(x).ok());
    value.ok_or_else(|| format!("{key} is no number"))
}

fn numbers(value: &Value, what: &str) -> Result<Vec<usize>, String> {
    let entry = |x: &Value| x.as_u64().and_then(|x| usize::try_from(x).ok());
    list(value, what)?
        .iter()
        .map(|x| entry(x).ok_or_else(|| format!("{what} has {x}")))
        .collect()
}

/// Canonical numbers.
fn base_elements(value: &Value, what: &str) -> Result<Vec<F>, String> {
    let entry = |x: &Value| {
        let word = u32::try_from(x.as_u64()?).ok()?;
        (word < F::ORDER_U32).then(|| F::new(word))
    };
    list(value, what)?
        .iter()
        .map(|x| entry(x).ok_or_else(|| format!("{what} has {x}")))
        .collect()
}

fn extension_element<EF: BasedVectorSpace<F>>(value: &Value, what: &str) -> Result<EF, String> {
    let coordinates = base_elements(value, what)?;
    EF::from_basis_coefficients_slice(&coordinates)
        .ok_or_else(|| format!("{what} has {} coordinates", coordinates.len()))
}

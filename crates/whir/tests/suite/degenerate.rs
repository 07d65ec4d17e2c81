//! Polynomials, points and sizes at the edge, on every CPU variant: p3's bytes all the same.

use crate::common::files::{elements, evaluate};
use crate::common::{agree, files, on_threads, params, point, single};
use fieldspar_device::{CpuVariant, variants_to_test};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::params::{ExtensionDegree, Folds, Params};
use fieldspar_whir::proof::ProofFile;
use p3_field::PrimeCharacteristicRing;
use p3_matrix::dense::RowMajorMatrix;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver, Table};
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption};

/// Proves on every variant, in both degrees, through the file, and in both orders.
fn everywhere(values: &[F], fold: usize, at: impl Fn(usize) -> Vec<F>) {
    for variant in variants_to_test().unwrap() {
        in_degree::<EF4>(variant, ExtensionDegree::Four, values, fold, &at);
        in_degree::<EF5>(variant, ExtensionDegree::Five, values, fold, &at);
    }
}

fn in_degree<EF: Extension>(
    variant: CpuVariant,
    degree: ExtensionDegree,
    values: &[F],
    fold: usize,
    at: &impl Fn(usize) -> Vec<F>,
) where
    CpuEngine: Engine<EF>,
{
    let own = values.len().next_power_of_two().ilog2() as usize;
    let given: Vec<EF> = at(own).into_iter().map(EF::from).collect();
    let file = through_file(variant, degree, values, fold, &given);
    assert!(file.statement.value == evaluate(values, &given), "value");
    // the padded point, as a verifier must build it
    let (padded, leading) = (&file.statement.point, own.max(fold) - own);
    assert!(padded[..leading].iter().all(|&z| z == EF::ZERO) && padded[leading..] == given);

    let mut table = values.to_vec();
    table.resize(1 << own, F::ZERO);
    let table = [Table::new(RowMajorMatrix::new_row(table))];
    let n = own.max(fold);
    let params = params(50, fold, SecurityAssumption::JohnsonBound);
    let points = [Point::new(padded.clone())];
    for points in [None, Some(&points[..])] {
        let engine = || CpuEngine::new(variant).unwrap();
        let protocol = single(own, fold);
        agree::<EF, SuffixProver<F, EF>, _>(engine(), &table, &protocol, &params, 0, points);
        agree::<EF, PrefixProver<F, EF>, _>(engine(), &table, &protocol, &params, 1, points);
    }
    assert_eq!(file.statement.n, n);
}

fn through_file<EF: Extension>(
    variant: CpuVariant,
    degree: ExtensionDegree,
    values: &[F],
    fold: usize,
    given: &[EF],
) -> ProofFile<EF>
where
    CpuEngine: Engine<EF>,
{
    let params = Params {
        security_level: 50,
        pow_bits: 8,
        folds: Folds::Constant(fold),
        degree,
        ..Params::default()
    };
    // p3 alone needs the padded point
    let mut padded = EF::zero_vec(fold.saturating_sub(given.len()));
    padded.extend(given);
    let engine = CpuEngine::new(variant).unwrap();
    let input = || files::input(values.to_vec());
    let file = fieldspar_whir::statement::prove(&engine, &params, input(), |_| given.to_vec());
    let file = file.unwrap().file;
    fieldspar_whir::statement::verify(&file).unwrap();
    let rival = files::rival(&params, input(), &padded);
    assert!(file.encode().unwrap() == rival.encode().unwrap(), "bytes");
    file
}

fn some(n: usize) -> Vec<F> {
    (0..n as u64).map(|i| F::from_u64(12_345 + i * i)).collect()
}

#[test]
fn zero_polynomial() {
    everywhere(&F::zero_vec(64), 2, some);
    everywhere(&F::zero_vec(1 << 9), 4, some);
}

#[test]
fn constant_polynomial() {
    for value in [F::ONE, F::NEG_ONE, F::from_u64(77)] {
        everywhere(&vec![value; 128], 3, some);
    }
}

#[test]
fn one_element_that_is_not_zero() {
    for at in [0, 1, 100, 255] {
        let mut values = F::zero_vec(256);
        values[at] = F::ONE;
        everywhere(&values, 3, some);
    }
}

/// One element is n = 0; p3 sees it padded to the first fold.
#[test]
fn fewer_variables_than_the_fold() {
    for n in 0..4 {
        everywhere(&elements(1 << n), 4, some);
    }
    everywhere(&elements(1), 1, some);
    everywhere(&elements(1), 8, some);
}

#[test]
fn one_variable() {
    everywhere(&elements(2), 1, some);
    everywhere(&elements(2), 2, some);
}

#[test]
fn lengths_that_are_no_power_of_two() {
    for len in [3, 5, 63, 65, 100] {
        everywhere(&elements(len), 3, some);
    }
}

#[test]
fn every_vertex_of_a_small_cube() {
    let (n, fold) = (4, 2);
    let values = elements(1 << n);
    for vertex in 0..1 << n {
        let corner = |n| (0..n).map(move |i| F::from_bool((vertex >> (n - 1 - i)) & 1 == 1));
        everywhere(&values, fold, |n| corner(n).collect());
        // coordinate 0 is the most significant bit: the value is that element
        let at: Vec<EF5> = corner(n).map(EF5::from).collect();
        assert!(evaluate(&values, &at) == EF5::from(values[vertex]));
    }
}

/// Half on the cube, half off it, at either end.
#[test]
fn points_partly_on_the_cube() {
    for pattern in 0..1 << 5_u32 {
        everywhere(&elements(32), 2, |n| {
            let off = some(n);
            (0..n)
                .map(|i| match (pattern >> i) & 1 {
                    1 => F::from_bool(i % 2 == 0),
                    _ => off[i],
                })
                .collect()
        });
    }
}

/// n - fold < 4: fewer rows than a register of 16 lanes.
#[test]
fn residual_narrower_than_a_register() {
    for residual in 0..5 {
        for fold in [1, 2, 3, 5, 7] {
            everywhere(&elements(1 << (fold + residual)), fold, some);
        }
    }
}

#[test]
fn fold_takes_every_variable() {
    for n in 1..=9 {
        everywhere(&elements(1 << n), n, some);
    }
}

/// A message of a single row, at every rate: the first codeword has 2^rate leaves.
fn single_row<EF: Extension, L: Layout<F, EF>>(variant: CpuVariant)
where
    CpuEngine: Engine<EF>,
{
    for n in [1, 2, 5] {
        for rate in 1..=4 {
            for cap in 0..=rate {
                let params = ProtocolParameters {
                    starting_log_inv_rate: rate,
                    folding_factor: FoldingFactor::Constant(n),
                    ..params(40, n, SecurityAssumption::CapacityBound)
                };
                let table = [Table::new(RowMajorMatrix::new_row(elements(1 << n)))];
                let engine = CpuEngine::new(variant).unwrap();
                let points = [point(n, 7)];
                agree::<EF, L, _>(engine, &table, &single(n, n), &params, cap, Some(&points));
            }
        }
    }
}

#[test]
fn codeword_of_a_single_row_of_the_message() {
    for variant in variants_to_test().unwrap() {
        single_row::<EF4, SuffixProver<F, EF4>>(variant);
        single_row::<EF4, PrefixProver<F, EF4>>(variant);
        single_row::<EF5, SuffixProver<F, EF5>>(variant);
        single_row::<EF5, PrefixProver<F, EF5>>(variant);
    }
}

#[test]
fn more_threads_than_rows() {
    on_threads(16, || {
        for n in 1..6 {
            everywhere(&elements(1 << n), 1, some);
        }
    });
}

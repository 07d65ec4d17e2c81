//! Codewords against Plonky3's transform of the padded matrix.

use p3_dft::{Radix2DFTSmallBatch, TwoAdicSubgroupDft};
use p3_matrix::Matrix;
use p3_matrix::dense::RowMajorMatrix;

use super::super::isa::tests::variants;
use super::*;

fn message(len: usize) -> Vec<F> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64 ^ len as u64;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            F::from_u64(x >> 3)
        })
        .collect()
}

fn expected(message: &[F], width: usize, log_inv_rate: usize) -> Vec<F> {
    let mut padded = message.to_vec();
    padded.resize(message.len() << log_inv_rate, F::ZERO);
    Radix2DFTSmallBatch::default()
        .dft_batch(RowMajorMatrix::new(padded, width))
        .to_row_major_matrix()
        .values
}

fn check(rows: usize, width: usize, log_inv_rate: usize, variants: &[Variant]) {
    let rows_first = message(rows * width);
    let columns_first = RowMajorMatrix::new(rows_first.clone(), width)
        .transpose()
        .values;
    let want = expected(&rows_first, width, log_inv_rate);
    for &variant in variants {
        for (message, order) in [
            (&rows_first, MessageOrder::RowMajor),
            (&columns_first, MessageOrder::ColumnMajor),
        ] {
            let got = encode(variant, message, width, order, log_inv_rate);
            assert!(
                got == want,
                "{variant:?} rows {rows} width {width} {order:?} rate {log_inv_rate}"
            );
        }
    }
}

fn with_threads(threads: usize, f: impl FnOnce() + Send) {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(f);
}

#[test]
fn codewords_equal_plonky3_at_every_shape() {
    for threads in [1, 2, 7] {
        with_threads(threads, || {
            for log_rows in 0..=10 {
                for width in [1, 2, 4, 8, 16, 64] {
                    for log_inv_rate in 0..=4 {
                        check(1 << log_rows, width, log_inv_rate, &variants());
                    }
                }
            }
        });
    }
}

#[test]
fn large_codewords_equal_plonky3() {
    check(1 << 18, 1, 1, &variants());
    check(1 << 17, 2, 2, &variants());
    check(1 << 15, 16, 1, &variants());
    check(1 << 10, 256, 3, &variants());
}

/// Heights at which the local buffer has no room for all columns of a column-major message.
#[test]
fn tall_codewords_equal_plonky3() {
    check(1 << 4, 16, 10, &variants());
    check(1 << 6, 8, 11, &variants());
    check(1 << 15, 4, 6, &variants());
    check(1 << 18, 2, 4, &variants());
    check(1 << 17, 16, 3, &variants());
}

#[test]
fn planes_are_encoded_independently() {
    let planes: Vec<Vec<F>> = (0..5)
        .map(|i| message(1 << 12)[i * 64..][..1 << 11].to_vec())
        .collect();
    let views: Vec<&[F]> = planes.iter().map(Vec::as_slice).collect();
    for variant in variants() {
        let got = encode_planes(variant, &views, 4, MessageOrder::RowMajor, 1);
        let want: Vec<Vec<F>> = planes.iter().map(|p| expected(p, 4, 1)).collect();
        assert_eq!(got, want);
    }
}

#[test]
fn a_used_buffer_is_overwritten() {
    let message = message(1 << 12);
    for variant in variants() {
        let mut codeword = vec![F::ONE; message.len() << 1];
        encode_into(
            variant,
            &message,
            4,
            MessageOrder::RowMajor,
            1,
            &mut codeword,
        );
        assert_eq!(codeword, expected(&message, 4, 1));
    }
}

#[test]
#[should_panic(expected = "powers of two")]
fn widths_that_are_no_power_of_two_are_refused() {
    let portable = Variant::new(CpuVariant::Portable).unwrap();
    encode(portable, &message(8), 3, MessageOrder::RowMajor, 1);
}

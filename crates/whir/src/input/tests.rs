#![allow(clippy::unwrap_used)]

use p3_field::{PrimeCharacteristicRing, PrimeField32};
use proptest::prelude::*;

use super::*;

const P: u32 = F::ORDER_U32;

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn values(input: &Input) -> Vec<u32> {
    input
        .elements
        .iter()
        .map(PrimeField32::as_canonical_u32)
        .collect()
}

/// An `.npy` file of this version with this header text and these bytes of data.
fn npy_with(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    if version == 1 {
        out.extend((header.len() as u16).to_le_bytes());
    } else {
        out.extend((header.len() as u32).to_le_bytes());
    }
    out.extend(header.as_bytes());
    out.extend(data);
    out
}

fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}          \n")
}

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_with(1, &header(descr, false, shape), data)
}

#[test]
fn u32_words() {
    let input = parse(&words(&[0, 1, P - 1]), Encoding::U32).unwrap();
    assert_eq!(values(&input), [0, 1, P - 1]);
    assert_eq!(input.true_len, 3);
    let (elements, n) = input.padded(0).unwrap();
    assert_eq!(elements.len(), 4);
    assert_eq!((elements[3], n), (F::ZERO, 2));
}

#[test]
fn empty_input_is_refused() {
    for encoding in [Encoding::U32, Encoding::Npy, Encoding::Bytes] {
        assert!(matches!(parse(&[], encoding), Err(InputError::Empty)));
    }
    assert!(matches!(
        parse(&npy("<u4", "(0,)", &[]), Encoding::Npy),
        Err(InputError::Empty)
    ));
}

/// Plonky3#1765, #1773: a value and itself plus p must not both be read.
#[test]
fn plonky3_1765_values_from_p_are_refused_with_their_index() {
    for bad in [P, P + 1, u32::MAX] {
        // The first of several, wherever the tasks meet it.
        for at in [0, 1, 40_000, 70_000, 99_999] {
            let mut data = vec![5; 100_000];
            data[at] = bad;
            data[99_999] = bad;
            match parse(&words(&data), Encoding::U32).unwrap_err() {
                InputError::NotCanonical { index, value, .. } => {
                    assert_eq!((index, value), (at, u64::from(bad)));
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn zip_bombs_are_not_opened_and_compression_is_named() {
    let error = parse(&[0x1f, 0x8b, 8], Encoding::U32).unwrap_err();
    assert!(error.to_string().contains("gzip"), "{error}");
    let error = parse(&[0x28, 0xb5, 0x2f, 0xfd, 1], Encoding::U32).unwrap_err();
    assert!(error.to_string().contains("zstd"), "{error}");
    let error = parse(&[0x1f, 0x8b, 8, 0xff], Encoding::U32).unwrap_err();
    assert!(matches!(error, InputError::NotCanonical { index: 0, .. }));
    assert!(error.to_string().contains("gzip"), "{error}");
    let error = parse(&[1, 2, 3], Encoding::U32).unwrap_err();
    assert!(
        matches!(error, InputError::Length { have: 3, hint: "" }),
        "{error}"
    );
    // Bytes that happen to be elements are elements.
    assert!(parse(&[0x1f, 0x8b, 8, 0], Encoding::U32).is_ok());
}

#[test]
fn bytes_three_to_an_element() {
    let input = parse(&[1, 2, 3, 4], Encoding::Bytes).unwrap();
    assert_eq!(values(&input), [0x03_02_01, 4]);
    assert_eq!(input.true_len, 4);
    assert_eq!(Encoding::Bytes.element_count(4), 2);
    // What differs only in trailing zeros differs in the true length.
    let longer = parse(&[1, 2, 3, 4, 0], Encoding::Bytes).unwrap();
    assert_eq!(longer.elements, input.elements);
    assert_ne!(longer.true_len, input.true_len);
}

#[test]
fn npy_dtypes_and_shapes() {
    let four = words(&[1, 2, 3, 4]);
    for shape in ["(4,)", "(2, 2)", "(1,4,1)", "(2,2,)"] {
        let input = parse(&npy("<u4", shape, &four), Encoding::Npy).unwrap();
        assert_eq!(values(&input), [1, 2, 3, 4]);
    }
    assert_eq!(
        parse(&npy("<u4", "()", &four[..4]), Encoding::Npy)
            .unwrap()
            .true_len,
        1
    );
    let eight: Vec<u8> = [7_u64, u64::from(P) - 1]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    for version in 1..=3 {
        let file = npy_with(version, &header("<u8", false, "(2,)"), &eight);
        assert_eq!(values(&parse(&file, Encoding::Npy).unwrap()), [7, P - 1]);
    }
    let fortran = npy_with(1, &header("<u4", true, "(4,)"), &four);
    assert_eq!(
        values(&parse(&fortran, Encoding::Npy).unwrap()),
        [1, 2, 3, 4]
    );
    let fortran = npy_with(1, &header("<u4", true, "(2, 2)"), &four);
    assert!(matches!(
        parse(&fortran, Encoding::Npy),
        Err(InputError::Npy { .. })
    ));
    for dtype in [">u4", ">u8", "<i4", "|u1", "<u2", "<f4", "|O", "=u4"] {
        match parse(&npy(dtype, "(4,)", &four), Encoding::Npy).unwrap_err() {
            InputError::Dtype { found } => assert_eq!(found, dtype),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn npy_values_from_p_are_refused() {
    let four = npy("<u4", "(3,)", &words(&[1, P, P]));
    assert!(matches!(
        parse(&four, Encoding::Npy),
        Err(InputError::NotCanonical { index: 1, value, .. }) if value == u64::from(P)
    ));
    for bad in [u64::from(P), 1 << 32, (1 << 32) + 1, u64::MAX] {
        let data: Vec<u8> = [1, bad]
            .iter()
            .flat_map(|v: &u64| v.to_le_bytes())
            .collect();
        assert!(matches!(
            parse(&npy("<u8", "(2,)", &data), Encoding::Npy),
            Err(InputError::NotCanonical { index: 1, value, .. }) if value == bad
        ));
    }
}

#[test]
fn hostile_npy_headers() {
    let data = words(&[1, 2]);
    let good = header("<u4", false, "(2,)");
    assert!(parse(&npy_with(1, &good, &data), Encoding::Npy).is_ok());
    let shapes = [
        "(3,)",
        "(1,)",
        "(2",
        "(2)",
        "2",
        "(-2,)",
        "(2.0,)",
        "(2,,)",
        "(,2)",
        "(2L,)",
        "(0x2,)",
        "(18446744073709551615,)",
        "(18446744073709551616,)",
        "(4294967296, 4294967296)",
        "(4294967296, 4294967296, 0)",
        "(1152921504606846976,)",
        "(2,) junk",
        "(1 2,)",
        "[2]",
    ];
    for shape in shapes {
        let file = npy_with(1, &header("<u4", false, shape), &data);
        assert!(
            matches!(parse(&file, Encoding::Npy), Err(InputError::Npy { .. })),
            "{shape}"
        );
    }
    let many = format!("({})", "1,".repeat(65));
    assert!(parse(&npy("<u4", &many, &data[..4]), Encoding::Npy).is_err());
    let headers = [
        "",
        "{",
        "{}",
        "{'descr': '<u4', 'fortran_order': False}",
        "{'descr': '<u4', 'descr': '<u4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
        "{'descr': '<u4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<u4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<u4\\x00', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<u4 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<u4",
        "{'descr' '<u4'}",
        "{descr: '<u4'}",
        "__import__('os')",
    ];
    for text in headers {
        let file = npy_with(1, text, &data);
        assert!(
            matches!(parse(&file, Encoding::Npy), Err(InputError::Npy { .. })),
            "{text}"
        );
    }
    for version in [0, 4, 255] {
        assert!(parse(&npy_with(version, &good, &data), Encoding::Npy).is_err());
    }
    let whole = npy_with(2, &good, &data);
    for len in 0..whole.len() {
        assert!(parse(&whole[..len], Encoding::Npy).is_err(), "{len}");
    }
    let mut trailing = whole.clone();
    trailing.push(0);
    assert!(matches!(
        parse(&trailing, Encoding::Npy),
        Err(InputError::Npy { .. })
    ));
    // A header length of 2^32 - 1 in a small file, and one beyond what NumPy loads.
    let mut bomb = whole;
    bomb[8..12].fill(0xff);
    assert!(matches!(
        parse(&bomb, Encoding::Npy),
        Err(InputError::Npy { offset: 8, .. })
    ));
    let long = format!("{}{}", good.trim_end(), " ".repeat(20_000));
    assert!(matches!(
        parse(&npy_with(2, &long, &data), Encoding::Npy),
        Err(InputError::Npy { offset: 8, .. })
    ));
}

#[test]
fn padding() {
    for (len, min, n) in [
        (1, 0, 0),
        (1, 4, 4),
        (2, 0, 1),
        (3, 0, 2),
        (4, 2, 2),
        (5, 2, 3),
    ] {
        let input = parse(&words(&vec![9; len]), Encoding::U32).unwrap();
        let (elements, got) = input.padded(min).unwrap();
        assert_eq!((elements.len(), got), (1 << n, n));
        assert!(elements[len..].iter().all(|x| *x == F::ZERO));
    }
    for min in [33, 63, 64, usize::MAX] {
        let input = parse(&words(&[1]), Encoding::U32).unwrap();
        assert!(matches!(
            input.padded(min),
            Err(InputError::TooLarge { .. })
        ));
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let error = read_file(Path::new("/no/such/file"), Encoding::U32).unwrap_err();
    assert!(error.to_string().contains("/no/such/file"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_never_panic(data in prop::collection::vec(any::<u8>(), 0..300), magic: bool) {
        let mut file = if magic { b"\x93NUMPY\x01\x00".to_vec() } else { Vec::new() };
        file.extend(&data);
        let _ = parse(&file, Encoding::Npy);
        let _ = parse(&data, Encoding::U32);
        prop_assert_eq!(parse(&data, Encoding::Bytes).is_ok(), !data.is_empty());
    }

    #[test]
    fn any_header_never_panics(text in "[{}()'\",: a-z0-9<>]{0,80}") {
        let _ = parse(&npy_with(1, &text, &[0; 8]), Encoding::Npy);
    }

    #[test]
    fn bytes_are_recovered(data in prop::collection::vec(any::<u8>(), 1..300)) {
        let input = parse(&data, Encoding::Bytes).unwrap();
        let mut out: Vec<u8> =
            values(&input).iter().flat_map(|v| v.to_le_bytes()[..3].to_vec()).collect();
        out.truncate(input.true_len as usize);
        prop_assert_eq!(out, data);
    }
}

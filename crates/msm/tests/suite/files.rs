//! Files: byte for byte those of arkworks, and strict.

use ark_ec::AffineRepr;
use ark_serialize::CanonicalSerialize;
use fieldspar_msm::{
    Engine, InSubgroup, OnCurve, PointProblem, Trusted,
    curve::{Affine, Bls12_377, Bls12_381, Bn254},
    files::{Encoding, FileError, Input, decode, encode, memory_per_point, msm_files},
};
use rand::RngExt;

use crate::support::*;

fn bytes_are_arkworks<C: Both<N>, const N: usize>() {
    let mut points = points::<C, N>(30, &mut rng(20));
    points.extend([Ark::<C, N>::zero(), Ark::<C, N>::generator(), -points[3]]);
    for point in points {
        let own = ours::<C, N>(&point);
        for encoding in [Encoding::Compressed, Encoding::Uncompressed] {
            let mut theirs = Vec::new();
            match encoding {
                Encoding::Compressed => point.serialize_compressed(&mut theirs).unwrap(),
                _ => point.serialize_uncompressed(&mut theirs).unwrap(),
            }
            let bytes = encode(&own, encoding);
            assert_eq!(bytes, theirs, "{encoding} {}", C::NAME);
            assert_eq!(bytes.len(), encoding.bytes::<N>());
        }
        for encoding in Encoding::ALL {
            assert_eq!(
                decode(&encode(&own, encoding), encoding),
                Ok(own),
                "{encoding}"
            );
        }
    }
}

#[test]
fn points_are_written_as_arkworks_writes_them() {
    bytes_are_arkworks::<Bls12_377, 6>();
    bytes_are_arkworks::<Bls12_381, 6>();
    bytes_are_arkworks::<Bn254, 4>();
}

/// Whatever is decoded is written as the same bytes: nothing has two forms.
fn nothing_has_two_forms<C: Both<N>, const N: usize>() {
    let rng = &mut rng(21);
    let points = points::<C, N>(8, rng);
    let mut accepted = 0;
    for encoding in Encoding::ALL {
        for point in points.iter().map(ours::<C, N>).chain([Affine::INFINITY]) {
            let bytes = encode(&point, encoding);
            for _ in 0..200 {
                let mut changed = bytes.clone();
                let (first, last) = (0, bytes.len() - 1);
                let place = [first, last, rng.random_range(0..bytes.len())][rng.random_range(0..3)];
                changed[place] ^= 1 << rng.random_range(0..8);
                if let Ok(point) = decode::<C, N>(&changed, encoding) {
                    assert_eq!(encode(&point, encoding), changed);
                    accepted += 1;
                }
            }
        }
    }
    assert!(accepted > 0);
    let all = vec![0xff; Encoding::Limbs.bytes::<N>()];
    assert_eq!(
        decode::<C, N>(&all, Encoding::Limbs),
        Err(PointProblem::NotCanonical)
    );
}

#[test]
fn a_point_has_one_form() {
    nothing_has_two_forms::<Bls12_377, 6>();
    nothing_has_two_forms::<Bls12_381, 6>();
    nothing_has_two_forms::<Bn254, 4>();
}

type Files = (Vec<u8>, Vec<u8>);

fn files(n: usize, encoding: Encoding) -> (Files, Affine<Bn254, 4>) {
    let rng = &mut rng(22);
    let points = points::<Bn254, 4>(n, rng);
    let scalars: Vec<_> = (0..n).map(|_| scalar::<Bn254, 4>(rng)).collect();
    let want = expected::<Bn254, 4>(&points, &scalars);
    let points = points
        .iter()
        .flat_map(|p| encode(&ours::<Bn254, 4>(p), encoding));
    let scalars = scalars.iter().flatten().flat_map(|l| l.to_le_bytes());
    ((points.collect(), scalars.collect()), want)
}

fn input(files: &Files, encoding: Encoding) -> Input<&[u8], &[u8]> {
    Input {
        points: &files.0,
        points_bytes: files.0.len() as u64,
        scalars: &files.1,
        scalars_bytes: files.1.len() as u64,
        encoding,
    }
}

fn engine() -> Engine {
    Engine::open(&"cpu".parse().unwrap()).unwrap()
}

/// Less memory, more ranges, the same point.
#[test]
fn ranges_give_the_same_sum() {
    let engine = engine();
    for encoding in Encoding::ALL {
        let (files, want) = files(5000, encoding);
        let mut calls = Vec::new();
        let threads = rayon::current_num_threads();
        let fixed = (4 << 20) + threads as u64 * 4096 * 64 * 4;
        for memory in [1 << 30, fixed + 1500 * memory_per_point::<4>(threads)] {
            let report = |done, all| calls.push((done, all));
            let sum =
                msm_files::<Bn254, 4, OnCurve>(&engine, input(&files, encoding), memory, report);
            let (sum, n, _) = sum.unwrap();
            assert_eq!((sum, n), (want, 5000));
        }
        assert_eq!(calls.last(), Some(&(5000, 5000)));
        assert!(calls.len() > 5, "{calls:?}");
    }
    let ((points, scalars), _) = files(2000, Encoding::Limbs);
    let both = (points, scalars);
    let little = input(&both, Encoding::Limbs);
    let error = msm_files::<Bn254, 4, Trusted>(&engine, little, 1 << 20, |_, _| ()).unwrap_err();
    assert!(matches!(error, FileError::Msm(_)), "{error}");
}

/// Each mistake is named, with its place.
#[test]
fn bad_files_are_refused() {
    let engine = engine();
    let run = |files: &Files, encoding| {
        msm_files::<Bn254, 4, InSubgroup>(&engine, input(files, encoding), 1 << 30, |_, _| ())
            .map(|(sum, ..)| sum)
    };
    let (good, want) = files(100, Encoding::Uncompressed);
    assert_eq!(run(&good, Encoding::Uncompressed).unwrap(), want);
    // bytes behind the last point, behind the last scalar, a scalar too few
    let mut bad = good.clone();
    bad.0.push(0);
    let error = run(&bad, Encoding::Uncompressed).unwrap_err();
    assert!(matches!(
        error,
        FileError::Length {
            what: "points",
            bytes: 6401,
            item: 64
        }
    ));
    let mut bad = good.clone();
    bad.1.push(0);
    let error = run(&bad, Encoding::Uncompressed).unwrap_err();
    assert!(matches!(
        error,
        FileError::Length {
            what: "scalars",
            ..
        }
    ));
    let mut bad = good.clone();
    bad.1.truncate(99 * 32);
    let error = run(&bad, Encoding::Uncompressed).unwrap_err();
    assert!(matches!(
        error,
        FileError::Count {
            points: 100,
            scalars: 99
        }
    ));
    // the order as a scalar
    let mut bad = good.clone();
    let order = <Bn254 as fieldspar_msm::curve::Curve<4>>::ORDER;
    for (to, limb) in bad.1[32 * 77..].chunks_mut(8).zip(order) {
        to.copy_from_slice(&limb.to_le_bytes());
    }
    let error = run(&bad, Encoding::Uncompressed).unwrap_err();
    assert!(
        matches!(
            error,
            FileError::Scalar {
                index: 77,
                offset: 2464,
                ..
            }
        ),
        "{error}"
    );
    // off the curve
    let mut bad = good.clone();
    bad.0[64 * 55] ^= 1;
    let error = run(&bad, Encoding::Uncompressed).unwrap_err();
    assert!(
        matches!(
            error,
            FileError::Point {
                index: 55,
                offset: 3520,
                ..
            }
        ),
        "{error}"
    );
    // no y for this x
    let (mut bad, _) = files(100, Encoding::Compressed);
    let mut x = 0u8;
    while decode::<Bn254, 4>(&bad.0[32 * 3..32 * 4], Encoding::Compressed).is_ok() {
        x += 1;
        bad.0[32 * 3] = x;
    }
    let error = run(&bad, Encoding::Compressed).unwrap_err();
    let problem = PointProblem::NotOnCurve;
    let fits = matches!(error, FileError::Point { index: 3, problem: p, .. } if p == problem);
    assert!(fits, "{error}");
    // shorter than it says
    let short = Input {
        points: &good.0[..64 * 50],
        ..input(&good, Encoding::Uncompressed)
    };
    let error = msm_files::<Bn254, 4, Trusted>(&engine, short, 1 << 30, |_, _| ()).unwrap_err();
    assert!(
        matches!(error, FileError::Io { what: "points", .. }),
        "{error}"
    );
}

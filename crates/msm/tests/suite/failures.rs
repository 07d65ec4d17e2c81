//! Kinds of failure that other implementations had in public, each as a test: what went wrong there,
//! by the name of the project and the number of its issue.

use ark_ec::{AffineRepr, CurveGroup};
use fieldspar_msm::{
    Bases, Engine, Error, InSubgroup, OnCurve, PointProblem, Scalars, Trusted,
    curve::{Affine, Bls12_377, Bls12_381, Bn254},
    field::Fp,
    msm, msm_many,
};
use rand::RngExt;

use crate::support::*;

/// Runs a check on all three curves.
macro_rules! on_each {
    ($check:ident($($argument:expr),*)) => {
        $check::<Bls12_377, 6>($($argument),*);
        $check::<Bls12_381, 6>($($argument),*);
        $check::<Bn254, 4>($($argument),*);
    };
}

/// blst 177: a single point gave a wrong sum; no point at all is infinity.
#[test]
fn none_and_one() {
    fn all<C: Both<N>, const N: usize>() {
        let g = Ark::<C, N>::generator();
        let top = |k| {
            let mut s = C::ORDER;
            s[0] -= k;
            s
        };
        check::<C, N>(&[], &[], &Affine::INFINITY, "none");
        for s in [[0; 4], [1, 0, 0, 0], [2, 0, 0, 0], top(1), top(2)] {
            check::<C, N>(&[g], &[s], &expected_slowly::<C, N>(&[g], &[s]), "one");
            let zero = Ark::<C, N>::zero();
            check::<C, N>(&[zero], &[s], &Affine::INFINITY, "infinity");
        }
    }
    on_each!(all());
}

/// revm 1432, bls12-381-tests 17: infinity among the points, with scalars that are not zero.
#[test]
fn infinity_among_the_points() {
    fn all<C: Both<N>, const N: usize>(n: usize, rng: &mut rand::rngs::StdRng) {
        let mut points = points::<C, N>(n, rng);
        for point in points.iter_mut().step_by(2) {
            *point = Ark::<C, N>::zero();
        }
        let scalars: Vec<_> = (0..n).map(|_| scalar::<C, N>(rng)).collect();
        let want = expected::<C, N>(&points, &scalars);
        check::<C, N>(&points, &scalars, &want, "half infinite");
        points.fill(Ark::<C, N>::zero());
        check::<C, N>(&points, &scalars, &Affine::INFINITY, "all infinite");
    }
    let rng = &mut rng(2);
    on_each!(all(5, rng));
    on_each!(all(300, rng));
}

/// halo2curves 153, 212, 224; jolt 322: a point that meets itself, its inverse, or infinity in a batch.
#[test]
fn equal_and_opposite_points_with_equal_scalars() {
    fn all<C: Both<N>, const N: usize>(n: usize, rng: &mut rand::rngs::StdRng) {
        let point = points::<C, N>(1, rng)[0];
        let s = scalar::<C, N>(rng);
        let same = vec![point; n];
        let want =
            expected_slowly::<C, N>(&[(point * Scalar::<C, N>::from(n as u64)).into()], &[s]);
        check::<C, N>(&same, &vec![s; n], &want, "n times the same");
        let mut opposite = same;
        for p in opposite.iter_mut().step_by(2) {
            *p = -*p;
        }
        let want = if n.is_multiple_of(2) {
            Affine::INFINITY
        } else {
            expected_slowly::<C, N>(&[-point], &[s])
        };
        check::<C, N>(&opposite, &vec![s; n], &want, "pairs that cancel");
    }
    let rng = &mut rng(3);
    for n in [2, 3, 64, 257, 8192] {
        on_each!(all(n, rng));
    }
}

/// arkworks algebra 656: scalars of the order or more gave a wrong sum. Here they are refused.
/// aztec-packages 23176: r, r + 1, 2^254 - 1 and r - 1 as bounds.
#[test]
fn scalars_around_the_order() {
    fn all<C: Both<N>, const N: usize>() {
        let bases = Bases::<C, N>::new(vec![Affine::generator(); 3]).unwrap();
        let engine = Engine::open(&"cpu".parse().unwrap()).unwrap();
        let mut more = C::ORDER;
        more[0] += 1;
        for bad in [C::ORDER, more, [u64::MAX; 4]] {
            let scalars = [[1, 0, 0, 0], bad, bad];
            let error = msm(&engine, &bases, scalars.as_slice()).unwrap_err();
            assert!(matches!(error, Error::Scalar { index: 1, .. }), "{error}");
        }
        let mut less = C::ORDER;
        less[0] -= 1;
        let sum = msm(&engine, &bases, [less; 3].as_slice()).unwrap();
        let three = msm(&engine, &bases, [[1, 0, 0, 0]; 3].as_slice()).unwrap();
        assert_eq!(sum, three.neg());
    }
    on_each!(all());
}

/// arkworks algebra 319, poly-commit 69: vectors of different lengths were cut in silence.
#[test]
fn lengths_that_differ_are_refused() {
    let engine = Engine::open(&"cpu".parse().unwrap()).unwrap();
    let bases = Bases::<Bn254, 4>::new(vec![Affine::generator(); 3]).unwrap();
    for n in [0, 2, 4] {
        let error = msm(&engine, &bases, vec![1u64; n].as_slice()).unwrap_err();
        let fits = matches!(error, Error::Length { points: 3, scalars, .. } if scalars == n);
        assert!(fits, "{error}");
    }
    let (three, two) = ([1u64; 3], [1u8; 2]);
    let vectors = [Scalars::U64(&three), Scalars::U8(&two)];
    let error = msm_many(&engine, &bases, &vectors).unwrap_err();
    assert!(matches!(error, Error::Length { vector: 1, .. }), "{error}");
}

/// sppark 1 and 7, icicle 231: sizes that are no multiple of anything; constantine 390, UltrafastSecp
/// 401: sizes from which on another method runs.
#[test]
fn every_size_up_to_three_hundred() {
    fn all<C: Both<N>, const N: usize>(step: usize, rng: &mut rand::rngs::StdRng) {
        let points = points::<C, N>(300, rng);
        let scalars: Vec<_> = (0..300).map(|_| scalar::<C, N>(rng)).collect();
        for n in (0..300).step_by(step) {
            let want = expected::<C, N>(&points[..n], &scalars[..n]);
            check::<C, N>(&points[..n], &scalars[..n], &want, &format!("n = {n}"));
        }
    }
    let rng = &mut rng(4);
    all::<Bls12_377, 6>(1, rng);
    all::<Bls12_381, 6>(7, rng);
    all::<Bn254, 4>(3, rng);
}

/// zkcrypto group 83: the last carry of a signed recoding was dropped; and a top window that holds
/// nothing but that carry overflowed a buffer.
#[test]
fn carries_out_of_every_window() {
    fn all<C: Both<N>, const N: usize>(n: usize, rng: &mut rand::rngs::StdRng) {
        let points = points::<C, N>(n, rng);
        for bits in [8, 12, 13, 16, 24, 48, 60, 64, 65, 128, 180, 192, 240, 252] {
            let mut ones = [0u64; 4];
            for bit in 0..bits {
                ones[bit / 64] |= 1 << (bit % 64);
            }
            let scalars = vec![ones; n];
            let want = expected::<C, N>(&points, &scalars);
            check::<C, N>(&points, &scalars, &want, &format!("{bits} ones"));
        }
    }
    let rng = &mut rng(5);
    on_each!(all(1, rng));
    on_each!(all(100, rng));
    all::<Bls12_377, 6>(3000, rng);
}

/// icicle 504: the same MSM again gave another point. Threads must not matter either.
#[test]
fn repeats_and_threads_give_the_same_point() {
    let rng = &mut rng(6);
    let n = 5000;
    let own: Vec<_> = points::<Bn254, 4>(n, rng)
        .iter()
        .map(ours::<Bn254, 4>)
        .collect();
    let scalars: Vec<_> = (0..n).map(|_| scalar::<Bn254, 4>(rng)).collect();
    let bases = Bases::<Bn254, 4>::new(own).unwrap();
    for engine in Engine::available() {
        let want = msm(&engine, &bases, &scalars).unwrap();
        for threads in [1, 2, 7, 16, 64] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let sum = pool.unwrap().install(|| msm(&engine, &bases, &scalars));
            assert_eq!(sum.unwrap(), want, "{threads} threads on {engine}");
        }
    }
}

/// submission-msm-gpu 1, iciclegnark 5, icicle 340: distributions of scalars that are not uniform.
#[test]
fn skewed_scalars() {
    let rng = &mut rng(7);
    let n = 20_000;
    let points = points::<Bls12_377, 6>(n, rng);
    let own: Vec<_> = points.iter().map(ours::<Bls12_377, 6>).collect();
    let one = scalar::<Bls12_377, 6>(rng);
    let mut vectors: Vec<(&str, Vec<[u64; 4]>)> = vec![
        ("all the same", vec![one; n]),
        ("zero", vec![[0; 4]; n]),
        (
            "zero and one",
            (0..n).map(|_| [rng.random_range(0..2), 0, 0, 0]).collect(),
        ),
        ("64 bits", (0..n).map(|_| [rng.random(), 0, 0, 0]).collect()),
        (
            "top bits only",
            (0..n)
                .map(|_| [0, 0, 0, rng.random_range(0..1 << 60)])
                .collect(),
        ),
        (
            "one bucket a window",
            (0..n).map(|_| [0x1111_1111_1111_1111; 4]).collect(),
        ),
    ];
    vectors.push(("a few large among small", vectors[2].1.clone()));
    for place in [0, 17, n - 1] {
        vectors.last_mut().unwrap().1[place] = scalar::<Bls12_377, 6>(rng);
    }
    for (what, scalars) in &vectors {
        let want = expected::<Bls12_377, 6>(&points, scalars);
        check::<Bls12_377, 6>(&points, scalars, &want, what);
    }
    // and all of them in one call
    let wanted: Vec<_> = vectors
        .iter()
        .map(|(_, s)| expected::<Bls12_377, 6>(&points, s))
        .collect();
    let scalars: Vec<_> = vectors.iter().map(|(_, s)| Scalars::Wide(s)).collect();
    let bases = Bases::<Bls12_377, 6, Trusted>::new(own).unwrap();
    for engine in Engine::available() {
        assert_eq!(
            msm_many(&engine, &bases, &scalars).unwrap(),
            wanted,
            "{engine}"
        );
    }
}

/// constantine 460: narrow scalars where wide ones were meant. Ours are of a type, and equal.
#[test]
fn narrow_scalars_are_the_same_numbers() {
    fn all<C: Both<N>, const N: usize>(n: usize, rng: &mut rand::rngs::StdRng) {
        let points: Vec<_> = points::<C, N>(n, rng).iter().map(ours::<C, N>).collect();
        let bits: Vec<bool> = (0..n).map(|_| rng.random()).collect();
        let bytes: Vec<u8> = (0..n).map(|_| rng.random()).collect();
        let u16s: Vec<u16> = (0..n).map(|_| rng.random()).collect();
        let u32s: Vec<u32> = (0..n).map(|_| rng.random()).collect();
        let mut u64s: Vec<u64> = (0..n).map(|_| rng.random()).collect();
        u64s[0] = u64::MAX;
        let wide = |v: u64| [v, 0, 0, 0];
        for engine in Engine::available() {
            let same = |narrow: Scalars<'_>, wide: Vec<[u64; 4]>| {
                let want = sum(&engine, &points, wide.as_slice());
                assert_eq!(sum(&engine, &points, narrow), want, "{narrow:?}");
            };
            same(
                (&bits).into(),
                bits.iter().map(|&v| wide(v.into())).collect(),
            );
            same(
                (&bytes).into(),
                bytes.iter().map(|&v| wide(v.into())).collect(),
            );
            same(
                (&u16s).into(),
                u16s.iter().map(|&v| wide(v.into())).collect(),
            );
            same(
                (&u32s).into(),
                u32s.iter().map(|&v| wide(v.into())).collect(),
            );
            same((&u64s).into(), u64s.iter().map(|&v| wide(v)).collect());
        }
    }
    let rng = &mut rng(8);
    on_each!(all(7, rng));
    on_each!(all(500, rng));
}

/// EIP-2537: points of the curve outside the subgroup. Their multiples are right, and a check that asks
/// for the subgroup finds them.
#[test]
fn points_outside_the_subgroup() {
    fn all<C: Both<N>, const N: usize>(rng: &mut rand::rngs::StdRng) {
        let engine = Engine::open(&"cpu".parse().unwrap()).unwrap();
        let mut outside = Vec::new();
        for x in 0..40 {
            outside.extend(Affine::<C, N>::from_x(Fp::from_u64(x), false));
        }
        assert!(outside.len() > 10);
        let bases = Bases::<C, N, OnCurve>::new(outside.clone()).unwrap();
        let scalars: Vec<_> = outside.iter().map(|_| scalar::<C, N>(rng)).collect();
        let want = fieldspar_msm::reference::msm(&outside, &scalars);
        assert_eq!(msm(&engine, &bases, &scalars).unwrap(), want);
        let mut mixed = vec![Affine::generator(), Affine::INFINITY];
        assert!(Bases::<C, N, InSubgroup>::new(mixed.clone()).is_ok());
        mixed.extend(&outside);
        let error = Bases::<C, N, InSubgroup>::new(mixed).unwrap_err();
        let problem = PointProblem::NotInSubgroup;
        let fits = matches!(error, Error::Point { index: 2, problem: p, .. } if p == problem);
        assert!(fits, "{error}");
    }
    let rng = &mut rng(9);
    all::<Bls12_377, 6>(rng);
    all::<Bls12_381, 6>(rng);
    // BN254 G1 has no such points.
    let own: Vec<_> = (1..40)
        .filter_map(|x| Affine::<Bn254, 4>::from_x(Fp::from_u64(x), true))
        .collect();
    assert!(Bases::<Bn254, 4, InSubgroup>::new(own).is_ok());
}

/// dusk bls12_381 183 and its like: coordinates that are no point.
#[test]
fn points_off_the_curve() {
    let mut points = vec![Affine::<Bls12_381, 6>::generator(); 100];
    points[71].y = points[71].y.add(&Fp::ONE);
    assert!(Bases::<_, 6, Trusted>::new(points.clone()).is_ok());
    let error = Bases::<_, 6, OnCurve>::new(points).unwrap_err();
    let problem = PointProblem::NotOnCurve;
    let fits = matches!(error, Error::Point { index: 71, problem: p, .. } if p == problem);
    assert!(fits, "{error}");
    assert_eq!(Fp::<Bls12_381, 6>::from_montgomery([u64::MAX; 6]), None);
}

/// The constants are those of arkworks.
#[test]
fn constants() {
    use ark_ff::PrimeField;
    fn all<C: Both<N>, const N: usize>() {
        let g = ours::<C, N>(&Ark::<C, N>::generator());
        assert_eq!(g, Affine::generator());
        assert!(g.is_on_curve());
        assert_eq!(C::ORDER, Scalar::<C, N>::MODULUS.0);
        assert_eq!(g.x.montgomery(), Affine::<C, N>::generator().x.montgomery());
        let double =
            ours::<C, N>(&(Ark::<C, N>::generator() + Ark::<C, N>::generator()).into_affine());
        assert_eq!(double, fieldspar_msm::reference::add(&g, &g));
    }
    on_each!(all());
}

/// A variant that detection misses would be left out of every test in silence.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn detection_finds_what_the_system_lists() {
    use fieldspar_msm::Variant;
    let listed = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let line = listed.lines().find(|l| l.starts_with("flags")).unwrap();
    let has = |wanted: &[&str]| {
        wanted
            .iter()
            .all(|w| line.split_whitespace().any(|f| f == *w))
    };
    assert!(Variant::Portable.is_available());
    assert_eq!(Variant::Adx.is_available(), has(&["bmi2", "adx"]));
    if has(&["bmi2", "adx", "avx512f", "avx512ifma", "avx512_vbmi2"]) {
        assert!(Variant::Avx512.is_available());
    }
    println!("variants: {:?}", Engine::available());
}

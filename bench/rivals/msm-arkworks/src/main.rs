//! `rival-msm-arkworks CURVE POINTS SCALARS THREADS`: reads both files (points as x and y, plain values
//! in little-endian limbs; scalars of 32 bytes), says so in a line, and answers each line `run K` with
//! the milliseconds that each of K sums took and the point, compressed.
//!
//! The number of threads is rayon's, from the environment.

use std::{
    env, fs,
    io::{self, BufRead, Write},
    time::Instant,
};

use ark_ec::{CurveGroup, VariableBaseMSM, short_weierstrass as sw};
use ark_ff::PrimeField;
use ark_serialize::CanonicalSerialize;

fn serve<C: sw::SWCurveConfig<BaseField: PrimeField>>(points: &[u8], scalars: &[u8]) {
    let size = C::BaseField::MODULUS_BIT_SIZE.div_ceil(64) as usize * 8;
    let field = |bytes: &[u8]| C::BaseField::from_le_bytes_mod_order(bytes);
    let points: Vec<sw::Affine<C>> = points
        .chunks_exact(2 * size)
        .map(|p| match p.iter().all(|&b| b == 0) {
            true => sw::Affine::default(),
            false => sw::Affine::new_unchecked(field(&p[..size]), field(&p[size..])),
        })
        .collect();
    let scalars: Vec<C::ScalarField> = scalars
        .chunks_exact(32)
        .map(C::ScalarField::from_le_bytes_mod_order)
        .collect();
    assert_eq!(points.len(), scalars.len());
    say(r#"{"version":"ark-ec 0.6.0"}"#);
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line");
        let times: u32 = line.trim_start_matches("run ").parse().expect("run K");
        let start = Instant::now();
        let mut sum = sw::Affine::default();
        for _ in 0..times {
            let all = sw::Projective::<C>::msm(&points, &scalars);
            sum = all.expect("equal lengths").into_affine();
        }
        let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(times);
        let mut bytes = Vec::new();
        sum.serialize_compressed(&mut bytes).expect("into memory");
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        say(&format!(r#"{{"ms":{ms},"result":"{hex}"}}"#));
    }
}

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().expect("stdout");
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let points = fs::read(&arguments[2]).expect("points");
    let scalars = fs::read(&arguments[3]).expect("scalars");
    match arguments[1].as_str() {
        "bls12-377" => serve::<ark_bls12_377::g1::Config>(&points, &scalars),
        "bls12-381" => serve::<ark_bls12_381::g1::Config>(&points, &scalars),
        "bn254" => serve::<ark_bn254::g1::Config>(&points, &scalars),
        other => panic!("no curve {other}"),
    }
}

//! `rival-msm-blst CURVE POINTS SCALARS THREADS`: reads both files (points as x and y, plain values in
//! little-endian limbs; scalars of 32 bytes), says so in a line, and answers each line `run K` with the
//! milliseconds that each of K sums took and the point, compressed.
//!
//! On one thread it is blst's single-threaded function, which takes any number of points; on more, its
//! tiles over its own pool, which has a thread for every processor.

use std::{
    env, fs,
    io::{self, BufRead, Write},
    time::Instant,
};

use blst::{
    MultiPoint, blst_fp, blst_fp_from_lendian, blst_p1, blst_p1_affine, blst_p1_compress,
    blst_p1s_mult_pippenger, blst_p1s_mult_pippenger_scratch_sizeof,
};

/// The order has this many bits; with one more, the function of the library is known to crash.
const BITS: usize = 255;

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().expect("stdout");
}

fn field(bytes: &[u8]) -> blst_fp {
    assert_eq!(bytes.len(), 48);
    let mut value = blst_fp::default();
    // SAFETY: reads 48 bytes, writes one element.
    unsafe { blst_fp_from_lendian(&mut value, bytes.as_ptr()) };
    value
}

fn single(points: &[blst_p1_affine], scalars: &[u8], scratch: &mut [u64]) -> blst_p1 {
    // A null pointer behind the first ends the list of pointers: the rest lies behind the first.
    let point_list = [points.as_ptr(), core::ptr::null()];
    let scalar_list = [scalars.as_ptr(), core::ptr::null()];
    let mut sum = blst_p1::default();
    // SAFETY: as many points and scalars as are said, and scratch of the size that is asked for.
    unsafe {
        blst_p1s_mult_pippenger(
            &mut sum,
            point_list.as_ptr(),
            points.len(),
            scalar_list.as_ptr(),
            BITS,
            scratch.as_mut_ptr(),
        );
    }
    sum
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    assert_eq!(arguments[1], "bls12-381");
    let points: Vec<blst_p1_affine> = fs::read(&arguments[2])
        .expect("points")
        .chunks_exact(96)
        .map(|p| blst_p1_affine {
            x: field(&p[..48]),
            y: field(&p[48..]),
        })
        .collect();
    let scalars = fs::read(&arguments[3]).expect("scalars");
    assert_eq!(points.len() * 32, scalars.len());
    let threads: usize = arguments[4].parse().expect("threads");
    // SAFETY: pure.
    let bytes = unsafe { blst_p1s_mult_pippenger_scratch_sizeof(points.len()) };
    let mut scratch = vec![0u64; bytes.div_ceil(8)];
    say(r#"{"version":"blst 0.3.17"}"#);
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line");
        let times: u32 = line.trim_start_matches("run ").parse().expect("run K");
        let start = Instant::now();
        let mut sum = blst_p1::default();
        for _ in 0..times {
            sum = if threads == 1 {
                single(&points, &scalars, &mut scratch)
            } else {
                points.as_slice().mult(&scalars, BITS)
            };
        }
        let ms = start.elapsed().as_secs_f64() * 1e3 / f64::from(times);
        let mut bytes = [0u8; 48];
        // SAFETY: writes 48 bytes.
        unsafe { blst_p1_compress(bytes.as_mut_ptr(), &sum) };
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        say(&format!(r#"{{"ms":{ms},"result":"{hex}"}}"#));
    }
}

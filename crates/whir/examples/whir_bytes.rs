//! Proves polynomials of edge sizes on every CPU variant that is here, checks each variant against
//! Plonky3 first, and prints `elements digest`, one line a size. Any two machines print the same:
//! `cargo xtask test aarch64` compares an emulated one with its host.
#![forbid(unsafe_code)]

use fieldspar_device::variants_to_test;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::field::EF5;
use fieldspar_whir::input::{Encoding, parse};
use fieldspar_whir::params::Params;
use fieldspar_whir::selftest::selftest;
use fieldspar_whir::statement::{prove, random_point, verify};
use sha2::{Digest, Sha256};

/// Below a vector, at its edges, several folds.
const SIZES: [u64; 8] = [1, 4, 7, 8, 60, 1000, 4096, 40_000];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let variants = variants_to_test()?;
    for &variant in &variants {
        selftest(variant)?;
        eprintln!("cpu:{variant} agrees with Plonky3");
    }
    // The reduced level keeps an emulated run short.
    let params = Params {
        security_level: 60,
        pow_bits: 8,
        ..Params::default()
    };
    for length in SIZES {
        let mut digests = Vec::new();
        for &variant in &variants {
            let input = parse(&sample(length), Encoding::U32)?;
            let proved = prove::<EF5, _>(&CpuEngine::new(variant)?, &params, input, |n| {
                random_point(1, n)
            })?;
            verify(&proved.file)?;
            digests.push(Sha256::digest(proved.file.encode()?));
        }
        digests.dedup();
        let [digest] = digests.as_slice() else {
            return Err(format!("{length} elements: the variants' proofs differ").into());
        };
        let hex: String = digest.iter().map(|b| format!("{b:02x}")).collect();
        println!("{length} {hex}");
    }
    Ok(())
}

/// Canonical little-endian elements, some of them at the edges of the field.
fn sample(length: u64) -> Vec<u8> {
    const P: u64 = 0x7800_0001;
    let edges = [0, 1, P - 1, P / 2];
    (0..length)
        .map(|i| match edges.get(i as usize % 11) {
            Some(&edge) => edge,
            None => i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % P,
        })
        .flat_map(|x| (x as u32).to_le_bytes())
        .collect()
}

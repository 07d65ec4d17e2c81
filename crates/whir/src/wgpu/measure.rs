//! Rates of the kernels that a proof's time comes from.
#![forbid(unsafe_code)]

use std::time::Instant;

use fieldspar_device::Error;

use super::encode::{Message, encode};
use super::engine::WgpuEngine;
use super::texts::Module;
use super::tree::Tree;

/// What [`measure`] found.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rates {
    /// Permutations of Poseidon2 a second, states that stay in registers.
    pub permutations: f64,
    /// The same in a tree over 2^20 rows of 8 words, leaves and nodes.
    pub tree: f64,
    /// Words of a codeword a second: columns of 2^20 words, half of them zeros.
    pub encode: f64,
    /// Seconds of a submission with one small kernel, waited for.
    pub wait: f64,
}

/// Measures an adapter; a fraction of a second on a fast one.
///
/// # Errors
///
/// The device's.
pub fn measure(engine: &WgpuEngine) -> Result<Rates, Error> {
    const OP: &str = "whir measure";
    const LOG: usize = 20;
    let core = engine.core();
    let gpu = &core.gpu;
    // the best of a few: the first ones find out how long the kernels take
    let best = |work: &mut dyn FnMut() -> Result<(), Error>| -> Result<f64, Error> {
        let mut best = f64::MAX;
        for _ in 0..6 {
            let begin = Instant::now();
            work()?;
            best = best.min(begin.elapsed().as_secs_f64());
        }
        Ok(best)
    };
    let kernel = core.kernel(Module::Merkle { pieces: 1 }, "permute_states")?;
    let states = gpu.buffer(OP, 64 << LOG)?;
    let permute = |times: u32, count: u32| {
        let mut batch = gpu.batch(OP);
        let bindings = [core.constants.all(), states.all()];
        batch.dispatch(&kernel, &bindings, &[count, times], u64::from(count) / 256)?;
        batch.run().map(drop)
    };
    let wait = best(&mut || permute(1, 256))?;
    let few = best(&mut || permute(2, 1 << LOG))?;
    let many = best(&mut || permute(18, 1 << LOG))?;
    let permutations = (16_u64 << LOG) as f64 / (many - few);
    drop(states);

    let message = gpu.buffer(OP, 16 << LOG)?;
    let message = Message {
        planes: &message,
        degree: 1,
        log_rows: LOG - 1,
        log_width: 3,
        row_major: true,
    };
    let mut batch = gpu.batch(OP);
    let code = encode(core, &mut batch, message, 1)?;
    batch.run()?;
    let time = best(&mut || {
        let mut batch = gpu.batch(OP);
        Tree::build(core, &mut batch, &code, 0)?;
        batch.run().map(drop)
    })?;
    let tree = (2_u64 << LOG) as f64 / (time - wait).max(1e-9);
    let time = best(&mut || {
        let mut batch = gpu.batch(OP);
        encode(core, &mut batch, message, 1)?;
        batch.run().map(drop)
    })?;
    Ok(Rates {
        permutations,
        tree,
        encode: (8_u64 << LOG) as f64 / (time - wait).max(1e-9),
        wait,
    })
}

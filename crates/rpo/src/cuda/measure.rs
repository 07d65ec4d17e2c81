//! Times on the device, for benches and reports.
#![forbid(unsafe_code)]

use fieldspar_device::cuda::Stream;

use super::engine::CudaEngine;
use crate::{Error, State};

/// Milliseconds that each of `runs` launches takes to permute `states`, which are on the device, again.
///
/// # Errors
///
/// [`Error::Device`].
pub fn permutations(engine: &CudaEngine, states: &[State], runs: usize) -> Result<Vec<f64>, Error> {
    engine.self_test()?;
    let stream = engine.cuda().stream()?;
    let buffer = stream.upload(states)?;
    time(&stream, runs, || {
        engine.permute_resident(&stream, &buffer, states.len())
    })
}

/// Device times of `work`, run once beforehand.
fn time(
    stream: &Stream,
    runs: usize,
    mut work: impl FnMut() -> Result<(), Error>,
) -> Result<Vec<f64>, Error> {
    work()?;
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = stream.event()?;
        work()?;
        let end = stream.event()?;
        stream.synchronize()?;
        times.push(f64::from(stream.elapsed(&start, &end)?));
    }
    Ok(times)
}

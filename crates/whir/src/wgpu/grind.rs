//! Proof of work: the smallest witness whose transcript sample has enough zero bits.
#![forbid(unsafe_code)]

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Buffer, Wgpu};
use p3_field::PrimeField32;

use super::kernels::Kernels;
use super::sumcheck::input;
use super::texts::Module;
use super::words::words;
use crate::engine::GrindTask;
use crate::field::F;

const OP: &str = "whir grind";
/// Invocations of a workgroup, as the kernel has it.
const THREADS: u32 = 64;
/// Workgroups that fill the largest chips.
const FILL: u32 = 8192;
/// Most witnesses of an invocation: between two looks at the best one known.
const EACH: u32 = 16;
/// What one wave should take: far below a driver's watchdog.
const TARGET: Duration = Duration::from_millis(50);
/// Witnesses of the first wave of a device, and how much more each next one may have.
const FIRST: u32 = 1 << 14;
const GROWTH: u32 = 8;

/// How many witnesses a device may search at once.
#[derive(Debug)]
pub(super) struct Grinder(Mutex<u32>);

impl Grinder {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(FIRST))
    }

    /// The smallest witness; none if no element of the field is one. Waits once a wave, of which there is
    /// one but with a probability of 2 %, if the device finishes that in time.
    pub(super) fn search(
        &self,
        gpu: &Wgpu,
        kernels: &Kernels,
        constants: &Buffer,
        task: &GrindTask,
    ) -> Result<Option<F>, Error> {
        if task.bits >= 32 {
            return Ok(None);
        }
        let mask = (1_u32 << task.bits) - 1;
        let kernel = kernels.get(gpu, Module::Grind, "grind")?;
        let start = input(gpu, OP, words(&task.state))?;
        let best = input(gpu, OP, &[u32::MAX])?;
        // e^-4 of the searches go on after that
        let wanted = 4_u64 << task.bits;
        let mut first = 0;
        while first < F::ORDER_U32 {
            let most = *self.most();
            let left = F::ORDER_U32 - first;
            let count = u64::from(left).min(wanted).min(u64::from(most)) as u32;
            let each = (count / (THREADS * FILL)).clamp(1, EACH);
            let mut batch = gpu.batch(OP);
            batch.dispatch(
                &kernel,
                &[constants.all(), start.all(), best.all()],
                &[first, count, each, task.slot as u32, mask],
                u64::from(count.div_ceil(THREADS * each)),
            )?;
            let read = batch.read(&best, 0..4)?;
            let begin = Instant::now();
            let found = batch.run()?.get::<u32>(read)?;
            match found.first() {
                Some(&witness) if witness != u32::MAX => return Ok(Some(F::new(witness))),
                _ => self.learn(count, most, begin.elapsed()),
            }
            first += count;
        }
        Ok(None)
    }

    /// A wave of `count` witnesses, all of them tried, took `time`.
    fn learn(&self, count: u32, most: u32, time: Duration) {
        // a shorter one says nothing of what more would take
        if count < most && time < TARGET {
            return;
        }
        let nanos = time.as_nanos().max(1);
        let fits = u128::from(count) * TARGET.as_nanos() / nanos;
        let fits = u32::try_from(fits).unwrap_or(u32::MAX);
        *self.most() = fits.min(most.saturating_mul(GROWTH)).max(THREADS);
    }

    fn most(&self) -> std::sync::MutexGuard<'_, u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

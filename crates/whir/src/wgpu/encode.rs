//! Reed-Solomon codewords.
#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, PoisonError};

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Batch, Buffer, Wgpu};
use p3_field::{PrimeCharacteristicRing, TwoAdicField};

use super::engine::Core;
use super::texts::{MAX_PIECES, Module};
use super::words::words;
use crate::field::F;

/// Invocations of a workgroup.
const THREADS: usize = 256;
/// log2 of the largest radix of a pass.
const MAX_RADIX: usize = 8;
const OP: &str = "whir encode";

/// A message: `degree` planes of 2^(`log_rows` + `log_width`) words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) planes: &'a Buffer,
    pub(super) degree: usize,
    pub(super) log_rows: usize,
    pub(super) log_width: usize,
    /// Element (r, j) at `r * width + j`, else at `j * rows + r`.
    pub(super) row_major: bool,
}

/// A codeword, column-major: column `entry * degree + coefficient`. Pieces hold whole entries.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) pieces: Vec<Buffer>,
    /// Columns of a piece.
    pub(super) per_piece: usize,
    pub(super) columns: usize,
    pub(super) log_height: usize,
}

/// log2 of the entries of a piece of a codeword, of which a binding holds `limit` bytes.
pub(super) fn log_entries(
    degree: usize,
    log_height: usize,
    log_width: usize,
    limit: u64,
) -> Option<usize> {
    let entry = (4 * degree as u64) << log_height;
    let fits = (0..=log_width)
        .rev()
        .find(|&log| entry.checked_shl(log as u32).is_some_and(|b| b <= limit))?;
    (1 << (log_width - fits) <= MAX_PIECES).then_some(fits)
}

/// The roots of unity that the passes read, made once for each height.
#[derive(Debug)]
pub(super) struct Roots {
    /// For each k from 4 to 8, w^(b i) with the 2^k-th root w, for i < 16 and b < 2^(k - 4), from word
    /// 2^k - 16 on.
    small: Buffer,
    /// By log2 of the height: powers below 2^low of its generator, and those of its 2^low-th power.
    tables: Mutex<Vec<Option<Arc<Buffer>>>>,
}

const fn log_low(log_height: usize) -> usize {
    log_height.div_ceil(2)
}

impl Roots {
    pub(super) fn new(gpu: &Wgpu) -> Result<Self, Error> {
        let mut small = Vec::with_capacity((2 << MAX_RADIX) - 16);
        for k in 4..=MAX_RADIX {
            let rows = F::two_adic_generator(k).powers().take(1 << (k - 4));
            small.extend(rows.flat_map(|w| w.powers().take(16)));
        }
        Ok(Self {
            small: gpu.upload(OP, words(&small))?,
            tables: Mutex::new(vec![None; F::TWO_ADICITY + 1]),
        })
    }

    fn tables(&self, gpu: &Wgpu, log_height: usize) -> Result<Arc<Buffer>, Error> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(table)) = tables.get(log_height) {
            return Ok(Arc::clone(table));
        }
        let low = log_low(log_height);
        let g = F::two_adic_generator(log_height);
        let high = g.exp_power_of_2(low);
        let mut values: Vec<F> = g.powers().take(1 << low).collect();
        values.extend(high.powers().take(1 << (log_height - low)));
        let table = Arc::new(gpu.upload(OP, words(&values))?);
        if let Some(slot) = tables.get_mut(log_height) {
            *slot = Some(Arc::clone(&table));
        }
        Ok(table)
    }
}

/// The radices of a transform of 2^`log_height` points, as log2: as few as can be, and alike.
fn radices(log_height: usize) -> Vec<usize> {
    let passes = log_height.div_ceil(MAX_RADIX).max(1);
    (0..passes)
        .map(|i| log_height / passes + usize::from(i < log_height % passes))
        .collect()
}

/// Records what makes the codeword of the message.
pub(super) fn encode(
    core: &Core,
    batch: &mut Batch<'_>,
    message: Message<'_>,
    log_inv_rate: usize,
) -> Result<Code, Error> {
    let gpu = &core.gpu;
    let log_height = message.log_rows + log_inv_rate;
    let (degree, log_width) = (message.degree, message.log_width);
    let log_entries = log_entries(degree, log_height, log_width, core.binding).ok_or_else(|| {
        core.unsupported(
            OP,
            format!(
                "a codeword of 2^{log_width} columns of 2^{log_height} elements of {degree} words, in \
                 bindings of {} bytes",
                core.binding
            ),
        )
    })?;
    let per_piece = degree << log_entries;
    let bytes = (4 * per_piece as u64) << log_height;
    let radices = radices(log_height);
    let tables = core.roots.tables(gpu, log_height)?;
    // shared by the pieces, which are made one after another
    let spare = match radices.len() {
        1 => None,
        _ => Some(gpu.scratch(OP, bytes)?),
    };
    let mut pieces = Vec::with_capacity(1 << (log_width - log_entries));
    for piece in 0..1_usize << (log_width - log_entries) {
        let out = gpu.scratch(OP, bytes)?;
        let mut source = message.planes;
        let mut done = 0;
        for (i, &k) in radices.iter().enumerate() {
            let first = i == 0;
            // the last pass writes `out`, the others take turns
            let to = match &spare {
                Some(spare) if (radices.len() - i).is_multiple_of(2) => spare,
                _ => &out,
            };
            let transforms = log_height - k;
            let (lanes, planes) = match first {
                true => (1_usize << (transforms + log_entries), degree),
                false => (per_piece << transforms, 1),
            };
            // 16 points an invocation
            let per_block = THREADS >> k.saturating_sub(4);
            let blocks = lanes.div_ceil(per_block);
            let kernel = core.kernel(Module::Ntt { radix: k, first }, "transform")?;
            let params = [
                log_height,
                done,
                log_entries,
                message.log_rows,
                log_width,
                usize::from(message.row_major),
                degree,
                piece << log_entries,
                log_low(log_height),
                lanes,
                blocks,
            ];
            batch.dispatch(
                &kernel,
                &[source.all(), to.all(), tables.all(), core.roots.small.all()],
                &params.map(|x| x as u32),
                (blocks * planes) as u64,
            )?;
            done += k;
            source = to;
        }
        pieces.push(out);
    }
    Ok(Code {
        pieces,
        per_piece,
        columns: degree << log_width,
        log_height,
    })
}

#[cfg(test)]
mod tests {
    use super::{log_entries, radices};

    #[test]
    fn radices_are_what_the_kernels_have() {
        for log_height in 0..=27 {
            let radices = radices(log_height);
            assert_eq!(radices.iter().sum::<usize>(), log_height);
            assert!(radices.iter().all(|&k| k <= 8));
            assert!(radices.len() == 1 || radices.iter().all(|&k| k >= 4));
        }
    }

    #[test]
    fn pieces_fit_their_bindings() {
        const LIMIT: u64 = 128 << 20;
        assert_eq!(log_entries(1, 21, 4, LIMIT), Some(4));
        // 320 MiB: four pieces of 80
        assert_eq!(log_entries(5, 20, 4, LIMIT), Some(2));
        assert_eq!(log_entries(5, 23, 1, LIMIT), None);
        assert_eq!(log_entries(1, 25, 4, LIMIT), None);
    }
}

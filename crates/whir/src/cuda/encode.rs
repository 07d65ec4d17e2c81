//! Reed-Solomon encoding: the passes of the transform, planned and launched.
#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, PoisonError};

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};
use p3_field::{PrimeCharacteristicRing, TwoAdicField};

use super::kernels::Kernels;
use super::words::words;
use crate::field::F;

/// Threads of a block of every pass.
const THREADS: u32 = 512;
/// The largest radix, as log2.
const MAX_RADIX: usize = 8;

/// A message: `rows` by `width` elements of `degree` words, in as many planes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) planes: &'a Buffer<u32>,
    pub(super) degree: usize,
    pub(super) log_rows: usize,
    pub(super) log_width: usize,
    /// Element (r, j) at `r * width + j`, else at `j * rows + r`.
    pub(super) row_major: bool,
}

/// The roots of unity that the passes read, made once for each height.
#[derive(Debug)]
pub(super) struct Roots {
    /// For each k from 4 to 8, w^(b i) with the 2^k-th root w, for i < 16 and b < 2^(k - 4), from word
    /// 2^k - 16 on.
    small: Buffer<u32>,
    /// By log2 of the height: powers below 2^low of its generator, and those of its 2^low-th power.
    tables: Mutex<Vec<Option<Arc<Buffer<u32>>>>>,
}

const fn log_low(log_height: usize) -> usize {
    log_height.div_ceil(2)
}

impl Roots {
    pub(super) fn new(stream: &Stream) -> Result<Self, Error> {
        let mut small = Vec::with_capacity((2 << MAX_RADIX) - 16);
        for k in 4..=MAX_RADIX {
            let rows = F::two_adic_generator(k).powers().take(1 << (k - 4));
            small.extend(rows.flat_map(|w| w.powers().take(16)));
        }
        Ok(Self {
            small: stream.upload(words(&small))?,
            tables: Mutex::new(vec![None; F::TWO_ADICITY + 1]),
        })
    }

    fn tables(&self, stream: &Stream, log_height: usize) -> Result<Arc<Buffer<u32>>, Error> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(table)) = tables.get(log_height) {
            return Ok(Arc::clone(table));
        }
        let low = log_low(log_height);
        let g = F::two_adic_generator(log_height);
        let high = g.exp_power_of_2(low);
        let mut values: Vec<F> = g.powers().take(1 << low).collect();
        values.extend(high.powers().take(1 << (log_height - low)));
        let table = Arc::new(stream.upload(words(&values))?);
        // whoever takes it next may be on another stream
        stream.synchronize()?;
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

/// The codeword of the message, column-major: `width * degree` columns of `rows << log_inv_rate`
/// words in natural order, column `entry * degree + coefficient`.
pub(super) fn encode(
    stream: &Stream,
    kernels: &Kernels,
    roots: &Roots,
    message: Message<'_>,
    log_inv_rate: usize,
) -> Result<Buffer<u32>, Error> {
    let log_height = message.log_rows + log_inv_rate;
    let columns = message.degree << message.log_width;
    let len = columns << log_height;
    let out = stream.alloc::<u32>(len)?;
    let radices = radices(log_height);
    let spare = match radices.len() {
        1 => None,
        _ => Some(stream.alloc::<u32>(len)?),
    };
    let tables = roots.tables(stream, log_height)?;
    let mut done = 0;
    let mut from = message.planes;
    for (i, &k) in radices.iter().enumerate() {
        // the last pass writes `out`, the others take turns
        let to = match &spare {
            Some(spare) if (radices.len() - i).is_multiple_of(2) => spare,
            _ => &out,
        };
        let first = i == 0;
        let transforms = log_height - k;
        let (function, lanes, planes) = if first {
            let function = &kernels.ntt_first[k];
            (
                function,
                1 << (transforms + message.log_width),
                message.degree,
            )
        } else {
            (&kernels.ntt_next[k - 4], columns << transforms, 1)
        };
        // 16 points a thread
        let threads = 1 << k.saturating_sub(4);
        let per_block = THREADS / threads;
        let lanes: u32 = u32::try_from(lanes).unwrap_or(u32::MAX);
        let args = [
            Arg::Ptr(from.as_ptr()),
            Arg::Ptr(to.as_ptr()),
            Arg::Ptr(tables.as_ptr()),
            Arg::Ptr(roots.small.ptr_at((1_usize << k).saturating_sub(16))),
            Arg::Words(&[
                log_height as u32,
                done as u32,
                message.log_width as u32,
                message.log_rows as u32,
                u32::from(message.row_major),
                message.degree as u32,
                log_low(log_height) as u32,
                lanes,
            ]),
        ];
        // the first pass keeps its outputs a word apart
        let apart = if first { per_block } else { 0 };
        let shared = ((THREADS << k.min(4)) + apart) * 4;
        let grid = (lanes.div_ceil(per_block), planes as u32, 1);
        stream.launch(function, grid, (THREADS, 1, 1), shared, &args)?;
        done += k;
        from = to;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::radices;

    #[test]
    fn radices_are_what_the_kernels_have() {
        for log_height in 0..=27 {
            let radices = radices(log_height);
            assert_eq!(radices.iter().sum::<usize>(), log_height);
            assert!(radices.iter().all(|&k| k <= 8));
            assert!(radices.len() == 1 || radices.iter().all(|&k| k >= 4));
        }
    }
}

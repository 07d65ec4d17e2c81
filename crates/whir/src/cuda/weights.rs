//! The weights of a sumcheck, summed into planes.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Stream};

use super::eval::{EqPair, Span};
use super::kernels::ByDegree;
use super::sumcheck::Tables;
use super::words::{argument, word, words};
use crate::engine::{HiKind, HiWeight};
use crate::field::{Extension, F};

const THREADS: usize = 256;
/// Terms that one kernel adds up.
const TERMS: usize = 4;
/// Indices that share one table of powers, and runs of them that a thread holds; both as in
/// `weights.cu`.
const SELECT_BLOCK: usize = 256;
const SELECT_ROWS: usize = 4;
/// Terms of a kernel of powers: their factors lie in 48 KiB of shared memory.
const SELECT_TERMS: usize = (48 << 10) / (SELECT_ROWS * 5 * 4);
/// Blocks that fill the largest chips.
const FILL: usize = 1024;

/// Planes of 2^`bits` weights each, `stride` words apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes {
    /// Device address of the first plane.
    pub(super) at: u64,
    pub(super) bits: usize,
}

impl Planes {
    const fn stride(self) -> Arg<'static> {
        Arg::U64(1 << self.bits)
    }

    const fn grid(items: usize) -> (u32, u32, u32) {
        (items.div_ceil(THREADS) as u32, 1, 1)
    }
}

const BLOCK: (u32, u32, u32) = (THREADS as u32, 1, 1);

const fn inner_bits(bits: usize) -> usize {
    bits.div_ceil(2)
}

/// Sets the weights of the tables to `sum c H(x)`.
pub(super) fn begin<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    tables: &mut Tables,
    weights: &[(EF, HiWeight<EF>)],
) -> Result<(), Error> {
    let w = tables.weights(EF::D);
    let whole = |weight: &HiWeight<EF>| {
        weight.kind == HiKind::Eq && weight.leading.is_empty() && weight.trailing.is_empty()
    };
    let (full, parts): (Vec<_>, Vec<_>) = weights.iter().partition(|(_, weight)| whole(weight));
    if full.is_empty() {
        let planes = EF::D << w.bits;
        stream.clear(&mut tables.planes, planes..2 * planes)?;
    }
    let full: Vec<_> = full.iter().map(|(c, w)| (*c, w.point.as_slice())).collect();
    add_eq(stream, kernels, w, &full, true)?;
    for (c, weight) in parts {
        add_span(stream, kernels, w, *c, weight)?;
    }
    Ok(())
}

/// Adds `sum c eq(point, x)`, or sets the weights to the first of these sums.
pub(super) fn add_eq<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    terms: &[(EF, &[EF])],
    mut overwrite: bool,
) -> Result<(), Error> {
    let inner = inner_bits(w.bits);
    for terms in terms.chunks(TERMS) {
        let pairs = terms
            .iter()
            .map(|&(c, point)| EqPair::new(stream, kernels, point, c, inner))
            .collect::<Result<Vec<_>, _>>()?;
        let mut packed = [0; 12];
        for (to, pair) in packed.chunks_exact_mut(2).zip(&pairs) {
            let at = pair.table.as_ptr();
            to.copy_from_slice(&[at as u32, (at >> 32) as u32]);
        }
        packed[8] = pairs.len() as u32;
        packed[9] = u32::from(overwrite);
        packed[10] = inner as u32;
        packed[11] = (w.bits - inner) as u32;
        let args = [Arg::Ptr(w.at), w.stride(), Arg::Words(&packed)];
        stream.launch(&kernels.weights_eq, Planes::grid(1 << w.bits), BLOCK, 0, &args)?;
        overwrite = false;
    }
    Ok(())
}

/// Adds one weight of any kind.
fn add_span<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    c: EF,
    weight: &HiWeight<EF>,
) -> Result<(), Error> {
    let Span { offset, log_stride } = Span::of(weight);
    if let HiKind::Delta(y) = weight.kind {
        let at = (offset + (y << log_stride)) as u64;
        let c = argument(c);
        let args = [Arg::Ptr(w.at), w.stride(), Arg::U64(at), Arg::Words(&c)];
        return stream.launch(&kernels.weights_at, (1, 1, 1), (1, 1, 1), 0, &args);
    }
    let bits = weight.point.len();
    let eq = EqPair::new(stream, kernels, &weight.point, c, inner_bits(bits))?;
    let args = [
        Arg::Ptr(w.at),
        w.stride(),
        Arg::Ptr(eq.table.as_ptr()),
        Arg::U32(eq.inner_bits as u32),
        Arg::U32(eq.outer_bits as u32),
        Arg::U64(offset as u64),
        Arg::U32(log_stride as u32),
        Arg::U32(u32::from(weight.kind == HiKind::Shift)),
    ];
    stream.launch(&kernels.weights_span, Planes::grid(1 << bits), BLOCK, 0, &args)
}

/// Adds `sum c z^x`.
pub(super) fn add_select<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    terms: &[(EF, F)],
) -> Result<(), Error> {
    let len = 1_usize << w.bits;
    for terms in terms.chunks(SELECT_TERMS) {
        let packed: Vec<u32> = terms
            .iter()
            .flat_map(|(c, z)| {
                let c = words(c.as_basis_coefficients_slice()).to_vec();
                c.into_iter().chain([word(*z)])
            })
            .collect();
        let packed = stream.upload(&packed)?;
        let count = Arg::U32(terms.len() as u32);
        let powers = stream.alloc::<u32>(terms.len() * SELECT_BLOCK)?;
        let steps = stream.alloc::<u32>(terms.len())?;
        let block = (SELECT_BLOCK as u32, 1, 1);
        let args = [
            Arg::Ptr(packed.as_ptr()),
            Arg::Ptr(powers.as_ptr()),
            Arg::Ptr(steps.as_ptr()),
        ];
        let grid = (terms.len() as u32, 1, 1);
        stream.launch(&kernels.select_powers, grid, block, 0, &args)?;

        let groups = len.div_ceil(SELECT_BLOCK * SELECT_ROWS);
        let runs = groups.div_ceil(FILL);
        let shared = terms.len() * SELECT_ROWS * EF::D * 4;
        let args = [
            Arg::Ptr(w.at),
            w.stride(),
            Arg::U64(len as u64),
            Arg::Ptr(packed.as_ptr()),
            count,
            Arg::Ptr(powers.as_ptr()),
            Arg::Ptr(steps.as_ptr()),
            Arg::U32(runs as u32),
        ];
        let grid = (groups.div_ceil(runs) as u32, 1, 1);
        stream.launch(&kernels.select_sums, grid, block, shared as u32, &args)?;
    }
    Ok(())
}

//! What the engines of GPUs share: checks before a launch, and the comparison at the first use.
#![forbid(unsafe_code)]

use std::sync::{Mutex, PoisonError};

use fieldspar_device::Error as DeviceError;

use crate::engine::Engine;
use crate::reference::permute;
use crate::{Digest, Error, MODULUS, RATE, Sponge, State, WIDTH};

/// Inputs of `width` elements each.
pub(crate) fn rows(elements: usize, width: usize) -> Result<usize, Error> {
    if width > 0 && elements.is_multiple_of(width) {
        return Ok(elements / width);
    }
    Err(Error::Length {
        what: "elements of inputs of one width",
        have: elements,
        expected: format!("a multiple of {width}, which is not 0"),
    })
}

/// Twice as many children as parents.
pub(crate) fn check_level(children: &[Digest], parents: &[Digest]) -> Result<(), Error> {
    if children.len() / 2 == parents.len() && children.len().is_multiple_of(2) {
        return Ok(());
    }
    Err(Error::Length {
        what: "children of a level",
        have: children.len(),
        expected: format!("twice as many as the {} parents", parents.len()),
    })
}

/// A power of two.
pub(crate) fn check_leaves(count: usize) -> Result<(), Error> {
    if count.is_power_of_two() {
        return Ok(());
    }
    Err(Error::Length {
        what: "leaves of a tree",
        have: count,
        expected: "a power of two".into(),
    })
}

/// The inputs' indices, those of few blocks first: neighbouring threads then finish together.
pub(crate) fn by_length(inputs: &[&[u64]]) -> Result<Vec<u32>, Error> {
    let count = u32::try_from(inputs.len()).map_err(|_| Error::Length {
        what: "inputs of a call",
        have: inputs.len(),
        expected: "fewer than 2^32".into(),
    })?;
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_key(|&i| inputs[i as usize].len().div_ceil(RATE));
    Ok(order)
}

/// Where each input begins in all of them one after another, and where the last ends.
pub(crate) fn starts(inputs: &[&[u64]]) -> Vec<u64> {
    let mut at = 0;
    let ends = inputs.iter().map(|input| {
        at += input.len() as u64;
        at
    });
    [0].into_iter().chain(ends).collect()
}

/// Whether an engine has been compared with the reference.
#[derive(Debug, Default)]
pub(crate) struct Checked(Mutex<bool>);

/// Compares `engine` with the reference unless that was done before. A driver may compile the kernels
/// anew, and chips have faults.
pub(crate) fn first_use(checked: &Checked, engine: &dyn Engine) -> Result<(), Error> {
    // Held meanwhile: no other thread goes on with an engine that may be wrong.
    let mut checked = checked.0.lock().unwrap_or_else(PoisonError::into_inner);
    if !*checked {
        compare(engine)?;
        *checked = true;
    }
    Ok(())
}

/// States of the comparison: more than one warp or workgroup has.
const STATES: usize = 70;

/// Every operation of an engine on some hundred states.
fn compare(engine: &dyn Engine) -> Result<(), Error> {
    let states = samples();
    let mut permuted = states.clone();
    engine.permute_many(&mut permuted)?;
    let expected = states.iter().map(|state| {
        let mut state = *state;
        permute(&mut state);
        state
    });
    same("rpo permute", &permuted, expected)?;

    let elements: Vec<u64> = states.as_flattened().iter().map(|x| x % MODULUS).collect();
    for sponge in Sponge::ALL {
        let hash = |input: &[u64]| sponge.hash_elements_with(permute, input);
        // One full block and a part of another.
        let width = RATE + 3;
        let input = &elements[..70 * width];
        let expected = input
            .chunks(width)
            .map(hash)
            .collect::<Result<Vec<_>, _>>()?;
        let found = engine.hash_rows(sponge, input, width)?;
        same("rpo hash rows", &found, expected)?;

        let inputs: Vec<&[u64]> = (0..=2 * RATE + 1)
            .rev()
            .map(|n| &elements[n..2 * n])
            .collect();
        let expected = inputs
            .iter()
            .map(|i| hash(i))
            .collect::<Result<Vec<_>, _>>()?;
        same("rpo hash", &engine.hash_many(sponge, &inputs)?, expected)?;

        let leaves: Vec<Digest> = found[..64].to_vec();
        let mut level = leaves.clone();
        let mut expected = vec![leaves.clone()];
        while level.len() > 1 {
            let pairs = level.as_chunks::<2>().0.iter();
            level = pairs.map(|pair| sponge.merge_with(permute, pair)).collect();
            expected.push(level.clone());
        }
        let mut parents = vec![Digest::ZERO; 32];
        engine.merge_level(sponge, &leaves, &mut parents)?;
        same("rpo merge", &parents, expected[1].iter().copied())?;
        let found = engine.levels(sponge, leaves)?;
        same("rpo tree", &found.concat(), expected.concat())?;
    }
    Ok(())
}

fn same<T: PartialEq>(
    op: &'static str,
    found: &[T],
    expected: impl IntoIterator<Item = T>,
) -> Result<(), Error> {
    let expected: Vec<T> = expected.into_iter().collect();
    let differs = found.iter().zip(&expected).position(|(f, e)| f != e);
    let index = differs.or((found.len() != expected.len()).then_some(expected.len()));
    match index {
        None => Ok(()),
        Some(index) => Err(DeviceError::Mismatch { op, index }.into()),
    }
}

/// States of edge values, and of words in which every bit changes.
fn samples() -> Vec<State> {
    const EDGES: [u64; 10] = [
        0,
        1,
        MODULUS - 1,
        MODULUS,
        MODULUS + 1,
        u64::MAX,
        0xFFFF_FFFF,
        1 << 32,
        MODULUS - (1 << 32),
        0xFFFF_FFFF_0000_0000,
    ];
    (0..STATES)
        .map(|i| {
            core::array::from_fn(|j| {
                let mixed = ((i * WIDTH + j) as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                match i {
                    0..10 => EDGES[i],
                    10..40 => EDGES[(mixed >> 32) as usize % EDGES.len()],
                    _ => mixed ^ (mixed >> 29),
                }
            })
        })
        .collect()
}

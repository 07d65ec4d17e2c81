//! Changed proofs: every one is refused, by the decoder or by the verifier, and none panics.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::files::{self, elements};
use crate::common::{count, tampering};
use fieldspar_device::CpuVariant;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::params::{ExtensionDegree, Folds, Params};
use fieldspar_whir::proof::{AnyProofFile, ProofFile};
use fieldspar_whir::statement::{prove, random_point, verify};
use p3_field::PrimeField32;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

thread_local! {
    /// Panics of this thread, caught or not.
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

#[derive(Default)]
struct Tally {
    /// Kind of change: refused by the decoder, refused by the verifier.
    refused: BTreeMap<&'static str, [usize; 2]>,
    accepted: Vec<String>,
}

impl Tally {
    fn bytes(&mut self, kind: &'static str, what: impl FnOnce() -> String, data: &[u8]) {
        let verdict = catch_unwind(AssertUnwindSafe(|| match AnyProofFile::decode(data) {
            Err(_) => Some(0),
            Ok(AnyProofFile::Four(file)) => verify(&file).is_err().then_some(1),
            Ok(AnyProofFile::Five(file)) => verify(&file).is_err().then_some(1),
        }));
        self.note(kind, what, verdict);
    }

    fn note(
        &mut self,
        kind: &'static str,
        what: impl FnOnce() -> String,
        verdict: std::thread::Result<Option<usize>>,
    ) {
        match verdict {
            Ok(Some(by)) => self.refused.entry(kind).or_default()[by] += 1,
            Ok(None) => self.accepted.push(format!("{kind}: {}", what())),
            Err(_) => self.accepted.push(format!("{kind}: {}: panic", what())),
        }
    }

    /// A changed structure: by its own file, and straight to the verifier.
    fn file<EF: Extension>(&mut self, kind: &'static str, what: &str, file: &ProofFile<EF>) {
        let verdict = catch_unwind(AssertUnwindSafe(|| verify(file).is_err().then_some(1)));
        self.note(kind, || what.to_owned(), verdict);
        match catch_unwind(AssertUnwindSafe(|| file.encode())) {
            Ok(Err(_)) => self.refused.entry(kind).or_default()[0] += 1,
            Ok(Ok(bytes)) => self.bytes(kind, || what.to_owned(), &bytes),
            Err(_) => self
                .accepted
                .push(format!("{kind}: {what}: panic in encode")),
        }
    }
}

/// Few queries of many positions, so that two transcripts never ask for the same ones, two codewords
/// and a final sumcheck without proof of work.
fn params(degree: ExtensionDegree) -> Params {
    Params {
        security_level: 14,
        pow_bits: 3,
        folds: Folds::Constant(2),
        cap_height: 1,
        degree,
        ..Params::default()
    }
}

fn honest<EF: Extension>(params: &Params, seed: u64) -> ProofFile<EF>
where
    CpuEngine: Engine<EF>,
{
    let engine = CpuEngine::new(CpuVariant::best()).unwrap();
    let input = files::input(elements((1 << 9) - 3 - seed as usize));
    let point = |n| random_point::<EF>(seed, n);
    let file = prove(&engine, params, input, point).unwrap().file;
    let config = params.config::<EF>(9).unwrap();
    assert_eq!((config.n_rounds(), config.final_folding_pow_bits()), (1, 0));
    let rounds = config.round_parameters();
    assert!(rounds[0].pow_bits > 0 && rounds[0].num_queries < 64);
    verify(&file).unwrap();
    file
}

/// `most` of `total` positions, evenly; all if there are no more.
fn some_of(total: usize, most: usize) -> impl Iterator<Item = usize> {
    let step = (total as f64 / most.max(1) as f64).max(1.0);
    (0..total.min(most)).map(move |i| (i as f64 * step) as usize)
}

fn attack<EF: Extension>(degree: ExtensionDegree, budget: usize, tally: &mut Tally)
where
    CpuEngine: Engine<EF>,
{
    let params = params(degree);
    let file = honest::<EF>(&params, 0);
    let other = honest::<EF>(&params, 1);
    let good = file.encode().unwrap();
    println!("degree {}: {} bytes", EF::D, good.len());
    let start = tally.refused.values().flatten().sum::<usize>();

    tampering::structures(&file, &other, |kind, what, file| {
        tally.file(kind, what, file);
    });
    for (kind, edit) in tampering::ELEMENTS {
        let total = tampering::element_count(&file, kind);
        for i in some_of(total, budget / 40) {
            let mut changed = file.clone();
            if tampering::element_edit(&mut changed, kind, edit, i) {
                tally.file(kind, &format!("{edit:?} {i}"), &changed);
            }
        }
    }
    for at in some_of(good.len(), budget / 40) {
        let cut = || format!("at byte {at}");
        tally.bytes("truncated", cut, &good[..at]);
        let mut longer = good.clone();
        longer.insert(at, good[at]);
        tally.bytes("byte doubled", cut, &longer);
        let mut shorter = good.clone();
        shorter.remove(at);
        tally.bytes("byte removed", cut, &shorter);
    }
    for extra in 1..=32 {
        let mut longer = good.clone();
        longer.extend(std::iter::repeat_n(0, extra));
        tally.bytes("extended", || format!("by {extra} zeros"), &longer);
        longer.truncate(good.len());
        longer.extend(&good[..extra * 8]);
        tally.bytes(
            "extended",
            || format!("by {} of its bytes", extra * 8),
            &longer,
        );
    }
    // Every word that is below p, at every offset: another encoding of an element, where one lies.
    for at in some_of(good.len() - 4, budget / 40) {
        let word = u32::from_le_bytes(good[at..at + 4].try_into().unwrap());
        if word < F::ORDER_U32 {
            let mut changed = good.clone();
            changed[at..at + 4].copy_from_slice(&(word + F::ORDER_U32).to_le_bytes());
            tally.bytes("limb plus p", || format!("at byte {at}"), &changed);
        }
    }
    let spent = || tally_since(tally, start);
    let bits = 8 * good.len();
    let most = budget.saturating_sub(spent()).max(budget / 2);
    for bit in some_of(bits, most) {
        let mut changed = good.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        tally.bytes("bit flipped", || format!("bit {bit}"), &changed);
    }
    let mut rng = SmallRng::seed_from_u64(EF::D as u64);
    for i in 0..budget
        .saturating_sub(tally_since(tally, start))
        .max(budget / 20)
    {
        let mut changed = good.clone();
        for _ in 0..rng.random_range(2..=8) {
            let at = rng.random_range(0..changed.len());
            changed[at] ^= rng.random_range(1..=255_u8);
        }
        if changed != good {
            tally.bytes("several bytes", || format!("edit {i}"), &changed);
        }
    }
}

fn tally_since(tally: &Tally, start: usize) -> usize {
    tally.refused.values().flatten().sum::<usize>() - start
}

#[test]
fn soak_tamper() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.set(PANICS.get() + 1);
        previous(info);
    }));
    let budget = count("TAMPER", 2000) as usize / 2;
    let mut tally = Tally::default();
    attack::<EF4>(ExtensionDegree::Four, budget, &mut tally);
    attack::<EF5>(ExtensionDegree::Five, budget, &mut tally);
    let total: usize = tally.refused.values().flatten().sum();
    println!(
        "{total} refused; by decoder and verifier: {:#?}",
        tally.refused
    );
    assert!(tally.accepted.is_empty(), "{:#?}", tally.accepted);
    assert_eq!(PANICS.get(), 0, "panics");
    assert!(total >= 2 * budget, "{total}");
}

//! The kernels' texts, put together.
#![forbid(unsafe_code)]

use fieldspar_device::wgpu::{Access, Arithmetic};

const FIELD_U64: &str = include_str!("shaders/field_u64.wgsl");
const FIELD_U32: &str = include_str!("shaders/field_u32.wgsl");
const EXT4: &str = include_str!("shaders/ext4.wgsl");
const EXT5: &str = include_str!("shaders/ext5.wgsl");
const EQ: &str = include_str!("shaders/eq.wgsl");
const POSEIDON2: &str = include_str!("shaders/generated/poseidon2_16.wgsl");
const DFT16: &str = include_str!("shaders/generated/dft16.wgsl");

/// What is compiled together: a text with one or more entry points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Module {
    /// A pass of the transform of radix 2^`radix`, from 0 to 8, the first or a later one.
    Ntt {
        /// log2 of the radix.
        radix: usize,
        /// It reads the message.
        first: bool,
    },
    /// Leaves over a codeword in this many pieces, and nodes.
    Merkle {
        /// Pieces, from 1 to 6.
        pieces: usize,
    },
    /// Gathering of rows and digests.
    Open,
    /// Evaluations, over the extension of this degree.
    Eval(usize),
    /// Weights from eq tables.
    Weights(usize),
    /// Weights from powers.
    Select(usize),
    /// The rounds.
    Sumcheck(usize),
    /// Proof of work.
    Grind,
}

/// Pieces of a codeword that one kernel sees: with the tree, 7 storage buffers.
pub(super) const MAX_PIECES: usize = 6;

/// A kernel: its module and entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// Where it stands.
    pub module: Module,
    /// Its name there.
    pub name: &'static str,
}

/// Every module, with few pieces of codewords: what can be compiled ahead for other interfaces.
#[must_use]
pub fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for radix in 0..=8 {
        all.push(Module::Ntt { radix, first: true });
        if radix >= 4 {
            all.push(Module::Ntt {
                radix,
                first: false,
            });
        }
    }
    all.extend([1, 2].map(|pieces| Module::Merkle { pieces }));
    all.push(Module::Open);
    for degree in [4, 5] {
        all.extend([
            Module::Eval(degree),
            Module::Weights(degree),
            Module::Select(degree),
            Module::Sumcheck(degree),
        ]);
    }
    all.push(Module::Grind);
    all
}

impl Module {
    /// For messages of the compiler, and for file names.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Ntt { radix, first: true } => format!("ntt_first_{radix}"),
            Self::Ntt {
                radix,
                first: false,
            } => format!("ntt_next_{radix}"),
            Self::Merkle { pieces } => format!("merkle_{pieces}"),
            Self::Open => "open".to_owned(),
            Self::Eval(degree) => format!("eval_d{degree}"),
            Self::Weights(degree) => format!("weights_d{degree}"),
            Self::Select(degree) => format!("select_d{degree}"),
            Self::Sumcheck(degree) => format!("sumcheck_d{degree}"),
            Self::Grind => "grind".to_owned(),
        }
    }

    /// Its entry points.
    #[must_use]
    pub fn entries(self) -> &'static [&'static str] {
        match self {
            Self::Ntt { .. } => &["transform"],
            Self::Merkle { pieces: 1 } => &["leaves", "nodes", "climb", "permute_states"],
            Self::Merkle { .. } => &["leaves"],
            Self::Open => &["rows", "paths"],
            Self::Eval(_) => &["partial_sums", "partial_finish", "pick", "evaluate"],
            Self::Weights(_) => &["weights_eq", "weights_at"],
            Self::Select(_) => &["select_powers", "select_sums"],
            Self::Sumcheck(_) => &["message", "fold", "fold_message", "fold_base"],
            Self::Grind => &["grind"],
        }
    }

    /// The whole text in one arithmetic variant.
    #[must_use]
    pub fn text(self, arithmetic: Arithmetic) -> String {
        let field = match arithmetic {
            Arithmetic::U64 => FIELD_U64,
            _ => FIELD_U32,
        };
        let ext = |degree: usize| if degree == 4 { EXT4 } else { EXT5 };
        match self {
            Self::Ntt { radix, first } => ntt(field, radix, first),
            Self::Merkle { pieces } => [
                field,
                POSEIDON2,
                &code_at(pieces),
                &repeated(include_str!("shaders/merkle.wgsl"), &[]),
            ]
            .concat(),
            Self::Open => include_str!("shaders/open.wgsl").to_owned(),
            Self::Eval(d) => [field, ext(d), EQ, include_str!("shaders/eval.wgsl")].concat(),
            Self::Weights(d) => [field, ext(d), EQ, include_str!("shaders/weights.wgsl")].concat(),
            Self::Select(d) => [field, ext(d), include_str!("shaders/select.wgsl")].concat(),
            Self::Sumcheck(d) => [field, ext(d), include_str!("shaders/sumcheck.wgsl")].concat(),
            Self::Grind => [field, POSEIDON2, include_str!("shaders/grind.wgsl")].concat(),
        }
    }
}

impl Entry {
    /// How it uses its buffers, binding 1 first.
    pub(super) fn access(self) -> Vec<Access> {
        use Access::{Read, Uniform, Write};
        match (self.module, self.name) {
            (Module::Ntt { .. }, _) => vec![Read, Write, Read, Read],
            (Module::Merkle { pieces }, "leaves") => {
                let mut access = vec![Uniform, Write];
                access.resize(2 + pieces, Read);
                access
            }
            (Module::Merkle { .. }, _) => vec![Uniform, Write],
            (Module::Open, _) => vec![Read, Write, Read],
            (Module::Eval(_), "partial_sums") => vec![Read, Read, Read, Write],
            (Module::Eval(_), "partial_finish") => vec![Read, Read, Write],
            (Module::Eval(_), "pick") => vec![Read, Read, Read, Write],
            (Module::Eval(_), _) => vec![Read, Read, Write],
            (Module::Weights(_), _) => vec![Read, Read, Write],
            (Module::Select(_), "select_powers") => vec![Read, Write],
            (Module::Select(_), _) => vec![Read, Read, Write],
            (Module::Sumcheck(_), "message") => vec![Read, Read, Write],
            (Module::Sumcheck(_), "fold") => vec![Read, Read, Write, Write],
            (Module::Sumcheck(_), "fold_message") => vec![Read, Read, Write, Write, Write],
            (Module::Sumcheck(_), _) => vec![Read, Read, Write],
            (Module::Grind, _) => vec![Uniform, Read, Write],
        }
    }
}

/// Bits of `i` in reverse order.
const fn reversed(i: usize, bits: usize) -> usize {
    if bits == 0 {
        0
    } else {
        i.reverse_bits() >> (usize::BITS as usize - bits)
    }
}

fn ntt(field: &str, radix: usize, first: bool) -> String {
    let (ka, kb) = (radix.min(4), radix.saturating_sub(4));
    let (a, b) = (1 << ka, 1 << kb);
    let per = a / b;
    let mut head = format!("const KA = {ka}u;\nconst KB = {kb}u;\nconst FIRST = {first};\n");
    for i in 0..a {
        // output i is that of the second step, if there is one
        let output = match kb {
            0 => reversed(i, ka),
            _ => i % per * b + reversed(i / per, kb),
        };
        head.push_str(&format!(
            "const REVERSED_{i} = {};\nconst OUTPUT_{i} = {output};\n",
            reversed(i, ka)
        ));
    }
    let body = repeated(include_str!("shaders/ntt.wgsl"), &[("A", a)]);
    [field, DFT16, &head, &body].concat()
}

/// The bindings of a codeword's pieces, and the function that reads of them. All invocations ask for the
/// same column.
fn code_at(pieces: usize) -> String {
    let mut text = String::new();
    for i in 0..pieces {
        let binding = i + 3;
        text.push_str(&format!(
            "@group(0) @binding({binding}) var<storage, read> code{i}: array<u32>;\n"
        ));
    }
    text.push_str("fn code_at(c: u32, row: u32) -> u32 {\n");
    if pieces == 1 {
        text.push_str("    return code0[c * params[0].w + row];\n");
    } else {
        text.push_str("    let at = (c % params[1].y) * params[0].w + row;\n");
        for i in 1..pieces {
            text.push_str(&format!(
                "    if (c < {i}u * params[1].y) {{ return code{}[at]; }}\n",
                i - 1
            ));
        }
        text.push_str(&format!("    return code{}[at];\n", pieces - 1));
    }
    text.push_str("}\n");
    text
}

/// Writes the lines between `//@ for i in a..b` and `//@ end` once for each i, which replaces `{i}`. A bound is
/// a number or one of `names`.
fn repeated(text: &str, names: &[(&str, usize)]) -> String {
    let bound = |word: &str| {
        let named = names.iter().find(|(name, _)| *name == word);
        named.map_or_else(|| word.parse().unwrap_or(0), |(_, value)| *value)
    };
    let mut out = String::with_capacity(4 * text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let range = line.trim_start().strip_prefix("//@ for i in ");
        let Some((low, high)) = range.and_then(|range| range.split_once("..")) else {
            out.push_str(line);
            out.push('\n');
            continue;
        };
        let body: Vec<&str> = lines
            .by_ref()
            .take_while(|line| line.trim_start() != "//@ end")
            .collect();
        for i in bound(low)..bound(high) {
            let i = i.to_string();
            for line in &body {
                out.push_str(&line.replace("{i}", &i));
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_repeated() {
        let text = "a\n  //@ for i in 1..N\n  x[{i}] = {i}u;\n  //@ end\nb";
        let expected = "a\n  x[1] = 1u;\n  x[2] = 2u;\nb\n";
        assert_eq!(repeated(text, &[("N", 3)]), expected);
    }

    #[test]
    fn outputs_of_a_pass_are_a_permutation() {
        for module in modules() {
            let Module::Ntt { radix, .. } = module else {
                continue;
            };
            let text = module.text(Arithmetic::U64);
            let mut found: Vec<usize> = text
                .lines()
                .filter_map(|line| line.strip_prefix("const OUTPUT_")?.split_once(" = "))
                .filter_map(|(_, index)| index.trim_end_matches(';').parse().ok())
                .collect();
            found.sort_unstable();
            assert_eq!(found, (0..1 << radix.min(4)).collect::<Vec<_>>());
        }
    }
}

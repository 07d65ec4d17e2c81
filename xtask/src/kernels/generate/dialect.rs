//! How a language writes what the generated parts need.
#![forbid(unsafe_code)]

use super::babybear::P;

/// What the generated text calls: hand-written in each language, since each has its own best way.
/// All work on 32-bit words in Montgomery form; "canonical" is [0, p).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Primitive {
    /// Canonical sum of canonical words.
    Add,
    /// Canonical difference of canonical words.
    Sub,
    /// Montgomery product without correction: [0, ap) x [0, bp) -> [0, (0.469ab + 1)p).
    MulLazy,
    /// [0, 2p) -> [0, p).
    ReduceOnce,
    /// Canonical half of a canonical word.
    Halve,
}

impl Primitive {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::MulLazy => "mul_lazy",
            Self::ReduceOnce => "reduce_once",
            Self::Halve => "halve",
        }
    }
}

/// A language. Texts of statements end in their semicolon and have no newline.
pub(crate) trait Dialect {
    /// The head of a file: that it is generated, and what it holds.
    fn head(&self, about: &str) -> String;
    /// Constant words that are indexed at run time.
    fn table(&self, name: &str, words: &[u32]) -> String;
    /// An entry of such a table.
    fn entry(&self, table: &str, index: &str) -> String;
    /// The first line of a procedure on an array of `length` words, which it changes, with further
    /// parameters that are words.
    fn procedure(&self, name: &str, length: usize, parameters: &[&str]) -> String;
    /// A call of such a procedure, on the array of the procedure that calls.
    fn call(&self, name: &str, arguments: &[&str]) -> String;
    /// An element of the procedure's array.
    fn element(&self, index: usize) -> String;
    /// The first lines of a loop over 0..count that is not to be unrolled.
    fn rolled(&self, variable: &str, count: usize) -> String;
    /// A value that is not changed.
    fn bind(&self, name: &str, value: &str) -> String;
    /// A literal.
    fn word(&self, word: u32) -> String;
    /// x / 2^k of a canonical x, canonical, for 1 < k <= 27.
    fn div_2exp(&self, x: &str, k: u32) -> String;

    /// Whether compilers copy a procedure to each of its calls, so that a second call costs as long a
    /// compilation again.
    fn copies_calls(&self) -> bool {
        false
    }

    /// A primitive applied.
    fn apply(&self, primitive: Primitive, arguments: &[&str]) -> String {
        format!("{}({})", primitive.name(), arguments.join(", "))
    }
    /// Any word times a constant, given in canonical (not Montgomery) form and as
    /// [`ratio`](super::babybear::Element::ratio): below (1 + x / 2^32)p.
    fn mul_known(&self, x: &str, factor: u32, ratio: u32) -> String {
        format!(
            "mul_known({x}, {}, {})",
            self.word(factor),
            self.word(ratio)
        )
    }
    /// The difference of canonical words, in (0, 2p).
    fn difference(&self, a: &str, b: &str) -> String {
        format!("{a} - {b} + {}", self.word(P))
    }
}

/// CUDA C++.
pub(crate) struct Cuda;

impl Dialect for Cuda {
    fn head(&self, about: &str) -> String {
        let about = about.replace('\n', "\n// ");
        format!(
            "// Written by `cargo xtask kernels`; do not edit.\n// {about}\n#pragma once\n\n#include \"field.cuh\"\n"
        )
    }

    fn table(&self, name: &str, words: &[u32]) -> String {
        let lines: Vec<String> = words
            .chunks(8)
            .map(|chunk| {
                let words: Vec<_> = chunk.iter().map(|w| self.word(*w)).collect();
                format!("  {},\n", words.join(", "))
            })
            .collect();
        format!(
            "__constant__ u32 {name}[{}] = {{\n{}}};\n",
            words.len(),
            lines.concat()
        )
    }

    fn entry(&self, table: &str, index: &str) -> String {
        format!("{table}[{index}]")
    }

    fn procedure(&self, name: &str, _length: usize, parameters: &[&str]) -> String {
        let more: String = parameters.iter().map(|p| format!(", u32 {p}")).collect();
        format!("__device__ __forceinline__ void {name}(u32* s{more}) {{")
    }

    fn call(&self, name: &str, arguments: &[&str]) -> String {
        let more: String = arguments.iter().map(|a| format!(", {a}")).collect();
        format!("{name}(s{more});")
    }

    fn element(&self, index: usize) -> String {
        format!("s[{index}]")
    }

    fn rolled(&self, variable: &str, count: usize) -> String {
        format!("#pragma unroll 1\nfor (u32 {variable} = 0; {variable} < {count}; {variable}++) {{")
    }

    fn bind(&self, name: &str, value: &str) -> String {
        format!("const u32 {name} = {value};")
    }

    fn word(&self, word: u32) -> String {
        format!("0x{word:08x}u")
    }

    fn div_2exp(&self, x: &str, k: u32) -> String {
        format!("div_2exp<{k}>({x})")
    }
}

/// WGSL. Procedures work on a private array `s` of sixteen words, which the text declares that holds
/// them first; tables are uniform buffers, since a constant that is indexed at run time is copied.
pub(crate) struct Wgsl {
    /// What stands before the first procedure.
    pub(crate) prelude: &'static str,
}

impl Dialect for Wgsl {
    fn head(&self, about: &str) -> String {
        let about = about.replace('\n', "\n// ");
        let prelude = self.prelude;
        format!("// Written by `cargo xtask kernels`; do not edit.\n// {about}\n{prelude}")
    }

    fn table(&self, name: &str, words: &[u32]) -> String {
        let count = words.len();
        format!(
            "// Filled by the host, a word in each `x`.\n\
             @group(0) @binding(1) var<uniform> {name}: array<vec4<u32>, {count}>;\n"
        )
    }

    fn entry(&self, table: &str, index: &str) -> String {
        format!("{table}[{index}].x")
    }

    fn procedure(&self, name: &str, _length: usize, parameters: &[&str]) -> String {
        let all: Vec<String> = parameters.iter().map(|p| format!("{p}: u32")).collect();
        format!("fn {name}({}) {{", all.join(", "))
    }

    fn call(&self, name: &str, arguments: &[&str]) -> String {
        format!("{name}({});", arguments.join(", "))
    }

    fn element(&self, index: usize) -> String {
        format!("s[{index}]")
    }

    fn rolled(&self, variable: &str, count: usize) -> String {
        format!("for (var {variable} = 0u; {variable} < {count}u; {variable}++) {{")
    }

    fn bind(&self, name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }

    fn word(&self, word: u32) -> String {
        format!("0x{word:08x}u")
    }

    fn div_2exp(&self, x: &str, k: u32) -> String {
        format!("div_2exp({x}, {k}u)")
    }

    fn copies_calls(&self) -> bool {
        true
    }

    fn mul_known(&self, x: &str, factor: u32, ratio: u32) -> String {
        let (factor, ratio) = (self.word(factor), self.word(ratio));
        format!("{x} * {factor} - high_product({x}, {ratio}) * P")
    }
}

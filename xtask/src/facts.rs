//! What the operating system says of this machine, read without Fieldspar's own detection so that
//! the two can be held against each other.
#![forbid(unsafe_code)]

use std::{collections::BTreeSet, fs, thread};

/// The processor as `/proc/cpuinfo` shows it.
pub(crate) struct Facts {
    /// Its model, or the architecture where none is given.
    pub(crate) cpu: String,
    /// Vendor's numbers for family and model.
    pub(crate) stepping: String,
    /// Cores that may be used.
    pub(crate) cores: usize,
    /// Memory in MiB, if known.
    pub(crate) memory_mib: Option<u64>,
    /// The CPU variants that it must have, slowest first.
    pub(crate) variants: Vec<&'static str>,
}

impl Facts {
    /// Reads them. On a system without `/proc` only the portable variant is expected.
    pub(crate) fn read() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let mut facts = Self::parse(&cpuinfo, std::env::consts::ARCH);
        facts.memory_mib = value(&meminfo, "MemTotal")
            .and_then(|v| v.trim_end_matches("kB").trim().parse::<u64>().ok())
            .map(|kib| kib / 1024);
        facts
    }

    fn parse(cpuinfo: &str, arch: &str) -> Self {
        // `flags` on x86, `Features` on Arm.
        let flags: BTreeSet<&str> = value(cpuinfo, "flags")
            .or_else(|| value(cpuinfo, "Features"))
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let mut variants = vec!["portable"];
        for (needs, flag, variant) in [
            ("aarch64", "asimd", "neon"),
            ("aarch64", "sve", "sve"),
            ("x86_64", "avx2", "avx2"),
            ("x86_64", "avx512f", "avx512"),
        ] {
            if arch == needs && flags.contains(flag) {
                variants.push(variant);
            }
        }
        let model = value(cpuinfo, "model name").unwrap_or(arch);
        let numbers = ["cpu family", "model"].map(|key| value(cpuinfo, key).unwrap_or("0"));
        Self {
            cpu: model.split_whitespace().collect::<Vec<_>>().join(" "),
            stepping: numbers.join("."),
            cores: thread::available_parallelism().map_or(1, usize::from),
            memory_mib: None,
            variants,
        }
    }

    /// The folder of this machine's records, such as `amd-epyc-25.1-2c`.
    pub(crate) fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.cpu.chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.ends_with('-') {
                slug.push('-');
            }
        }
        format!(
            "{}-{}-{}c",
            slug.trim_matches('-'),
            self.stepping,
            self.cores
        )
    }

    /// The variants as `FIELDSPAR_EXPECT` wants them.
    pub(crate) fn expect(&self) -> String {
        self.variants.join(",")
    }
}

/// The value of the first `key : value` line.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(k, _)| k.trim() == key)
        .map(|(_, v)| v.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPYC: &str = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\n\
                        model name\t: AMD EPYC\nflags\t\t: fpu sse2 avx avx2 bmi2\n";

    #[test]
    fn flags_become_variants() {
        let facts = Facts::parse(EPYC, "x86_64");
        assert_eq!(facts.expect(), "portable,avx2");
        assert!(facts.slug().starts_with("amd-epyc-25.1-"));
        let more = EPYC.replace("avx2", "avx2 avx512f avx512dq");
        assert_eq!(
            Facts::parse(&more, "x86_64").expect(),
            "portable,avx2,avx512"
        );
    }

    #[test]
    fn arm_and_nothing() {
        let arm = "processor : 0\nFeatures : fp asimd aes\n";
        assert_eq!(Facts::parse(arm, "aarch64").expect(), "portable,neon");
        let nothing = Facts::parse("", "riscv64");
        assert_eq!(nothing.expect(), "portable");
        assert!(nothing.slug().starts_with("riscv64-0.0-"));
    }
}

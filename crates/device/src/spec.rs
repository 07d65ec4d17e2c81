//! How a user names a device, and where the name came from.
#![forbid(unsafe_code)]

use core::num::IntErrorKind;
use core::{fmt, str::FromStr};
use std::ffi::OsStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::CpuVariant;

/// The environment variable that names the device where no flag does.
pub const ENV_DEVICE: &str = "FIELDSPAR_DEVICE";

/// The forms that are allowed, for messages.
const ALLOWED: &str = "auto, cpu, cpu:portable, cpu:avx2, cpu:avx512, cpu:neon, cpu:sve, cpu:adx, \
                       cuda, cuda:N (N from 0), wgpu, wgpu:NAME (part of an adapter's name), wgpu:vulkan, \
                       wgpu:metal, wgpu:dx12, wgpu:gl, wgpu:vulkan:NAME";

/// Which CPU code was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuSelection {
    /// `cpu`: the fastest variant that this processor runs.
    Best,
    /// `cpu:avx2` and its like: exactly this one.
    Variant(CpuVariant),
    /// `cpu:adx`: 64-bit carry chains (MULX, ADCX, ADOX), for big-integer work only.
    Adx,
}

/// A device as the user names it. Parse with [`str::parse`]; [`fmt::Display`] gives the same text.
///
/// ```
/// use fieldspar_device::DeviceSpec;
///
/// assert_eq!("cuda:1".parse(), Ok(DeviceSpec::Cuda(Some(1))));
/// assert_eq!(DeviceSpec::Wgpu(Some("llvmpipe".into())).to_string(), "wgpu:llvmpipe");
/// let error = "gpu".parse::<DeviceSpec>().unwrap_err();
/// assert!(error.to_string().contains("allowed: auto, cpu, "));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceSpec {
    /// The best device that is here.
    #[default]
    Auto,
    /// The processor.
    Cpu(CpuSelection),
    /// An NVIDIA GPU by ordinal, or the first.
    Cuda(Option<u32>),
    /// A GPU through Vulkan, Metal, DX12 or GL, by what [`crate::wgpu::Selector`] reads, or the best.
    Wgpu(Option<String>),
}

/// Where a device specification came from, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Source {
    /// A command-line flag or an argument of the library's caller.
    Flag,
    /// The environment variable [`ENV_DEVICE`].
    Environment,
    /// Nobody named a device.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "the flag",
            Self::Environment => ENV_DEVICE,
            Self::Default => "the default",
        })
    }
}

/// What is wrong with a device specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpecProblem {
    /// Nothing was written.
    Empty,
    /// The part before the colon is no kind of device.
    UnknownKind,
    /// The part after `cpu:` is no variant.
    UnknownVariant,
    /// The part after `cuda:` is not a number in plain digits.
    BadOrdinal,
    /// The number after `cuda:` is 2^32 or more.
    LargeOrdinal,
    /// A colon with nothing behind it.
    EmptySelector,
    /// `auto` takes no selector.
    SelectorOnAuto,
    /// The value of the environment variable is not Unicode.
    NotUnicode,
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::UnknownKind => "there is no such kind of device",
            Self::UnknownVariant => "there is no such CPU variant",
            Self::BadOrdinal => "the ordinal is not a number",
            Self::LargeOrdinal => "the ordinal is too large, the largest is 4294967295",
            Self::EmptySelector => "nothing follows the colon",
            Self::SelectorOnAuto => "`auto` takes nothing after it",
            Self::NotUnicode => "it is not Unicode",
        })
    }
}

/// A device specification that cannot be read. The message lists what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("device `{given}`{}: {problem}; allowed: {ALLOWED}", of(.from))]
#[non_exhaustive]
pub struct ParseSpecError {
    /// What was written.
    pub given: String,
    /// What is wrong with it.
    pub problem: SpecProblem,
    /// Where it was written, if known.
    pub from: Option<Source>,
}

fn of(from: &Option<Source>) -> String {
    from.map_or_else(String::new, |s| format!(" of {s}"))
}

impl ParseSpecError {
    fn new(given: &str, problem: SpecProblem) -> Self {
        Self {
            given: given.to_owned(),
            problem,
            from: None,
        }
    }

    fn of(mut self, source: Source) -> Self {
        self.from = Some(source);
        self
    }
}

impl FromStr for DeviceSpec {
    type Err = ParseSpecError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let err = |problem| Err(ParseSpecError::new(s, problem));
        let (kind, selector) = match s.split_once(':') {
            Some((kind, selector)) => (kind, Some(selector)),
            None => (s, None),
        };
        if s.is_empty() {
            return err(SpecProblem::Empty);
        }
        if !matches!(kind, "auto" | "cpu" | "cuda" | "wgpu") {
            return err(SpecProblem::UnknownKind);
        }
        match (kind, selector) {
            ("auto", Some(_)) => err(SpecProblem::SelectorOnAuto),
            (_, Some("")) => err(SpecProblem::EmptySelector),
            ("cpu", None) => Ok(Self::Cpu(CpuSelection::Best)),
            ("cpu", Some("adx")) => Ok(Self::Cpu(CpuSelection::Adx)),
            ("cpu", Some(name)) => match CpuVariant::NAMED.into_iter().find(|v| v.name() == name) {
                Some(variant) => Ok(Self::Cpu(CpuSelection::Variant(variant))),
                None => err(SpecProblem::UnknownVariant),
            },
            ("cuda", None) => Ok(Self::Cuda(None)),
            ("cuda", Some(ordinal)) => {
                // One name per device: `u32::from_str` also takes `+1` and `01`.
                match ordinal.parse::<u32>() {
                    Ok(n) if n.to_string() == ordinal => Ok(Self::Cuda(Some(n))),
                    Err(e)
                        if *e.kind() == IntErrorKind::PosOverflow && !ordinal.starts_with('+') =>
                    {
                        err(SpecProblem::LargeOrdinal)
                    }
                    _ => err(SpecProblem::BadOrdinal),
                }
            }
            ("wgpu", name) => Ok(Self::Wgpu(name.map(str::to_owned))),
            _ => Ok(Self::Auto),
        }
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu(CpuSelection::Best) => f.write_str("cpu"),
            Self::Cpu(CpuSelection::Variant(v)) => write!(f, "cpu:{v}"),
            Self::Cpu(CpuSelection::Adx) => f.write_str("cpu:adx"),
            Self::Cuda(None) => f.write_str("cuda"),
            Self::Cuda(Some(n)) => write!(f, "cuda:{n}"),
            Self::Wgpu(None) => f.write_str("wgpu"),
            Self::Wgpu(Some(name)) => write!(f, "wgpu:{name}"),
        }
    }
}

impl From<CpuVariant> for DeviceSpec {
    fn from(variant: CpuVariant) -> Self {
        Self::Cpu(CpuSelection::Variant(variant))
    }
}

impl DeviceSpec {
    /// Settles which specification counts: `flag` if given, else the environment variable
    /// [`ENV_DEVICE`] (unset and empty are the same), else `auto`.
    ///
    /// # Errors
    ///
    /// [`ParseSpecError`] if the one that counts cannot be read; the weaker ones are not looked at.
    pub fn resolve(flag: Option<&str>) -> Result<(Self, Source), ParseSpecError> {
        Self::resolve_with(flag, std::env::var_os(ENV_DEVICE).as_deref())
    }

    fn resolve_with(
        flag: Option<&str>,
        environment: Option<&OsStr>,
    ) -> Result<(Self, Source), ParseSpecError> {
        let (text, source) = if let Some(flag) = flag {
            (flag, Source::Flag)
        } else if let Some(value) = environment.filter(|v| !v.is_empty()) {
            let Some(text) = value.to_str() else {
                let lossy = value.to_string_lossy();
                let error = ParseSpecError::new(&lossy, SpecProblem::NotUnicode);
                return Err(error.of(Source::Environment));
            };
            (text, Source::Environment)
        } else {
            return Ok((Self::Auto, Source::Default));
        };
        match text.parse() {
            Ok(spec) => Ok((spec, source)),
            Err(error) => Err(ParseSpecError::of(error, source)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_form_survives_a_round_trip() {
        for text in [
            "auto",
            "cpu",
            "cpu:portable",
            "cpu:avx2",
            "cpu:avx512",
            "cpu:neon",
            "cpu:sve",
            "cpu:adx",
            "cuda",
            "cuda:0",
            "cuda:4294967295",
            "wgpu",
            "wgpu:llvmpipe",
            "wgpu:NVIDIA H200: PCIe",
        ] {
            assert_eq!(text.parse::<DeviceSpec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn each_mistake_has_its_own_name() {
        use SpecProblem as P;
        for (text, problem) in [
            ("", P::Empty),
            ("gpu", P::UnknownKind),
            ("CPU", P::UnknownKind),
            (" cpu", P::UnknownKind),
            (":avx2", P::UnknownKind),
            ("cpu:sse2", P::UnknownVariant),
            ("cpu:AVX2", P::UnknownVariant),
            ("cpu:", P::EmptySelector),
            ("cuda:", P::EmptySelector),
            ("wgpu:", P::EmptySelector),
            ("cuda:-1", P::BadOrdinal),
            ("cuda:+1", P::BadOrdinal),
            ("cuda:01", P::BadOrdinal),
            ("cuda:4294967296", P::LargeOrdinal),
            ("cuda:99999999999999999999", P::LargeOrdinal),
            ("cuda:+99999999999999999999", P::BadOrdinal),
            ("cuda:x", P::BadOrdinal),
            ("auto:cpu", P::SelectorOnAuto),
            ("auto:", P::SelectorOnAuto),
        ] {
            let error = text.parse::<DeviceSpec>().unwrap_err();
            assert_eq!(error.problem, problem, "{text:?}");
            assert!(error.to_string().contains(ALLOWED), "{error}");
        }
    }

    #[test]
    fn the_message_lists_every_variant() {
        for variant in CpuVariant::NAMED {
            let spec = DeviceSpec::from(variant).to_string();
            assert!(ALLOWED.contains(&spec), "{spec} is missing");
        }
    }

    #[test]
    fn flag_before_environment_before_auto() {
        let env = Some(OsStr::new("cuda:1"));
        let resolve = DeviceSpec::resolve_with;
        assert_eq!(
            resolve(Some("cpu"), env).unwrap(),
            (DeviceSpec::Cpu(CpuSelection::Best), Source::Flag)
        );
        assert_eq!(
            resolve(None, env).unwrap(),
            (DeviceSpec::Cuda(Some(1)), Source::Environment)
        );
        let nothing = (DeviceSpec::Auto, Source::Default);
        assert_eq!(resolve(None, None).unwrap(), nothing);
        assert_eq!(resolve(None, Some(OsStr::new(""))).unwrap(), nothing);
    }

    #[test]
    fn a_bad_setting_says_where_it_stands() {
        let error = DeviceSpec::resolve_with(None, Some(OsStr::new("tpu"))).unwrap_err();
        assert_eq!(error.from, Some(Source::Environment));
        assert!(error.to_string().contains("`tpu` of FIELDSPAR_DEVICE"));
        let error = DeviceSpec::resolve_with(Some(""), Some(OsStr::new("cpu"))).unwrap_err();
        assert_eq!(error.from, Some(Source::Flag));
    }

    #[cfg(unix)]
    #[test]
    fn a_setting_that_is_not_unicode_is_refused() {
        use std::os::unix::ffi::OsStrExt;
        let error = DeviceSpec::resolve_with(None, Some(OsStr::from_bytes(b"cpu\xff")));
        assert_eq!(error.unwrap_err().problem, SpecProblem::NotUnicode);
    }
}

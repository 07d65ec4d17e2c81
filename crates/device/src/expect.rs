//! Which CPU variants and which adapters a conformance suite has to cover.
//!
//! A suite runs on every variant that the processor has and on every adapter that is here, so one that
//! detection misses would be left out in silence. Whoever runs the suite may therefore say what must be
//! there.
#![forbid(unsafe_code)]

use thiserror::Error;

#[cfg(feature = "wgpu")]
use crate::wgpu::{Selector, WgpuInfo, adapters, choose};
use crate::{CpuVariant, Unavailable};

/// The environment variable that lists what must be available to the tests: CPU variants and adapters
/// as in specifications, such as `portable,avx2,wgpu:vulkan`. `cargo xtask test` sets it from what the
/// operating system says of the processor and of installed drivers.
pub const ENV_EXPECT: &str = "FIELDSPAR_EXPECT";

/// [`ENV_EXPECT`] is not met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpectError {
    /// It lists a name that is neither a variant nor an adapter.
    #[error("{ENV_EXPECT} lists `{0}`, which is no CPU variant and no adapter")]
    Unknown(String),
    /// It lists a variant that detection does not find.
    #[error("{ENV_EXPECT} lists {0}, which is not available")]
    Missing(CpuVariant),
    /// It lists an adapter that cannot be had.
    #[error("{ENV_EXPECT}: {0}")]
    NoAdapter(Unavailable),
}

/// The variants to test: all of [`CpuVariant::ALL`] that are available, slowest first.
///
/// # Errors
///
/// [`ExpectError`] if [`ENV_EXPECT`] lists one that is not among them: skipping it would be silent.
pub fn variants_to_test() -> Result<Vec<CpuVariant>, ExpectError> {
    let expected = std::env::var_os(ENV_EXPECT).unwrap_or_default();
    check(&expected.to_string_lossy(), CpuVariant::is_available)
}

/// The adapters to test, as listed by [`adapters`]: all that can run kernels, software adapters too.
///
/// # Errors
///
/// [`ExpectError`] if [`ENV_EXPECT`] lists one that is not among them: skipping it would be silent.
#[cfg(feature = "wgpu")]
pub fn adapters_to_test() -> Result<Vec<&'static WgpuInfo>, ExpectError> {
    let expected = std::env::var_os(ENV_EXPECT).unwrap_or_default();
    check_adapters(&expected.to_string_lossy(), adapters())?;
    let usable = adapters().iter().filter(|info| info.refusal.is_none());
    Ok(usable.collect())
}

#[cfg(feature = "wgpu")]
fn check_adapters(expected: &str, found: &[WgpuInfo]) -> Result<(), ExpectError> {
    for name in names(expected) {
        let Some(selector) = adapter(name) else {
            continue;
        };
        choose(&Selector::new(selector), found)
            .map_err(|reason| ExpectError::NoAdapter(Unavailable::new(name, reason)))?;
    }
    Ok(())
}

/// What is listed.
fn names(expected: &str) -> impl Iterator<Item = &str> {
    expected.split(',').map(str::trim).filter(|n| !n.is_empty())
}

/// What a listed name selects, if it is an adapter's.
fn adapter(name: &str) -> Option<Option<&str>> {
    match name.strip_prefix("wgpu")? {
        "" => Some(None),
        rest => rest.strip_prefix(':').map(Some),
    }
}

fn check(
    expected: &str,
    available: impl Fn(CpuVariant) -> bool,
) -> Result<Vec<CpuVariant>, ExpectError> {
    for name in names(expected).filter(|name| adapter(name).is_none()) {
        match CpuVariant::NAMED.into_iter().find(|v| v.name() == name) {
            None => return Err(ExpectError::Unknown(name.to_owned())),
            Some(variant) if !available(variant) => return Err(ExpectError::Missing(variant)),
            Some(_) => {}
        }
    }
    Ok(CpuVariant::ALL
        .into_iter()
        .filter(|&v| available(v))
        .collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_must_be_there() {
        let avx2 = |v| matches!(v, CpuVariant::Portable | CpuVariant::Avx2);
        let both = Ok(vec![CpuVariant::Portable, CpuVariant::Avx2]);
        assert_eq!(check("", avx2), both);
        assert_eq!(check("portable", avx2), both);
        assert_eq!(check("portable, avx2", avx2), both);
        assert_eq!(
            check("portable,avx512", avx2),
            Err(ExpectError::Missing(CpuVariant::Avx512))
        );
        assert_eq!(check("sse", avx2), Err(ExpectError::Unknown("sse".into())));
    }

    #[cfg(feature = "wgpu")]
    #[test]
    fn an_adapter_that_is_expected_must_be_there() {
        let both = Ok(vec![CpuVariant::Portable, CpuVariant::Avx2]);
        let avx2 = |v| matches!(v, CpuVariant::Portable | CpuVariant::Avx2);
        assert_eq!(check("portable,wgpu,wgpu:vulkan", avx2), both);
        assert_eq!(check_adapters("portable,sse", &[]), Ok(()));
        let missing = check_adapters("portable, wgpu:vulkan", &[]).unwrap_err();
        assert!(matches!(&missing, ExpectError::NoAdapter(u) if u.device == "wgpu:vulkan"));
        assert_eq!(
            check("wgpux", avx2),
            Err(ExpectError::Unknown("wgpux".into()))
        );
        adapters_to_test().unwrap();
    }

    #[test]
    fn detection_finds_what_the_environment_expects() {
        let variants = variants_to_test().unwrap();
        assert_eq!(variants.first(), Some(&CpuVariant::Portable));
        assert_eq!(variants.last(), Some(&CpuVariant::best()));
    }
}

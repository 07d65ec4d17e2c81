//! Which CPU variants a conformance suite has to cover.
//!
//! A suite runs on every variant that the processor has, so a variant that detection misses would
//! be left out in silence. Whoever runs the suite may therefore say what must be there.
#![forbid(unsafe_code)]

use thiserror::Error;

use crate::CpuVariant;

/// The environment variable that lists the variants that must be available to the tests, such as
/// `portable,avx2`. `cargo xtask test` sets it from what the operating system says of the processor.
pub const ENV_EXPECT: &str = "FIELDSPAR_EXPECT";

/// [`ENV_EXPECT`] is not met.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpectError {
    /// It lists a name that is no variant.
    #[error("{ENV_EXPECT} lists `{0}`, which is no CPU variant")]
    Unknown(String),
    /// It lists a variant that detection does not find.
    #[error("{ENV_EXPECT} lists {0}, which is not available")]
    Missing(CpuVariant),
}

/// The variants to test: all that are available, slowest first.
///
/// # Errors
///
/// [`ExpectError`] if [`ENV_EXPECT`] lists one that is not among them: skipping it would be silent.
pub fn variants_to_test() -> Result<Vec<CpuVariant>, ExpectError> {
    let expected = std::env::var_os(ENV_EXPECT).unwrap_or_default();
    check(&expected.to_string_lossy(), CpuVariant::is_available)
}

fn check(
    expected: &str,
    available: impl Fn(CpuVariant) -> bool,
) -> Result<Vec<CpuVariant>, ExpectError> {
    for name in expected.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match CpuVariant::ALL.into_iter().find(|v| v.name() == name) {
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

    #[test]
    fn detection_finds_what_the_environment_expects() {
        let variants = variants_to_test().unwrap();
        assert_eq!(variants.first(), Some(&CpuVariant::Portable));
        assert_eq!(variants.last(), Some(&CpuVariant::best()));
    }
}

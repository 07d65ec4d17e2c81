//! `--at`: the point.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::params::ExtensionDegree;
use fieldspar_whir::statement::random_point;
use p3_field::PrimeField32;
use serde_json::Value;

use crate::failure::Failure;
use crate::whir::statement::{canonical, words_of_hex};

/// Far above the file of any point.
const MAX_POINT_FILE: u64 = 1 << 20;

/// Where the point comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Coordinates that depend on this seed alone.
    Random(u64),
    /// A file of coordinates.
    File(PathBuf),
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("random:") {
            Some(seed) => seed
                .parse()
                .map(Self::Random)
                .map_err(|_| format!("the seed `{seed}` is not a number below 2^64")),
            None if text.is_empty() => Err("write random:SEED or a file".to_owned()),
            None => Ok(Self::File(text.into())),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(seed) => write!(f, "random:{seed}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl At {
    /// The coordinates for a polynomial of `own` variables of which `committed` are committed: `own`
    /// coordinates of `degree` words. A file may also give all `committed`, the first ones zero.
    pub(crate) fn coordinates(
        &self,
        own: usize,
        committed: usize,
        degree: ExtensionDegree,
    ) -> Result<Vec<Vec<u32>>, Failure> {
        match self {
            Self::Random(seed) => Ok(match degree {
                ExtensionDegree::Four => random::<EF4>(*seed, own),
                ExtensionDegree::Five => random::<EF5>(*seed, own),
            }),
            Self::File(path) => {
                let found = read(path, degree.get()).map_err(|f| f.in_file(path))?;
                let padding = committed.saturating_sub(own);
                let zeros = |part: &[Vec<u32>]| part.iter().flatten().all(|&word| word == 0);
                match found.len() {
                    count if count == own => Ok(found),
                    count if count == committed && zeros(&found[..padding]) => {
                        Ok(found[padding..].to_vec())
                    }
                    count => Err(Failure::input(format!(
                        "the point has {count} coordinates, the polynomial {own} variables"
                    ))
                    .in_file(path)),
                }
            }
        }
    }
}

fn random<EF: Extension>(seed: u64, count: usize) -> Vec<Vec<u32>> {
    let words = |x: &EF| -> Vec<u32> {
        let coefficients = x.as_basis_coefficients_slice();
        coefficients.iter().map(F::as_canonical_u32).collect()
    };
    random_point::<EF>(seed, count).iter().map(words).collect()
}

/// Coordinates as field elements.
pub(crate) fn elements<EF: Extension>(point: &[Vec<u32>]) -> Vec<EF> {
    let word = |x: &[u32], i: usize| F::new(x.get(i).copied().unwrap_or(0));
    point
        .iter()
        .map(|x| EF::from_basis_coefficients_fn(|i| word(x, i)))
        .collect()
}

fn read(path: &Path, degree: usize) -> Result<Vec<Vec<u32>>, Failure> {
    let data = super::run::read_bounded(path, MAX_POINT_FILE)?;
    let text = String::from_utf8(data).map_err(|_| Failure::input("the point is not text"))?;
    parse(&text, degree)
}

/// JSON: a list of coordinates, each a list of canonical numbers, or an object with such a list as
/// `point` (what this program prints). Anything else is hex.
fn parse(text: &str, degree: usize) -> Result<Vec<Vec<u32>>, Failure> {
    if !text.trim_start().starts_with(['[', '{']) {
        let words = words_of_hex(&text.split_whitespace().collect::<String>())?;
        if !words.len().is_multiple_of(degree) {
            return Err(Failure::input(format!(
                "{} elements are no whole number of coordinates of {degree}",
                words.len()
            )));
        }
        return Ok(words.chunks_exact(degree).map(<[u32]>::to_vec).collect());
    }
    let value: Value = serde_json::from_str(text).map_err(|e| {
        Failure::input(format!("the point is not JSON: {e}")).at(format!(
            "line {} column {}",
            e.line(),
            e.column()
        ))
    })?;
    let list = match &value {
        Value::Object(map) => map.get("point").and_then(Value::as_array),
        value => value.as_array(),
    };
    let list = list.ok_or_else(|| Failure::input("there is no list of coordinates"))?;
    list.iter()
        .enumerate()
        .map(|(i, coordinate)| {
            let words = coordinate.as_array().filter(|words| words.len() == degree);
            let words = words.ok_or_else(|| {
                Failure::input(format!("coordinate {i} is not a list of {degree} numbers"))
                    .at(format!("coordinate {i}"))
            })?;
            words
                .iter()
                .map(|word| {
                    let word = word.as_u64().ok_or_else(|| {
                        Failure::input(format!("coordinate {i} has {word}, not a canonical number"))
                            .at(format!("coordinate {i}"))
                    })?;
                    canonical(word, i)
                })
                .collect()
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn three_forms_give_one_point() {
        let expected = vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]];
        for text in [
            "[[1,2,3,4],[5,6,7,8]]",
            " {\"n\": 2, \"point\": [[1,2,3,4],[5,6,7,8]]}",
            "01000000020000000300000004000000\n05000000060000000700000008000000\n",
        ] {
            assert_eq!(parse(text, 4).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn slips_are_refused() {
        for text in [
            "[[1,2,3]]",
            "[[1,2,3,2013265921]]",
            "[[1,2,3,-1]]",
            "[[1,2,3,1.5]]",
            "{\"value\": []}",
            "[1,2,3,4]",
            "[[1,2,3,4]",
            "0100",
            "",
        ] {
            assert!(parse(text, 4).is_err(), "{text}");
        }
        assert!("random:x".parse::<At>().is_err());
        assert_eq!("random:7".parse(), Ok(At::Random(7)));
    }
}

//! A statement without its field types, and elements as text.
//!
//! Outside the proof an element is its canonical value: a number in JSON, four little-endian bytes
//! in hex. An extension element is its coordinates, constant term first.
#![forbid(unsafe_code)]

use fieldspar_whir::field::{Extension, F};
use fieldspar_whir::input::Encoding;
use fieldspar_whir::params::Params;
use fieldspar_whir::proof::{AnyProofFile, Statement};
use p3_field::PrimeField32;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::json::fields;
use crate::whir::params_args;

/// What a proof file states.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) params: Params,
    /// Variables committed.
    pub(crate) n: usize,
    pub(crate) true_len: u64,
    pub(crate) encoding: Encoding,
    /// Digests, eight words each.
    pub(crate) commitment: Vec<Vec<u32>>,
    pub(crate) point: Vec<Vec<u32>>,
    pub(crate) value: Vec<u32>,
}

impl View {
    pub(crate) fn of(file: &AnyProofFile) -> Self {
        match file {
            AnyProofFile::Four(file) => Self::of_statement(&file.statement),
            AnyProofFile::Five(file) => Self::of_statement(&file.statement),
        }
    }

    fn of_statement<EF: Extension>(statement: &Statement<EF>) -> Self {
        let roots = statement.commitment.roots().iter();
        Self {
            params: statement.params.clone(),
            n: statement.n,
            true_len: statement.true_len,
            encoding: statement.encoding,
            commitment: roots
                .map(|digest| digest.iter().map(F::as_canonical_u32).collect())
                .collect(),
            point: statement.point.iter().map(coordinates).collect(),
            value: coordinates(&statement.value),
        }
    }

    /// Variables of the input before it was padded to the first fold.
    pub(crate) fn own_variables(&self) -> usize {
        let count = self.encoding.element_count(self.true_len).max(1);
        (count.next_power_of_two().ilog2() as usize).min(self.n)
    }

    pub(crate) fn commitment_hex(&self) -> String {
        hex(self.commitment.iter().flatten())
    }

    /// Parameters and statement, as `prove`, `verify` and `inspect` show them.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let mut all = fields(params_args::fields(&self.params, self.n));
        all.extend(fields(json!({
            "true_length": self.true_len,
            "encoding": self.encoding.name(),
            "commitment": self.commitment_hex(),
            "point": self.point,
            "value": self.value,
        })));
        all
    }

    pub(crate) fn input_text(&self) -> String {
        let unit = match self.encoding {
            Encoding::Bytes => "bytes",
            _ => "elements",
        };
        format!(
            "input        {} {unit} ({}), {} variables committed\n",
            self.true_len, self.encoding, self.n
        )
    }

    /// The value as a list that `--value` takes.
    pub(crate) fn value_text(&self) -> String {
        list(&self.value)
    }
}

fn coordinates<EF: Extension>(x: &EF) -> Vec<u32> {
    x.as_basis_coefficients_slice()
        .iter()
        .map(F::as_canonical_u32)
        .collect()
}

pub(crate) fn list(words: &[u32]) -> String {
    let words: Vec<String> = words.iter().map(u32::to_string).collect();
    words.join(",")
}

pub(crate) fn hex<'a>(words: impl IntoIterator<Item = &'a u32>) -> String {
    words
        .into_iter()
        .map(|word| format!("{:08x}", word.swap_bytes()))
        .collect()
}

/// Canonical words from hex digits, four bytes each, little-endian.
pub(crate) fn words_of_hex(text: &str) -> Result<Vec<u32>, Failure> {
    let digits = text.trim();
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    if digits.is_empty() || !digits.len().is_multiple_of(8) {
        return Err(Failure::input(format!(
            "{} hex digits are no whole number of elements of 8 digits",
            digits.len()
        )));
    }
    digits
        .as_bytes()
        .chunks_exact(8)
        .enumerate()
        .map(|(i, chunk)| {
            // `from_str_radix` alone would take a sign.
            let valid = chunk.iter().all(u8::is_ascii_hexdigit);
            core::str::from_utf8(chunk)
                .ok()
                .filter(|_| valid)
                .and_then(|chunk| u32::from_str_radix(chunk, 16).ok())
                .map(u32::swap_bytes)
                .ok_or_else(|| Failure::input(format!("element {i} is not hex")))
                .and_then(|word| canonical(u64::from(word), i))
        })
        .collect()
}

/// Refuses what is not below the modulus.
pub(crate) fn canonical(word: u64, index: usize) -> Result<u32, Failure> {
    match u32::try_from(word) {
        Ok(word) if word < F::ORDER_U32 => Ok(word),
        _ => Err(Failure::input(format!(
            "element {index} is {word}, not below the BabyBear modulus {}",
            F::ORDER_U32
        ))
        .at(format!("element {index}"))),
    }
}

/// One extension element: hex digits, or numbers with commas, brackets allowed.
pub(crate) fn element(text: &str, degree: usize) -> Result<Vec<u32>, Failure> {
    let text = text.trim();
    let words = if text.contains(',') {
        text.trim_start_matches('[')
            .trim_end_matches(']')
            .split(',')
            .enumerate()
            .map(|(i, word)| {
                word.trim()
                    .parse()
                    .map_err(|_| Failure::input(format!("coordinate {i} is no number: {word}")))
                    .and_then(|word| canonical(word, i))
            })
            .collect::<Result<Vec<_>, _>>()?
    } else {
        words_of_hex(text)?
    };
    if words.len() != degree {
        return Err(Failure::input(format!(
            "{} coordinates given, an element of the extension has {degree}",
            words.len()
        )));
    }
    Ok(words)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_little_endian_and_canonical() {
        assert_eq!(hex(&[1, 0x0102_0304]), "0100000004030201");
        assert_eq!(
            words_of_hex("0x0100000004030201").unwrap(),
            [1, 0x0102_0304]
        );
        for bad in ["", "01", "+1000000", "zzzzzzzz", "ffffffff", "01000078"] {
            assert!(words_of_hex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_element_has_two_forms() {
        assert_eq!(element("[1, 2,3,4]", 4).unwrap(), [1, 2, 3, 4]);
        assert_eq!(element(&hex(&[1, 2, 3, 4]), 4).unwrap(), [1, 2, 3, 4]);
        assert!(element("1,2,3", 4).is_err());
        assert!(element("1,2,3,2013265921", 4).is_err());
        assert!(element("1,2,3,-1", 4).is_err());
    }
}

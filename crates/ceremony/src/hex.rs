//! Lower-case hex.
#![forbid(unsafe_code)]

use core::fmt::Write;

/// Text that is not the hex that it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HexError {
    /// Too long or too short.
    #[error("{have} hex digits where {need} are needed")]
    Length {
        /// Digits there should be.
        need: usize,
        /// Digits there are.
        have: usize,
    },
    /// A character that is no lower-case hex digit.
    #[error("no hex digit at byte {at}")]
    Digit {
        /// Where.
        at: usize,
    },
}

/// Two digits a byte.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn digit(text: &[u8], at: usize) -> Result<u8, HexError> {
    match text.get(at) {
        Some(d @ b'0'..=b'9') => Ok(d - b'0'),
        Some(d @ b'a'..=b'f') => Ok(d - b'a' + 10),
        _ => Err(HexError::Digit { at }),
    }
}

/// Fills `bytes`.
///
/// # Errors
///
/// The text has another length, or holds something else than lower-case hex digits.
pub fn decode(text: &str, bytes: &mut [u8]) -> Result<(), HexError> {
    let text = text.as_bytes();
    if text.len() != 2 * bytes.len() {
        return Err(HexError::Length {
            need: 2 * bytes.len(),
            have: text.len(),
        });
    }
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = digit(text, 2 * i)? << 4 | digit(text, 2 * i + 1)?;
    }
    Ok(())
}

/// As [`decode`], into an array.
///
/// # Errors
///
/// As [`decode`].
pub fn array<const N: usize>(text: &str) -> Result<[u8; N], HexError> {
    let mut bytes = [0; N];
    decode(text, &mut bytes)?;
    Ok(bytes)
}

//! NumPy's `.npy`, versions 1 to 3 (numpy/lib/format.py), uint32 and uint64 only.
#![forbid(unsafe_code)]

use super::words::{convert, le32, le64};
use crate::error::InputError;
use crate::field::F;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// The largest header that NumPy itself loads without being told to trust the file.
const MAX_HEADER: usize = 10_000;
/// NumPy's largest number of dimensions.
const MAX_DIMS: usize = 64;

fn fail(offset: usize, what: impl Into<String>) -> InputError {
    InputError::Npy {
        offset,
        what: what.into(),
    }
}

struct Header {
    descr: String,
    fortran_order: bool,
    shape: Vec<u64>,
}

pub(super) fn parse(data: &[u8]) -> Result<Vec<F>, InputError> {
    if data.is_empty() {
        return Err(InputError::Empty);
    }
    if !data.starts_with(MAGIC) {
        return Err(fail(
            0,
            "not a .npy file: it does not start with \\x93NUMPY",
        ));
    }
    let (len, start) = match data.get(6..) {
        Some([1, 0, a, b, ..]) => (usize::from(u16::from_le_bytes([*a, *b])), 10),
        Some([2 | 3, 0, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
        Some([major @ 1..=3, 0, ..]) => {
            return Err(fail(
                8,
                format!("the file ends inside the header length of version {major}.0"),
            ));
        }
        Some([major, minor, ..]) => {
            return Err(fail(
                6,
                format!("version {major}.{minor}; 1.0, 2.0 and 3.0 are supported"),
            ));
        }
        _ => return Err(fail(6, "the file ends inside the version")),
    };
    let left = data.len() - start;
    if len > left {
        return Err(fail(
            8,
            format!("the header claims {len} bytes, {left} are left"),
        ));
    }
    if len > MAX_HEADER {
        return Err(fail(
            8,
            format!("the header claims {len} bytes, at most {MAX_HEADER} are read"),
        ));
    }
    let (header, body) = data[start..].split_at(len);
    let body_at = start + len;
    let header = Parser {
        text: header,
        pos: 0,
        base: start,
    }
    .header()?;
    let width = match header.descr.as_str() {
        "<u4" => 4,
        "<u8" => 8,
        _ => {
            return Err(InputError::Dtype {
                found: header.descr,
            });
        }
    };
    if header.fortran_order && header.shape.len() > 1 {
        return Err(fail(
            start,
            "fortran_order is True for more than one dimension; save with order='C'",
        ));
    }
    let need = header
        .shape
        .iter()
        .try_fold(width, |acc: u64, &d| acc.checked_mul(d));
    let have = body.len() as u64;
    match need {
        Some(need) if need == have => {}
        Some(need) if need < have => {
            return Err(fail(
                body_at,
                format!(
                    "shape {:?} needs {need} bytes of data, {} more follow",
                    header.shape,
                    have - need
                ),
            ));
        }
        _ => {
            return Err(fail(
                body_at,
                format!(
                    "shape {:?} needs more bytes of data than the {have} left",
                    header.shape
                ),
            ));
        }
    }
    let elements = if width == 4 {
        convert(body.as_chunks::<4>().0, le32)
    } else {
        convert(body.as_chunks::<8>().0, le64)
    };
    elements.map_err(|(index, value)| InputError::NotCanonical {
        index,
        value,
        hint: "",
    })
}

/// A parser of the one kind of Python literal that NumPy writes: a dictionary of three keys.
struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    /// Offset of the header in the file, for messages.
    base: usize,
}

impl Parser<'_> {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T, InputError> {
        Err(fail(self.base + self.pos, what))
    }

    fn skip_space(&mut self) {
        while self
            .text
            .get(self.pos)
            .is_some_and(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r'))
        {
            self.pos += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.text.get(self.pos).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), InputError> {
        if self.take(byte) {
            Ok(())
        } else {
            self.fail(format!("expected '{}' in the header", char::from(byte)))
        }
    }

    fn string(&mut self) -> Result<String, InputError> {
        let quote = match self.peek() {
            Some(q @ (b'\'' | b'"')) => q,
            _ => {
                return self
                    .fail("expected a string in the header (structured dtypes are not supported)");
            }
        };
        let rest = &self.text[self.pos + 1..];
        let Some(len) = rest.iter().position(|&b| b == quote) else {
            return self.fail("a string in the header does not end");
        };
        let Some(text) = rest[..len]
            .iter()
            .all(|b| b.is_ascii_graphic() && *b != b'\\')
            .then(|| {
                rest[..len]
                    .iter()
                    .copied()
                    .map(char::from)
                    .collect::<String>()
            })
        else {
            return self.fail("a string in the header has an escape or an unprintable character");
        };
        self.pos += len + 2;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, InputError> {
        self.skip_space();
        let rest = &self.text[self.pos..];
        for (word, value) in [(&b"True"[..], true), (&b"False"[..], false)] {
            if rest.starts_with(word) {
                self.pos += word.len();
                return Ok(value);
            }
        }
        self.fail("expected True or False in the header")
    }

    fn integer(&mut self) -> Result<u64, InputError> {
        self.skip_space();
        let digits = self.text[self.pos..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        let value = self.text[self.pos..self.pos + digits]
            .iter()
            .try_fold(0_u64, |acc, &b| {
                acc.checked_mul(10)?.checked_add(u64::from(b - b'0'))
            });
        match value {
            Some(value) if digits > 0 => {
                self.pos += digits;
                Ok(value)
            }
            _ => self.fail("expected a dimension below 2^64 in the shape"),
        }
    }

    fn shape(&mut self) -> Result<Vec<u64>, InputError> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        loop {
            if self.take(b')') {
                return Ok(shape);
            }
            if shape.len() == MAX_DIMS {
                return self.fail(format!("more than {MAX_DIMS} dimensions"));
            }
            shape.push(self.integer()?);
            let comma = self.take(b',');
            if !comma && shape.len() == 1 {
                return self.fail("a shape of one dimension is written (n,)");
            }
            if !comma && self.peek() != Some(b')') {
                return self.fail("expected ',' or ')' in the shape");
            }
        }
    }

    fn header(mut self) -> Result<Header, InputError> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let repeated = match key.as_str() {
                "descr" => descr.replace(self.string()?).is_some(),
                "fortran_order" => order.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => return self.fail(format!("unknown key {key:?} in the header")),
            };
            if repeated {
                return self.fail(format!("key {key:?} occurs twice in the header"));
            }
            if !self.take(b',') && self.peek() != Some(b'}') {
                return self.fail("expected ',' or '}' in the header");
            }
        }
        if self.peek().is_some() {
            return self.fail("text after the header's closing brace");
        }
        match (descr, order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) => Ok(Header {
                descr,
                fortran_order,
                shape,
            }),
            _ => self.fail("the header lacks descr, fortran_order or shape"),
        }
    }
}

//! A point as bytes.
#![forbid(unsafe_code)]

use core::{fmt, str::FromStr};

use crate::{
    curve::{Affine, Curve, Format},
    error::PointProblem,
    field::Fp,
};

/// How points are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// arkworks' canonical compressed form.
    Compressed,
    /// arkworks' canonical uncompressed form.
    Uncompressed,
    /// Plain values of x and y as little-endian 64-bit limbs.
    Limbs,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 3] = [Self::Compressed, Self::Uncompressed, Self::Limbs];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compressed => "compressed",
            Self::Uncompressed => "uncompressed",
            Self::Limbs => "limbs",
        }
    }

    /// Bytes of a point whose coordinates have `N` limbs.
    #[must_use]
    pub const fn bytes<const N: usize>(self) -> usize {
        match self {
            Self::Compressed => 8 * N,
            Self::Uncompressed | Self::Limbs => 16 * N,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|e| e.name() == s);
        found.ok_or_else(|| format!("there is no encoding `{s}`, only: {}", names()))
    }
}

/// What the flags say.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Flags {
    compressed: bool,
    infinity: bool,
    large: bool,
}

impl Format {
    /// The bits of the flags' byte that are no flags.
    const fn rest(self) -> u8 {
        match self {
            Self::Little => 0x3f,
            Self::Big => 0x1f,
        }
    }

    /// The flags' byte among `bytes`: the last of the whole, or the first.
    fn place(self, bytes: &mut [u8]) -> Option<&mut u8> {
        match self {
            Self::Little => bytes.last_mut(),
            Self::Big => bytes.first_mut(),
        }
    }

    fn flags(self, byte: u8, compressed: bool) -> Flags {
        match self {
            Self::Little => Flags {
                compressed,
                infinity: byte & 0x40 != 0,
                large: byte & 0x80 != 0,
            },
            Self::Big => Flags {
                compressed: byte & 0x80 != 0,
                infinity: byte & 0x40 != 0,
                large: byte & 0x20 != 0,
            },
        }
    }

    fn byte(self, flags: Flags) -> u8 {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        match self {
            Self::Little => bit(flags.infinity, 0x40) | bit(flags.large, 0x80),
            Self::Big => {
                bit(flags.compressed, 0x80)
                    | bit(flags.infinity, 0x40)
                    // the uncompressed form has no such flag
                    | bit(flags.large && flags.compressed, 0x20)
            }
        }
    }

    /// Limbs from bytes.
    fn limbs<const N: usize>(self, bytes: &[u8]) -> [u64; N] {
        match self {
            Self::Little => little_endian(bytes),
            Self::Big => {
                let mut reversed = bytes.to_vec();
                reversed.reverse();
                little_endian(&reversed)
            }
        }
    }

    /// Appends limbs as bytes.
    fn put<const N: usize>(self, limbs: [u64; N], to: &mut Vec<u8>) {
        let start = to.len();
        to.extend(limbs.iter().flat_map(|l| l.to_le_bytes()));
        if self == Self::Big {
            to[start..].reverse();
        }
    }
}

/// Limbs from little-endian bytes.
pub(crate) fn little_endian<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut limbs = [0; N];
    for (limb, bytes) in limbs.iter_mut().zip(bytes.chunks(8)) {
        *limb = bytes.iter().rev().fold(0, |l, &b| l << 8 | u64::from(b));
    }
    limbs
}

/// The point that `bytes` are; they are as many as the encoding has. A compressed point is on the curve;
/// for the others nobody has checked that.
///
/// # Errors
///
/// What is wrong with it.
pub fn decode<C: Curve<N>, const N: usize>(
    bytes: &[u8],
    encoding: Encoding,
) -> Result<Affine<C, N>, PointProblem> {
    debug_assert_eq!(bytes.len(), encoding.bytes::<N>());
    let coordinate = |limbs| Fp::from_canonical(limbs).ok_or(PointProblem::NotCanonical);
    if encoding == Encoding::Limbs {
        let (x, y) = bytes.split_at(8 * N);
        return Ok(Affine {
            x: coordinate(little_endian(x))?,
            y: coordinate(little_endian(y))?,
        });
    }
    let mut bytes = bytes.to_vec();
    let format = C::FORMAT;
    let compressed = encoding == Encoding::Compressed;
    let byte = format.place(&mut bytes).ok_or(PointProblem::BadFlags)?;
    let flags = format.flags(*byte, compressed);
    // Whatever is set must be what would be written.
    if flags.compressed != compressed || *byte & !format.rest() != format.byte(flags) {
        return Err(PointProblem::BadFlags);
    }
    *byte &= format.rest();
    if flags.infinity {
        let zero = !flags.large && bytes.iter().all(|&b| b == 0);
        return zero
            .then_some(Affine::INFINITY)
            .ok_or(PointProblem::BadFlags);
    }
    let (x, y) = bytes.split_at(8 * N);
    let x = coordinate(format.limbs(x))?;
    if compressed {
        let point = Affine::from_x(x, flags.large).ok_or(PointProblem::NotOnCurve)?;
        // y = 0 is not the larger of two
        let sign = point.y.is_large() == flags.large;
        return sign.then_some(point).ok_or(PointProblem::BadFlags);
    }
    let y = coordinate(format.limbs(y))?;
    if format == Format::Little && y.is_large() != flags.large {
        return Err(PointProblem::BadFlags);
    }
    let point = Affine { x, y };
    // (0, 0) is no point, and does not stand for one here.
    if point.is_infinity() {
        return Err(PointProblem::NotOnCurve);
    }
    Ok(point)
}

/// The bytes of a point.
#[must_use]
pub fn encode<C: Curve<N>, const N: usize>(point: &Affine<C, N>, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(encoding.bytes::<N>());
    let (x, y) = (point.x.to_canonical(), point.y.to_canonical());
    if encoding == Encoding::Limbs {
        Format::Little.put(x, &mut bytes);
        Format::Little.put(y, &mut bytes);
        return bytes;
    }
    let format = C::FORMAT;
    let compressed = encoding == Encoding::Compressed;
    format.put(x, &mut bytes);
    if !compressed {
        format.put(y, &mut bytes);
    }
    let flags = format.byte(Flags {
        compressed,
        infinity: point.is_infinity(),
        large: point.y.is_large(),
    });
    if let Some(byte) = format.place(&mut bytes) {
        *byte |= flags;
    }
    bytes
}

//! Kinds of ceremonies: how many rounds, and what comes out.
#![forbid(unsafe_code)]

/// A ceremony's kind. Every number is one; unknown ones have one round and no shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind(pub u32);

/// A share's scheme, as the number in its record.
pub type Scheme = u32;

impl Kind {
    /// FROST key generation: 3 rounds.
    pub const FROST_KEYGEN: Self = Self(0);
    /// FROST signing: 2 rounds.
    pub const FROST_SIGN: Self = Self(1);
    /// CGGMP21 key generation: 3 rounds.
    pub const CGGMP21_KEYGEN: Self = Self(2);
    /// CGGMP21 signing: 5 rounds.
    pub const CGGMP21_SIGN: Self = Self(3);
    /// Corona (also called Ringtail) key generation: 2 rounds.
    pub const CORONA_KEYGEN: Self = Self(4);
    /// Corona signing: 2 rounds.
    pub const CORONA_SIGN: Self = Self(5);

    /// Rounds from begin to end, 1 to 5.
    #[must_use]
    pub const fn rounds(self) -> u32 {
        match self.0 {
            0 | 2 => 3,
            1 | 4 | 5 => 2,
            3 => 5,
            _ => 1,
        }
    }

    /// Whether shares are emitted at the end.
    #[must_use]
    pub const fn is_keygen(self) -> bool {
        matches!(self.0, 0 | 2 | 4)
    }

    /// 0 FROST, 1 CGGMP21, 2 all others.
    #[must_use]
    pub const fn scheme(self) -> Scheme {
        match self.0 {
            0 | 1 => 0,
            2 | 3 => 1,
            _ => 2,
        }
    }

    /// Bytes of a share: 65, or 256 for scheme 2.
    #[must_use]
    pub const fn share_len(self) -> usize {
        match self.scheme() {
            0 | 1 => 65,
            _ => 256,
        }
    }
}

/// The most rounds of any kind.
pub(crate) const MAX_ROUNDS: usize = 5;

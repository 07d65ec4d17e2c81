//! How large the tables are.
#![forbid(unsafe_code)]

/// How many ceremonies, shares and contributions fit: powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacities {
    pub(crate) ceremonies: u32,
    pub(crate) shares: u32,
    pub(crate) contributions: u32,
}

/// A capacity that no engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "room for {have} {what}: it must be a power of two, at most {}",
    Capacities::MAX
)]
pub struct CapacityError {
    /// Of what.
    pub what: &'static str,
    /// How many were asked for.
    pub have: u32,
}

impl Default for Capacities {
    /// Those of the original: 256 ceremonies, 4096 shares, 4096 contributions.
    fn default() -> Self {
        Self {
            ceremonies: 256,
            shares: 4096,
            contributions: 4096,
        }
    }
}

impl Capacities {
    /// The largest of each: the addresses of a contribution's blocks fit in 32 bits.
    pub const MAX: u32 = 1 << 24;

    /// Checks the three.
    ///
    /// # Errors
    ///
    /// One is no power of two or above [`Self::MAX`].
    pub fn new(ceremonies: u32, shares: u32, contributions: u32) -> Result<Self, CapacityError> {
        for (what, have) in [
            ("ceremonies", ceremonies),
            ("shares", shares),
            ("contributions", contributions),
        ] {
            if !have.is_power_of_two() || have > Self::MAX {
                return Err(CapacityError { what, have });
            }
        }
        Ok(Self {
            ceremonies,
            shares,
            contributions,
        })
    }
}

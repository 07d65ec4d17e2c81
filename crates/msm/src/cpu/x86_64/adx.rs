//! Products by MULX, ADCX and ADOX: two carry chains at once, 4 and 6 limbs.
//!
//! Rows as in [`crate::field`]: for each limb of `b`, add `a b_i`, then a multiple of the modulus that
//! clears the lowest limb, and move down a limb. The two chains are the low and the high halves of a
//! row's products.
#![allow(unsafe_code)]

use core::arch::asm;

use crate::{
    cpu::Arithmetic,
    field::{Fp, Modulus},
};

/// A processor with BMI2 and ADX.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adx(());

impl Adx {
    /// Whether this processor runs it.
    pub(crate) fn is_available() -> bool {
        std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("adx")
    }

    /// The token, if this processor runs it.
    pub(crate) fn new() -> Option<Self> {
        Self::is_available().then_some(Self(()))
    }
}

/// The modulus, and behind it `-p^-1 mod 2^64`, as the assembly reads them.
#[repr(C)]
struct Constants<const N: usize> {
    modulus: [u64; N],
    inv: u64,
}

impl<const N: usize> Constants<N> {
    const fn of<M: Modulus<N>>() -> &'static Self {
        const {
            &Self {
                modulus: M::P,
                inv: M::INV,
            }
        }
    }
}

impl Arithmetic for Adx {
    #[inline(always)]
    fn mul<M: Modulus<N>, const N: usize>(self, a: &Fp<M, N>, b: &Fp<M, N>) -> Fp<M, N> {
        let mut product = [0; N];
        let to = product.as_mut_ptr();
        let (x, y) = (a.montgomery().as_ptr(), b.montgomery().as_ptr());
        let p = Constants::<N>::of::<M>();
        match N {
            // SAFETY: the token says that the processor has the instructions; the pointers are to six
            // limbs each, and to six with a seventh behind them.
            6 => unsafe { mul_6(to, x, y, core::ptr::from_ref(p).cast()) },
            // SAFETY: as above, with four limbs and a fifth.
            4 => unsafe { mul_4(to, x, y, core::ptr::from_ref(p).cast()) },
            _ => return a.mul(b),
        }
        Fp::from_montgomery_unchecked(product)
    }
}

// Operands: {a}, {b}, {p} pointers; {t0}.. the sum; {up} the carry above it; {lo}, {hi} halves of a
// product; rdx a factor. A row's low halves go down the OF chain, the high halves down the CF chain.

/// `lo` to the sum, and the next high half: limb `$j` of a row of `a b_i`.
macro_rules! step {
    ($t:literal, $j:literal) => {
        concat!(
            "adcx {t",
            $t,
            "}, {up}\n",
            "mulx {up}, {lo}, qword ptr [{a} + ",
            $j,
            "]\n",
            "adox {t",
            $t,
            "}, {lo}\n",
        )
    };
}

/// Limb `$t` of a row of `m p`, moving the sum down to limb `$d`.
macro_rules! down {
    ($d:literal, $t:literal, $j:literal) => {
        concat!(
            "adcx {t",
            $d,
            "}, {t",
            $t,
            "}\n",
            "mulx {t",
            $t,
            "}, {lo}, qword ptr [{p} + ",
            $j,
            "]\n",
            "adox {t",
            $d,
            "}, {lo}\n",
        )
    };
}

/// Begins a row: both chains cleared, the factor loaded, limb 0 added.
macro_rules! row_start {
    ($i:literal) => {
        concat!(
            "xor {lo:e}, {lo:e}\n",
            "mov rdx, qword ptr [{b} + ",
            $i,
            "]\n",
            "mulx {up}, {lo}, qword ptr [{a}]\n",
            "adox {t0}, {lo}\n",
        )
    };
}

/// Ends a row of `a b_i`: both carries into the limb above.
macro_rules! row_end {
    () => {
        "mov {lo:e}, 0\nadcx {up}, {lo}\nadox {up}, {lo}\n"
    };
}

/// Begins the reduction by a limb: `m = t0 (-p^-1)`, the constant at `$inv` behind the modulus.
macro_rules! reduce_start {
    ($inv:literal) => {
        concat!(
            "mov rdx, {t0}\n",
            "imul rdx, qword ptr [{p} + ",
            $inv,
            "]\n",
            "xor {lo:e}, {lo:e}\n",
            "mulx {hi}, {lo}, qword ptr [{p}]\n",
            "adcx {lo}, {t0}\n",
            "mov {t0}, {hi}\n",
        )
    };
}

macro_rules! reduce_6 {
    () => {
        concat!(
            reduce_start!(48),
            down!(0, 1, 8),
            down!(1, 2, 16),
            down!(2, 3, 24),
            down!(3, 4, 32),
            down!(4, 5, 40),
            "mov {lo:e}, 0\nadcx {t5}, {lo}\nadox {t5}, {up}\n",
        )
    };
}

macro_rules! row_6 {
    ($i:literal) => {
        concat!(
            row_start!($i),
            step!(1, 8),
            step!(2, 16),
            step!(3, 24),
            step!(4, 32),
            step!(5, 40),
            row_end!(),
            reduce_6!(),
        )
    };
}

macro_rules! reduce_4 {
    () => {
        concat!(
            reduce_start!(32),
            down!(0, 1, 8),
            down!(1, 2, 16),
            down!(2, 3, 24),
            "mov {lo:e}, 0\nadcx {t3}, {lo}\nadox {t3}, {up}\n",
        )
    };
}

macro_rules! row_4 {
    ($i:literal) => {
        concat!(
            row_start!($i),
            step!(1, 8),
            step!(2, 16),
            step!(3, 24),
            row_end!(),
            reduce_4!(),
        )
    };
}

/// `to = a b 2^-384 mod p`, below `p`, for `a, b < p`.
///
/// # Safety
///
/// BMI2 and ADX; `a`, `b`, `to` point to six limbs, `p` to the modulus' six and `-p^-1 mod 2^64`.
// A call costs little against the product, and the callers' loops stay small enough for the cache of
// decoded instructions.
#[inline(never)]
unsafe fn mul_6(to: *mut u64, a: *const u64, b: *const u64, p: *const u64) {
    let (t0, t1, t2, t3, t4, t5): (u64, u64, u64, u64, u64, u64);
    // SAFETY: reads the limbs that the caller vouches for, touches no stack.
    unsafe {
        asm!(
            // the first row has no sum to add to
            "xor {lo:e}, {lo:e}",
            "mov rdx, qword ptr [{b}]",
            "mulx {t1}, {t0}, qword ptr [{a}]",
            "mulx {t2}, {lo}, qword ptr [{a} + 8]",
            "adox {t1}, {lo}",
            "mulx {t3}, {lo}, qword ptr [{a} + 16]",
            "adox {t2}, {lo}",
            "mulx {t4}, {lo}, qword ptr [{a} + 24]",
            "adox {t3}, {lo}",
            "mulx {t5}, {lo}, qword ptr [{a} + 32]",
            "adox {t4}, {lo}",
            "mulx {up}, {lo}, qword ptr [{a} + 40]",
            "adox {t5}, {lo}",
            "mov {lo:e}, 0",
            "adox {up}, {lo}",
            reduce_6!(),
            row_6!(8),
            row_6!(16),
            row_6!(24),
            row_6!(32),
            row_6!(40),
            // below 2 p: subtract p where it does not borrow
            "mov {lo}, {t0}",
            "sub {lo}, qword ptr [{p}]",
            "mov {hi}, {t1}",
            "sbb {hi}, qword ptr [{p} + 8]",
            "mov {up}, {t2}",
            "sbb {up}, qword ptr [{p} + 16]",
            "mov rdx, {t3}",
            "sbb rdx, qword ptr [{p} + 24]",
            "mov {a}, {t4}",
            "sbb {a}, qword ptr [{p} + 32]",
            "mov {b}, {t5}",
            "sbb {b}, qword ptr [{p} + 40]",
            "cmovnc {t0}, {lo}",
            "cmovnc {t1}, {hi}",
            "cmovnc {t2}, {up}",
            "cmovnc {t3}, rdx",
            "cmovnc {t4}, {a}",
            "cmovnc {t5}, {b}",
            a = inout(reg) a => _,
            b = inout(reg) b => _,
            p = in(reg) p,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            t4 = out(reg) t4,
            t5 = out(reg) t5,
            up = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
        );
        to.cast::<[u64; 6]>().write([t0, t1, t2, t3, t4, t5]);
    }
}

/// `to = a b 2^-256 mod p`, below `p`, for `a, b < p`.
///
/// # Safety
///
/// BMI2 and ADX; `a`, `b`, `to` point to four limbs, `p` to the modulus' four and `-p^-1 mod 2^64`.
#[inline(always)]
unsafe fn mul_4(to: *mut u64, a: *const u64, b: *const u64, p: *const u64) {
    let (t0, t1, t2, t3): (u64, u64, u64, u64);
    // SAFETY: reads the limbs that the caller vouches for, touches no stack.
    unsafe {
        asm!(
            "xor {lo:e}, {lo:e}",
            "mov rdx, qword ptr [{b}]",
            "mulx {t1}, {t0}, qword ptr [{a}]",
            "mulx {t2}, {lo}, qword ptr [{a} + 8]",
            "adox {t1}, {lo}",
            "mulx {t3}, {lo}, qword ptr [{a} + 16]",
            "adox {t2}, {lo}",
            "mulx {up}, {lo}, qword ptr [{a} + 24]",
            "adox {t3}, {lo}",
            "mov {lo:e}, 0",
            "adox {up}, {lo}",
            reduce_4!(),
            row_4!(8),
            row_4!(16),
            row_4!(24),
            "mov {lo}, {t0}",
            "sub {lo}, qword ptr [{p}]",
            "mov {hi}, {t1}",
            "sbb {hi}, qword ptr [{p} + 8]",
            "mov {up}, {t2}",
            "sbb {up}, qword ptr [{p} + 16]",
            "mov rdx, {t3}",
            "sbb rdx, qword ptr [{p} + 24]",
            "cmovnc {t0}, {lo}",
            "cmovnc {t1}, {hi}",
            "cmovnc {t2}, {up}",
            "cmovnc {t3}, rdx",
            a = in(reg) a,
            b = in(reg) b,
            p = in(reg) p,
            t0 = out(reg) t0,
            t1 = out(reg) t1,
            t2 = out(reg) t2,
            t3 = out(reg) t3,
            up = out(reg) _,
            lo = out(reg) _,
            hi = out(reg) _,
            out("rdx") _,
            options(pure, readonly, nostack),
        );
        to.cast::<[u64; 4]>().write([t0, t1, t2, t3]);
    }
}

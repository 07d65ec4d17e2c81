//! The assembly: steps over six vectors at a time, whatever their length.

#![allow(unsafe_code)]

use core::arch::asm;

/// For each of six vectors: what `$step` makes of its registers for the low word and the factor, the high
/// word, a temporary word, a predicate, and the other factor.
macro_rules! six {
    ($step:ident) => {
        concat!(
            $step!("z0", "z6", "z12", "p1", "z18"),
            $step!("z1", "z7", "z13", "p2", "z19"),
            $step!("z2", "z8", "z14", "p3", "z20"),
            $step!("z3", "z9", "z15", "p4", "z21"),
            $step!("z4", "z10", "z16", "p5", "z22"),
            $step!("z5", "z11", "z17", "p6", "z23"),
        )
    };
}

macro_rules! load {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "whilelo ",
            $p,
            ".d, {at}, {count}\n",
            "ld1d {{ ",
            $low,
            ".d }}, ",
            $p,
            "/z, [{words}, {at}, lsl #3]\n",
            "incd {at}\n",
        )
    };
}

macro_rules! load_other {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "whilelo ",
            $p,
            ".d, {at}, {count}\n",
            "ld1d {{ ",
            $other,
            ".d }}, ",
            $p,
            "/z, [{others}, {at}, lsl #3]\n",
            "incd {at}\n",
        )
    };
}

macro_rules! store {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "whilelo ",
            $p,
            ".d, {at}, {count}\n",
            "st1d {{ ",
            $low,
            ".d }}, ",
            $p,
            ", [{words}, {at}, lsl #3]\n",
            "incd {at}\n",
        )
    };
}

macro_rules! square {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "movprfx ",
            $high,
            ", ",
            $low,
            "\n",
            "umulh ",
            $high,
            ".d, p0/m, ",
            $high,
            ".d, ",
            $low,
            ".d\n",
            "mul ",
            $low,
            ".d, p0/m, ",
            $low,
            ".d, ",
            $low,
            ".d\n",
        )
    };
}

macro_rules! product {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "movprfx ",
            $high,
            ", ",
            $low,
            "\n",
            "umulh ",
            $high,
            ".d, p0/m, ",
            $high,
            ".d, ",
            $other,
            ".d\n",
            "mul ",
            $low,
            ".d, p0/m, ",
            $low,
            ".d, ",
            $other,
            ".d\n",
        )
    };
}

// The steps of the portable `reduce`.
macro_rules! shift_left {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!("lsl ", $t, ".d, ", $low, ".d, #32\n")
    };
}

macro_rules! wrap {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "add ",
            $low,
            ".d, ",
            $low,
            ".d, ",
            $t,
            ".d\n",
            "cmphi ",
            $p,
            ".d, p0/z, ",
            $t,
            ".d, ",
            $low,
            ".d\n",
        )
    };
}

macro_rules! shift_right {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!("lsr ", $t, ".d, ", $low, ".d, #32\n")
    };
}

macro_rules! carry {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "sub ",
            $low,
            ".d, ",
            $low,
            ".d, ",
            $t,
            ".d\n",
            "add ",
            $low,
            ".d, ",
            $p,
            "/m, ",
            $low,
            ".d, z25.d\n",
        )
    };
}

macro_rules! borrow {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!(
            "cmphi ",
            $p,
            ".d, p0/z, ",
            $low,
            ".d, ",
            $high,
            ".d\n",
            "sub ",
            $low,
            ".d, ",
            $high,
            ".d, ",
            $low,
            ".d\n",
        )
    };
}

macro_rules! correct {
    ($low:literal, $high:literal, $t:literal, $p:literal, $other:literal) => {
        concat!("sub ", $low, ".d, ", $p, "/m, ", $low, ".d, z24.d\n")
    };
}

macro_rules! reduce {
    () => {
        concat!(
            six!(shift_left),
            six!(wrap),
            six!(shift_right),
            six!(carry),
            six!(borrow),
            six!(correct),
        )
    };
}

/// `.arch_extension` lets a build for any AArch64 have these instructions.
macro_rules! begin {
    () => {
        concat!(
            ".arch_extension sve\n",
            "ptrue p0.d\n",
            "mov z24.d, #0xffffffff\n",
            "mov z25.d, #-1\n",
        )
    };
}

/// [`asm!`] with what both functions use.
macro_rules! over_words {
    ($($template:expr,)* ; $($operand:tt)*) => {
        asm!(
            $($template,)*
            $($operand)*
            at = out(reg) _,
            out("p0") _, out("p1") _, out("p2") _, out("p3") _, out("p4") _, out("p5") _, out("p6") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _,
            out("v6") _, out("v7") _, out("v8") _, out("v9") _, out("v10") _, out("v11") _,
            out("v12") _, out("v13") _, out("v14") _, out("v15") _, out("v16") _, out("v17") _,
            out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _,
            options(nostack),
        )
    };
}

/// Squares every word `times` times, which is not 0; each time over 2^64.
///
/// # Safety
///
/// The processor has SVE.
pub(super) unsafe fn squares(words: &mut [u64], times: usize) {
    debug_assert!(times > 0);
    // SAFETY: SVE is there; a vector's lanes beyond the count are neither read nor written.
    unsafe {
        over_words!(
            begin!(),
            "mov {start}, xzr",
            "2:",
            "mov {at}, {start}",
            six!(load),
            "mov {left}, {times}",
            "3:",
            six!(square),
            reduce!(),
            "subs {left}, {left}, #1",
            "b.ne 3b",
            "mov {at}, {start}",
            six!(store),
            "mov {start}, {at}",
            "cmp {start}, {count}",
            "b.lo 2b",
            ;
            words = in(reg) words.as_mut_ptr(),
            count = in(reg) words.len(),
            times = in(reg) times,
            left = out(reg) _,
            start = out(reg) _,
        );
    }
}

/// Multiplies every word by that of `others` in its place, over 2^64.
///
/// # Safety
///
/// The processor has SVE.
pub(super) unsafe fn products(words: &mut [u64], others: &[u64]) {
    let count = words.len().min(others.len());
    // SAFETY: SVE is there; a vector's lanes beyond the count are neither read nor written.
    unsafe {
        over_words!(
            begin!(),
            "mov {start}, xzr",
            "2:",
            "mov {at}, {start}",
            six!(load),
            "mov {at}, {start}",
            six!(load_other),
            six!(product),
            reduce!(),
            "mov {at}, {start}",
            six!(store),
            "mov {start}, {at}",
            "cmp {start}, {count}",
            "b.lo 2b",
            ;
            words = in(reg) words.as_mut_ptr(),
            others = in(reg) others.as_ptr(),
            count = in(reg) count,
            start = out(reg) _,
        );
    }
}

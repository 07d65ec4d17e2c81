//! Montgomery products in general registers with BMI2, whose shifts leave the carry flag alone.

#![allow(unsafe_code)]

use core::arch::asm;

/// `a b / 2^64` modulo p, any representatives. The steps are those of the portable `reduce`, in nine
/// instructions; the compiler needs three more, since it does not keep the two carries in the flag.
///
/// # Safety
///
/// The processor has BMI2.
#[inline(always)]
pub(super) unsafe fn mul(a: u64, b: u64) -> u64 {
    let product;
    // SAFETY: BMI2 is there; the instructions touch nothing but these registers.
    unsafe {
        asm!(
            "mulx {high}, {low}, {b}",
            "shlx {t}, {low}, {shift}",
            "add {low}, {t}",
            "shrx {t}, {low}, {shift}",
            "sbb {low}, {t}",
            "sub {high}, {low}",
            "sbb {t:e}, {t:e}",
            "sub {high}, {t}",
            in("rdx") a,
            b = in(reg) b,
            shift = in(reg) 32_u64,
            high = out(reg) product,
            low = out(reg) _,
            t = out(reg) _,
            options(pure, nomem, nostack),
        );
    }
    product
}

// Single steps of chains of carries, as PTX has them. The flag is PTX's CC.CF: a carry after a sum, a
// borrow after a difference.
//
// On the device every step is one volatile instruction, so that their order is that of the text, and the
// assembler fuses neighbours mad.lo.cc, madc.hi.cc with the same factors and an aligned pair of registers
// into one wide product with carry. On the host the flag is a variable, so that the very chains of the
// device are tested there.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define FN __device__ __forceinline__

#ifdef __CUDA_ARCH__

#define STEP_2(NAME, PTX)                                                       \
    FN u32 NAME(u32 a, u32 b) {                                                 \
        u32 r;                                                                  \
        asm volatile(PTX " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));            \
        return r;                                                               \
    }
#define STEP_3(NAME, PTX)                                                       \
    FN u32 NAME(u32 a, u32 b, u32 c) {                                          \
        u32 r;                                                                  \
        asm volatile(PTX " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
        return r;                                                               \
    }

STEP_2(add_cc, "add.cc.u32")
STEP_2(addc_cc, "addc.cc.u32")
STEP_2(addc, "addc.u32")
STEP_2(sub_cc, "sub.cc.u32")
STEP_2(subc_cc, "subc.cc.u32")
STEP_2(subc, "subc.u32")
STEP_3(mad_lo_cc, "mad.lo.cc.u32")
STEP_3(madc_lo_cc, "madc.lo.cc.u32")
STEP_3(madc_hi_cc, "madc.hi.cc.u32")
STEP_3(madc_hi, "madc.hi.u32")

#undef STEP_2
#undef STEP_3

#else

static thread_local u32 carry_flag;

// a + b + flag, or a - b - flag.
FN u32 host_sum(u32 a, u32 b, u32 flag) {
    u64 s = (u64)a + b + flag;
    carry_flag = (u32)(s >> 32);
    return (u32)s;
}
FN u32 host_difference(u32 a, u32 b, u32 flag) {
    u64 d = (u64)a - b - flag;
    carry_flag = (u32)(d >> 32) & 1;
    return (u32)d;
}
FN u32 host_low(u32 a, u32 b) { return (u32)((u64)a * b); }
FN u32 host_high(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }

FN u32 add_cc(u32 a, u32 b) { return host_sum(a, b, 0); }
FN u32 addc_cc(u32 a, u32 b) { return host_sum(a, b, carry_flag); }
FN u32 addc(u32 a, u32 b) { return a + b + carry_flag; }
FN u32 sub_cc(u32 a, u32 b) { return host_difference(a, b, 0); }
FN u32 subc_cc(u32 a, u32 b) { return host_difference(a, b, carry_flag); }
FN u32 subc(u32 a, u32 b) { return a - b - carry_flag; }
FN u32 mad_lo_cc(u32 a, u32 b, u32 c) { return host_sum(host_low(a, b), c, 0); }
FN u32 madc_lo_cc(u32 a, u32 b, u32 c) { return host_sum(host_low(a, b), c, carry_flag); }
FN u32 madc_hi_cc(u32 a, u32 b, u32 c) { return host_sum(host_high(a, b), c, carry_flag); }
FN u32 madc_hi(u32 a, u32 b, u32 c) { return host_high(a, b) + c + carry_flag; }

#endif

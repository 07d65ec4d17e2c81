// BabyBear, p = 15 * 2^27 + 1, as 32-bit words in Montgomery form (R = 2^32).
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define P 0x78000001u
#define P_NEG_INV 0x77ffffffu  // -1/p mod 2^32

#define INLINE __device__ __forceinline__

// [0, 2p) -> [0, p). The difference wraps to a larger word exactly where it must not be taken.
INLINE u32 reduce_once(u32 x) { return min(x, x - P); }

INLINE u32 add(u32 a, u32 b) { return reduce_once(a + b); }

INLINE u32 sub(u32 a, u32 b) {
  u32 d = a - b;
  return min(d, d + P);
}

// x / 2^32 mod p, below x / 2^32 + p.
INLINE u32 montgomery(u64 x) {
  u32 low = (u32)x, high = (u32)(x >> 32), t = low * P_NEG_INV;
#ifdef __CUDA_ARCH__
  // One IMAD.HI with a 64-bit addend; the expression below costs an addition more.
  u32 r;
  asm("{.reg .u32 z; mad.lo.cc.u32 z, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4;}"
      : "=r"(r)
      : "r"(t), "r"(P), "r"(low), "r"(high));
  return r;
#else
  return high + (u32)(((u64)t * P + low) >> 32);
#endif
}

// [0, ap) x [0, bp) -> [0, (0.469ab + 1)p), in which a * b must keep the product below 2^64.
INLINE u32 mul_lazy(u32 a, u32 b) { return montgomery((u64)a * b); }

INLINE u32 mul(u32 a, u32 b) { return reduce_once(mul_lazy(a, b)); }

INLINE u32 halve(u32 x) { return (x + (x & 1 ? P : 0u)) >> 1; }

// x / 2^K for K <= 27: adding m = -x mod 2^K multiples of p clears the low bits, and p = 15 * 2^27 + 1
// makes the quotient a shift and a product with a power of two times 15.
template <int K>
INLINE u32 div_2exp(u32 x) {
  u32 m = (0u - x) & ((1u << K) - 1u);
  return ((x + m) >> K) + m * (15u << (27 - K));
}

// BabyBear, p = 15 * 2^27 + 1, in Montgomery form with R = 2^32: products by 16-bit halves, for
// adapters without 64-bit integers.
//
// Every value is canonical (below p) unless a name says lazy. The same functions with the same results
// stand in field_u64.wgsl.

const P = 0x78000001u;
const P_INV = 0x88000001u; // p^-1 mod 2^32
const ONE = 0x0ffffffeu; // 2^32 mod p
const R_SQUARED = 0x45dddde3u; // 2^64 mod p

// [0, 2p) -> [0, p)
fn reduce_once(x: u32) -> u32 { return min(x, x - P); }

fn add(a: u32, b: u32) -> u32 { return reduce_once(a + b); }

fn sub(a: u32, b: u32) -> u32 {
    let d = a - b;
    return min(d, d + P);
}

fn neg(a: u32) -> u32 { return sub(0u, a); }

fn halve(x: u32) -> u32 { return (x + select(0u, P, (x & 1u) == 1u)) >> 1u; }

// x 2^-k: adding m p with m = -x mod 2^k clears the low bits.
fn div_2exp(x: u32, k: u32) -> u32 {
    let m = (0u - x) & ((1u << k) - 1u);
    return ((x + m) >> k) + m * (15u << (27u - k));
}

// The high word of a product.
fn high_product(a: u32, b: u32) -> u32 {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    // Each sum is below 2^32: (2^16 - 1)^2 and a half more.
    let mid = a0 * b1 + ((a0 * b0) >> 16u);
    let side = a1 * b0 + (mid & 0xffffu);
    return a1 * b1 + (mid >> 16u) + (side >> 16u);
}

// The same for words below 2^31: both middle products and the carry from below fit one word.
fn high_product_31(a: u32, b: u32) -> u32 {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    return a1 * b1 + ((a0 * b1 + a1 * b0 + ((a0 * b0) >> 16u)) >> 16u);
}

// ---- sums of products, reduced once at the end ----
// A product of two canonical values is below 0.469 p 2^32, so two of them fit on top of a folded sum
// (below p 2^32) in 64 bits.

alias Wide = vec2<u32>; // low word first

fn wide_zero() -> Wide { return vec2<u32>(0u, 0u); }

fn mac(acc: Wide, a: u32, b: u32) -> Wide {
    let low = acc.x + a * b;
    return vec2<u32>(low, acc.y + high_product_31(a, b) + u32(low < acc.x));
}

// [0, 2p 2^32) -> [0, p 2^32)
fn fold_high(x: Wide) -> Wide { return vec2<u32>(x.x, min(x.y, x.y - P)); }

// The high word of m p for the m whose m p has the low word `low`. p = 15 * 2^27 + 1: no product.
fn cancel(low: u32) -> u32 {
    let m = low * P_INV;
    return 15u * (m >> 5u) + ((15u * (m & 31u)) >> 5u) + u32(low < m);
}

// x / 2^32 mod p, below x / 2^32 + p and not 0: the low words cancel.
fn redc_lazy(x: Wide) -> u32 { return x.y + P - cancel(x.x); }

// x / 2^32 mod p for x < p 2^32.
fn redc(x: Wide) -> u32 { return sub(x.y, cancel(x.x)); }

// [0, ap) x [0, bp) -> [0, (0.469 ab + 1) p)
fn mul_lazy(a: u32, b: u32) -> u32 { return high_product(a, b) + P - cancel(a * b); }

fn mul(a: u32, b: u32) -> u32 { return sub(high_product_31(a, b), cancel(a * b)); }

fn to_canonical(x: u32) -> u32 { return sub(0u, cancel(x)); }

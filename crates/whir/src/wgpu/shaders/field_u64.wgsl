// BabyBear, p = 15 * 2^27 + 1, in Montgomery form with R = 2^32: products as 64-bit integers.
//
// Every value is canonical (below p) unless a name says lazy. A product never by the high word of a
// 32-bit one: compilers turn `u64(a) * u64(b)` into one wide multiplication.
// The same functions with the same results stand in field_u32.wgsl.

const P = 0x78000001u;
const NEG_P_INV = 0x77ffffffu; // -p^-1 mod 2^32
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
fn high_product(a: u32, b: u32) -> u32 { return u32((u64(a) * u64(b)) >> 32u); }

// ---- sums of products, reduced once at the end ----
// A product of two canonical values is below 0.469 p 2^32, so two of them fit on top of a folded sum
// (below p 2^32) in 64 bits.

alias Wide = u64;

fn wide_zero() -> Wide { return 0lu; }

fn mac(acc: Wide, a: u32, b: u32) -> Wide { return acc + u64(a) * u64(b); }

// [0, 2p 2^32) -> [0, p 2^32)
fn fold_high(x: Wide) -> Wide {
    let high = u32(x >> 32u);
    return (u64(min(high, high - P)) << 32u) | (x & 0xfffffffflu);
}

// x / 2^32 mod p, below x / 2^32 + p.
fn redc_lazy(x: Wide) -> u32 {
    let t = u32(x & 0xfffffffflu) * NEG_P_INV;
    return u32((u64(t) * u64(P) + x) >> 32u);
}

// x / 2^32 mod p for x < p 2^32.
fn redc(x: Wide) -> u32 { return reduce_once(redc_lazy(x)); }

// [0, ap) x [0, bp) -> [0, (0.469 ab + 1) p)
fn mul_lazy(a: u32, b: u32) -> u32 { return redc_lazy(u64(a) * u64(b)); }

fn mul(a: u32, b: u32) -> u32 { return reduce_once(mul_lazy(a, b)); }

fn to_canonical(x: u32) -> u32 { return redc(u64(x)); }

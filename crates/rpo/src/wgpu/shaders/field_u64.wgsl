// Goldilocks in 64-bit integers. A value is any word that stands for its class; only `canonical` makes
// it the smallest. Products are Montgomery's with R = 2^64, of order 3: see ../../cuda/kernels/field.cuh.

alias F = u64;

fn from_words(w: vec2<u32>) -> F { return u64(w.x) | (u64(w.y) << 32u); }
fn to_words(x: F) -> vec2<u32> { return vec2<u32>(u32(x & 0xfffffffflu), u32(x >> 32u)); }

fn reduce(low: u64, high: u64) -> F {
    let sum = low + (low << 32u);
    let m = sum - (sum >> 32u) - select(0lu, 1lu, sum < low);
    return high - m - select(0lu, 0xfffffffflu, high < m);
}

// x x / 2^64
fn square(x: F) -> F {
    let a = x & 0xfffffffflu;
    let b = x >> 32u;
    let l = a * a;
    let m = a * b;
    let low = l + (m << 33u);
    let high = b * b + (m >> 31u) + select(0lu, 1lu, low < l);
    return reduce(low, high);
}

// x y / 2^64
fn multiply(x: F, y: F) -> F {
    let a = x & 0xfffffffflu;
    let b = x >> 32u;
    let c = y & 0xfffffffflu;
    let d = y >> 32u;
    let l = a * c;
    let n = a * d;
    // Below 2^64: (2^32 - 1)^2 and a word more.
    let m = b * c + (n & 0xfffffffflu);
    let low = l + (m << 32u);
    let high = b * d + (n >> 32u) + (m >> 32u) + select(0lu, 1lu, low < l);
    return reduce(low, high);
}

fn canonical(x: F) -> F { return x - select(0lu, 0xffffffff00000001lu, x >= 0xffffffff00000001lu); }

// The low 22 bits, the 21 above, the 21 above these.
fn limbs(x: F) -> vec3<u32> {
    return vec3<u32>(u32(x & 0x3ffffflu), u32((x >> 22u) & 0x1ffffflu), u32(x >> 43u));
}

// s.x + 2^22 s.y + 2^43 s.z + c modulo p, for s below 2^30 and c below p.
fn gather(s: vec3<u32>, c: F) -> F {
    let first = u64(s.x) + (u64(s.y) << 22u);
    let a = first + c;
    let b = a + (u64(s.z) << 43u);
    let top = u64(s.z >> 21u) + select(0lu, 1lu, a < c) + select(0lu, 1lu, b < a);
    let more = top * 0xfffffffflu;
    let r = b + more;
    return r + select(0lu, 0xfffffffflu, r < more);
}

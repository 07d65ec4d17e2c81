// Goldilocks in pairs of 32-bit words, products by 16-bit halves: the same functions with the same
// results as in field_u64.wgsl, for adapters without 64-bit integers.

alias F = vec2<u32>;

fn from_words(w: vec2<u32>) -> F { return w; }
fn to_words(x: F) -> vec2<u32> { return x; }

// The 64 bits of a product.
fn wide(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    // Each sum is below 2^32: (2^16 - 1)^2 and a half more.
    let mid = a0 * b1 + ((a0 * b0) >> 16u);
    let side = a1 * b0 + (mid & 0xffffu);
    return vec2<u32>(a * b, a1 * b1 + (mid >> 16u) + (side >> 16u));
}

// The sum and its carry.
fn add_carry(x: vec2<u32>, y: vec2<u32>) -> vec3<u32> {
    let low = x.x + y.x;
    let c = u32(low < x.x);
    let part = x.y + y.y;
    let high = part + c;
    return vec3<u32>(low, high, u32(part < x.y) | u32(high < c));
}

// The difference and its borrow.
fn sub_borrow(x: vec2<u32>, y: vec2<u32>) -> vec3<u32> {
    let b = u32(x.x < y.x);
    let part = x.y - y.y;
    return vec3<u32>(x.x - y.x, part - b, u32(x.y < y.y) | u32(part < b));
}

fn reduce(low: vec2<u32>, high: vec2<u32>) -> F {
    let a = low.x + low.y;
    let m = sub_borrow(vec2<u32>(low.x, a), vec2<u32>(a, 0u)).xy;
    let carry = u32(a < low.x);
    let n = vec2<u32>(m.x - carry, m.y - u32(m.x < carry));
    let r = sub_borrow(high, n);
    // Without a branch: the borrow is 0 or 1, and 2^32 - 1 is what it costs.
    let cost = 0u - r.z;
    return vec2<u32>(r.x - cost, r.y - u32(r.x < cost));
}

// x x / 2^64
fn square(x: F) -> F {
    let l = wide(x.x, x.x);
    let m = wide(x.x, x.y);
    let h = wide(x.y, x.y);
    let twice = vec3<u32>(m.x << 1u, (m.y << 1u) | (m.x >> 31u), m.y >> 31u);
    let high_low = l.y + twice.x;
    let s = add_carry(h, vec2<u32>(twice.y, twice.z));
    let c = u32(high_low < l.y);
    let h0 = s.x + c;
    return reduce(vec2<u32>(l.x, high_low), vec2<u32>(h0, s.y + u32(h0 < c)));
}

// x y / 2^64
fn multiply(x: F, y: F) -> F {
    let l = wide(x.x, y.x);
    let m = add_carry(wide(x.x, y.y), wide(x.y, y.x));
    let h = add_carry(wide(x.y, y.y), vec2<u32>(m.y, m.z));
    let middle = l.y + m.x;
    let c = u32(middle < l.y);
    let h0 = h.x + c;
    return reduce(vec2<u32>(l.x, middle), vec2<u32>(h0, h.y + u32(h0 < c)));
}

fn canonical(x: F) -> F {
    // x - p, where that does not borrow.
    let r = sub_borrow(x, vec2<u32>(1u, 0xffffffffu));
    return select(r.xy, x, r.z == 1u);
}

// The low 22 bits, the 21 above, the 21 above these.
fn limbs(x: F) -> vec3<u32> {
    return vec3<u32>(x.x & 0x3fffffu, ((x.x >> 22u) | (x.y << 10u)) & 0x1fffffu, x.y >> 11u);
}

// s.x + 2^22 s.y + 2^43 s.z + c modulo p, for s below 2^30 and c below p.
fn gather(s: vec3<u32>, c: F) -> F {
    let low = s.x + (s.y << 22u);
    let first = vec2<u32>(low, (s.y >> 10u) + u32(low < s.x));
    let a = add_carry(first, c);
    let shifted = s.z << 11u;
    let high = a.y + shifted;
    let top = (s.z >> 21u) + a.z + u32(high < shifted);
    // top (2^32 - 1), top below 2^10
    let more = vec2<u32>(0u - top, top - u32(top > 0u));
    let r = add_carry(vec2<u32>(a.x, high), more);
    let cost = 0u - r.z;
    let last = r.x + cost;
    return vec2<u32>(last, r.y + u32(last < cost));
}

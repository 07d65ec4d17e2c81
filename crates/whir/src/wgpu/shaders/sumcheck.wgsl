// The rounds of the quadratic sumcheck. A text of the base field and one of the extension stand before.
//
// A table lies in D planes: coefficient d of value i at d * len + i. Prefix order pairs value i with
// i + len / 2, suffix order 2i with 2i + 1; the strides that say so are parameters. A round's message is
// [h(0), h(inf)] = [sum f0 w0, sum (f1 - f0)(w1 - w0)]; a fold is v0 + r (v1 - v0). Each workgroup
// leaves its part of a message, which the host adds up: sums are exact, so any split gives the same.
//
// Plan: a message reads 8 D bytes a value; a fold with the next message reads 8 D and writes 4 D, with
// 1.5 extension products a value: bound by memory.

const THREADS = 256u;

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;

var<workgroup> parts: array<u32, 2u * D * THREADS>;

fn put(at: u32, x: Ext) {
    parts[at] = x.c[0];
    parts[at + THREADS] = x.c[1];
    parts[at + 2u * THREADS] = x.c[2];
    parts[at + 3u * THREADS] = x.c[3];
    if (D > 4u) { parts[at + 4u * THREADS] = ext_fifth(x); }
}

// The sums over the workgroup, the coefficients of h(0) first; those of `group` in the end. Every
// invocation calls it.
fn sum_parts(low: Ext, high: Ext, lane: u32) {
    put(lane, low);
    put(lane + D * THREADS, high);
    for (var s = THREADS / 2u; s > 0u; s >>= 1u) {
        workgroupBarrier();
        if (lane < s) {
            for (var k = 0u; k < 2u * D; k++) {
                let at = k * THREADS + lane;
                parts[at] = add(parts[at], parts[at + s]);
            }
        }
    }
    workgroupBarrier();
}

fn bind(a: Ext, b: Ext, r: Ext) -> Ext { return ext_add(a, ext_mul(ext_sub(b, a), r)); }

// ---- the tables: of the polynomial, and of its weights ----

@group(0) @binding(1) var<storage, read> f: array<u32>;
@group(0) @binding(2) var<storage, read> w: array<u32>;

fn load_f(at: u32, stride: u32) -> Ext {
    var fifth = 0u;
    if (D > 4u) { fifth = f[at + 4u * stride]; }
    return ext_make(f[at], f[at + stride], f[at + 2u * stride], f[at + 3u * stride], fifth);
}

fn load_w(at: u32, stride: u32) -> Ext {
    var fifth = 0u;
    if (D > 4u) { fifth = w[at + 4u * stride]; }
    return ext_make(w[at], w[at + stride], w[at + 2u * stride], w[at + 3u * stride], fifth);
}

// The challenge stands in words 8 to 12.
fn challenge() -> Ext {
    return ext_make(params[2].x, params[2].y, params[2].z, params[2].w, params[3].x);
}

@group(0) @binding(3) var<storage, read_write> partial: array<u32>;

// Parameters: pairs, pairs of an invocation, step from pair to pair, from one of a pair to the other.
@compute @workgroup_size(256)
fn message(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let pairs = params[0].y;
    let each = params[0].z;
    let step = params[0].w;
    let other = params[1].x;
    let len = 2u * pairs;
    var low = dot_zero();
    var high = dot_zero();
    for (var k = 0u; k < each; k++) {
        let i = (group * each + k) * THREADS + lane;
        if (i >= pairs) { break; }
        let at = i * step;
        let f0 = load_f(at, len);
        let w0 = load_w(at, len);
        low = dot_add(low, f0, w0);
        let f1 = load_f(at + other, len);
        let w1 = load_w(at + other, len);
        high = dot_add(high, ext_sub(f1, f0), ext_sub(w1, w0));
    }
    sum_parts(dot_finish(low), dot_finish(high), lane);
    if (lane < 2u * D) { partial[group * 2u * D + lane] = parts[lane * THREADS]; }
}

@group(0) @binding(3) var<storage, read_write> to_f: array<u32>;
@group(0) @binding(4) var<storage, read_write> to_w: array<u32>;

fn store_f(at: u32, stride: u32, x: Ext) {
    to_f[at] = x.c[0];
    to_f[at + stride] = x.c[1];
    to_f[at + 2u * stride] = x.c[2];
    to_f[at + 3u * stride] = x.c[3];
    if (D > 4u) { to_f[at + 4u * stride] = ext_fifth(x); }
}

fn store_w(at: u32, stride: u32, x: Ext) {
    to_w[at] = x.c[0];
    to_w[at + stride] = x.c[1];
    to_w[at + 2u * stride] = x.c[2];
    to_w[at + 3u * stride] = x.c[3];
    if (D > 4u) { to_w[at + 4u * stride] = ext_fifth(x); }
}

// Binds the next variable, both tables, 2 `pairs` values to `pairs`. Parameters as those of `message`,
// without the second.
@compute @workgroup_size(256)
fn fold(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let pairs = params[0].y;
    let i = (id.x + params[0].x) * THREADS + lane;
    if (i >= pairs) { return; }
    let at = i * params[0].w;
    let other = at + params[1].x;
    let len = 2u * pairs;
    let r = challenge();
    store_f(i, pairs, bind(load_f(at, len), load_f(other, len), r));
    store_w(i, pairs, bind(load_w(at, len), load_w(other, len), r));
}

@group(0) @binding(5) var<storage, read_write> messages: array<u32>;

// Binds the next variable and makes the message of the one after it, in one pass. The quad q is values
// q step, + other, + next, + next + other, of which the folded ones are q fold_step, + fold_other.
// Parameters: quads, quads of an invocation, step, other, next, fold_step, fold_other.
@compute @workgroup_size(256)
fn fold_message(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let quads = params[0].y;
    let each = params[0].z;
    let step = params[0].w;
    let other = params[1].x;
    let next = params[1].y;
    let fold_step = params[1].z;
    let fold_other = params[1].w;
    let len = 4u * quads;
    let half = 2u * quads;
    let r = challenge();
    var low = dot_zero();
    var high = dot_zero();
    for (var k = 0u; k < each; k++) {
        let q = (group * each + k) * THREADS + lane;
        if (q >= quads) { break; }
        let at = q * step;
        let to = q * fold_step;
        let f0 = bind(load_f(at, len), load_f(at + other, len), r);
        let f1 = bind(load_f(at + next, len), load_f(at + next + other, len), r);
        store_f(to, half, f0);
        store_f(to + fold_other, half, f1);
        let w0 = bind(load_w(at, len), load_w(at + other, len), r);
        let w1 = bind(load_w(at + next, len), load_w(at + next + other, len), r);
        store_w(to, half, w0);
        store_w(to + fold_other, half, w1);
        low = dot_add(low, f0, w0);
        high = dot_add(high, ext_sub(f1, f0), ext_sub(w1, w0));
    }
    sum_parts(dot_finish(low), dot_finish(high), lane);
    if (lane < 2u * D) { messages[group * 2u * D + lane] = parts[lane * THREADS]; }
}

// ---- the first fold, from the base field ----

@group(0) @binding(1) var<storage, read> base: array<u32>;
@group(0) @binding(2) var<storage, read> factors: array<u32>;

fn factor(i: u32) -> Ext {
    let at = i * D;
    var fifth = 0u;
    if (D > 4u) { fifth = factors[at + 4u]; }
    return ext_make(factors[at], factors[at + 1u], factors[at + 2u], factors[at + 3u], fifth);
}

// f(hi) = sum_lo factor(lo) base(hi, lo). Parameters: values of hi, of lo, step from hi to hi, from lo to
// lo. The values of lo are a power of two.
@compute @workgroup_size(256)
fn fold_base(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let len = params[0].y;
    let count = params[0].z;
    let hi = (id.x + params[0].x) * THREADS + lane;
    if (hi >= len) { return; }
    let lo_step = params[1].x;
    var at = hi * params[0].w;
    var sum = sum_zero();
    if (count == 1u) { sum = sum_add(sum, base[at], factor(0u)); }
    for (var lo = 0u; lo + 1u < count; lo += 2u) {
        sum = sum_add2(sum, base[at], factor(lo), base[at + lo_step], factor(lo + 1u));
        at += 2u * lo_step;
    }
    store_f(hi, len, sum_finish(sum));
}

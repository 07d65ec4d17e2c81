// Weights of the sumcheck: sums of eq tables and of powers, added into planes. The texts of the base
// field, the extension and eq stand before.

// Weights that one pass over a span adds up.
const TERMS = 4u;

@group(0) @binding(3) var<storage, read_write> w: array<u32>;

fn load_w(at: u32, stride: u32) -> Ext {
    var fifth = 0u;
    if (D > 4u) { fifth = w[at + 4u * stride]; }
    return ext_make(w[at], w[at + stride], w[at + 2u * stride], w[at + 3u * stride], fifth);
}

fn store_w(at: u32, stride: u32, x: Ext) {
    w[at] = x.c[0];
    w[at + stride] = x.c[1];
    w[at + 2u * stride] = x.c[2];
    w[at + 3u * stride] = x.c[3];
    if (D > 4u) { w[at + 4u * stride] = ext_fifth(x); }
}

// Four coefficients at once, then the fifth ones.
var<workgroup> outer: array<vec4<u32>, TERMS * OUTER>;
var<workgroup> fifths: array<u32, (D - 4u) * (TERMS * OUTER - 1u) + 1u>;

fn put_outer(i: u32, x: Ext) {
    outer[i] = vec4<u32>(x.c[0], x.c[1], x.c[2], x.c[3]);
    if (D > 4u) { fifths[i] = ext_fifth(x); }
}

fn outer_at(i: u32) -> Ext {
    let v = outer[i];
    var fifth = 0u;
    if (D > 4u) { fifth = fifths[i]; }
    return ext_make(v.x, v.y, v.z, v.w, fifth);
}

// Of each span: where it begins; the first of its points; how many, from 1 to TERMS.
@group(0) @binding(2) var<storage, read> spans: array<vec4<u32>>;

// w[offset + ((y + shift) << log_step)] (+)= sum_t eq_t(y), for y + shift below the end, in each span.
// Parameters: outer_bits, inner_bits, values of the high bits of a workgroup; length of a plane,
// log_step, shift, whether the sums replace what is there; workgroups for all low bits, for a span.
@compute @workgroup_size(256)
fn weights_eq(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let outer_bits = params[0].y;
    let inner_bits = params[0].z;
    let stride = params[1].x;
    let log_step = params[1].y;
    let shift = params[1].z;
    let tiles = params[2].x;
    let span = spans[group / params[2].y];
    let within = group % params[2].y;
    let low = (within % tiles) * THREADS + lane;
    let first = (within / tiles) * params[0].w;
    let count = min(params[0].w, (1u << outer_bits) - first);
    let point = (1u + outer_bits + inner_bits) * D;
    for (var i = lane; i < span.z * OUTER; i += THREADS) {
        let y = i % OUTER;
        if (y < count) {
            put_outer(i, eq_outer((span.y + i / OUTER) * point, outer_bits, first + y));
        }
    }
    workgroupBarrier();
    if ((low >> inner_bits) != 0u) { return; }
    let p = span.y * point;
    let a = eq_inner(p, outer_bits, inner_bits, low);
    var b = ext_zero();
    var c = b;
    var d = b;
    if (span.z > 1u) { b = eq_inner(p + point, outer_bits, inner_bits, low); }
    if (span.z > 2u) { c = eq_inner(p + 2u * point, outer_bits, inner_bits, low); }
    if (span.z > 3u) { d = eq_inner(p + 3u * point, outer_bits, inner_bits, low); }
    for (var o = 0u; o < count; o++) {
        let y = ((first + o) << inner_bits) + low + shift;
        if ((y >> (inner_bits + outer_bits)) != 0u) { return; }
        var v: Ext;
        if (span.z == 1u) {
            // what is made of the factor of the low bits is made once
            v = ext_mul(outer_at(o), a);
        } else {
            var dot = dot_add(dot_zero(), outer_at(o), a);
            dot = dot_add(dot, outer_at(OUTER + o), b);
            if (span.z > 2u) { dot = dot_add(dot, outer_at(2u * OUTER + o), c); }
            if (span.z > 3u) { dot = dot_add(dot, outer_at(3u * OUTER + o), d); }
            v = dot_finish(dot);
        }
        let x = span.x + (y << log_step);
        if (params[1].w == 0u) { v = ext_add(v, load_w(x, stride)); }
        store_w(x, stride, v);
    }
}

// w[x] += c for each of a list, of distinct x, which lies as points: c, then x in a word of its own.
// Parameters: how many, length of a plane.
@compute @workgroup_size(256)
fn weights_at(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = (id.x + params[0].x) * THREADS + lane;
    if (i >= params[0].y) { return; }
    let at = i * (D + 1u);
    let x = points[at + D];
    store_w(x, params[0].z, ext_add(coordinate(at), load_w(x, params[0].z)));
}

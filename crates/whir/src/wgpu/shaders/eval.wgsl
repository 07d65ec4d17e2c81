// Sums of values against eq weights. The texts of the base field, the extension and eq stand before.

// Four coefficients at once, then the fifth ones.
var<workgroup> outer: array<vec4<u32>, OUTER>;
var<workgroup> fifths: array<u32, (D - 4u) * (OUTER - 1u) + 1u>;
var<workgroup> parts: array<u32, D * THREADS>;

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

fn put(lane: u32, x: Ext) {
    parts[lane] = x.c[0];
    parts[lane + THREADS] = x.c[1];
    parts[lane + 2u * THREADS] = x.c[2];
    parts[lane + 3u * THREADS] = x.c[3];
    if (D > 4u) { parts[lane + 4u * THREADS] = ext_fifth(x); }
}

// Adds up the parts of lanes that are equal modulo `width`, a power of two. Every invocation calls it.
fn sum_parts(x: Ext, width: u32, lane: u32) {
    put(lane, x);
    for (var s = THREADS / 2u; s >= width; s >>= 1u) {
        workgroupBarrier();
        if (lane < s) {
            for (var k = 0u; k < D; k++) {
                let at = k * THREADS + lane;
                parts[at] = add(parts[at], parts[at + s]);
            }
        }
    }
    workgroupBarrier();
}

// ---- a polynomial over the base field ----

@group(0) @binding(2) var<storage, read> base: array<u32>;
// Where the parts of the polynomial begin that are summed, one for each weight.
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> partial: array<u32>;

// P[lo] = sum_y eq(y) base[start + lo * lo_step + (y + shift) * y_step], one sum a workgroup and lo;
// where y + shift is beyond the end, 0. The bits of lo that are not `lo_bits` have workgroups of their
// own.
// Parameters: outer_bits, inner_bits, values of the high bits of a workgroup; lo_step, y_step, lo_bits,
// shift; workgroups for all low bits, for all high bits, for the rest of lo.
@compute @workgroup_size(256)
fn partial_sums(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let outer_bits = params[0].y;
    let inner_bits = params[0].z;
    let lo_step = params[1].x;
    let y_step = params[1].y;
    let lo_bits = params[1].z;
    let shift = params[1].w;
    let tiles = params[2].x;
    let splits = params[2].y;
    let rest = group / (tiles * splits);
    let part = rest % params[2].z;
    let column = rest / params[2].z;
    let e = (group % tiles) * THREADS + lane;
    let lo = e & ((1u << lo_bits) - 1u);
    let y = e >> lo_bits;
    let first = ((group / tiles) % splits) * params[0].w;
    let count = min(params[0].w, (1u << outer_bits) - first);
    if (lane < count) { put_outer(lane, eq_outer(0u, outer_bits, first + lane)); }
    workgroupBarrier();
    var total = ext_zero();
    if (y < (1u << inner_bits)) {
        let limit = 1u << (inner_bits + outer_bits);
        let begin = starts[column] + (lo + (part << lo_bits)) * lo_step;
        var at = (first << inner_bits) + y + shift;
        let step = 1u << inner_bits;
        var sum = sum_zero();
        var o = 0u;
        for (; o + 1u < count && at + step < limit; o += 2u) {
            let x = base[begin + at * y_step];
            let z = base[begin + (at + step) * y_step];
            sum = sum_add2(sum, x, outer_at(o), z, outer_at(o + 1u));
            at += 2u * step;
        }
        if (o < count && at < limit) { sum = sum_add(sum, base[begin + at * y_step], outer_at(o)); }
        total = ext_mul(sum_finish(sum), eq_inner(0u, outer_bits, inner_bits, y));
    }
    let width = min(1u << lo_bits, THREADS);
    sum_parts(total, width, lane);
    if (lane < width) {
        for (var d = 0u; d < D; d++) {
            partial[(group * width + lane) * D + d] = parts[d * THREADS + lane];
        }
    }
}

@group(0) @binding(2) var<storage, read> sums: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

// out[z << lo_bits | lo] = the sum of the `count` partial ones of lo in part z; a workgroup each.
// Parameters: lo_bits, count.
@compute @workgroup_size(256)
fn partial_finish(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let lo_bits = params[0].y;
    let count = params[0].z;
    let lo = group & ((1u << lo_bits) - 1u);
    let first = (group >> lo_bits) * count;
    var total = ext_zero();
    for (var i = lane; i < count; i += THREADS) {
        let at = (((first + i) << lo_bits) + lo) * D;
        var fifth = 0u;
        if (D > 4u) { fifth = sums[at + 4u]; }
        let x = ext_make(sums[at], sums[at + 1u], sums[at + 2u], sums[at + 3u], fifth);
        total = ext_add(total, x);
    }
    sum_parts(total, 1u, lane);
    if (lane < D) { out[group * D + lane] = parts[lane * THREADS]; }
}

// Words of the polynomial as they lie. Parameters: words in all, words of one start, step between them.
@compute @workgroup_size(256)
fn pick(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = (id.x + params[0].x) * THREADS + lane;
    if (i >= params[0].y) { return; }
    partial[i] = base[starts[i / params[0].z] + (i % params[0].z) * params[0].w];
}

// ---- a table in planes ----

@group(0) @binding(2) var<storage, read> f: array<u32>;

// The sum of f(y) eq(y), one a workgroup.
// Parameters: outer_bits, inner_bits, values of the high bits of a workgroup; workgroups for all low
// bits.
@compute @workgroup_size(256)
fn evaluate(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let outer_bits = params[0].y;
    let inner_bits = params[0].z;
    let tiles = params[1].x;
    let y = (group % tiles) * THREADS + lane;
    let first = (group / tiles) * params[0].w;
    let count = min(params[0].w, (1u << outer_bits) - first);
    if (lane < count) { put_outer(lane, eq_outer(0u, outer_bits, first + lane)); }
    workgroupBarrier();
    var total = ext_zero();
    if (y < (1u << inner_bits)) {
        let stride = 1u << (inner_bits + outer_bits);
        var dot = dot_zero();
        for (var o = 0u; o < count; o++) {
            let at = ((first + o) << inner_bits) + y;
            var fifth = 0u;
            if (D > 4u) { fifth = f[at + 4u * stride]; }
            let x = ext_make(f[at], f[at + stride], f[at + 2u * stride], f[at + 3u * stride], fifth);
            dot = dot_add(dot, x, outer_at(o));
        }
        total = ext_mul(dot_finish(dot), eq_inner(0u, outer_bits, inner_bits, y));
    }
    sum_parts(total, 1u, lane);
    if (lane < D) { out[group * D + lane] = parts[lane * THREADS]; }
}

// Weights of opened rows: w[x] += sum_j c_j z_j^x, added into planes. The texts of the base field and the
// extension stand before.

// Indices that share one table of powers, one an invocation.
const BLOCK = 256u;
// Runs of BLOCK indices that an invocation holds at a time.
const ROWS = 4u;
// Most terms of a pass.
const TERMS = 160u;

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
// Of each term the coefficients of c_j, then z_j.
@group(0) @binding(1) var<storage, read> terms: array<u32>;
@group(0) @binding(2) var<storage, read_write> made: array<u32>;

fn power(base: u32, exponent: u32) -> u32 {
    var result = ONE;
    var x = base;
    for (var e = exponent; e > 0u; e >>= 1u) {
        if ((e & 1u) == 1u) { result = mul(result, x); }
        x = mul(x, x);
    }
    return result;
}

// Tables of each term: z_j^x for x < BLOCK; z_j^BLOCK behind all of them. A workgroup for each term.
// Parameters: terms.
@compute @workgroup_size(256)
fn select_powers(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let j = id.x + params[0].x;
    let z = terms[j * (D + 1u) + D];
    let v = power(z, lane);
    made[j * BLOCK + lane] = v;
    if (lane == BLOCK - 1u) { made[params[0].y * BLOCK + j] = mul(v, z); }
}

@group(0) @binding(2) var<storage, read> powers: array<u32>;
@group(0) @binding(3) var<storage, read_write> w: array<u32>;

// c_j z_j^(start of a run), ROWS of them for each term: four coefficients at once, then the fifth ones.
var<workgroup> factors: array<vec4<u32>, TERMS * ROWS>;
var<workgroup> fifths: array<u32, (D - 4u) * (TERMS * ROWS - 1u) + 1u>;

fn factor(i: u32) -> Ext {
    let v = factors[i];
    var fifth = 0u;
    if (D > 4u) { fifth = fifths[i]; }
    return ext_make(v.x, v.y, v.z, v.w, fifth);
}

fn put_factor(i: u32, x: Ext) {
    factors[i] = vec4<u32>(x.c[0], x.c[1], x.c[2], x.c[3]);
    if (D > 4u) { fifths[i] = ext_fifth(x); }
}

fn scale(j: u32) -> Ext {
    let at = j * (D + 1u);
    var fifth = 0u;
    if (D > 4u) { fifth = terms[at + 4u]; }
    return ext_make(terms[at], terms[at + 1u], terms[at + 2u], terms[at + 3u], fifth);
}

fn add_to(at: u32, len: u32, sum: Sum) {
    if (at >= len) { return; }
    let x = sum_finish(sum);
    w[at] = add(w[at], x.c[0]);
    w[at + len] = add(w[at + len], x.c[1]);
    w[at + 2u * len] = add(w[at + 2u * len], x.c[2]);
    w[at + 3u * len] = add(w[at + 3u * len], x.c[3]);
    if (D > 4u) { w[at + 4u * len] = add(w[at + 4u * len], ext_fifth(x)); }
}

// A workgroup takes `runs` times ROWS runs of BLOCK indices; the factors of the runs are stepped.
// Parameters: terms, length of a plane, runs.
@compute @workgroup_size(256)
fn select_sums(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let count = params[0].y;
    let len = params[0].z;
    let runs = params[0].w;
    for (var i = lane; i < count * ROWS; i += BLOCK) {
        let j = i / ROWS;
        let start = power(powers[count * BLOCK + j], group * runs * ROWS + i % ROWS);
        put_factor(i, ext_mul_base(scale(j), start));
    }
    for (var run = 0u; run < runs; run++) {
        let first = (group * runs + run) * ROWS * BLOCK + lane;
        workgroupBarrier();
        var s0 = sum_zero();
        var s1 = s0;
        var s2 = s0;
        var s3 = s0;
        var j = 0u;
        for (; j + 1u < count; j += 2u) {
            let a = powers[j * BLOCK + lane];
            let b = powers[(j + 1u) * BLOCK + lane];
            let i = j * ROWS;
            s0 = sum_add2(s0, a, factor(i), b, factor(i + ROWS));
            s1 = sum_add2(s1, a, factor(i + 1u), b, factor(i + ROWS + 1u));
            s2 = sum_add2(s2, a, factor(i + 2u), b, factor(i + ROWS + 2u));
            s3 = sum_add2(s3, a, factor(i + 3u), b, factor(i + ROWS + 3u));
        }
        if (j < count) {
            let a = powers[j * BLOCK + lane];
            let i = j * ROWS;
            s0 = sum_add(s0, a, factor(i));
            s1 = sum_add(s1, a, factor(i + 1u));
            s2 = sum_add(s2, a, factor(i + 2u));
            s3 = sum_add(s3, a, factor(i + 3u));
        }
        add_to(first, len, s0);
        add_to(first + BLOCK, len, s1);
        add_to(first + 2u * BLOCK, len, s2);
        add_to(first + 3u * BLOCK, len, s3);
        workgroupBarrier();
        for (var i = lane; i < count * ROWS; i += BLOCK) {
            let step = powers[count * BLOCK + i / ROWS];
            let two = mul(step, step);
            put_factor(i, ext_mul_base(factor(i), mul(two, two)));
        }
    }
}

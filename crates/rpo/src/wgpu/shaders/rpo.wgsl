// RPO in bulk, one state an invocation. The arithmetic of the field stands before this text, as 64-bit
// integers or as pairs of 32-bit words.
//
// Plan: a permutation is 6384 products and 14 MDS layers and moves at most 192 bytes: never bound by
// memory. The S-box runs over one element after another, which keeps the text short for compilers that
// inline everything, and registers few; other invocations hide the latency.

const WIDTH = 12u;
const ROUNDS = 7u;
const THREADS = 64u;

// Words 1.. as the entry points say.
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
// 14 by 12, those before the S-box and those before its inverse alternate.
@group(0) @binding(1) var<storage, read> constants: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> states: array<vec2<u32>>;

var<private> s: array<F, 12>;

fn invocation(group: u32, lane: u32) -> u32 { return (group + params[0].x) * THREADS + lane; }

// The circulant matrix with first row 7 23 8 26 13 10 9 7 6 22 21 8, on one limb of the state: see
// ../../cuda/kernels/permute.cuh. Entries below 2^22, results below 2^30, in between modulo 2^32.
fn mds_limb(x: ptr<function, array<vec3<u32>, 12>>) {
    var one: array<vec3<u32>, 3>;
    var minus: array<vec3<u32>, 3>;
    var re: array<vec3<u32>, 3>;
    var im: array<vec3<u32>, 3>;
    for (var a = 0u; a < 3u; a++) {
        let even = (*x)[a] + (*x)[a + 6u];
        let odd = (*x)[a + 3u] + (*x)[a + 9u];
        one[a] = even + odd;
        minus[a] = even - odd;
        re[a] = (*x)[a] - (*x)[a + 6u];
        im[a] = (*x)[a + 9u] - (*x)[a + 3u];
    }
    // w = 1
    let twice = 2u * (one[0] + one[1] + one[2]);
    var y = array<vec3<u32>, 3>((twice - one[2]) * 8u, (twice - one[0]) * 8u, (twice - one[1]) * 8u);
    // w = -1
    let all = minus[0] + minus[1] + minus[2];
    var v = array<vec3<u32>, 3>(
        0u - all - 7u * minus[0],
        minus[0] - 8u * minus[1] - minus[2],
        all - 9u * minus[2],
    );
    // w = -i
    var p = array<vec3<u32>, 3>(
        0u - re[0] - 2u * im[0] + 8u * re[1] + 4u * im[1] + re[2] - im[2],
        0u - re[0] - im[0] - re[1] - 2u * im[1] + 8u * re[2] + 4u * im[2],
        4u * re[0] - 8u * im[0] - re[1] - im[1] - re[2] - 2u * im[2],
    );
    var q = array<vec3<u32>, 3>(
        2u * re[0] - im[0] - 4u * re[1] + 8u * im[1] + re[2] + im[2],
        re[0] - im[0] + 2u * re[1] - im[1] - 4u * re[2] + 8u * im[2],
        8u * re[0] + 4u * im[0] + re[1] - im[1] + 2u * re[2] - im[2],
    );
    for (var a = 0u; a < 3u; a++) {
        let even = y[a] + v[a];
        let odd = y[a] - v[a];
        (*x)[a] = even + p[a];
        (*x)[a + 3u] = odd - q[a];
        (*x)[a + 6u] = even - p[a];
        (*x)[a + 9u] = odd + q[a];
    }
}

// The matrix, and row `row` of the constants after it.
fn mds(row: u32) {
    var x: array<vec3<u32>, 12>;
    for (var i = 0u; i < WIDTH; i++) { x[i] = limbs(s[i]); }
    mds_limb(&x);
    for (var i = 0u; i < WIDTH; i++) {
        s[i] = gather(x[i], from_words(constants[row * WIDTH + i]));
    }
}

fn square_times(x: F, times: u32) -> F {
    var r = x;
    for (var i = 0u; i < times; i++) { r = square(r); }
    return r;
}

fn power_7(x: F) -> F {
    let two = square(x);
    return multiply(multiply(x, two), square(two));
}

// 63 squares and 9 products: see ../../cuda/kernels/permute.cuh.
fn power_inverse_7(x: F) -> F {
    let squared = square(x);
    let one = square(squared);
    let seven = multiply(multiply(x, squared), one);
    let two = multiply(square_times(one, 3u), one);
    let four = multiply(square_times(two, 6u), two);
    let eight = multiply(square_times(four, 12u), four);
    let ten = multiply(square_times(eight, 6u), two);
    let long = multiply(square_times(ten, 31u), ten);
    return multiply(square_times(multiply(square(long), ten), 2u), seven);
}

// Any representatives in, canonical ones out.
fn permute() {
    for (var r = 0u; r < ROUNDS; r++) {
        mds(2u * r);
        for (var i = 0u; i < WIDTH; i++) { s[i] = power_7(s[i]); }
        mds(2u * r + 1u);
        for (var i = 0u; i < WIDTH; i++) { s[i] = power_inverse_7(s[i]); }
    }
    for (var i = 0u; i < WIDTH; i++) { s[i] = canonical(s[i]); }
}

// Parameters: count.
@compute @workgroup_size(64)
fn permute_many(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = invocation(group.x, lane);
    if (at >= params[0].y) { return; }
    for (var i = 0u; i < WIDTH; i++) { s[i] = from_words(states[at * WIDTH + i]); }
    permute();
    for (var i = 0u; i < WIDTH; i++) { states[at * WIDTH + i] = to_words(s[i]); }
}

// ---- sponges; `states` are digests from here on ----

fn start(rate_last: u32, flag: u32) {
    for (var i = 0u; i < WIDTH; i++) { s[i] = from_words(vec2<u32>(0u)); }
    s[select(8u, 0u, rate_last == 1u)] = from_words(vec2<u32>(flag, 0u));
}

fn store_digest(at: u32, rate_last: u32) {
    for (var i = 0u; i < 4u; i++) { states[4u * at + i] = to_words(s[4u * rate_last + i]); }
}

// Of the digests in `states`: that at `to` + i becomes the merge of those at `from` + 2 i and the next.
// Parameters: count, from, to, whether the rate lies last.
@compute @workgroup_size(64)
fn merge_level(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = invocation(group.x, lane);
    if (at >= params[0].y) { return; }
    let rate_last = params[1].x;
    start(rate_last, 0u);
    let children = 4u * (params[0].z + 2u * at);
    for (var i = 0u; i < 8u; i++) { s[4u * rate_last + i] = from_words(states[children + i]); }
    permute();
    store_digest(params[0].w + at, rate_last);
}

@group(0) @binding(3) var<storage, read> elements: array<vec2<u32>>;
// Where inputs begin and end, in elements; then the inputs in the order in which they are taken.
@group(0) @binding(4) var<storage, read> inputs: array<u32>;

// Elements `first` to `first` + `len`, which are canonical.
fn hash(first: u32, len: u32, rate_last: u32, end_mark: u32, by_rest: u32) {
    let rest = len % 8u;
    start(rate_last, select(u32(rest != 0u), rest, by_rest == 1u));
    for (var done = 0u; done < len; done += 8u) {
        let left = len - done;
        for (var i = 0u; i < 8u; i++) {
            var x = vec2<u32>(select(0u, end_mark, i == left), 0u);
            if (i < left) { x = elements[first + done + i]; }
            s[4u * rate_last + i] = from_words(x);
        }
        permute();
    }
}

// Parameters: count, width (0: the inputs' own), 0, then how the sponge lays out a state and marks an end.
@compute @workgroup_size(64)
fn hash_many(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let count = params[0].y;
    var at = invocation(group.x, lane);
    if (at >= count) { return; }
    let width = params[0].z;
    var first = at * width;
    var len = width;
    if (width == 0u) {
        at = inputs[count + 1u + at];
        first = inputs[at];
        len = inputs[at + 1u] - first;
    }
    let rate_last = params[1].x;
    hash(first, len, rate_last, params[1].y, params[1].z);
    store_digest(at, rate_last);
}

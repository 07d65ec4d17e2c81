// Reed-Solomon encoding: number-theoretic transforms of many zero-extended columns. See
// ../../cuda/kernels/ntt.cu for the passes and what they move; this is the same schedule in workgroups of
// 256 invocations and 16 KiB.
//
// A pass of radix R = 2^(KA + KB): A = 2^KA points an invocation, then, through workgroup memory, B = 2^KB
// of them in A / B transforms. The host sets KA, KB, FIRST, the reversals of 4 bits and where an
// output lies (REVERSED_i, OUTPUT_i), and repeats the lines between `for` and `end`:
// indices of the private array have to be constants.

const THREADS = 256u;
const A = 1u << KA;
const B = 1u << KB;
const K = KA + KB;
const R = 1u << K;
// Transforms of a workgroup.
const LANES = THREADS / B;
// Outputs of an invocation that are neighbours.
const PER = A / B;

// Words 1..: log2 of the height, of the radices before; first pass: log2 of the entries of this piece, of
// the rows and of the width of the message, whether it lies row by row, its planes, the piece's first
// entry; all: bits of the lower table of twiddles, transforms of a plane (first) or of all columns, and
// the workgroups that they take.
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
// Powers of the height's generator g: g^i for i < 2^low, then g^(i 2^low).
@group(0) @binding(3) var<storage, read> tables: array<u32>;
// w_R^(b k) for k < 16, b < B, from word R - 16 on.
@group(0) @binding(4) var<storage, read> roots: array<u32>;

var<workgroup> words: array<u32, 4096>;

fn twiddle(e: u32) -> u32 {
    let low = params[2].y;
    return mul(tables[e & ((1u << low) - 1u)], tables[(1u << low) + (e >> low)]);
}

fn dft_a() {
    if (KA == 1u) { dft2(); }
    if (KA == 2u) { dft4(); }
    if (KA == 3u) { dft8(); }
    if (KA == 4u) { dft16(); }
}

fn dft_b() {
    if (KB == 1u) { dft2_rows(); }
    if (KB == 2u) { dft4_rows(); }
    if (KB == 3u) { dft8_rows(); }
    if (KB == 4u) { dft16(); }
}

@compute @workgroup_size(256)
fn transform(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    let log_height = params[0].y;
    let log_done = params[0].z;
    let log_stride = log_height - K;
    let lanes = params[2].z;
    let lane = thread % LANES;
    let b = thread / LANES;
    let all = group.x + params[0].x;
    let plane = all / params[2].w;
    let block = all % params[2].w;
    let q = block * LANES + lane;
    let busy = q < lanes;
    let low_bits = (1u << log_stride) - 1u;
    if (FIRST) {
        let log_entries = params[0].w;
        let log_rows = params[1].x;
        let log_width = params[1].y;
        let row_major = params[1].z == 1u;
        let j = select(q & low_bits, q >> log_entries, row_major);
        let entry = params[2].x + select(q >> log_stride, q & ((1u << log_entries) - 1u), row_major);
        let origin = (plane << (log_rows + log_width)) + select((entry << log_rows) + j, (j << log_width) + entry, row_major);
        let shift = log_stride + select(0u, log_width, row_major);
        // Row j + (r << log_stride) is one of the message for r below this; beyond there are zeros.
        var rows = u32(j < (1u << log_rows));
        if (log_rows >= log_stride) { rows = 1u << (log_rows - log_stride); }
        if (!busy) { rows = 0u; }
        //@ for i in 0..A
        s[{i}] = 0u;
        if (B * {i}u + b < rows) { s[{i}] = source[origin + ((B * {i}u + b) << shift)]; }
        //@ end
    } else if (busy) {
        let j = q & low_bits;
        let origin = ((q >> log_stride) << log_height) + j + (b << log_stride);
        let position = j & ((1u << log_done) - 1u);
        let shift = log_height - log_done - K;
        var t = twiddle((position * b) << shift);
        let next = twiddle((position * B) << shift);
        //@ for i in 0..A
        s[{i}] = mul(source[origin + ({i}u << (KB + log_stride))], t);
        t = mul(t, next);
        //@ end
    }
    dft_a();
    if (KB > 0u) {
        let w = R - 16u + b * 16u;
        let to = b * A * LANES + lane;
        //@ for i in 0..A
        words[to + {i}u * LANES] = mul(s[REVERSED_{i}], roots[w + {i}u]);
        //@ end
        workgroupBarrier();
        let origin = b * PER * LANES + lane;
        //@ for i in 0..A
        s[{i}] = words[origin + (({i}u % B) * A + {i}u / B) * LANES];
        //@ end
        dft_b();
    }
    if (FIRST) {
        // A transform's outputs are neighbours: through workgroup memory, so that runs are written. Each
        // lane's outputs are turned by its number, so that lanes meet in no bank.
        if (KB > 0u) { workgroupBarrier(); }
        let to = lane * R;
        let turn = b * PER + lane;
        //@ for i in 0..A
        words[to + ((({i}u / PER) * A + {i}u % PER + turn) & (R - 1u))] = s[OUTPUT_{i}];
        //@ end
        workgroupBarrier();
        let log_entries = params[0].w;
        let row_major = params[1].z == 1u;
        let degree = params[1].w;
        let k = thread & (R - 1u);
        //@ for i in 0..A
        {
            let l = {i}u * (THREADS / R) + thread / R;
            let q = block * LANES + l;
            if (q < lanes) {
                let j = select(q & low_bits, q >> log_entries, row_major);
                let entry = select(q >> log_stride, q & ((1u << log_entries) - 1u), row_major);
                let at = ((entry * degree + plane) << log_height) + j * R + k;
                result[at] = words[l * R + ((k + l) & (R - 1u))];
            }
        }
        //@ end
    } else if (busy) {
        let j = q & low_bits;
        let position = j & ((1u << log_done) - 1u);
        let to = ((q >> log_stride) << log_height) + ((j >> log_done) << (log_done + K)) + position;
        //@ for i in 0..A
        result[to + ((({i}u / PER) * A + b * PER + {i}u % PER) << log_done)] = s[OUTPUT_{i}];
        //@ end
    }
}

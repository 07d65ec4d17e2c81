// Merkle trees over column-major codewords.
//
// Leaf i is Plonky3's PaddingFreeSponge<16, 8, 8> of row i in overwrite mode, inner nodes are its
// TruncatedPermutation of both children. Digests are 8 words, one after another.
//
// Plan, per leaf of W words: ceil(W / 8) permutations, 4 W bytes read, 32 written; per node one
// permutation, 64 bytes read, 32 written: never bound by memory. Where a level has few nodes, what counts
// is how many dispatches there are: a workgroup climbs to the levels above its own digests.

const THREADS = 256u;

// Words 1.. as the entry points say.
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(2) var<storage, read_write> tree: array<vec4<u32>>;

fn invocation(group: u32, lane: u32) -> u32 { return (group + params[0].x) * THREADS + lane; }

fn store_digest(at: u32) {
    tree[2u * at] = vec4<u32>(s[0], s[1], s[2], s[3]);
    tree[2u * at + 1u] = vec4<u32>(s[4], s[5], s[6], s[7]);
}

fn load_half(first: bool, a: vec4<u32>, b: vec4<u32>) {
    if (first) {
        s[0] = a.x; s[1] = a.y; s[2] = a.z; s[3] = a.w;
        s[4] = b.x; s[5] = b.y; s[6] = b.z; s[7] = b.w;
    } else {
        s[8] = a.x; s[9] = a.y; s[10] = a.z; s[11] = a.w;
        s[12] = b.x; s[13] = b.y; s[14] = b.z; s[15] = b.w;
    }
}


// Rows `first` to `first` + `count` become the digests 0 to `count`. Parameters: count, first row, height,
// columns, columns of a piece.
@compute @workgroup_size(256)
fn leaves(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = invocation(group.x, lane);
    if (at >= params[0].y) { return; }
    let row = params[0].z + at;
    let columns = params[1].x;
    //@ for i in 0..16
    s[{i}] = 0u;
    //@ end
    for (var c = 0u; c < columns; c += 8u) {
        //@ for i in 0..8
        if (c + {i}u < columns) { s[{i}] = code_at(c + {i}u, row); }
        //@ end
        poseidon2_16_permute();
    }
    store_digest(at);
}


// The digest at `to` + i becomes the parent of those at `from` + 2 i and the next. Parameters: count, from,
// to.
@compute @workgroup_size(256)
fn nodes(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = invocation(group.x, lane);
    if (at >= params[0].y) { return; }
    let origin = 2u * (params[0].z + 2u * at);
    load_half(true, tree[origin], tree[origin + 1u]);
    load_half(false, tree[origin + 2u], tree[origin + 3u]);
    poseidon2_16_permute();
    store_digest(params[0].w + at);
}

var<workgroup> digests: array<vec4<u32>, 512>;

// Of a level of `len` digests from `from` on, a workgroup takes 512 and makes `levels` levels above them;
// the levels lie one after another. Parameters: len, from, levels.
@compute @workgroup_size(256)
fn climb(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let block = group.x + params[0].x;
    let levels = params[0].w;
    // The level below, where it begins, and the workgroup's part of it.
    var len = params[0].y;
    var start = params[0].z;
    var first = 512u * block;
    var count = min(512u, len);
    for (var level = 0u; level < levels; level++) {
        let above = start + len;
        count = count / 2u;
        let is_active = lane < count;
        if (is_active) {
            if (level == 0u) {
                let origin = 2u * (start + first + 2u * lane);
                load_half(true, tree[origin], tree[origin + 1u]);
                load_half(false, tree[origin + 2u], tree[origin + 3u]);
            } else {
                load_half(true, digests[4u * lane], digests[4u * lane + 1u]);
                load_half(false, digests[4u * lane + 2u], digests[4u * lane + 3u]);
            }
            poseidon2_16_permute();
        }
        workgroupBarrier();
        first = first / 2u;
        if (is_active) {
            digests[2u * lane] = vec4<u32>(s[0], s[1], s[2], s[3]);
            digests[2u * lane + 1u] = vec4<u32>(s[4], s[5], s[6], s[7]);
            store_digest(above + first + lane);
        }
        workgroupBarrier();
        start = above;
        len = len / 2u;
    }
}

// Permutes `count` states, for the self-test and for measurements: each `times` times. A state is four
// vectors of `tree`. Parameters: count, times.
@compute @workgroup_size(256)
fn permute_states(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = invocation(group.x, lane);
    if (at >= params[0].y) { return; }
    let origin = 4u * at;
    load_half(true, tree[origin], tree[origin + 1u]);
    load_half(false, tree[origin + 2u], tree[origin + 3u]);
    for (var i = 0u; i < params[0].z; i++) { poseidon2_16_permute(); }
    store_digest(2u * at);
    tree[origin + 2u] = vec4<u32>(s[8], s[9], s[10], s[11]);
    tree[origin + 3u] = vec4<u32>(s[12], s[13], s[14], s[15]);
}

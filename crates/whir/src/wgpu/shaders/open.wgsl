// Opened rows and digests, gathered so that the host has them all at once.

const THREADS = 256u;

// Words 1.. as the entry points say.
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
// A piece of a codeword, or a tree.
@group(0) @binding(3) var<storage, read> source: array<u32>;

// Of row places[i], the columns of this piece, to the row's words in the result. Parameters: rows, columns of
// the piece, its first column, all columns, height.
@compute @workgroup_size(256)
fn rows(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = (group.x + params[0].x) * THREADS + lane;
    let width = params[0].z;
    if (at >= params[0].y * width) { return; }
    let i = at / width;
    let c = at % width;
    result[i * params[1].x + params[0].w + c] = source[c * params[1].y + places[i]];
}

// The digests places[first + 2 i], to the words from places[first + 2 i + 1] on. Parameters: digests, first.
@compute @workgroup_size(256)
fn paths(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let at = (group.x + params[0].x) * THREADS + lane;
    if (at >= 8u * params[0].y) { return; }
    let i = params[0].z + 2u * (at / 8u);
    result[places[i + 1u] + at % 8u] = source[8u * places[i] + at % 8u];
}

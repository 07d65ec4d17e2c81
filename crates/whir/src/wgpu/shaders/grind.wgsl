// Proof of work: the smallest witness whose sample has enough zero bits. The texts of the base field and
// of the permutation, with its state `s` and its constants, stand before.

const THREADS = 64u;

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
// The state as it will be permuted but for the witness.
@group(0) @binding(2) var<storage, read> start: array<u32>;
// The smallest witness so far, 2^32 - 1 at first.
@group(0) @binding(3) var<storage, read_write> best: atomic<u32>;

// An invocation walks up, and stops at the first witness above the best one known: all smaller ones have
// been or will be tried by someone.
// Parameters: first witness, witnesses, those of an invocation, the word that takes them; the mask of the
// bits that are zero in word 7.
@compute @workgroup_size(64)
fn grind(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let group = id.x + params[0].x;
    let count = params[0].z;
    let each = params[0].w;
    let slot = params[1].x;
    let mask = params[1].y;
    for (var k = 0u; k < each; k++) {
        let i = (group * each + k) * THREADS + lane;
        let witness = params[0].y + i;
        if (i >= count || witness > atomicLoad(&best)) { break; }
        let x = mul(witness, R_SQUARED);
        // without an index at run time, so that the state stays in registers
        s[0] = select(start[0], x, slot == 0u);
        s[1] = select(start[1], x, slot == 1u);
        s[2] = select(start[2], x, slot == 2u);
        s[3] = select(start[3], x, slot == 3u);
        s[4] = select(start[4], x, slot == 4u);
        s[5] = select(start[5], x, slot == 5u);
        s[6] = select(start[6], x, slot == 6u);
        s[7] = select(start[7], x, slot == 7u);
        s[8] = select(start[8], x, slot == 8u);
        s[9] = select(start[9], x, slot == 9u);
        s[10] = select(start[10], x, slot == 10u);
        s[11] = select(start[11], x, slot == 11u);
        s[12] = select(start[12], x, slot == 12u);
        s[13] = select(start[13], x, slot == 13u);
        s[14] = select(start[14], x, slot == 14u);
        s[15] = select(start[15], x, slot == 15u);
        poseidon2_16_permute();
        if ((to_canonical(s[7]) & mask) == 0u) {
            atomicMin(&best, witness);
            break;
        }
    }
}

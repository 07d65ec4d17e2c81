// eq(point, y): the multilinear Lagrange basis. A text of the base field and one of the extension stand
// before.
//
// Over m bits it is a product of a factor of the high bits and one of the low bits. An invocation keeps
// its low bits, whose factor it makes once, and walks over high ones, whose factors the workgroup makes
// once for all: no table of eq ever lies in memory.

const THREADS = 256u;
// Most values of the high bits that a workgroup walks over.
const OUTER = 128u;

@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
// Points with a scale each: the scale, then the coordinates, of the most significant bit first.
@group(0) @binding(1) var<storage, read> points: array<u32>;

fn coordinate(at: u32) -> Ext {
    var fifth = 0u;
    if (D > 4u) { fifth = points[at + 4u]; }
    return ext_make(points[at], points[at + 1u], points[at + 2u], points[at + 3u], fifth);
}

// start * eq(`bits` coordinates from word `at` on, y)
fn eq_factor(at: u32, bits: u32, y: u32, start: Ext) -> Ext {
    var x = start;
    for (var i = 0u; i < bits; i++) {
        var z = coordinate(at + i * D);
        if (((y >> (bits - 1u - i)) & 1u) == 0u) { z = ext_sub(ext_one(), z); }
        x = ext_mul(x, z);
    }
    return x;
}

// The factor of the low bits; the point, of which `outer_bits` coordinates are for the high ones,
// begins at word `point`.
fn eq_inner(point: u32, outer_bits: u32, inner_bits: u32, y: u32) -> Ext {
    return eq_factor(point + (1u + outer_bits) * D, inner_bits, y, ext_one());
}

// The factor of the high bits, with the scale.
fn eq_outer(point: u32, outer_bits: u32, y: u32) -> Ext {
    return eq_factor(point + D, outer_bits, y, coordinate(point));
}

// The extension of degree 5, x^5 = 2: coefficients of x^0 to x^4. Stands after a text of the base field.
//
// Without loops, so that no compiler keeps the coefficients in indexed memory.

const D = 5u;

struct Ext { c: array<u32, 5> }

fn times_w(x: u32) -> u32 { return add(x, x); }

fn ext_zero() -> Ext { return Ext(array<u32, 5>(0u, 0u, 0u, 0u, 0u)); }

fn ext_of(x: u32) -> Ext { return Ext(array<u32, 5>(x, 0u, 0u, 0u, 0u)); }

fn ext_one() -> Ext { return ext_of(ONE); }

fn ext_make(a: u32, b: u32, c: u32, d: u32, e: u32) -> Ext {
    return Ext(array<u32, 5>(a, b, c, d, e));
}

fn ext_fifth(x: Ext) -> u32 { return x.c[4]; }

fn ext_add(a: Ext, b: Ext) -> Ext {
    return Ext(array<u32, 5>(
        add(a.c[0], b.c[0]),
        add(a.c[1], b.c[1]),
        add(a.c[2], b.c[2]),
        add(a.c[3], b.c[3]),
        add(a.c[4], b.c[4]),
    ));
}

fn ext_sub(a: Ext, b: Ext) -> Ext {
    return Ext(array<u32, 5>(
        sub(a.c[0], b.c[0]),
        sub(a.c[1], b.c[1]),
        sub(a.c[2], b.c[2]),
        sub(a.c[3], b.c[3]),
        sub(a.c[4], b.c[4]),
    ));
}

fn ext_mul_base(a: Ext, s: u32) -> Ext {
    return Ext(array<u32, 5>(
        mul(a.c[0], s),
        mul(a.c[1], s),
        mul(a.c[2], s),
        mul(a.c[3], s),
        mul(a.c[4], s),
    ));
}

// D products per coefficient, W folded into one factor, one reduction per coefficient.
fn ext_mul(a: Ext, b: Ext) -> Ext {
    let w1 = times_w(b.c[1]);
    let w2 = times_w(b.c[2]);
    let w3 = times_w(b.c[3]);
    let w4 = times_w(b.c[4]);
    var r0 = mac(wide_zero(), a.c[0], b.c[0]);
    r0 = mac(r0, a.c[1], w4);
    r0 = mac(r0, a.c[2], w3);
    r0 = mac(r0, a.c[3], w2);
    r0 = fold_high(r0);
    r0 = mac(r0, a.c[4], w1);
    r0 = fold_high(r0);
    var r1 = mac(wide_zero(), a.c[0], b.c[1]);
    r1 = mac(r1, a.c[1], b.c[0]);
    r1 = mac(r1, a.c[2], w4);
    r1 = mac(r1, a.c[3], w3);
    r1 = fold_high(r1);
    r1 = mac(r1, a.c[4], w2);
    r1 = fold_high(r1);
    var r2 = mac(wide_zero(), a.c[0], b.c[2]);
    r2 = mac(r2, a.c[1], b.c[1]);
    r2 = mac(r2, a.c[2], b.c[0]);
    r2 = mac(r2, a.c[3], w4);
    r2 = fold_high(r2);
    r2 = mac(r2, a.c[4], w3);
    r2 = fold_high(r2);
    var r3 = mac(wide_zero(), a.c[0], b.c[3]);
    r3 = mac(r3, a.c[1], b.c[2]);
    r3 = mac(r3, a.c[2], b.c[1]);
    r3 = mac(r3, a.c[3], b.c[0]);
    r3 = fold_high(r3);
    r3 = mac(r3, a.c[4], w4);
    r3 = fold_high(r3);
    var r4 = mac(wide_zero(), a.c[0], b.c[4]);
    r4 = mac(r4, a.c[1], b.c[3]);
    r4 = mac(r4, a.c[2], b.c[2]);
    r4 = mac(r4, a.c[3], b.c[1]);
    r4 = fold_high(r4);
    r4 = mac(r4, a.c[4], b.c[0]);
    r4 = fold_high(r4);
    return Ext(array<u32, 5>(redc(r0), redc(r1), redc(r2), redc(r3), redc(r4)));
}

// A sum of products of base with extension elements.
struct Sum { v: array<Wide, 5> }

fn sum_zero() -> Sum {
    let z = wide_zero();
    return Sum(array<Wide, 5>(z, z, z, z, z));
}

fn sum_add(s: Sum, a: u32, x: Ext) -> Sum {
    return Sum(array<Wide, 5>(
        fold_high(mac(s.v[0], a, x.c[0])),
        fold_high(mac(s.v[1], a, x.c[1])),
        fold_high(mac(s.v[2], a, x.c[2])),
        fold_high(mac(s.v[3], a, x.c[3])),
        fold_high(mac(s.v[4], a, x.c[4])),
    ));
}

// Two products at a time: half the folds.
fn sum_add2(s: Sum, a: u32, x: Ext, b: u32, y: Ext) -> Sum {
    return Sum(array<Wide, 5>(
        fold_high(mac(mac(s.v[0], a, x.c[0]), b, y.c[0])),
        fold_high(mac(mac(s.v[1], a, x.c[1]), b, y.c[1])),
        fold_high(mac(mac(s.v[2], a, x.c[2]), b, y.c[2])),
        fold_high(mac(mac(s.v[3], a, x.c[3]), b, y.c[3])),
        fold_high(mac(mac(s.v[4], a, x.c[4]), b, y.c[4])),
    ));
}

fn sum_finish(s: Sum) -> Ext {
    return Ext(array<u32, 5>(redc(s.v[0]), redc(s.v[1]), redc(s.v[2]), redc(s.v[3]), redc(s.v[4])));
}

// A sum of products of extension elements: coefficients of x^0 to x^8, W met once at the end.
struct Dot { v: array<Wide, 9> }

fn dot_zero() -> Dot {
    let z = wide_zero();
    return Dot(array<Wide, 9>(z, z, z, z, z, z, z, z, z));
}

fn dot_add(s: Dot, a: Ext, b: Ext) -> Dot {
    var r0 = mac(s.v[0], a.c[0], b.c[0]);
    r0 = fold_high(r0);
    var r1 = mac(s.v[1], a.c[0], b.c[1]);
    r1 = mac(r1, a.c[1], b.c[0]);
    r1 = fold_high(r1);
    var r2 = mac(s.v[2], a.c[0], b.c[2]);
    r2 = mac(r2, a.c[1], b.c[1]);
    r2 = fold_high(r2);
    r2 = mac(r2, a.c[2], b.c[0]);
    r2 = fold_high(r2);
    var r3 = mac(s.v[3], a.c[0], b.c[3]);
    r3 = mac(r3, a.c[1], b.c[2]);
    r3 = fold_high(r3);
    r3 = mac(r3, a.c[2], b.c[1]);
    r3 = mac(r3, a.c[3], b.c[0]);
    r3 = fold_high(r3);
    var r4 = mac(s.v[4], a.c[0], b.c[4]);
    r4 = mac(r4, a.c[1], b.c[3]);
    r4 = fold_high(r4);
    r4 = mac(r4, a.c[2], b.c[2]);
    r4 = mac(r4, a.c[3], b.c[1]);
    r4 = fold_high(r4);
    r4 = mac(r4, a.c[4], b.c[0]);
    r4 = fold_high(r4);
    var r5 = mac(s.v[5], a.c[1], b.c[4]);
    r5 = mac(r5, a.c[2], b.c[3]);
    r5 = fold_high(r5);
    r5 = mac(r5, a.c[3], b.c[2]);
    r5 = mac(r5, a.c[4], b.c[1]);
    r5 = fold_high(r5);
    var r6 = mac(s.v[6], a.c[2], b.c[4]);
    r6 = mac(r6, a.c[3], b.c[3]);
    r6 = fold_high(r6);
    r6 = mac(r6, a.c[4], b.c[2]);
    r6 = fold_high(r6);
    var r7 = mac(s.v[7], a.c[3], b.c[4]);
    r7 = mac(r7, a.c[4], b.c[3]);
    r7 = fold_high(r7);
    var r8 = mac(s.v[8], a.c[4], b.c[4]);
    r8 = fold_high(r8);
    return Dot(array<Wide, 9>(r0, r1, r2, r3, r4, r5, r6, r7, r8));
}

fn dot_finish(s: Dot) -> Ext {
    return Ext(array<u32, 5>(
        add(redc(s.v[0]), times_w(redc(s.v[5]))),
        add(redc(s.v[1]), times_w(redc(s.v[6]))),
        add(redc(s.v[2]), times_w(redc(s.v[7]))),
        add(redc(s.v[3]), times_w(redc(s.v[8]))),
        redc(s.v[4]),
    ));
}

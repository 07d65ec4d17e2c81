//! SHAKE256 (FIPS 202) for messages of one block, as the compiler can run it.
#![forbid(unsafe_code)]

/// Bytes to a block.
const BLOCK: usize = 136;

/// `N` bytes of SHAKE256 of `message`, which has to be shorter than a block.
pub(super) const fn shake256<const N: usize>(message: &[u8]) -> [u8; N] {
    assert!(message.len() < BLOCK);
    let mut state = [0u64; 25];
    let mut i = 0;
    while i < message.len() {
        state[i / 8] ^= (message[i] as u64) << (8 * (i % 8));
        i += 1;
    }
    state[i / 8] ^= 0x1F << (8 * (i % 8));
    state[BLOCK / 8 - 1] ^= 1 << 63;
    let mut out = [0; N];
    let mut produced = 0;
    while produced < N {
        if produced % BLOCK == 0 {
            state = keccak_f(state);
        }
        let at = produced % BLOCK;
        out[produced] = (state[at / 8] >> (8 * (at % 8))) as u8;
        produced += 1;
    }
    out
}

/// Keccak-f\[1600\]; lane (x, y) is word x + 5y.
const fn keccak_f(mut a: [u64; 25]) -> [u64; 25] {
    let mut lfsr = 1u8;
    let mut round = 0;
    while round < 24 {
        a = linear(a);
        let old = a;
        let mut i = 0;
        while i < 25 {
            let (x, row) = (i % 5, i - i % 5);
            a[i] = old[i] ^ (!old[row + (x + 1) % 5] & old[row + (x + 2) % 5]);
            i += 1;
        }
        // Iota: bits 2^j - 1 of the constant come from a shift register with x^8 + x^6 + x^5 + x^4 + 1.
        let mut j = 0;
        while j < 7 {
            if lfsr & 1 == 1 {
                a[0] ^= 1 << ((1 << j) - 1);
            }
            lfsr = (lfsr << 1) ^ ((lfsr >> 7) * 0x71);
            j += 1;
        }
        round += 1;
    }
    a
}

/// Theta, rho and pi.
const fn linear(mut a: [u64; 25]) -> [u64; 25] {
    let mut parity = [0; 5];
    let mut x = 0;
    while x < 5 {
        parity[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        x += 1;
    }
    let mut i = 0;
    while i < 25 {
        a[i] ^= parity[(i + 4) % 5] ^ parity[(i + 1) % 5].rotate_left(1);
        i += 1;
    }
    // The lanes other than 0 lie on one cycle of pi; the turn of its t-th lane is t(t + 1)/2.
    let mut out = a;
    let (mut x, mut y, mut t) = (1, 0, 1u32);
    while t < 25 {
        let (next_x, next_y) = (y, (2 * x + 3 * y) % 5);
        out[next_x + 5 * next_y] = a[x + 5 * y].rotate_left(t * (t + 1) / 2 % 64);
        (x, y) = (next_x, next_y);
        t += 1;
    }
    out
}

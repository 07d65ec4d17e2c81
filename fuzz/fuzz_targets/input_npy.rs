//! The readers of input files, NumPy's format first: no panic on any input.
#![no_main]

use fieldspar_whir::input::{Encoding, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for encoding in [Encoding::Npy, Encoding::U32, Encoding::Bytes] {
        let _ = parse(data, encoding);
    }
});

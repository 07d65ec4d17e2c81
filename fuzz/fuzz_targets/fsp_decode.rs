//! The decoder of proof files: no panic and no runaway allocation on any input, and what it accepts
//! has exactly one encoding.
#![no_main]

use fieldspar_whir::proof::AnyProofFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let encoded = match AnyProofFile::decode(data) {
        Err(_) => return,
        Ok(AnyProofFile::Four(file)) => file.encode(),
        Ok(AnyProofFile::Five(file)) => file.encode(),
    };
    assert_eq!(encoded.ok().as_deref(), Some(data));
});

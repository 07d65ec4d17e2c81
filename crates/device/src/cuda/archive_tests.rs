#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::*;

struct Raw {
    module: &'static str,
    kind: u8,
    arch: u16,
    bytes: Vec<u8>,
}

fn raw(module: &'static str, kind: u8, arch: u16) -> Raw {
    let bytes = format!("{module} {kind} {arch} ").repeat(50).into_bytes();
    Raw {
        module,
        kind,
        arch,
        bytes,
    }
}

/// Table, then images; written here from the description, not by the code under test.
fn archive(entries: &[Raw]) -> Vec<u8> {
    let mut table = b"FSPKERNL".to_vec();
    table.extend(1_u32.to_le_bytes());
    table.extend((entries.len() as u32).to_le_bytes());
    table.extend([9; 32]);
    let mut images = Vec::new();
    for entry in entries {
        let packed = compress_to_vec_zlib(&entry.bytes, 6);
        table.push(entry.module.len() as u8);
        table.extend(entry.module.as_bytes());
        table.push(entry.kind);
        table.extend(entry.arch.to_le_bytes());
        table.extend((entry.bytes.len() as u32).to_le_bytes());
        table.extend((packed.len() as u32).to_le_bytes());
        table.extend(Sha256::digest(&entry.bytes));
        images.extend(packed);
    }
    table.extend(images);
    table
}

fn sample() -> Vec<u8> {
    archive(&[
        raw("ntt", 0, 80),
        raw("ntt", 0, 86),
        raw("ntt", 0, 89),
        raw("ntt", 0, 90),
        raw("ntt", 0, 100),
        raw("ntt", 0, 120),
        raw("ntt", 1, 75),
        raw("tree", 0, 90),
    ])
}

#[test]
fn a_card_gets_the_nearest_machine_code_else_ptx() {
    let bytes = sample();
    let archive = Archive::parse(&bytes).unwrap();
    assert_eq!(archive.modules(), ["ntt", "tree"]);
    assert_eq!(archive.sources(), [9; 32]);
    for (capability, kind, arch) in [
        ((7, 5), ImageKind::Ptx, 75),
        ((8, 0), ImageKind::Cubin, 80),
        ((8, 6), ImageKind::Cubin, 86),
        ((8, 7), ImageKind::Cubin, 86),
        ((8, 9), ImageKind::Cubin, 89),
        ((9, 0), ImageKind::Cubin, 90),
        ((10, 0), ImageKind::Cubin, 100),
        ((10, 3), ImageKind::Cubin, 100),
        ((11, 0), ImageKind::Ptx, 75),
        ((12, 1), ImageKind::Cubin, 120),
        ((13, 0), ImageKind::Ptx, 75),
    ] {
        let image = archive.image("ntt", capability).unwrap();
        assert_eq!((image.kind, image.arch), (kind, arch), "{capability:?}");
        let expected = raw("ntt", u8::from(kind == ImageKind::Ptx), arch as u16);
        assert_eq!(image.bytes, expected.bytes);
    }
}

#[test]
fn what_is_missing_is_named() {
    let bytes = sample();
    let archive = Archive::parse(&bytes).unwrap();
    let old = archive.image("ntt", (7, 0)).unwrap_err().to_string();
    assert!(old.contains("capability 7.0") && old.contains("sm_80") && old.contains("compute_75"));
    let other = archive.image("tree", (8, 0)).unwrap_err();
    assert!(matches!(other, ArchiveError::NoImage { .. }));
    let unknown = archive.image("msm", (9, 0)).unwrap_err().to_string();
    assert!(unknown.contains("`msm`") && unknown.contains("ntt, tree"));
}

#[test]
fn an_archive_cut_short_or_with_bytes_left_over_is_refused() {
    let bytes = sample();
    for end in 0..bytes.len() {
        let error = Archive::parse(&bytes[..end]).unwrap_err();
        assert!(matches!(error, ArchiveError::Malformed { at, .. } if at <= end));
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert_eq!(
        Archive::parse(&longer).unwrap_err(),
        malformed(bytes.len(), "bytes after the last image")
    );
}

#[test]
fn every_changed_byte_is_noticed_or_names_something_else() {
    let bytes = archive(&[raw("ntt", 0, 90)]);
    let good = Archive::parse(&bytes).unwrap().image("ntt", (9, 0));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let Ok(archive) = Archive::parse(&changed) else {
            continue;
        };
        // The sources' hash is only reported; a name or architecture can turn into another.
        let sources = (16..48).contains(&at);
        let image = archive.image("ntt", (9, 0));
        assert!(sources == (image == good), "byte {at}");
    }
}

#[test]
fn lying_tables_are_refused() {
    let refused = |entries: &[Raw], what: &str| {
        let error = Archive::parse(&archive(entries)).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(&[raw("b", 0, 90), raw("a", 0, 90)], "out of order");
    refused(&[raw("a", 0, 90), raw("a", 0, 90)], "out of order");
    refused(&[raw("a", 2, 90)], "kind");
    refused(&[raw("", 0, 90)], "name");
    refused(&[raw("A", 0, 90)], "name");

    let mut many = sample();
    many[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = Archive::parse(&many).unwrap_err();
    assert_eq!(
        error,
        malformed(12, "more entries than there are bytes for")
    );

    // The image's length stands after the name, the kind and the architecture.
    let mut large = archive(&[raw("a", 0, 90)]);
    large[53..57].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = Archive::parse(&large).unwrap_err();
    assert_eq!(error, malformed(53, "an image of 64 MiB at most"));

    // One byte less or more than there is.
    for wrong in [-1_i32, 1] {
        let mut lying = archive(&[raw("a", 0, 90)]);
        let length = raw("a", 0, 90).bytes.len() as i32 + wrong;
        lying[53..57].copy_from_slice(&length.to_le_bytes());
        let archive = Archive::parse(&lying).unwrap();
        let error = archive.image("a", (9, 0)).unwrap_err();
        assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
    }
}

#[test]
fn an_empty_archive_holds_nothing() {
    let bytes = archive(&[]);
    let archive = Archive::parse(&bytes).unwrap();
    assert!(archive.modules().is_empty());
    assert!(archive.image("ntt", (9, 0)).is_err());
}

use super::*;

/// Returns a fatbinary of members: kind, architecture, flags, contents, and their uncompressed length.
fn fatbin(members: &[(u16, u32, u64, &[u8], u64)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, sm, flags, contents, unpacked) in members {
        let padded = contents.len().next_multiple_of(8);
        body.extend(kind.to_le_bytes());
        body.extend(0x101_u16.to_le_bytes());
        body.extend(64_u32.to_le_bytes());
        body.extend((padded as u64).to_le_bytes());
        body.extend((contents.len() as u32).to_le_bytes());
        body.extend([0; 8]);
        body.extend(sm.to_le_bytes());
        body.extend([0; 8]);
        body.extend(flags.to_le_bytes());
        body.extend([0; 8]);
        body.extend(unpacked.to_le_bytes());
        body.extend(*contents);
        body.resize(body.len() + padded - contents.len(), 0);
    }
    let mut all = HEAD.to_vec();
    all.extend([1, 0, 16, 0]);
    all.extend((body.len() as u64).to_le_bytes());
    all.extend(body);
    all
}

#[track_caller]
fn chooses(members: &[(u16, u32, u64, &[u8], u64)], want: Selection) {
    assert_eq!(choose(&fatbin(members), 90, 1 << 20), want);
}

#[test]
fn ptx_comes_first_and_the_newest_that_fits() {
    let image = |text: &[u8]| Selection::Image(text.to_vec());
    let (old, new, far) =
        ((PTX, 50, 0, &b"old ptx "[..], 0), (PTX, 80, 0, &b"new ptx "[..], 0), (PTX, 100, 0, &b"far ptx "[..], 0));
    let (own, other) = ((CUBIN, 90, 0, &b"own code"[..], 0), (CUBIN, 86, 0, &b"its code"[..], 0));
    chooses(&[own, old, new, far], image(b"new ptx "));
    chooses(&[other, own, far], image(b"own code"));
    chooses(&[other, far], Selection::Others(vec!["sm_86".into(), "PTX for sm_100".into()]));
    chooses(&[(PTX, 80, ZSTANDARD, b"?", 9)], Selection::Compressed);
    chooses(&[(PTX, 80, ZSTANDARD, b"?", 9), own], image(b"own code"));
}

#[test]
fn what_is_compressed_by_lz4_is_unpacked() {
    // "ab", then ten bytes from two back, then "!".
    let packed = [0x26, b'a', b'b', 2, 0, 0x10, b'!'];
    chooses(&[(PTX, 80, LZ4, &packed, 13)], Selection::Image(b"abababababab!".to_vec()));
    chooses(&[(PTX, 80, LZ4, &packed, 12)], Selection::Damaged);
    chooses(&[(PTX, 80, LZ4, &[0x26, b'a', b'b', 3, 0, 0], 99)], Selection::Damaged);
}

#[test]
fn damaged_ones_are_found_out() {
    let whole = fatbin(&[(CUBIN, 90, 0, b"own code", 0), (PTX, 80, 0, b"new ptx ", 0)]);
    for end in 0..whole.len() {
        let _ = choose(&whole[..end], 90, 1 << 20);
        for byte in [0, 1, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[end] = byte;
            let _ = choose(&damaged, 90, 1 << 20);
        }
    }
    assert_eq!(choose(&whole[..whole.len() - 1], 90, 1 << 20), Selection::Damaged);
}

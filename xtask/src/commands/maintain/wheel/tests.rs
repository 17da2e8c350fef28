use super::*;

/// Returns a zip file with one entry, deflated or stored.
fn zip(name: &str, text: &str, method: u16) -> Vec<u8> {
    let raw = match method {
        8 => miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6),
        _ => text.as_bytes().to_vec(),
    };
    let sizes = |out: &mut Vec<u8>| {
        out.extend(0_u32.to_le_bytes());
        out.extend((raw.len() as u32).to_le_bytes());
        out.extend((text.len() as u32).to_le_bytes());
        out.extend((name.len() as u16).to_le_bytes());
        out.extend([0; 2]);
    };
    let mut out = b"PK\x03\x04\x14\0\0\0".to_vec();
    out.extend(method.to_le_bytes());
    out.extend([0; 4]);
    sizes(&mut out);
    out.extend(name.bytes());
    out.extend(&raw);
    let directory = out.len() as u32;
    out.extend(b"PK\x01\x02\x14\0\x14\0\0\0");
    out.extend(method.to_le_bytes());
    out.extend([0; 4]);
    sizes(&mut out);
    out.extend([0; 14]);
    out.extend(name.bytes());
    let length = out.len() as u32 - directory;
    out.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    out.extend(length.to_le_bytes());
    out.extend(directory.to_le_bytes());
    out.extend([0; 2]);
    out
}

#[test]
fn both_ways_of_packing_are_read() {
    for method in [0, 8] {
        let wheel = zip("a/b.h", "int x; int x; int x; int x;", method);
        let entries = entries(&wheel).expect("a zip file");
        let [entry] = entries.as_slice() else { panic!("one entry") };
        assert_eq!(entry.name, "a/b.h");
        assert_eq!(entry.contents(&wheel).expect("whole"), b"int x; int x; int x; int x;");
    }
}

#[test]
fn nothing_is_written_outside() {
    for name in ["../b.h", "/tmp/b.h", "a/../../b.h"] {
        let error = unpack(&zip(name, "x", 0), Path::new("no/such/folder"), |_| true);
        assert!(error.is_err_and(|error| error.to_string().contains("outside")));
    }
}

#[test]
fn no_cut_or_changed_byte_makes_it_panic() {
    let wheel = zip("a/b.h", "int x; int x; int x; int x;", 8);
    let read = |wheel: &[u8]| {
        for entry in entries(wheel).into_iter().flatten() {
            let _ = entry.contents(wheel);
        }
    };
    for length in 0..wheel.len() {
        read(&wheel[..length]);
    }
    for at in 0..wheel.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut other = wheel.clone();
            other[at] = value;
            read(&other);
        }
    }
}

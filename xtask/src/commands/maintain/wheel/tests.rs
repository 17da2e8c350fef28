use std::io::Write as _;

use zip::CompressionMethod::{self, Deflated, Stored};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::*;

const TEXT: &str = "int x; int x; int x; int x;";

/// Returns a zip file with one entry.
fn zip(name: &str, method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(name, SimpleFileOptions::default().compression_method(method)).expect("an entry");
    zip.write_all(TEXT.as_bytes()).expect("memory");
    zip.finish().expect("memory").into_inner()
}

#[test]
fn both_ways_of_packing_are_read() {
    for method in [Stored, Deflated] {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(unpack(&zip("a/b.h", method), folder.path(), |_| true).expect("a zip file"), 1);
        assert_eq!(std::fs::read_to_string(folder.path().join("a/b.h")).expect("a file"), TEXT);
    }
}

#[test]
fn nothing_is_written_outside() {
    for name in ["../b.h", "/tmp/b.h", "a/../../b.h"] {
        let error = unpack(&zip(name, Stored), Path::new("no/such/folder"), |_| true);
        assert!(error.is_err_and(|error| error.to_string().contains("outside")));
    }
}

#[test]
fn no_cut_or_changed_byte_makes_it_panic() {
    let wheel = zip("a/b.h", Deflated);
    let folder = tempfile::tempdir().expect("a folder");
    let read = |wheel: &[u8]| {
        let _ = unpack(wheel, folder.path(), |name| name == "a/b.h");
    };
    (0..wheel.len()).for_each(|length| read(&wheel[..length]));
    for (at, value) in (0..wheel.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|value| (at, value))) {
        let mut other = wheel.clone();
        other[at] = value;
        read(&other);
    }
}

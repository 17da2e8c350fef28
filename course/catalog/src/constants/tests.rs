use super::*;

const SOURCE: &str = "// constexpr int BN = 1;\nconstexpr int BM = 128, BN = 64;  // tile\n// STARTER| constexpr int PAD = 4;\n\
                          constexpr int THREADS = (BM / 8) * (BN / 8);\nconstexpr int LOOP = LOOP;\nconstexpr int LARGE = 99999 * 99999;\n\
                          constexpr int LAST = 8";

#[test]
fn constants_are_computed_from_earlier_ones() {
    const THREADS: Option<u32> = constant(SOURCE, "THREADS");
    assert_eq!(THREADS, Some(128));
    assert_eq!(constant(SOURCE, "BN"), Some(64));
    assert_eq!(constant(SOURCE, "LAST"), Some(8));
    for none in ["BK", "B", "PAD", "LOOP", "LARGE", ""] {
        assert_eq!(constant(SOURCE, none), None, "{none}");
    }
}

#[test]
fn a_tile_has_three_constants() {
    let (rows, cols, threads) = (128, 64, 128);
    assert_eq!(Tile::from_source(SOURCE), Some(Tile { rows, cols, threads }));
    assert_eq!(Tile::from_source("constexpr int BM = 128;\n"), None);
}

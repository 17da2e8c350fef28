use super::*;

#[test]
fn awkward_shapes_are_awkward() {
    for work in [Work::Sgemm, Work::Transpose] {
        let shapes = awkward(work);
        assert!(shapes.iter().any(|s| s.m == 1 && s.n == 1));
        assert!(shapes.iter().any(|s| s.m > 1 && s.n == 1) && shapes.iter().any(|s| s.m == 1 && s.n > 1));
        for tile in [32, 128] {
            assert!(shapes.iter().any(|s| s.m == tile + 1 || s.n == tile + 1), "{tile} + 1");
            assert!(shapes.iter().any(|s| s.m == tile - 1 || s.n == tile - 1), "{tile} - 1");
        }
    }
}

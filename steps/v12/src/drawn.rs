//! 40 shapes that were fixed before anything was tuned: 14 of language models, and 26 drawn by a seed.

use catalog::split_mix::SplitMix64;
use harness::Shape;

const SEED: u64 = 12;

/// Returns the shapes: M rows of tokens times the weights of layers, then in turn odd sizes, skinny ones, whole pieces
/// of 16 bytes, and whole tiles.
pub(crate) fn shapes() -> Vec<Shape> {
    const LAYERS: [[usize; 2]; 3] = [[4096, 4096], [14_336, 4096], [4096, 14_336]];
    const TOKENS: [[usize; 5]; 3] =
        [[16, 64, 256, 1024, 8192], [16, 128, 512, 2048, 4096], [16, 32, 256, 2048, 0]];
    let mut found = Vec::new();
    for ([n, k], tokens) in LAYERS.into_iter().zip(TOKENS) {
        found.extend(tokens.into_iter().filter(|m| *m > 0).map(|m| Shape { m, n, k }));
    }
    let mut random = SplitMix64(SEED);
    let mut size = |least, most| random.size(least, most);
    for i in 0..26 {
        let mut three = |least, most| [(); 3].map(|()| size(least, most));
        let [m, n, k] = match i % 4 {
            0 => three(256.0, 5000.0).map(|size| size | 1),
            1 => {
                let mut sizes = [size(64.0, 400.0), size(1024.0, 8192.0), size(512.0, 8192.0)];
                sizes.rotate_left(i / 4 % 3);
                sizes.map(|size| size.next_multiple_of(8))
            }
            2 => three(128.0, 8192.0).map(|size| size / 8 * 8),
            _ => three(128.0, 6144.0).map(|size| (size / 128 * 128).max(128)),
        };
        found.push(Shape { m, n, k });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_gives_the_shapes_on_record() {
        let shapes = shapes();
        assert_eq!(shapes.len(), 40);
        assert_eq!(shapes[14].to_string(), "1431x4177x515");
        assert_eq!(shapes[39].to_string(), "128x1584x792");
    }
}

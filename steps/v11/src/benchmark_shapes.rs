//! 40 shapes that were fixed before anything was tuned: five that are hard for a reason, and 35 drawn by a seed.

use catalog::split_mix::SplitMix64;
use harness::Shape;

const SEED: u64 = 11;

/// Returns shapes of awkward kinds, then in turn odd sizes, skinny ones, whole float4s, any, and whole tiles.
pub(crate) fn shapes() -> Vec<Shape> {
    const HARD: [[usize; 3]; 5] =
        [[4095; 3], [1028; 3], [4096, 4096, 128], [4096, 128, 4096], [128, 4096, 4096]];
    let mut random = SplitMix64(SEED);
    let mut size = |least, most| random.size(least, most);
    let mut found = HARD.to_vec();
    for i in 0..35 {
        let mut three = |least, most| [(); 3].map(|()| size(least, most));
        found.push(match i % 5 {
            0 => three(256.0, 5000.0).map(|size| size | 1),
            1 => {
                let mut sizes = [size(64.0, 400.0), size(1024.0, 8192.0), size(512.0, 8192.0)];
                sizes.rotate_left(i / 5 % 3);
                sizes
            }
            2 => three(128.0, 8192.0).map(|size| size / 8 * 8),
            3 => three(128.0, 4096.0),
            _ => three(128.0, 6144.0).map(|size| (size / 128 * 128).max(128)),
        });
    }
    found.into_iter().map(|[m, n, k]| Shape { m, n, k }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_gives_the_shapes_on_record() {
        let shapes = shapes();
        assert_eq!(shapes.len(), 40);
        assert_eq!(shapes[5].to_string(), "655x559x1705");
        assert_eq!(shapes[39].to_string(), "512x1152x512");
    }
}

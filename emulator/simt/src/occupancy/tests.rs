use super::*;

#[test]
fn the_scarcest_resource_limits_blocks() {
    for (threads, registers, shared, expected) in [
        (1024, 32, 0, (2, Limit::Threads)),
        (256, 32, 0, (8, Limit::Threads)),
        (32, 16, 0, (32, Limit::Blocks)),
        (256, 64, 0, (4, Limit::Registers)),
        (256, 255, 0, (1, Limit::Registers)),
        (1024, 72, 0, (0, Limit::Registers)),
        (128, 32, 48 * 1024, (4, Limit::Shared)),
        (128, 32, 227 * 1024, (1, Limit::Shared)),
        (128, 32, 228 * 1024, (0, Limit::Shared)),
    ] {
        let Occupancy { blocks, limit } = occupancy(Footprint { threads, registers, shared });
        assert_eq!((blocks, limit), expected, "{threads} {registers} {shared}");
    }
}

use super::*;

#[test]
fn every_tile_is_stored_once_and_every_step_done_once() -> anyhow::Result<()> {
    let [bm, bn, bk] = LARGE.map(|edge| edge as usize);
    let shape = Shape { m: 2 * bm, n: 2 * bn, k: 6 * bk };
    for (kernel, whole) in [("sgemm_v11_producer", None), ("sgemm_v11_stream_k", Some(0))] {
        let all: Vec<Piece> = pieces(kernel, shape, 3, whole)?.into_iter().flatten().collect();
        let mut tiles: Vec<usize> = all.iter().filter_map(|piece| piece.tile).collect();
        tiles.sort_unstable();
        assert_eq!(tiles, [0, 1, 2, 3], "{kernel}");
        assert_eq!(all.iter().map(|piece| piece.steps).sum::<usize>(), 4 * 6, "{kernel}");
    }
    Ok(())
}

#[test]
fn turns_hide_epilogues() -> anyhow::Result<()> {
    let (common, in_turn) = (Turns::of(STORE, 2, 8)?, Turns::of(PING_PONG, 4, 8)?);
    assert!(in_turn.end < common.end, "{}, {}", in_turn.busy(), common.busy());
    // What is left of four epilogues is the last.
    assert_eq!(in_turn.end, 32 + in_turn.stored[1].last().map_or(0, |span| span[1] - span[0]));
    assert_eq!(in_turn.multiplied[1].len(), 2, "a turn is not interrupted");
    Ok(())
}

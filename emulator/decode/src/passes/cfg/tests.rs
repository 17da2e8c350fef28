use super::*;

const X: u32 = OUTSIDE;

fn check(edges: &[&[u32]], want: &[u32]) {
    assert_eq!(post_dominators(edges), want);
}

#[test]
fn early_return() {
    check(&[&[1, 2], &[], &[]], &[X, X, X]);
}

#[test]
fn endless_loop_beside_an_exit() {
    // 0 → {1, 2}; 1 ↔ 1; 2 leaves.
    check(&[&[1, 2], &[1], &[]], &[X, X, X]);
}

#[test]
fn nothing_but_an_endless_loop() {
    check(&[&[1], &[2], &[0]], &[1, 2, X]);
}

/// Post-dominance by definition: no path out of `b` avoids `d`.
fn by_definition(successors: &[Vec<u32>]) -> Vec<Vec<bool>> {
    let n = successors.len();
    let mut result = vec![vec![false; n]; n];
    for d in 0..n {
        // Blocks that reach the outside without passing d.
        let mut escapes = vec![false; n];
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..n {
                let out = successors[b].is_empty() || successors[b].iter().any(|&s| escapes[s as usize]);
                if b != d && out && !escapes[b] {
                    escapes[b] = true;
                    changed = true;
                }
            }
        }
        for b in 0..n {
            result[b][d] = !escapes[b];
        }
    }
    result
}

proptest::proptest! {
    #[test]
    fn equals_the_definition(
        n in 2usize..14,
        edges in proptest::collection::vec((0u32..14, 0u32..14), 0..30),
    ) {
        let mut successors = vec![Vec::new(); n];
        for (from, to) in edges {
            // All blocks can leave: the last block has no successors, the others lead on to it.
            let (from, to) = (from as usize % n, to % n as u32);
            if from != n - 1 { successors[from].push(to); }
        }
        for (b, list) in successors.iter_mut().enumerate().take(n - 1) {
            list.push(b as u32 + 1);
        }
        let slices: Vec<&[u32]> = successors.iter().map(|s| &s[..]).collect();
        let got = post_dominators(&slices);
        let all = by_definition(&successors);
        for b in 0..n {
            let strict: Vec<usize> = (0..n).filter(|&d| d != b && all[b][d]).collect();
            // The immediate post-dominator is post-dominated by all other strict ones.
            let want = strict.iter().copied().find(|&d| strict.iter().all(|&e| all[d][e]));
            proptest::prop_assert_eq!(got[b], want.map_or(OUTSIDE, |d| d as u32));
        }
    }
}

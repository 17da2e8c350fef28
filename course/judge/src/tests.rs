use tasks::verdict::WrongOutput;

use super::*;

/// Returns the kept diagnosis of two wrong results, each with the columns of its shape.
fn kept(one: (Clue, &str, usize), two: (Clue, &str, usize)) -> Option<String> {
    let mut kept = None;
    for (clue, diagnosis, n) in [one, two] {
        keep_more_informative(&mut kept, Mismatch { clue, subject: Subject::Unknown, wrong: wrong(n, diagnosis) });
    }
    kept.and_then(|mismatch| mismatch.wrong.diagnosis)
}

fn wrong(n: usize, diagnosis: &str) -> WrongOutput {
    WrongOutput {
        shape: Shape { m: 31, n, k: 17 },
        on: "reals".into(),
        n_wrong: 9,
        n: 31 * n,
        first: "the first".into(),
        diagnosis: (!diagnosis.is_empty()).then(|| diagnosis.to_owned()),
        map: "o".into(),
    }
}

#[test]
fn a_cause_says_more_than_zeros_and_zeros_more_than_nothing() {
    let cause = |n| (Clue::Specific, "terms are missing", n);
    let (zeros, nothing) = ((Clue::Zeros, "they are 0", 33), (Clue::Nothing, "", 33));
    assert_eq!(kept(zeros, cause(33)).as_deref(), Some("terms are missing"));
    assert_eq!(kept(cause(1), zeros).as_deref(), Some("terms are missing"));
    assert_eq!(kept(nothing, zeros).as_deref(), Some("they are 0"));
    assert_eq!(kept(cause(1), (Clue::Specific, "another", 33)).as_deref(), Some("another"));
    let of_two_rounds = |subject| {
        let shape = Shape { m: 127, n: 129, k: 9 };
        let wrong = WrongOutput { shape, ..wrong(129, "k0 is added to the column of B") };
        information(shape, Some(&Mismatch { clue: Clue::Specific, subject, wrong })).0
    };
    assert_eq!([Subject::Stores, Subject::Reads("B")].map(of_two_rounds), [Clue::Specific, Clue::Nothing]);
}

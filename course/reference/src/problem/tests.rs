use super::*;

#[test]
fn the_answer_is_that_of_three_loops() {
    let problem = Problem::<f32>::new(Shape { m: 5, n: 7, k: 3 }, Data::Reals, 1);
    for row in 0..5 {
        for col in 0..7 {
            let terms = (0..3).map(|k| problem.a[row * 3 + k].to_f64() * problem.b[k * 7 + col].to_f64());
            let want: f64 = terms.sum();
            assert!((problem.c[row * 7 + col] - want).abs() < 1e-15);
        }
    }
}

#[test]
fn an_answer_that_is_kept_is_the_one_that_was_computed() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = || Some(AnswerCache::new(folder.path().join("any")));
    let shape = Shape { m: 3, n: 5, k: 4 };
    let make = |kept| Problem::<f32>::made(1, kept, shape, Data::Reals, 4);
    let (plain, first) = (make(None), make(kept()));
    assert_eq!(plain.c, first.c);
    let again = make(kept());
    assert_eq!((&again.c, again.cpu_ms), (&first.c, first.cpu_ms));
    // A cached file of the wrong length is ignored.
    std::fs::write(folder.path().join("any"), "short").expect("the folder is there");
    assert_eq!(make(kept()).c, plain.c);
}

#[test]
fn a_plain_sum_in_single_precision_stays_inside_the_bound() {
    let shape = Shape { m: 9, n: 4, k: 1000 };
    let problem = Problem::<f32>::new(shape, Data::Reals, 2);
    for row in 0..shape.m {
        for col in 0..shape.n {
            let mut sum = 0.0f32;
            for k in 0..shape.k {
                sum += problem.a[row * shape.k + k] * problem.b[k * shape.n + col];
            }
            let error = (f64::from(sum) - problem.c[row * shape.n + col]).abs();
            assert!(error <= problem.answer().bound(row, col));
            // And the bound is not so wide that a missing term would slip through.
            assert!(problem.answer().bound(row, col) < 0.1);
        }
    }
}

#[test]
fn on_integers_a_sum_in_single_precision_is_the_answer() {
    let shape = Shape { m: 3, n: 3, k: 5000 };
    let problem = Problem::<f32>::new(shape, Data::Integers, 3);
    let mut sum = 0.0f32;
    for k in (0..shape.k).rev() {
        sum += problem.a[shape.k + k] * problem.b[k * shape.n + 2];
    }
    assert_eq!(f64::from(sum), problem.c[shape.n + 2]);
    assert_eq!(problem.answer().bound(1, 2), 0.0);
}

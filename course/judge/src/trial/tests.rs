use super::*;
use tasks::Catalogue;

const SHAPE: Shape = Shape { m: 19, n: 23, k: 6 };

fn task(work: &str) -> Task {
    let text = format!(
        "[rebuild]\nsource = \"x\"\nentry = \"x\"\nwork = \"{work}\"\ntile = [8, 16]\nblock = [32, 1, 1]\nminutes = 1\n"
    );
    let catalogue = Catalogue::parse(&text, "v05", "tasks.toml").expect("a catalogue");
    catalogue.tasks.into_iter().next().expect("a task")
}

/// Returns the result of a right kernel, with its factors as `[alpha, beta]`.
fn right<T: Accumulator>(trial: &Trial<T>, work: TaskWork, factors: [f64; 2]) -> Vec<T> {
    let Shape { m, n, k } = trial.shape;
    if work.is_transpose() {
        let fields = trial.inputs[0].len() / (m * n);
        let from = |at: usize| {
            let (element, field) = (at / fields, at % fields);
            trial.inputs[0][(element % m * n + element / m) * fields + field]
        };
        return (0..trial.start.len()).map(from).collect();
    }
    let [transpose_a, transpose_b] = work.transposed();
    let [alpha, beta] = factors;
    let element = |at: usize| {
        let (product, row, col) = (at / (m * n), at / n % m, at % n);
        let a = |i: usize| trial.inputs[0][product * m * k + if transpose_a { i * m + row } else { row * k + i }];
        let b = |i: usize| trial.inputs[1][product * k * n + if transpose_b { col * k + i } else { i * n + col }];
        let sum: f64 = (0..k).map(|i| a(i).to_f64() * b(i).to_f64()).sum();
        let before = if beta == 0.0 { 0.0 } else { beta * trial.start[at].to_f64() };
        T::from_f64(alpha * sum + before)
    };
    (0..trial.start.len()).map(element).collect()
}

fn passes<T: Accumulator>(name: &str) {
    let task = task(name);
    for trial in trials::<T>(task.work, SHAPE, 7, 1) {
        let factors = [f64::from(trial.alpha), f64::from(trial.beta)];
        let mut got = right(&trial, task.work, factors);
        assert_eq!(trial.mismatch(&task, &got), None, "{name} on {:?}", trial.data);
        got[100] = T::POISON;
        let wrong = trial.mismatch(&task, &got).expect("wrong").wrong;
        assert_eq!(wrong.n_wrong, 1, "{name} on {:?}", trial.data);
    }
}

#[test]
fn what_is_right_passes_and_one_wrong_element_does_not() {
    ["sgemm", "sgemm_nt", "sgemm_tn", "sgemm_tt", "sgemm_scaled", "sgemm_batched", "bf16gemm"]
        .iter()
        .chain(&["transpose", "transpose12"])
        .for_each(|name| passes::<f32>(name));
    ["dgemm", "dtranspose"].iter().for_each(|name| passes::<f64>(name));
}

#[test]
fn each_factor_that_is_forgotten_is_named() {
    let task = task("sgemm_scaled");
    let trials: Vec<Trial<f32>> = trials(task.work, SHAPE, 7, 1).collect();
    let message = |trial: &Trial<f32>, factors: [f64; 2]| {
        let got = right(trial, task.work, factors);
        trial.mismatch(&task, &got).and_then(|mismatch| mismatch.wrong.diagnosis)
    };
    let [zero, both, reals] = trials.as_slice() else {
        panic!("three trials");
    };
    let not_a_number = message(zero, [2.0, f64::NAN]).expect("wrong");
    assert!(not_a_number.starts_with("they are NaN: where beta is 0, C holds NaN"), "{not_a_number}");
    assert_eq!(message(zero, [1.0, 0.0]).as_deref(), Some("the product is not multiplied by alpha"));
    let alpha = f64::from(reals.alpha);
    assert_eq!(message(both, [2.0, 0.0]).as_deref(), Some("beta * C is missing"));
    assert_eq!(message(both, [2.0, 1.0]).as_deref(), Some("C is added without beta"));
    assert_eq!(message(both, [2.0, 6.0]).as_deref(), Some("beta * C is multiplied by alpha, too"));
    assert_eq!(message(both, [1.0, 0.0]).as_deref(), Some("it is A * B, without alpha and beta"));
    assert_eq!(message(reals, [alpha, 0.0]).as_deref(), Some("beta * C is missing"));
    // With beta = 0, C is NaN and must not be read.
    assert!(zero.start.iter().all(|value| value.is_nan()) && both.start.iter().all(|value| !value.is_nan()));
}

#[test]
fn pieces_have_names() {
    let batched = task("sgemm_batched");
    let trial = &trials::<f32>(batched.work, SHAPE, 7, 1).next().expect("one");
    let mut got = right(trial, batched.work, [1.0, 0.0]);
    let product = SHAPE.m * SHAPE.n;
    got.copy_within(..product, product);
    let wrong = trial.mismatch(&batched, &got).expect("wrong").wrong;
    assert_eq!(wrong.on, "small integers, product 1 of 3");

    let structs = task("transpose12");
    let trial = &trials::<f32>(structs.work, SHAPE, 7, 1).next().expect("one");
    let mut got = right(trial, structs.work, [1.0, 0.0]);
    got.chunks_mut(3).for_each(|element| element[2] = 0.0);
    let wrong = trial.mismatch(&structs, &got).expect("wrong").wrong;
    assert_eq!((wrong.on.as_str(), wrong.diagnosis.as_deref()), ("reals, field z", Some("they are 0")));
}

use super::*;

fn answer(problem: &Problem<Bf16>, result: Format) -> Answer<'_> {
    problem.answer_on_tensor_cores(Format::Bf16, result)
}

#[test]
fn sums_on_tensor_cores_stay_inside_the_bound() {
    let shape = Shape { m: 3, n: 8, k: 1000 };
    let problem = Problem::<Bf16>::new(shape, Data::Reals, 2);
    let wide = answer(&problem, Format::Fp32);
    for row in 0..shape.m {
        for col in 0..shape.n {
            // As the unit does it, but with every term cut as if it was the only one: the worst of its cuts.
            let mut sum = 0.0_f64;
            for step in 0..shape.k.div_ceil(16) {
                let ks = step * 16..shape.k.min(step * 16 + 16);
                let product = |k: usize| problem.a[row * shape.k + k].to_f64() * problem.b[k * shape.n + col].to_f64();
                let terms: Vec<f64> = ks.map(product).chain([sum]).collect();
                let most = terms.iter().fold(0.0_f64, |most, term| most.max(term.abs()));
                let unit = 2.0_f64.powi(most.log2().floor() as i32 - 25);
                let total: f64 = terms.iter().map(|term| (term / unit).trunc() * unit).sum();
                sum = f64::from_bits(total.to_bits() & !((1 << 29) - 1));
            }
            let error = (sum - problem.c[row * shape.n + col]).abs();
            assert!(error > 0.0 && error <= wide.bound(row, col), "{error}");
            // And a missing term does not slip through.
            assert!(wide.bound(row, col) < 0.05);
        }
    }
}

#[test]
fn a_result_in_bf16_is_rounded_once() {
    let shape = Shape { m: 2, n: 2, k: 500 };
    let integers = Problem::<Bf16>::new(shape, Data::Integers, 3);
    let short = answer(&integers, Format::Bf16);
    assert_eq!(short.want(1, 1), Bf16::from_f64(integers.c[3]).to_f64());
    assert_eq!(short.bound(1, 1), 0.0);
    let reals = Problem::<Bf16>::new(shape, Data::Reals, 3);
    assert!(answer(&reals, Format::Bf16).bound(0, 0) > answer(&reals, Format::Fp32).bound(0, 0));
}

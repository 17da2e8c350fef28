//! Statistics of measured values.

/// Returns the middle value, or the mean of the two in the middle; `None` for no values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[n / 2]),
        n => Some(f64::midpoint(values[n / 2 - 1], values[n / 2])),
    }
}

/// Rounds to six significant digits: clocks of devices have no more.
pub fn six_digits(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Fits non-negative constants to measured values, each the sum of constants times their terms: least squares of
/// relative errors, each times its weight, by coordinates. `measured`: terms, value, weight.
pub fn fit<const N: usize>(measured: &[([f64; N], f64, f64)]) -> [f64; N] {
    const SWEEPS: usize = 20_000;
    let mut squares = [[0.0; N]; N];
    let mut toward = [0.0; N];
    for (terms, value, weight) in measured {
        let scale = weight / value;
        for (i, term) in terms.iter().enumerate() {
            toward[i] += term * scale * weight;
            for (j, other) in terms.iter().enumerate() {
                squares[i][j] += term * other * scale * scale;
            }
        }
    }
    let mut constants = [0.0; N];
    for _ in 0..SWEEPS {
        for i in 0..N {
            if squares[i][i] > 0.0 {
                let others: f64 = (0..N).filter(|j| *j != i).map(|j| squares[i][j] * constants[j]).sum();
                constants[i] = f64::max(0.0, (toward[i] - others) / squares[i][i]);
            }
        }
    }
    constants
}

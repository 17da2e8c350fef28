use super::*;

/// Computes `gemm` by the BLAS standard: everything column-major.
fn gemm(config: GemmConfig<f32>, first: &[f32], second: &[f32], c: &mut [f32]) {
    let size = |size: i32| usize::try_from(size).expect("a size");
    let element = |matrix: &[f32], op, stride, row: usize, col: usize| match op {
        Op::CUBLAS_OP_N => matrix[row + col * size(stride)],
        _ => matrix[col + row * size(stride)],
    };
    for row in 0..size(config.m) {
        for col in 0..size(config.n) {
            let term = |k| {
                element(first, config.transa, config.lda, row, k)
                    * element(second, config.transb, config.ldb, k, col)
            };
            c[row + col * size(config.ldc)] = config.alpha * (0..size(config.k)).map(term).sum::<f32>();
        }
    }
}

fn transposed(matrix: &[f32], n_cols: usize) -> Vec<f32> {
    let column = |col| matrix.iter().skip(col).step_by(n_cols).copied();
    (0..n_cols).flat_map(column).collect()
}

#[test]
fn the_flags_give_the_product_however_the_operands_are_stored() {
    // Three sizes, so that no two can change places unnoticed.
    let shape = Shape { m: 2, n: 4, k: 3 };
    let a: Vec<f32> = (1..=6).map(|i| i as f32).collect();
    let b: Vec<f32> = (1..=12).map(|i| (i * i) as f32).collect();
    // | 1 2 3 |   |  1   4   9  16 |
    // | 4 5 6 | · | 25  36  49  64 |
    //             | 81 100 121 144 |
    let want = [294.0, 376.0, 470.0, 576.0, 615.0, 796.0, 1007.0, 1248.0];
    for (stored_a, a) in [(Stored::AsIs, a.clone()), (Stored::Transposed, transposed(&a, shape.k))] {
        for (stored_b, b) in [(Stored::AsIs, b.clone()), (Stored::Transposed, transposed(&b, shape.n))] {
            let mut c = [f32::NAN; 8];
            gemm(row_major(stored_a, stored_b, shape), &b, &a, &mut c);
            assert_eq!(c, want, "A {stored_a:?}, B {stored_b:?}");
        }
    }
}

#[test]
fn the_kernels_are_those_of_the_catalogue() {
    harness::declared::agrees("v09", &KERNELS);
}

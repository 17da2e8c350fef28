use super::*;

#[test]
fn an_array_is_that_of_its_function() {
    let text = "template <int N> __device__ void fill(float* x) { __shared__ float As[N][3]; }\n\
                template <> __device__ void fill<4>(float* x) { __shared__ float As[N][3]; }\n\
                __global__ void first() { __shared__ short As[64][40], Bs[2]; }\n\
                __global__ void second() { __shared__ float As[2][32][20]; first(); }\n\
                #ifdef WIDE\n__global__ void third() { __shared__ double Cs[8]; }\n#else\n\
                __global__ void third() { __shared__ float Cs[16]; }\n#endif";
    let source = Source::new(&text.into());
    let check = |name, function, expected: Option<(&str, usize)>| {
        let found = source.array("__shared__", name, function);
        let found = found.as_ref().map(|found| (found.ty.as_str(), found.dims.len()));
        assert_eq!(found, expected, "{name} of {function:?}");
    };
    check("As", Some("first"), Some(("short", 2)));
    check("As", Some("second"), Some(("float", 3)));
    check("As", Some("fill"), Some(("float", 2)));
    check("As", Some("elsewhere"), None);
    check("As", None, None);
    check("Bs", Some("elsewhere"), Some(("short", 1)));
    check("Cs", Some("third"), None);
}

#[test]
fn a_loop_holds_its_header_and_its_body_and_nothing_behind_it() {
    let text = "__global__ void k(int n)\n{\n    for (int i = 0; i < n; ++i) {\n        while (x[i])\n            y();\n    }\n    \
                z();\n    do {\n        y();\n    } while (x[0]);\n    w();\n}";
    let source = Source::new(&text.into());
    for (line, column, expected) in [
        (3, 21, "for (int i = 0; i < n; ++i)"),
        (4, 16, "while (x[i]), for (int i = 0; i < n; ++i)"),
        (5, 0, "while (x[i]), for (int i = 0; i < n; ++i)"),
        (7, 5, ""),
        (9, 9, "do … while (x[0])"),
        (10, 14, "do … while (x[0])"),
        (11, 5, ""),
        (99, 1, ""),
    ] {
        let loops = source.loops(line, column);
        let headers: Vec<&str> = loops.iter().map(|one| one.header.as_str()).collect();
        assert_eq!(headers.join(", "), expected, "{line}:{column}");
    }
}

#[test]
fn symbols_name_their_function() {
    for (symbol, function) in [
        ("_ZZ5tiledE6a_tile", Some("tiled")),
        ("_ZZ5tiledILi16EEvPKfPfE2As", Some("tiled")),
        ("_ZZN3gpu5tiledILi16EEEvPKfE4tile_0", Some("tiled")),
        ("_Z5tiledILi16EEviPKf", None),
        ("tile", None),
    ] {
        assert_eq!(text::function_of(symbol), function, "{symbol}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_fail(
        is_rust: bool,
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "__global__ void kernel(", "int n", ",", "float* x", ")", "{", "}", "\n", ";", "[", "]", "(", "const int i",
                "=", "threadIdx.x", "+", "*", "x", "/*", "*/", "//", "\"", "'", "é", "if (", "for (", "return", "#define N",
                "__shared__ float t", "1", " ", "_Z", "\\", "++", "\t", "99999999999999999999", "N", "sizeof",
                "fn kernel<const N: i32>(", "x: *mut f32", " -> ", "let mut i: i32", "while i < n {", "for i in 0..n {", ".at(",
                "shared!(", "launch_bounds!(", "opaque(", "thread_idx()", "as", "loop {", "else {", "::<", "extern \"ptx-kernel\" ",
            ]),
            0..60,
        ),
    ) {
        let text = if is_rust { "#![no_std]" } else { "" }.to_owned() + &pieces.concat();
        let mut source = Source::new(&text.as_str().into());
        let _ = (source.parameters("kernel"), source.arrays(""), source.arrays("__shared__"));
        let _ = (source.constant("N"), source.index_variable(0), source.definition("kernel", "i"));
        assert_eq!(source.clean.matches('\n').count(), text.matches('\n').count());
        let _ = source.spelled(&text);
        for line in 0..=source.n_lines() + 1 {
            let _ = (source.uses(line, "x"), source.condition(line), source.enclosing_condition(line));
            let _ = (source.around(line, 3).len(), source.statement_end(line, 1));
            let _ = (source.returns("kernel", line), source.line(line));
            source.loops(line, 3).into_iter().for_each(|one| drop(source.unchanged_in_loop(one)));
        }
        let _ = (plain_name(&text), source.lines_storing("x"), source.conditions("kernel", 3));
        source.instantiate(&text);
    }
}

#[test]
fn a_choice_in_a_line_is_a_condition_of_its_first_case() {
    let held = |line: &str| {
        let text = format!("__global__ void k(float* x)\n{{\n    {line}\n}}\n");
        let found = Source::new(&text.as_str().into()).conditions("k", 3);
        found.into_iter().map(|found| found.text).collect::<Vec<_>>()
    };
    assert_eq!(held("y[i] = r < rows && c < cols ? x[r * rows + c] : 0.0f;"), ["r < rows", "c < cols"]);
    assert_eq!(held("y[i] = (r < rows) ? x[r] : 0.0f;"), ["r < rows"]);
    for other in [
        "y[r + 1] = r < rows ? x[r] : 0.0f;",
        "y[i] = r < rows ? 0.0f : x[r];",
        "y[i] = r < 9 || c < 9 ? x[r] : 0.0f;",
        "y[i] = x[r];",
    ] {
        assert_eq!(held(other), Vec::<String>::new(), "{other}");
    }
}
#[test]
fn a_kernel_in_rust_reads_as_cpp() {
    let text = "#![no_std]
const BK: i32 = 8;
fn tiled<const N: i32>(
    K: i32, A: *const f32, C: *mut f32,
) {
    shared!(a_tile: f32[2][BK][N + 4], align 16); // transposed
    let row = opaque(thread_idx().x / N, N) * 2;
    let mut k0 = 0;
    while k0 < K {
        *a_tile.at(0, row, k0) = if row < K { *A.row(row, K).at(k0) } else { 0.0 };
        barrier();
        for k in (0..=BK).step_by(2 as usize) {
            store4(a_tile.at(1, row, k), load4(C.at(k as i32)));
        }
        k0 += BK;
    }
}
pub unsafe extern \"ptx-kernel\" fn k(K: i32, A: *const f32, C: *mut f32) {
    tiled::<16>(K, A, C)
}
";
    let source = Source::new(&text.into());
    insta::assert_snapshot!(source.clean, @r#"
    #![no_std]
    const int BK = 8;
    template <int N> void tiled(int K, float* A, float* C) 

    {
        __shared__ float a_tile[2][BK][N + 4];              
        const auto row = (threadIdx.x / N) * 2;
        auto k0 = 0;
        for (k0 = 0; k0 < K; k0 += BK) {
            a_tile[0][row][k0] = (row < K) ? (A[row * K + k0]) : (0.0);
            __syncthreads();
            for (int k = 0; k <= BK; k += 2) {
                store4(&a_tile[1][row][k], load4(&C[k ]));
            }
            k0 += BK;
        }
    }
    pub unsafe extern              __global__ void k(int K, float* A, float* C) {
        tiled<16>(K, A, C)
    ;}
    "#);
    let [used] = &source.uses(13, "a_tile")[..] else { panic!("one use") };
    assert_eq!(&source.line(13).unwrap()[used.shown.0..used.shown.1], "a_tile.at(1, row, k)");
    let around = |column| source.around(13, column).last().map(|one| one.header.clone());
    assert_eq!(around(20), Some("for (int k = 0; k <= BK; k += 2)".into()));
}

#[test]
fn messages_have_the_spelling_of_rust() {
    let text =
        "#![no_std]\nfn f() {\n    for k in (0..9).step_by(2) {\n        *A.at(k) = *B.row(i, n).at(k);\n    }\n}\n";
    let source = Source::new(&text.into());
    let check = |cpp, rust: &str| assert_eq!(source.spelled(cpp).replace('\u{a0}', " "), rust);
    check("`A[i]` is `A[3]`, or `b[i]`; `f(&A[i][j + 1])`", "`*A.at(i)` is `A[3]`, or `b[i]`; `f(A.at(i, j + 1))`");
    check("`B[j * n + k]` or `B[j]`", "`*B.row(j, n).at(k)` or `*B.at(j)`");
    check("A[i], `for (int k = 0; k < 9; k += 2)`: __syncthreads()", "A[i], `for k in (0..9).step_by(2)`: barrier()");
}

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
        pieces in proptest::collection::vec(
            proptest::sample::select(vec![
                "__global__ void kernel(", "int n", ",", "float* x", ")", "{", "}", "\n", ";", "[", "]", "(", "const int i",
                "=", "threadIdx.x", "+", "*", "x", "/*", "*/", "//", "\"", "'", "é", "if (", "for (", "return", "#define N",
                "__shared__ float t", "1", " ", "_Z", "\\", "++", "\t", "99999999999999999999", "N", "sizeof",
            ]),
            0..60,
        ),
    ) {
        let text: String = pieces.concat();
        let mut source = Source::new(&text.as_str().into());
        let _ = (source.parameters("kernel"), source.arrays(""), source.arrays("__shared__"));
        let _ = (source.constant("N"), source.index_variable(0), source.definition("kernel", "i"));
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

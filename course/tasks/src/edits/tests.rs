use super::*;

const KERNEL: &str = include_str!("kernel.txt");

fn task() -> Task {
    Task { entry: "sgemm".into(), tile: [64, 16], block: [256, 1, 1], ..Task::default() }
}

fn clues(code: &str, lines: &[u32]) -> Clues {
    Clues { code: code.to_owned(), lines: lines.to_vec(), ..Clues::default() }
}

fn table<const N: usize>(name: &str) -> Vec<[String; N]> {
    let tables: toml::Table = include_str!("mistakes.toml").parse().expect("TOML");
    let rows = tables[name].as_array().expect("rows").iter();
    rows.map(|row| row.clone().try_into::<Vec<String>>().expect("texts").try_into().expect("N each")).collect()
}

/// A right and a wrong kernel, as replacements in [`KERNEL`].
#[derive(serde::Deserialize)]
struct Several {
    code: String,
    line: u32,
    right: Vec<[String; 2]>,
    wrong: Vec<[String; 2]>,
}

fn several() -> Vec<Several> {
    let tables: toml::Table = include_str!("mistakes.toml").parse().expect("TOML");
    tables["several"].clone().try_into().expect("rows")
}

/// Returns whether one of the first edits of a wrong kernel gives the right one.
fn repairs(right: &str, wrong: &str, code: &str, line: u32) -> bool {
    is_among(96, right, wrong, &clues(code, &[line]))
}

/// Returns whether one of `most` edits of a wrong kernel gives the right one.
fn is_among(most: usize, right: &str, wrong: &str, clues: &Clues) -> bool {
    let edits = edits(wrong, "", &task(), clues, most);
    edits.iter().any(|changes| are_same_code(&apply(wrong, changes), right))
}

#[test]
fn usual_mistakes_are_undone_by_one_of_the_first_edits() {
    let mistakes = table::<3>("mistakes");
    let missed = mistakes.iter().filter(|[code, right, wrong]| {
        let at = KERNEL.find(right).expect("it is there");
        let text = KERNEL.replacen(right, wrong, 1);
        !repairs(KERNEL, &text, code, KERNEL[..at].matches('\n').count() as u32 + 1)
    });
    assert_eq!(missed.collect::<Vec<_>>(), Vec::<&[String; 3]>::new());
}

#[test]
fn mistakes_in_several_places_are_undone_at_once() {
    let missed = several().into_iter().filter(|row| {
        let [right, wrong] = [&row.right, &row.wrong]
            .map(|edits| edits.iter().fold(KERNEL.to_owned(), |text, [from, to]| text.replace(from, to)));
        right == wrong || !repairs(&right, &wrong, &row.code, row.line)
    });
    assert_eq!(missed.map(|row| row.wrong).collect::<Vec<_>>(), Vec::<Vec<[String; 2]>>::new());
}

#[test]
fn a_round_too_many_is_left_out_by_one_of_the_very_first() {
    let wrong = KERNEL.replacen("k < BK; ++k", "k <= BK; ++k", 1);
    assert!(is_among(8, KERNEL, &wrong, &clues(WRONG_RESULT, &[])));
}

#[test]
fn distances_counters_and_factors_are_put_where_they_belong() {
    let clues = Clues { distances: [60].into(), ..clues(WRONG_RESULT, &[]) };
    for [right, wrong] in table::<2>("bodies") {
        let [right, wrong] = [right, wrong]
            .map(|body| format!("void f(float t[9][99], float v[8], int row, int col, int k) {{\n{body}\n}}\n"));
        assert!(is_among(96, &right, &wrong, &clues), "{wrong}");
    }
}

#[test]
fn floats_in_a_template_for_doubles_are_widened() {
    let task = task().fp64_task().expect("it has an FP64 kernel");
    let with = |[template, helper, kernel]: [&str; 3]| {
        format!(
            "{helper}\ntemplate <typename Real>\n__device__ void gemm(const Real* A)\n{{\n    {template}\n}}\n\
             __global__ void sgemm(float* C)\n{{\n}}\n__global__ void dgemm(double* C)\n{{\n    {kernel}\n}}\n"
        )
    };
    let wrong = ["float acc = fmaf(x, (float)A[0], 1);", "__device__ float f(float x) { return x; }", "g((float*)C);"];
    let right = [
        "Real acc = fma(x, (Real)A[0], 1);",
        "template <typename T> __device__ T f(T x) { return x; }",
        "g((double*)C);",
    ];
    for n in 1..8 {
        let text = [0, 1, 2].map(|at| if n >> at & 1 == 1 { wrong[at] } else { right[at] });
        let edits = edits(&with(text), "", &task, &clues(WRONG_RESULT, &[]), 16);
        assert!(edits.iter().any(|changes| are_same_code(&apply(&with(text), changes), &with(right))), "{text:?}");
    }
}

#[test]
fn what_is_left_of_the_starter_is_told_once_something_is_done() {
    let starter = "a;\n// TODO(v05): add\n//   b\nc;\nd;\n// TODO(v05): change e\ne;\nf;\n";
    assert_eq!(left_to_do("a;\nb;\nc;\nd;\n\ne;  // here\nf;\n", starter), [(6, "change e".to_owned())]);
    assert_eq!(left_to_do("a;\nc;\nd;\ne + 1;\nf;\n", starter), [(2, "add b".to_owned())]);
    assert_eq!(left_to_do("a;\nc;\nd;\ne;\nf;\n", starter), []);
    let last = "a;\n// TODO(v05): add\nb {\nc;\n}\n// TODO(v05): store\n}\n";
    assert_eq!(left_to_do("a;\nx {\n}\nb {\nc;\n}\n}\n", last), [(5, "store".to_owned())]);
    assert_eq!(left_to_do("a;\nx {\n}\nb {\nc;\n}\nd;\n}\n", last), []);
}

#[test]
fn the_rows_of_a_pass_are_among_the_first_where_elements_were_not_written() {
    let with = |width: &str| KERNEL.replacen("i < 4; ++i) {\n", &format!("i < BM; i += 1024 / {width}) {{\n"), 1);
    let mut clues = clues("E-UNINIT", &[26, 31]);
    clues.array = Some("a_tile".to_owned());
    assert!(is_among(48, &with("BN"), &with("BM"), &clues));
    // Loops that end early or leave rows out, and one pass, right and wrong.
    let of = "a_tile[own_row + i * 16][own_col] = load_or_zero(A, M, K, row + i * 16, k0 + own_col);\n";
    let with = |head: &str, body: &str| {
        let start = KERNEL.find("for (int i = 0; i < 4; ++i) {\n            a_tile").expect("the loop");
        let end = KERNEL[start..].find("}\n").expect("its end") + start + 2;
        format!("{}{head}{body}{}", &KERNEL[..start], &KERNEL[end..])
    };
    for [right, wrong, body] in [
        ["for (int i = 0; i < BM / 16; ++i) ", "for (int i = 0; i < 2; ++i) ", of],
        [
            "for (int i = 0; i < BM; i += 256 / 16) ",
            "for (int i = 0; i < BK; i += 256 / 16) ",
            &of.replace("i * 16", "i"),
        ],
        ["for (int i = 0; i < BM; i += 256 / 16) ", "for (int i = 0; i < BM; i += BM) ", &of.replace("i * 16", "i")],
        ["if (own_row < BM) ", "if (own_row < BM / 8) ", &of.replace(" + i * 16", "")],
        [
            "for (int n = 0; n < BM * BK; n += 256) ",
            "for (int n = 0; n < BM * BK / 4; n += 256) ",
            "a_tile[n / BK][n % BK] = 1;\n",
        ],
    ] {
        assert!(is_among(16, &with(right, body), &with(wrong, body), &clues), "{wrong}");
    }
    let one = "a_tile[own_row][own_col] = f(row, own_row * K);\n";
    let all = "for (int i = 0; i < BM; i += 256 / 16) a_tile[own_row + i][own_col] = f(row, (own_row + i) * K);\n";
    assert!(is_among(16, &with(all, ""), &with(one, ""), &clues));
    let one = "a_tile[threadIdx.x / BK][threadIdx.x % BK] = g(threadIdx.x);\n";
    let all = "for (int t = threadIdx.x; t < BM * BK; t += 256) a_tile[t / BK][t % BK] = g(t);\n";
    assert!(is_among(16, &with(all, ""), &with(one, ""), &clues));
}

#[test]
fn a_buffer_that_nothing_changes_is_changed_where_the_loop_ends() {
    let right = KERNEL
        .replace("a_tile[BM]", "a_tile[2][BM]")
        .replace("a_tile[own", "a_tile[buffer][own")
        .replace("    for (int k0", "    int buffer = 0;\n    for (int k0")
        .replace("        __syncthreads();\n    }", "        __syncthreads();\n        buffer ^= 1;\n    }");
    let wrong = right.replace("        buffer ^= 1;\n", "");
    assert!(right != wrong && repairs(&right, &wrong, "E-RACE", 0));
    let written = "        __syncthreads();  // written\n";
    let early = wrong.replace(written, &format!("{written}        buffer ^= 1;\n"));
    assert!(repairs(&right, &early, "E-UNINIT", 0));
}

#[test]
fn what_a_loop_loads_before_it_stores_the_last_is_moved() {
    let load = "        next = load_or_zero(B, K, N, k0 + BK + own_row, col);\n";
    let store = "        b_tile[own_row][own_col] = next;\n";
    let right = KERNEL
        .replace("    for (int k0", "    float next = load_or_zero(B, K, N, own_row, col);\n    for (int k0")
        .replace(
            "        b_tile[own_row][own_col] = load_or_zero(B, K, N, k0 + own_row, col);\n",
            &(store.to_owned() + load),
        );
    let wrong =
        right.replace(&(store.to_owned() + load), store).replace("k0 += BK) {\n", &format!("k0 += BK) {{\n{load}"));
    assert!(right != wrong && repairs(&right, &wrong, WRONG_RESULT, 0));
    assert!(repairs(&right, &right.replace("k0 + BK + own_row", "k0 + own_row"), WRONG_RESULT, 0));
    let barrier = "        __syncthreads();  // written\n";
    let end = "        __syncthreads();\n    }\n";
    let late = right.replace(load, "").replace(end, &(load.to_owned() + end));
    assert!(repairs(&right.replace(load, "").replace(barrier, &(barrier.to_owned() + load)), &late, "load-ahead", 0));
}

#[test]
fn edits_are_of_code_and_begin_where_the_learner_wrote() {
    let own = KERNEL.replacen("load_or_zero(B, K, N,", "load_or_zero(B, N, K,", 1);
    let line = own.lines().position(|line| line.contains("(B, N, K,")).expect("it is there");
    let all: Vec<Changes> = edits(&own, KERNEL, &task(), &clues(WRONG_RESULT, &[]), usize::MAX);
    let lines =
        |changes: &Changes| changes.iter().map(|(at, _)| own[..at.start].matches('\n').count()).collect::<Vec<_>>();
    assert!(all.iter().take(20).all(|changes| lines(changes) == [line] || lines(changes) == [line, line]));
    let code = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert!(all.iter().all(|changes| code(&apply(&own, changes)) == code(&own)), "comments and headers are left alone");
    let texts: HashSet<String> = all.iter().map(|changes| apply(&own, changes)).collect();
    assert_eq!((texts.len(), texts.contains(&own)), (all.len(), false));
}

#[test]
fn one_kernel_is_left_where_it_was() {
    let alone = with_one_kernel(KERNEL, "sgemm");
    assert!(!alone.contains("other") && alone.lines().count() == KERNEL.lines().count());
    assert_eq!(alone.find("sgemm(int"), KERNEL.find("sgemm(int"));
    assert!(are_same_code(KERNEL, &KERNEL.replace("  // written", "")) && !are_same_code(KERNEL, &alone));
    // What follows a quote in a number, or a lone one, is code.
    for before in ["int n = 1'024;", "char c = '\\\\';", "it's\n"] {
        assert!(!are_same_code(&format!("{before} f(1);"), &format!("{before} f(2);")), "{before}");
    }
}

#[test]
fn what_a_todo_asks_for_is_left_to_the_learner() {
    let store = "a_tile[own_row + i * 16][own_col]";
    let line = KERNEL.lines().find(|line| line.contains(store)).expect("it is there");
    let placeholder = line.replacen(store, "a_tile[own_col][own_row + i * 16]", 1);
    let todo = "            // TODO(v05): store it\n";
    let starter = KERNEL.replacen(line, &(todo.to_owned() + &placeholder), 1);
    let is_solved = |copy: &str, starter: &str| {
        let all = edits(copy, starter, &task(), &clues(WRONG_RESULT, &[]), usize::MAX);
        all.iter().any(|changes| are_same_code(&apply(copy, changes), KERNEL))
    };
    let without_comment = starter.replacen(todo, "", 1);
    assert!(is_solved(&without_comment, ""), "the edit is one of those that are made");
    // The comment may be gone.
    assert!(!is_solved(&starter, &starter) && !is_solved(&without_comment, &starter));
    // What a learner wrote below the comment is corrected.
    let empty = KERNEL.replacen(line, todo, 1);
    assert!(is_solved(&starter, &empty));
    // A barrier to write, and one that was forgotten elsewhere.
    let barrier = "        __syncthreads();  // written\n";
    let starter = KERNEL.replacen(barrier, "        // TODO(v05): wait\n", 1);
    assert!(is_solved(&starter.replacen("        // TODO(v05): wait\n", "", 1), "") && !is_solved(&starter, &starter));
}

#[test]
fn a_barrier_after_a_loop_without_braces_stands_beside_the_loop() {
    let copy = KERNEL.replacen("        __syncthreads();  // written\n", "", 1);
    let copy = copy.replacen("        b_tile[", "        for (int j = 0; j < 1; ++j)\n            b_tile[", 1);
    let all = edits(&copy, "", &task(), &clues("E-RACE", &[]), usize::MAX);
    let line = copy.lines().position(|line| line.starts_with("            b_tile[")).expect("it is there");
    let end: usize = copy.split_inclusive('\n').take(line + 1).map(str::len).sum();
    let there = all.iter().find(|changes| matches!(&changes[..], [(range, _)] if *range == (end..end)));
    assert_eq!(there.map(|changes| changes[0].1.as_str()), Some("        __syncthreads();\n"));
}

#[test]
fn no_text_makes_it_panic() {
    let pieces =
        ["#if 0\na ?", "< ?", "? :", "x = ;", "K / ", "for (;;) {", "a[", "}", "int j = ", "& ", "1 + 2 >> 3;"];
    let beginnings = (0..KERNEL.len()).step_by(97).map(|end| KERNEL[..end].to_owned());
    for text in pieces.iter().map(|text| (*text).to_owned()).chain(beginnings) {
        for code in [WRONG_RESULT, "E-RACE", "E-UNINIT"] {
            let clues = clues(code, &[1, 20, 9999]);
            edits(&text, KERNEL, &task(), &clues, 8);
            barriers(&text, KERNEL, &task(), &clues, 8);
        }
    }
}

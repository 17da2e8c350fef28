//! No source makes the compiler panic or take long, and what it compiles is PTX that exists.

use std::time::{Duration, Instant};

/// Damaged copies of each kernel.
const COPIES: u32 = 8;
/// Far more than any takes.
const LIMIT: Duration = Duration::from_secs(60);

fn kernels() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let files = std::fs::read_dir(folder).expect("kernels").flatten();
    let mut found: Vec<(String, String)> = files
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, std::fs::read_to_string(entry.path()).ok()?)))
        .filter(|(name, _)| name.starts_with("v0") && name.ends_with(".cu") || name == "common.cuh")
        .collect();
    found.sort();
    found
}

/// Splits a text into words, spaces and signs.
fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        found.push(&rest[..end]);
        rest = &rest[end..];
    }
    found
}

type Compiled = Result<cuda::Compiled, (Vec<cuda::Message>, cuda::Sources)>;

fn in_time(name: &str, text: &str, headers: &[(String, String)]) -> Compiled {
    let start = Instant::now();
    let compiled = cuda::compile(&cuda::Input { name, text, headers });
    assert!(start.elapsed() < LIMIT, "{:?} for\n{text:.1000}", start.elapsed());
    compiled
}

fn compile(name: &str, text: &str, headers: &[(String, String)]) -> bool {
    match in_time(name, text, headers) {
        Ok(compiled) => {
            let printed = compiled.module.to_string();
            let module = ptx::parse(&printed).unwrap_or_else(|error| panic!("{error} in PTX of\n{text}"));
            ptx::table::check(&module).unwrap_or_else(|error| panic!("{error:?} in PTX of\n{text}"));
            true
        }
        Err((messages, sources)) => {
            assert!(!messages.is_empty());
            for message in &messages {
                let _ = cuda::render::render(message, &sources);
            }
            false
        }
    }
}

#[test]
fn damaged_kernels_never_panic() {
    let all = kernels();
    let headers: Vec<(String, String)> = all.iter().filter(|(name, _)| name == "common.cuh").cloned().collect();
    let mut state = 1u32;
    let mut random = move |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n.max(1)
    };
    let (mut compiled, mut refused) = (0, 0);
    for (name, text) in all.iter().filter(|(name, _)| name.ends_with(".cu")) {
        assert!(compile(name, text, &headers), "{name}");
        let original = pieces(text);
        for _ in 0..COPIES {
            let mut damaged = original.clone();
            for _ in 0..=random(3) {
                let at = random(damaged.len());
                match random(4) {
                    0 => {
                        damaged.remove(at);
                    }
                    1 => damaged.insert(at, original[random(original.len())]),
                    2 => damaged[at] = original[random(original.len())],
                    _ => {
                        let other = random(damaged.len());
                        damaged.swap(at, other);
                    }
                }
            }
            match compile(name, &damaged.concat(), &headers) {
                true => compiled += 1,
                false => refused += 1,
            }
        }
    }
    // Most damage is in comments.
    assert!(compiled > 20 && refused > 20, "{compiled} compiled, {refused} refused");
}

/// Files that are large, or become so: in each, `@text@n@` stands for `text` n times, with the number of the copy for
/// `%`. What does not begin with `:` is the body of a kernel.
const LARGE: [&str; 47] = [
    "bool p = n > 0, q = i > 0; @p = (p && q) && (p && n > %);@60@ if (p) { b[0] = 1; if (n > 300) b[1] = 2; }",
    "@n = (n + 1) * 3 + (n * 5 + i + 2);@40@ b[n] = 1;",
    "@b[%] = n;@10000@",
    "@b[%] = n; a[%] = 1;@5000@",
    "@a[%] = a[%] + a[n];@5000@",
    "float s = 0; @s += a[%];@10000@ a[0] = s;",
    "float s = 0; @s += a[i * %];@4000@ @a[i * %] = s;@4000@",
    "int* p = b; @p += n; *p = n;@8000@",
    "@n ^= n << 3; n *= i;@6000@ b[n * 4] = n;",
    "@if (b[%]) n += 1;@3000@ b[0] = n;",
    "@if (b[i]) b[i] = n * 3 + i;@3000@",
    "@int x% = n + %;@1000@ @if (b[%]) x% += x1;@1000@ @if (b[%]) x% += x1;@1000@ @b[%] = x%;@1000@",
    "@for (int j = 0; j < n; ++j) b[j] += %;@2500@",
    "@int x% = b[%];@1500@ @while (n--) {@40@ @x% += n;@1500@ @}@40@ @n += x%;@1500@ b[0] = n;",
    "@int x% = b[%];@1500@ @do {@40@ @x% += n;@1500@ @} while (n--);@40@ @n += x%;@1500@ b[0] = n;",
    "@\n#pragma unroll\nfor (int j% = 0; j% < 16; ++j%)@12@ b[j0 + j11] += j1;",
    "\n#pragma unroll\nfor (int j = 0; j < 4000; ++j) { @b[j * %] = n;@6@ }",
    "\n#pragma unroll\nfor (int j = 0; j < 2900; ++j) if (b[j]) n += j * b[n]; b[0] = n;",
    "float x[2048]; @\n#pragma unroll\nfor (int j = 0; j < 2048; ++j) x[j] += a[j + %];@40@ a[0] = x[n];",
    "float x[2048] = {}; @for (int j = 0; j < n; ++j) x[%] += a[%];@1000@ @a[%] = x[%];@1000@",
    ":struct S { float x[2000]; }; __global__ void k(float* a) { S s = {}, t = {}; @s = t; t = s;@5000@ a[0] = s.x[5]; }",
    ":struct S { float x[2000]; }; __global__ void k(int n) { S s = {}, t = {}; @if (n--) s = t; else t = s;@3000@ }",
    "@int x%[4]; x%[0] = n;@100@ @x%[n] = i;@100@ @b[%] += n;@8000@ @b[%] = x%[i];@100@",
    "@float x%[2000] = {};@5000@",
    "switch (n) { @case %: i += %;@6000@ } b[0] = i;",
    "switch (n) { @case 1:;@10000@ }",
    ":template <int N> __device__ int f(int x) { return f<N - 1>(x) + f<N - 1>(x + 1); } __global__ void k(int* b) { \
        b[0] = f<40>(1); }",
    ":template <int N> struct Q { static constexpr int v = Q<N - 1>::v + Q<N - 2>::v; }; __global__ void k(int* b) { \
        b[0] = Q<40>::v; }",
    ":template <int N> struct Q { @static constexpr int v% = N;@2000@ }; __global__ void k(int* b) { \
        @b[%] = Q<%>::v1999;@1500@ }",
    ":struct E0 {}; @struct E1% { E0 a, b; };@40@ __global__ void k(int* b) { E0 e[200000000]; E0 f = e[1]; }",
    ":@__global__ void k%(int* b) { b[0] = %; }@2500@",
    ":@__global__ void k%(int* b, int n) { for (int i = 0; i < 64; ++i) b[i * n] += %; }@1200@",
    ":@__global__ void k%(int* b) { b[0] = xx%; }@2500@",
    ":@__device__ int f%(int x) { return x + %; }@2500@ __global__ void k(int* b) { b[0] = f1(1); }",
    ":@struct S% {}; __device__ int f(S% x) { return %; }@1700@ __global__ void k(int* b) { @b[0] = f(S3{});@900@ }",
    ":constexpr int c0 = 1; @constexpr int d% = c0 + %;@2500@ __global__ void k(int* b) { b[0] = d2400; }",
    ":using T0 = int; @using U% = T0*;@2500@ __global__ void k(int* b) { @U% x% = b;@1000@ }",
    ":@constexpr int x%[2048] = {1, 2, 3};@1800@ __global__ void k(int* b, int n) { @b[%] = x%[n];@1800@ }",
    ":__constant__ int x[] = {@%,@16000@}; __global__ void k(int* b, int n) { b[0] = x[n]; }",
    "@{ __shared__ int s[4]; s[i] = 1; b[0] += s[n]; }@2500@",
    "@int x% = n; int* p% = n ? &x% : &i; *p% = 3;@2000@",
    "@dim3 d%(1, 2, 3); b[d%.x] = d%.y;@2500@",
    "@atomicAdd(&b[%], n); __syncthreads();@2500@",
    "for (int j = 0; j < n; ++j) { @if (b[j + %]) i += a[j]; a[j * %] = i;@2500@ }",
    "b[0] = @b[%] + @390@ 1; @n = n > % && i;@5000@",
    "@f%();@15000@",
    ":#define A @n + @300@ 1\n__global__ void k(int n, int* b) { @b[A] = A;@100@ }",
];

/// Chains of names: each is that of the one before.
const CHAINS: [(&str, &str, &str); 6] = [
    ("constexpr int c0 = 1;", "constexpr int c% = c$ + c$;", "b[0] = c2000;"),
    ("using c0 = int;", "using c% = c$*;", "c2000 x = nullptr; b[0] = x == nullptr;"),
    ("struct c0 {};", "struct c% { c$ a, b; };", "c30 x; c30 y = x; b[0] = sizeof(y);"),
    (
        "__device__ int c0(int x) { return x; }",
        "__device__ int c%(int x) { return c$(x) + c$(x * 3); }",
        "b[0] = c30(1);",
    ),
    ("template <typename T, typename U> struct P { T x; U y; }; using c0 = int;", "using c% = P<c$, c$>;", "c30 x;"),
    ("struct c0 { int x; };", "struct c% { c$ x; int y; };", "c2000 x; b[0] = sizeof(x);"),
];

#[test]
fn large_files_end_soon() {
    for text in LARGE {
        let mut parts = text.split('@');
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        while let (Some(piece), Some(n), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
            (0..n.parse().expect("a number")).for_each(|i: u32| expanded += &piece.replace('%', &i.to_string()));
            expanded += rest;
        }
        let file = match expanded.strip_prefix(':') {
            Some(file) => file.to_owned(),
            None => format!("__global__ void k(int n, float* a, int* b) {{ int i = threadIdx.x; {expanded} }}"),
        };
        let _ = in_time("large.cu", &file, &[]);
    }
    for (first, next, last) in CHAINS {
        let links = (1..=2000).map(|i: u32| next.replace('%', &i.to_string()).replace('$', &(i - 1).to_string()));
        let text = format!("{first}{}__global__ void k(int* b) {{ {last} }}", links.collect::<String>());
        let _ = in_time("chain.cu", &text, &[]);
    }
}

//! Fixtures of instructions that turn registers into registers: types of the operands, and one line of text.

use std::fmt::Write as _;

use ptx::{ast::Type, table::Row};

use super::inputs::{Kind, inputs};
use super::memory::fixture;
use super::{Fixture, class, narrowed, widened};

struct Trial {
    /// Behind the `#` of the name.
    variant: String,
    results: Vec<Type>,
    sources: Vec<(Type, Kind)>,
    /// The instructions; `D E` stand for the results, `X Y Z` for the sources.
    text: String,
}

pub(super) fn fixtures(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let mut list = trials(row, mnemonic);
    list.extend(tiny(mnemonic, &list));
    list.into_iter().map(|trial| build(row, mnemonic, &trial)).collect()
}

/// Returns the trial of a form with results around the smallest normal number, where rounding and flushing meet.
fn tiny(mnemonic: &str, trials: &[Trial]) -> Option<Trial> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let has = |word: &str| words.contains(&word);
    let [first] = trials else { return None };
    let (to, from) = (*first.results.first()?, first.sources.first()?.0);
    let computes = match words[0] {
        "mul" | "fma" | "div" | "rcp" => has("ftz") && !has("sat") && to == from,
        "cvt" => (to, from) == (Type::F32, Type::F64) && !has("sat"),
        _ => false,
    };
    let known = matches!(from, Type::F16 | Type::F16x2 | Type::F32 | Type::F64);
    (computes && known).then(|| Trial {
        variant: "tiny".to_string(),
        results: first.results.clone(),
        sources: first.sources.iter().map(|(ty, _)| (*ty, Kind::Tiny(*ty))).collect(),
        text: first.text.clone(),
    })
}

fn trials(row: &Row, mnemonic: &str) -> Vec<Trial> {
    let mut words = mnemonic.split('.');
    let opcode = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    let has = |word: &str| words.contains(&word);
    let packed = |w: &&str| matches!(*w, "u16x2" | "s16x2" | "tf32").then_some(Type::B32);
    let named = |w: &&str| Type::from_name(w).or(packed(w));
    let types: Vec<Type> = words.iter().filter_map(named).collect();
    let n_sources = row.operands.split(", ").count().saturating_sub(1);
    let Some(&ty) = types.last() else { return Vec::new() };
    let of = |ty: Type| (ty, Kind::Of(ty));
    let amount = (Type::U32, Kind::Amount);
    let truth = (Type::Pred, Kind::Truth);
    let simple = |results: Vec<Type>, sources: Vec<(Type, Kind)>| {
        let names = ["X", "Y", "Z"].iter().take(sources.len()).map(|n| format!(", {n}")).collect::<String>();
        let pair = if results.len() == 2 { "|E" } else { "" };
        let text = format!("{mnemonic} D{pair}{names};");
        vec![Trial::new(results, sources, text)]
    };
    let same = |n: usize| vec![of(ty); n];

    match opcode {
        "set" => {
            let mut sources = same(2);
            sources.extend((n_sources == 3).then_some(truth));
            simple(vec![types[0]], sources)
        }
        "setp" => {
            let mut sources = same(2);
            sources.extend((n_sources == 3).then_some(truth));
            if matches!(ty, Type::F16 | Type::Bf16) {
                return simple(vec![Type::Pred], sources);
            }
            let mut trials = simple(vec![Type::Pred, Type::Pred], sources.clone());
            if !matches!(ty, Type::F16x2 | Type::Bf16x2) && n_sources == 2 && has("lt") {
                trials.extend(simple(vec![Type::Pred], sources).into_iter().map(|t| t.variant("one")));
            }
            trials
        }
        "selp" => simple(vec![ty], vec![of(ty), of(ty), truth]),
        "slct" => simple(vec![types[0]], vec![of(types[0]), of(types[0]), of(ty)]),
        "testp" => simple(vec![Type::Pred], same(1)),
        "mul" | "mad" if has("wide") => {
            let twice = twice(ty);
            let mut sources = same(2);
            sources.extend((opcode == "mad").then(|| of(twice)));
            simple(vec![twice], sources)
        }
        "mul" | "mad" | "add" | "sub" | "addc" | "subc" | "madc"
            if has("cc") || opcode.ends_with('c') && opcode != "slct" =>
        {
            carry(opcode, mnemonic, &words, ty, n_sources)
        }
        "shl" | "shr" => simple(vec![ty], vec![of(ty), amount]),
        "shf" => simple(vec![ty], vec![of(ty), of(ty), amount]),
        "bfe" => simple(vec![ty], vec![of(ty), amount, amount]),
        "bfi" => bfi(mnemonic, ty),
        "popc" | "clz" | "bfind" => simple(vec![Type::U32], same(1)),
        "fns" => simple(vec![ty], vec![of(Type::B32), (Type::B32, Kind::Amount), (Type::S32, Kind::Amount)]),
        "bmsk" => simple(vec![ty], vec![amount, amount]),
        "szext" => simple(vec![ty], vec![of(ty), amount]),
        "dp4a" | "dp2a" => {
            let (a, b) = (types[0], types[1]);
            let sum = if a == Type::U32 && b == Type::U32 { Type::U32 } else { Type::S32 };
            simple(vec![sum], vec![of(a), of(b), of(sum)])
        }
        "lop3" => [0x96, 0xE8, 0xCA, 0x1B, 0x80, 0x01, 0xF0, 0xCC, 0xAA, 0x3C, 0x00, 0xFF]
            .map(|table| {
                let text = format!("{mnemonic} D, X, Y, Z, {table:#04x};");
                Trial::new(vec![ty], same(3), text).variant(&format!("{table:#04x}"))
            })
            .into(),
        "prmt" => simple(vec![ty], vec![of(ty), of(ty), (Type::B32, Kind::Of(Type::B32))]),
        "cvt" if has("pack") => {
            let mut sources = vec![of(Type::S32), of(Type::S32)];
            sources.extend((n_sources == 3).then(|| of(Type::B32)));
            simple(vec![Type::B32], sources)
        }
        "cvt" if types.len() == 2 => {
            let mut trials = simple(vec![types[0]], vec![of(types[1]); n_sources]);
            let integer = |ty: Type| !matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64);
            // Results and sources narrower than their registers.
            if integer(types[0]) && types[0].bytes() < 4 && n_sources == 1 {
                trials.extend(simple(vec![Type::B32], vec![of(types[1])]).into_iter().map(|t| t.variant("wide")));
            }
            if integer(types[1]) && types[1].bytes() < 4 && n_sources == 1 {
                let wide = (Type::B32, Kind::Of(Type::B32));
                trials.extend(simple(vec![types[0]], vec![wide]).into_iter().map(|t| t.variant("from-wide")));
            }
            trials
        }
        "mov" if has("v2") => {
            let text = format!("{mnemonic} {{D, E}}, {{Y, X}}; {mnemonic} {{D, E}}, {{E, D}};");
            vec![Trial::new(vec![ty, ty], same(2), text)]
        }
        "mov" if has("v4") => {
            let letter = class(ty);
            let text = format!("{mnemonic} {{D, E, %{letter}10, %{letter}11}}, {{Z, Y, X, X}};");
            vec![Trial::new(vec![ty, ty], same(3), text)]
        }
        "mov" => {
            let mut trials = simple(vec![ty], same(1));
            trials.extend(packing(mnemonic, ty));
            if mnemonic == "mov.u32" {
                trials.extend(
                    SPECIAL.map(|name| Trial::new(vec![ty], Vec::new(), format!("mov.u32 D, %{name};")).variant(name)),
                );
            }
            trials
        }
        "add" | "sub" | "mul" | "mul24" | "mad" | "mad24" | "sad" | "div" | "rem" | "abs" | "neg" | "min" | "max"
        | "brev" | "copysign" | "fma" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
        | "vabsdiff" | "vabsdiff2" | "vabsdiff4" | "and" | "or" | "xor" | "not" | "cnot" => {
            simple(vec![ty], same(n_sources))
        }
        _ => Vec::new(),
    }
}

impl Trial {
    fn new(results: Vec<Type>, sources: Vec<(Type, Kind)>, text: String) -> Trial {
        Trial { variant: String::new(), results, sources, text }
    }

    fn variant(mut self, name: &str) -> Trial {
        self.variant = name.to_string();
        self
    }
}

/// Special registers whose values the launch alone decides.
#[rustfmt::skip]
const SPECIAL: [&str; 14] = [
    "tid.x", "tid.y", "ntid.x", "ntid.z", "ctaid.x", "ctaid.y", "nctaid.x", "laneid", "lanemask_eq",
    "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt", "dynamic_smem_size",
];

fn twice(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        _ => Type::S64,
    }
}

/// Returns trials whose carry comes from an addition and goes to another, so that both directions show in a result.
fn carry(opcode: &str, mnemonic: &str, words: &[&str], ty: Type, n_sources: usize) -> Vec<Trial> {
    let bits = if ty.bytes() == 8 { "u64" } else { "u32" };
    let reads = opcode.ends_with('c');
    let writes = words.contains(&"cc");
    let borrows = opcode.starts_with("sub");
    let mut text = String::new();
    if reads && !borrows {
        let _ = write!(text, "add.cc.{bits} T, Y, X; ");
    } else if reads {
        let _ = write!(text, "sub.cc.{bits} T, Y, X; ");
    }
    let names = ["X", "Y", "Z"][..n_sources].join(", ");
    let _ = write!(text, "{mnemonic} D, {names};");
    let mut results = vec![ty];
    if writes {
        let tail = if borrows { "subc" } else { "addc" };
        let _ = write!(text, " {tail}.{bits} E, 0, 0;");
        results.push(ty);
    }
    vec![Trial::new(results, vec![(ty, Kind::Of(ty)); n_sources], text)]
}

/// Returns trials of four sources: the last two are made from one input.
fn bfi(mnemonic: &str, ty: Type) -> Vec<Trial> {
    let sources = vec![(ty, Kind::Of(ty)), (ty, Kind::Of(ty)), (Type::U32, Kind::Amount)];
    let position = "mul.lo.u32 %r20, Z, 7; add.u32 %r20, %r20, %t; rem.u32 %r20, %r20, 70;";
    vec![Trial::new(vec![ty], sources, format!("{position} {mnemonic} D, X, Y, Z, %r20;"))]
}

fn packing(mnemonic: &str, ty: Type) -> Vec<Trial> {
    let part = match mnemonic {
        "mov.b64" => Type::B32,
        "mov.b32" => Type::B16,
        _ => return Vec::new(),
    };
    let trial = |variant: &str, results, sources: &[Type], text: String| {
        let sources = sources.iter().map(|&t| (t, Kind::Of(t))).collect();
        Trial::new(results, sources, text).variant(variant)
    };
    let mut trials = vec![
        trial("pack", vec![ty], &[part, part], format!("{mnemonic} D, {{X, Y}};")),
        trial("unpack", vec![part, part], &[ty], format!("{mnemonic} {{D, E}}, X;")),
        trial("half", vec![part], &[ty], format!("{mnemonic} {{_, D}}, X;")),
    ];
    if mnemonic == "mov.b64" {
        let four = format!("{mnemonic} {{%h10, %h11, %h12, %h13}}, X; {mnemonic} D, {{%h12, %h10, %h13, %h11}};");
        trials.push(trial("four", vec![ty], &[ty], four));
    }
    trials
}

fn build(row: &Row, mnemonic: &str, trial: &Trial) -> Fixture {
    let mut body = String::new();
    let inputs64 = ["%a", "%b", "%c"];
    let mut text = format!(" {}", trial.text);
    for (k, (ty, _)) in trial.sources.iter().enumerate() {
        let register = format!("%{}{}", class(*ty), k + 1);
        body.push_str(&narrowed(&register, inputs64[k]));
        text = substitute(&text, ["X", "Y", "Z"][k], &register);
    }
    for (k, ty) in trial.results.iter().enumerate() {
        text = substitute(&text, ["D", "E"][k], &format!("%{}{}", class(*ty), k + 5));
    }
    text = substitute(&text, "T", if trial.results.first().is_some_and(|t| t.bytes() == 8) { "%d9" } else { "%r9" });
    for line in text.trim().split_inclusive("; ") {
        let _ = writeln!(body, "    {}", line.trim());
    }
    for (k, ty) in trial.results.iter().enumerate() {
        let register = format!("%{}{}", class(*ty), k + 5);
        body.push_str(&widened("%d10", &register));
        let _ = writeln!(body, "    st.global.b64 [%O+{}], %d10;", 8 * k);
    }
    let kind = |k: usize| trial.sources.get(k).map_or(Kind::Unused, |s| s.1);
    let name = if trial.variant.is_empty() { mnemonic.to_string() } else { format!("{mnemonic}#{}", trial.variant) };
    let inputs = inputs([kind(0), kind(1), kind(2)]);
    Fixture { inputs, ..fixture(row, &name, String::new(), body, trial.results.len()) }
}

fn substitute(text: &str, placeholder: &str, register: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let letters: Vec<char> = text.chars().collect();
    let alone = |i: usize| {
        let word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '%' | '_'));
        !word(i.checked_sub(1).and_then(|i| letters.get(i))) && !word(letters.get(i + 1))
    };
    for (i, letter) in letters.iter().enumerate() {
        if placeholder.starts_with(*letter) && alone(i) {
            out.push_str(register);
        } else {
            out.push(*letter);
        }
    }
    out
}

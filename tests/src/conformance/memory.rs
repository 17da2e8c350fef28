//! Fixtures of loads, stores and atomics: every space, width and qualifier of the table.

use std::fmt::Write as _;

use ptx::{ast::Type, table::Row};

use super::{BLOB, BLOCK, Fixture, TARGET, inputs, narrowed, widened};
use crate::{each, list};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Global,
    Shared,
    Local,
    Const,
    Param,
    FunctionParam,
}

struct Access<'a> {
    mnemonic: &'a str,
    place: Place,
    ty: Type,
    n: usize,
    hint: bool,
}

pub(super) fn fixtures(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let Some(ty) = words.iter().rev().find_map(|w| Type::from_name(w)) else { return Vec::new() };
    let access = Access {
        mnemonic,
        place: place(&words, words[0] == "st"),
        ty,
        n: if words.contains(&"v2") {
            2
        } else if words.contains(&"v4") {
            4
        } else {
            1
        },
        hint: words.contains(&"L2::cache_hint"),
    };
    let (declarations, body, outs) = match words[0] {
        "ld" | "ldu" => load(&access),
        "st" => store(&access),
        "atom" | "red" => return atomics(row, &access, words[0] == "atom", words.contains(&"cas")),
        _ => return Vec::new(),
    };
    vec![fixture(row, mnemonic, declarations, body, outs)]
}

pub(super) fn fixture(row: &Row, name: &str, declarations: String, body: String, outs: usize) -> Fixture {
    Fixture {
        name: name.to_string(),
        row: row.pattern,
        section: row.section,
        inputs: random_inputs(128),
        outs,
        declarations,
        body,
        target: TARGET,
    }
}

/// Returns any bits, the same for every form.
pub(super) fn random_inputs(threads: usize) -> [Vec<u64>; 3] {
    let mut random = inputs::random(2);
    [0, 1, 2].map(|_| (0..threads).map(|_| random.next_u64()).collect())
}

fn place(words: &[&str], stores: bool) -> Place {
    let has = |word: &str| words.contains(&word);
    if has("shared") || has("shared::cta") || has("shared::cluster") {
        Place::Shared
    } else if has("local") {
        Place::Local
    } else if has("const") {
        Place::Const
    } else if has("param::func") || has("param") && stores {
        Place::FunctionParam
    } else if has("param") || has("param::entry") {
        Place::Param
    } else {
        Place::Global
    }
}

impl Access<'_> {
    fn bytes(&self) -> usize {
        self.n * self.ty.bytes() as usize
    }

    fn class(&self) -> char {
        super::class(self.ty)
    }

    /// `%r4` or `{%r4, %r5}`
    fn registers(&self) -> String {
        let class = self.class();
        if self.n == 1 { format!("%{class}4") } else { list(4..4 + self.n, class) }
    }

    fn policy(&self) -> (&'static str, &'static str) {
        if self.hint { ("    mov.b64 %d20, 0x12F0000000000000;\n", ", %d20") } else { ("", "") }
    }
}

/// `%d1 = %d0 + (odd lanes: the end of the 16 bytes there)`
fn aligned(access: &Access) -> String {
    let step = 16 - access.bytes();
    format!("    and.b32 %r1, %i, 1;\n    mul.wide.u32 %d1, %r1, {step};\n    add.s64 %d1, %d1, %d0;\n")
}

/// Returns code that stores two values into 16 bytes of the thread's own, whose address `%d0` is.
fn cell(space: &str, values: [&str; 2]) -> String {
    let (symbol, bytes, offset) = match space {
        "shared" => ("cells", 16 * BLOCK, "    mul.wide.u32 %d2, %t, 16;\n    add.s64 %d0, %d0, %d2;\n"),
        _ => ("depot", 16, ""),
    };
    format!(
        "    .{space} .align 16 .b8 {symbol}[{bytes}];\n    mov.u64 %d0, {symbol};\n{offset}\
         \x20   st.{space}.b64 [%d0], {};\n    st.{space}.b64 [%d0+8], {};\n",
        values[0], values[1]
    )
}

fn results(access: &Access) -> String {
    each(access.n, |k| {
        let wide = widened("%d12", &format!("%{}{}", access.class(), k + 4));
        format!("{wide}    st.global.b64 [%O+{}], %d12;\n", 8 * k)
    })
}

/// Returns a function that loads from its parameter `x`, and stores what it got to the address in `out`.
fn function(access: &Access, load: &str) -> String {
    format!(
        ".func KERNEL_read(.param .align 16 .b8 x[16], .param .b64 out)\n{{\n    .reg .b16 %h<8>;\n\
         \x20   .reg .b32 %r<8>;\n    .reg .b64 %d<24>, %O;\n    ld.param.b64 %O, [out];\n{load}{}    ret;\n}}\n",
        results(access)
    )
}

fn load(access: &Access) -> (String, String, usize) {
    let (policy, operand) = access.policy();
    let registers = access.registers();
    let mnemonic = access.mnemonic;
    let mut declarations = String::new();
    let mut body = policy.to_string();
    match access.place {
        Place::Global => {
            body.push_str("    and.b32 %r1, %i, 1;\n    mul.wide.u32 %d2, %r1, 8;\n    sub.s64 %d0, %A, %d2;\n");
        }
        Place::Shared => body.push_str(&cell("shared", ["%a", "%b"])),
        Place::Local => body.push_str(&cell("local", ["%a", "%b"])),
        Place::Const => {
            let bytes: Vec<String> = (0..64).map(|k| (k * 37 % 256).to_string()).collect();
            let _ = writeln!(declarations, ".const .align 16 .b8 KERNEL_const[64] = {{{}}};", bytes.join(", "));
            body.push_str("    mov.u64 %d0, KERNEL_const;\n    and.b32 %r2, %t, 3;\n");
            body.push_str("    mul.wide.u32 %d2, %r2, 16;\n    add.s64 %d0, %d0, %d2;\n");
        }
        Place::Param => {}
        Place::FunctionParam => {
            let function = function(
                access,
                &format!("{policy}    {mnemonic} {registers}, [x+{}]{operand};\n", 16 - access.bytes()),
            );
            let body = "    {\n    .param .align 16 .b8 x[16];\n    .param .b64 out;\n    st.param.b64 [x], %a;\n\
                        \x20   st.param.b64 [x+8], %b;\n    st.param.b64 [out], %O;\n    call.uni KERNEL_read, (x, out);\n    }\n";
            return (function, body.to_string(), access.n);
        }
    }
    let address = if access.place == Place::Param {
        format!("p_blob+{}", BLOB - 16)
    } else {
        body.push_str(&aligned(access));
        "%d1".to_string()
    };
    let _ = writeln!(body, "    {mnemonic} {registers}, [{address}]{operand};");
    body.push_str(&results(access));
    (declarations, body, access.n)
}

fn values(access: &Access) -> String {
    each(access.n, |k| {
        let value = narrowed(&format!("%{}{}", access.class(), k + 4), "%d12");
        format!("    shr.b64 %d12, {}, {};\n{value}", ["%a", "%b"][k % 2], 13 * k)
    })
}

fn store(access: &Access) -> (String, String, usize) {
    let (policy, operand) = access.policy();
    let registers = access.registers();
    let mnemonic = access.mnemonic;
    let before = ["0x1122334455667788", "0x99AABBCCDDEEFF00"];
    let mut body = policy.to_string();
    body.push_str(&values(access));
    let space = match access.place {
        Place::Shared => "shared",
        Place::Local => "local",
        Place::FunctionParam => {
            // A function that reads what was stored, as it was stored: assemblers keep parameters in registers,
            // and nothing is promised for the bytes beside a narrow store.
            let back = mnemonic.replacen("st", "ld", 1).replace(".wb", "").replace(".wt", "");
            let function = function(access, &format!("    {back} {registers}, [x];\n"));
            let _ = writeln!(
                body,
                "    {{\n    .param .align 16 .b8 x[16];\n    .param .b64 out;\n    {mnemonic} [x], {registers}{operand};\n\
                 \x20   st.param.b64 [out], %O;\n    call.uni KERNEL_read, (x, out);\n    }}"
            );
            return (function, body, access.n);
        }
        _ => "global",
    };
    if space == "global" {
        let [low, high] = before;
        let _ =
            write!(body, "    mov.b64 %d0, %O;\n    st.global.b64 [%O], {low};\n    st.global.b64 [%O+8], {high};\n");
    } else {
        body.push_str(&cell(space, before));
    }
    body.push_str(&aligned(access));
    let _ = writeln!(body, "    {mnemonic} [%d1], {registers}{operand};");
    let _ = write!(
        body,
        "    ld.{space}.b64 %d13, [%d0];\n    ld.{space}.b64 %d14, [%d0+8];\n    st.global.b64 [%O], %d13;\n\
         \x20   st.global.b64 [%O+8], %d14;\n"
    );
    (String::new(), body, 2)
}

/// Returns inputs that give each thread a cell of its own, and for additions of integers all threads of a block one.
fn atomics(row: &Row, access: &Access, returns: bool, cas: bool) -> Vec<Fixture> {
    let (policy, operand) = access.policy();
    let mnemonic = access.mnemonic;
    let class = access.class();
    let value = |register: &str, from: &str| narrowed(&format!("%{class}{register}"), from);
    // ptxas 12.9 takes the upper half of a packed operand from bits 48 to 63 of the register pair that a
    // conversion before it read, when the atomic is on shared memory: load 32 bits from the start.
    let packed = |register: &str, from: &str| match from {
        "%b" if class == 'r' => format!("    ld.global.b32 %r{register}, [%B];\n"),
        _ => value(register, from),
    };
    let mut body = policy.to_string();
    let shared = access.place == Place::Shared;
    let space = if shared { "shared" } else { "global" };
    if shared {
        body.push_str(&cell("shared", ["%a", "%a"]));
    } else {
        body.push_str("    add.s64 %d0, %O, 8;\n    st.global.b64 [%d0], %a;\n");
    }
    let mut operands = format!("%{class}5");
    if cas {
        // Every second thread expects what is there.
        body.push_str("    and.b32 %r1, %i, 1;\n    setp.eq.u32 %p1, %r1, 0;\n    selp.b64 %d3, %a, %c, %p1;\n");
        body.push_str(&value("6", "%d3"));
        operands = format!("%{class}6, %{class}5");
    }
    body.push_str(&packed("5", "%b"));
    if returns {
        let _ = writeln!(body, "    {mnemonic} %{class}4, [%d0], {operands}{operand};");
        body.push_str(&widened("%d12", &format!("%{class}4")));
    } else {
        let _ = writeln!(body, "    {mnemonic} [%d0], {operands}{operand};\n    mov.b64 %d12, 0;");
    }
    let _ = write!(
        body,
        "    ld.{space}.b64 %d13, [%d0];\n    st.global.b64 [%O], %d12;\n    st.global.b64 [%O+8], %d13;\n"
    );
    vec![Fixture { inputs: float_inputs(access.ty), ..fixture(row, mnemonic, String::new(), body, 2) }]
}

/// Returns inputs of atomics: edges of the type in the low bytes, and other bits above them.
fn float_inputs(ty: Type) -> [Vec<u64>; 3] {
    let bits = 8 * ty.bytes();
    let [a, b, c] = inputs::inputs([inputs::Kind::Of(ty); 3]);
    if bits == 64 {
        return [a, b, c];
    }
    [a.iter().map(|v| v | 0x0F1E_2D3C_4B5A_6978 << bits).collect(), b, c]
}

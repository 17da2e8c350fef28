//! Fixtures of everything that is neither arithmetic nor a plain access: control flow, barriers, lanes that
//! talk to each other, addresses, asynchronous copies, textures.

use std::fmt::Write as _;

use ptx::table::Row;

use super::memory::{fixture, random_inputs};
use super::{BEFORE_VOLTA, BLOCK, Fixture};
use crate::each;

/// The textures behind the handles in `p_textures`, in order.
#[rustfmt::skip]
pub const TEXTURES: [TextureSource; 11] = [
    TextureSource::new(1, 'f'), TextureSource::new(1, 's'), TextureSource::new(1, 'u'),
    TextureSource::new(2, 'f'), TextureSource::new(2, 's'), TextureSource::new(2, 'u'),
    TextureSource { filtered: true, ..TextureSource::new(1, 'f') },
    TextureSource { filtered: true, ..TextureSource::new(2, 'f') },
    TextureSource { buffer: true, ..TextureSource::new(1, 'f') },
    TextureSource { buffer: true, ..TextureSource::new(1, 's') },
    TextureSource { buffer: true, ..TextureSource::new(1, 'u') },
];

/// A texture of 16 texels, or 16 x 8, each of four channels of 32 bits; coordinates are clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureSource {
    pub dims: u32,
    /// `f`, `s` or `u`.
    pub channel: char,
    /// Fetches are weighted between neighbouring texels.
    pub filtered: bool,
    /// Texels lie in plain memory; `tex.1d` with an integer coordinate reads nothing else.
    pub buffer: bool,
}

impl TextureSource {
    const fn new(dims: u32, channel: char) -> Self {
        Self { dims, channel, filtered: false, buffer: false }
    }

    pub const WIDTH: usize = 16;

    pub fn height(self) -> usize {
        if self.dims == 1 { 1 } else { 8 }
    }

    pub fn words(self) -> Vec<u32> {
        let value = |k: usize| match self.channel {
            'f' => ((k * 29 % 64) as f32 - 20.0).to_bits(),
            _ => (k as u32).wrapping_mul(0x0101_0F35),
        };
        (0..4 * Self::WIDTH * self.height()).map(value).collect()
    }
}

pub(super) fn fixtures(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    match words[0] {
        "shfl" => shuffles(row, mnemonic, words[1] == "sync"),
        "vote" => votes(row, mnemonic, words[1] == "sync"),
        "match" | "redux" => among_lanes(row, mnemonic),
        "activemask" => plain(row, mnemonic, "activemask.b32 %r4;", 1),
        "elect" => plain(row, mnemonic, "elect.sync %r4|%p1, -1;\n    selp.b32 %r5, 1, 0, %p1;", 2),
        "bar" if words[1] == "warp" => warp_barrier(row, mnemonic),
        "bar" | "barrier" => barriers(row, mnemonic, &words),
        "bra" => branches(row, mnemonic),
        "brx" => indexed_branches(row, mnemonic),
        "call" => calls(row, mnemonic),
        "ret" | "exit" => endings(row, mnemonic),
        "membar" | "fence" => between(row, mnemonic, &format!("{mnemonic};")),
        "nanosleep" => between(row, mnemonic, "nanosleep.u32 20;"),
        "pmevent" => between(row, mnemonic, &format!("{mnemonic} 3;")),
        "trap" | "brkpt" => between(row, mnemonic, &format!("setp.gt.u32 %p1, %t, 100000;\n    @%p1 {mnemonic};")),
        "prefetch" | "prefetchu" => between(row, mnemonic, &prefetch(mnemonic)),
        "applypriority" => between(row, mnemonic, &format!("ld.param.u64 %d1, [p_a];\n    {mnemonic} [%d1], 128;")),
        "discard" => between(row, mnemonic, &format!("ld.param.u64 %d1, [p_c];\n    {mnemonic} [%d1], 128;")),
        "isspacep" => spaces(row, mnemonic),
        "cvta" => addresses(row, mnemonic, &words),
        "cp" => async_copies(row, mnemonic, &words),
        "tex" => textures(row, mnemonic, &words),
        _ => Vec::new(),
    }
}

/// Stores `%r4`, `%r5`, … as results.
fn words_out(n: usize) -> String {
    each(n, |k| format!("    cvt.u64.u32 %d12, %r{};\n    st.global.b64 [%O+{}], %d12;\n", k + 4, 8 * k))
}

fn make(row: &Row, name: &str, body: &str, n: usize) -> Fixture {
    fixture(row, name, String::new(), format!("    {}\n{}", body.trim(), words_out(n)), n)
}

fn plain(row: &Row, mnemonic: &str, text: &str, n: usize) -> Vec<Fixture> {
    vec![make(row, mnemonic, text, n)]
}

/// Returns a store to memory that the thread then reads, with something in between that must not matter.
fn between(row: &Row, mnemonic: &str, text: &str) -> Vec<Fixture> {
    let body = format!("st.global.b64 [%O], %a;\n    {text}\n    ld.global.u32 %r4, [%O];\n    add.u32 %r4, %r4, 1;");
    vec![make(row, mnemonic, &body, 1)]
}

/// Returns the values that lanes have in common now and then: all alike, a few kinds, one that differs, any.
fn lane_inputs() -> [Vec<u64>; 3] {
    let [mut a, mut b, c] = random_inputs(512);
    for (i, value) in a.iter_mut().enumerate() {
        *value = match (i / 32) % 8 {
            0 => 0,
            1 => 0xFFFF_FFFF_FFFF_FFFF,
            2 => *value % 3,
            3 => u64::from(i % 32 == 7),
            4 => 0x1_0000_0000 * (i as u64 % 2),
            5 => *value & 0x8000_0001,
            _ => *value,
        };
    }
    for (i, value) in b.iter_mut().enumerate() {
        *value = if i < 256 { *value % 40 } else { (i / 32) as u64 };
    }
    [a, b, c]
}

/// Returns all lanes, and the first twenty only.
fn for_masks(row: &Row, name: &str, text: &str, n: usize) -> Vec<Fixture> {
    let all = format!("cvt.u32.u64 %r10, %a;\n    mov.b32 %r11, -1;\n    {text}");
    let clear = each(n, |k| format!("    mov.b32 %r{}, 0xDEAD;\n", k + 4));
    let some = format!(
        "cvt.u32.u64 %r10, %a;\n    mov.b32 %r11, 0xFFFFF;\n{clear}    and.b32 %r12, %t, 31;\n\
         \x20   setp.ge.u32 %p5, %r12, 20;\n    @%p5 bra $L_done;\n    {text}\n$L_done:\n"
    );
    let mut list = vec![make(row, name, &all, n), make(row, &format!("{name}#20-lanes"), &some, n)];
    list.iter_mut().for_each(|f| f.inputs = lane_inputs());
    list
}

fn shuffles(row: &Row, mnemonic: &str, sync: bool) -> Vec<Fixture> {
    let members = if sync { ", %r11" } else { "" };
    let mut list = Vec::new();
    for (variant, clamp) in
        [("", "0x1F"), ("#zero", "0"), ("#8-wide", "0x181F"), ("#8-wide-up", "0x1800"), ("#odd", "0x0A0B")]
    {
        let text = format!(
            "cvt.u32.u64 %r13, %b;\n    {mnemonic} %r4|%p1, %r10, %r13, {clamp}{members};\n    selp.b32 %r5, 1, 0, %p1;"
        );
        list.extend(for_masks(row, &format!("{mnemonic}{variant}"), &text, 2));
    }
    // A read from a lane that does not take part is undefined.
    list.retain(|f| !f.name.contains("20-lanes"));
    for f in list.iter_mut().filter(|_| !sync) {
        f.target = BEFORE_VOLTA;
    }
    list
}

fn votes(row: &Row, mnemonic: &str, sync: bool) -> Vec<Fixture> {
    let members = if sync { ", %r11" } else { "" };
    let ballot = mnemonic.contains("ballot");
    let mut list = Vec::new();
    for (variant, sign) in [("", ""), ("#not", "!")] {
        let text = if ballot {
            format!("setp.ne.u32 %p2, %r10, 0;\n    {mnemonic} %r4, {sign}%p2{members};")
        } else {
            format!("setp.ne.u32 %p2, %r10, 0;\n    {mnemonic} %p1, {sign}%p2{members};\n    selp.b32 %r4, 1, 0, %p1;")
        };
        list.extend(for_masks(row, &format!("{mnemonic}{variant}"), &text, 1));
    }
    if !sync {
        list.retain(|f| !f.name.contains("20-lanes"));
        list.iter_mut().for_each(|f| f.target = BEFORE_VOLTA);
    }
    list
}

fn among_lanes(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let value = if mnemonic.ends_with("b64") { "%a" } else { "%r10" };
    let mut list = for_masks(row, mnemonic, &format!("{mnemonic} %r4, {value}, %r11;"), 1);
    if mnemonic.contains("match.all") {
        let text = format!("{mnemonic} %r4|%p1, {value}, %r11;\n    selp.b32 %r5, 1, 0, %p1;");
        list.extend(for_masks(row, &format!("{mnemonic}#pair"), &text, 2));
    }
    list
}

/// `%d0`: the thread's word in an array of the block; `%d1`: another thread's.
const EXCHANGE: &str = ".shared .align 8 .b64 box[64];\n    mov.u64 %d2, box;\n    mul.wide.u32 %d0, %t, 8;\n    \
                        add.s64 %d0, %d0, %d2;\n    xor.b32 %r1, %t, 33;\n    mul.wide.u32 %d1, %r1, 8;\n    \
                        add.s64 %d1, %d1, %d2;\n    st.shared.b64 [%d0], %a;";

fn warp_barrier(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let body = format!(
        "{}\n    {mnemonic} -1;\n    ld.shared.u32 %r4, [%d1];",
        EXCHANGE.replace("xor.b32 %r1, %t, 33", "xor.b32 %r1, %t, 5")
    );
    vec![make(row, mnemonic, &body, 1)]
}

fn barriers(row: &Row, mnemonic: &str, words: &[&str]) -> Vec<Fixture> {
    if words.contains(&"arrive") {
        // The first warp writes and goes on, the second waits for it and reads.
        let sync = mnemonic.replace("arrive", "sync");
        let body = format!(
            "{EXCHANGE}\n    mov.b32 %r4, 5;\n    setp.lt.u32 %p1, %t, 32;\n    @%p1 bra $L_first;\n    {sync} 1, {BLOCK};\n    \
             ld.shared.u32 %r4, [%d1];\n    bra $L_done;\n$L_first:\n    {mnemonic} 1, {BLOCK};\n$L_done:\n"
        );
        return vec![make(row, mnemonic, &body, 1)];
    }
    let mut list = Vec::new();
    for (variant, operands) in [("", "0".to_string()), ("#count", format!("3, {BLOCK}")), ("#warp", String::new())] {
        let before = if variant == "#warp" { "shr.u32 %r2, %t, 5;\n    add.u32 %r2, %r2, 1;\n    " } else { "" };
        let operands = if variant == "#warp" { "%r2, 32" } else { &operands };
        let body = if words.contains(&"red") {
            let (dst, after) = if words.contains(&"popc") {
                ("%r4", String::new())
            } else {
                ("%p2", "\n    selp.b32 %r4, 1, 0, %p2;".to_string())
            };
            format!(
                "{before}cvt.u32.u64 %r10, %a;\n    setp.ne.u32 %p1, %r10, 0;\n    {mnemonic} {dst}, {operands}, %p1;{after}"
            )
        } else {
            let exchange = if variant == "#warp" { EXCHANGE.replace("%t, 33", "%t, 9") } else { EXCHANGE.to_string() };
            format!("{exchange}\n    {before}{mnemonic} {operands};\n    ld.shared.u32 %r4, [%d1];")
        };
        let made = make(row, &format!("{mnemonic}{variant}"), &body, 1);
        // Aligned barriers need the same number in the whole warp, which the register gives them.
        list.push(Fixture { inputs: lane_inputs(), ..made });
    }
    list
}

fn branches(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let body = match mnemonic {
        "bra.uni" => "mov.b32 %r4, 1;\n    bra.uni $L_over;\n    mov.b32 %r4, 2;\n$L_over:\n    add.u32 %r4, %r4, %t;".to_string(),
        _ => "and.b32 %r4, %i, 15;\n    mov.b32 %r5, 0;\n$L_loop:\n    setp.eq.u32 %p1, %r4, 0;\n    @%p1 bra $L_end;\n    \
              add.u32 %r5, %r5, %r4;\n    sub.u32 %r4, %r4, 1;\n    and.b32 %r6, %r4, 3;\n    setp.ne.u32 %p2, %r6, 2;\n    \
              @!%p2 bra $L_skip;\n    shl.b32 %r5, %r5, 1;\n$L_skip:\n    bra $L_loop;\n$L_end:\n    mov.b32 %r4, %r5;"
            .to_string(),
    };
    vec![make(row, mnemonic, &body, 1)]
}

fn indexed_branches(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let index = if mnemonic.ends_with("uni") { "and.b32 %r1, %r0, 3;" } else { "and.b32 %r1, %i, 3;" };
    let body = format!(
        "{index}\n    mov.b32 %r4, 0;\n$L_targets: .branchtargets $L_0, $L_1, $L_2, $L_1;\n    {mnemonic} %r1, $L_targets;\n\
         $L_0:\n    add.u32 %r4, %r4, 100;\n    bra $L_end;\n$L_1:\n    add.u32 %r4, %r4, 7;\n\
         $L_2:\n    add.u32 %r4, %r4, 3000;\n$L_end:\n    add.u32 %r4, %r4, %t;"
    );
    vec![make(row, mnemonic, &body, 1)]
}

fn calls(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let function = ".func (.param .b32 result) KERNEL_mix(.param .b32 x, .param .align 8 .b8 y[16])\n{\n    .reg .b32 %r<8>;\n    \
                    .reg .b64 %d<4>;\n    ld.param.b32 %r1, [x];\n    ld.param.b64 %d1, [y+8];\n    cvt.u32.u64 %r2, %d1;\n    \
                    mad.lo.u32 %r3, %r1, 3, %r2;\n    st.param.b32 [result], %r3;\n    ret;\n}\n";
    let body = format!(
        "cvt.u32.u64 %r10, %a;\n    mov.b32 %r4, 77;\n    and.b32 %r1, %t, 1;\n    setp.eq.u32 %p1, %r1, 0;\n    {guard}\
         {{\n    .param .b32 x;\n    .param .align 8 .b8 y[16];\n    .param .b32 result;\n    st.param.b32 [x], %r10;\n    \
         st.param.b64 [y], %c;\n    st.param.b64 [y+8], %b;\n    {mnemonic} (result), KERNEL_mix, (x, y);\n    \
         ld.param.b32 %r4, [result];\n    }}\n$L_skip:\n",
        guard = if mnemonic.ends_with("uni") { "" } else { "@%p1 bra $L_skip;\n    " }
    );
    vec![Fixture { declarations: function.to_string(), ..make(row, mnemonic, &body, 1) }]
}

fn endings(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let body = format!(
        "mov.b32 %r4, 1;\n{}    mov.b32 %r5, 2;\n    and.b32 %r1, %i, 3;\n    setp.ne.u32 %p1, %r1, 0;\n    {}{mnemonic};",
        words_out(1),
        if mnemonic.ends_with("uni") { "" } else { "@%p1 " },
    );
    vec![make(row, mnemonic, &body, 2)]
}

fn prefetch(mnemonic: &str) -> String {
    if mnemonic.contains(".local") {
        format!(
            ".local .align 16 .b8 depot[16];\n    mov.u64 %d1, depot;\n    st.local.b64 [%d1], %b;\n    {mnemonic} [%d1];"
        )
    } else {
        format!("{mnemonic} [%A];")
    }
}

/// Generic addresses of each space, one per thread in turn.
const GENERIC: &str = ".shared .align 8 .b64 box[64];\n    .local .align 8 .b8 depot[16];\n    mov.u64 %d1, box;\n    \
                       cvta.shared.u64 %d1, %d1;\n    mov.u64 %d2, depot;\n    st.local.b64 [%d2], %b;\n    cvta.local.u64 %d2, %d2;\n    mov.u64 %d3, KERNEL_const;\n    \
                       cvta.const.u64 %d3, %d3;\n    and.b32 %r1, %i, 3;\n    mov.b64 %d4, %A;\n    setp.eq.u32 %p1, %r1, 1;\n    \
                       selp.b64 %d4, %d1, %d4, %p1;\n    setp.eq.u32 %p1, %r1, 2;\n    selp.b64 %d4, %d2, %d4, %p1;\n    \
                       setp.eq.u32 %p1, %r1, 3;\n    selp.b64 %d4, %d3, %d4, %p1;";
const CONSTANT: &str = ".const .align 8 .b64 KERNEL_const[2] = {0x1234567890ABCDEF, 42};\n";

fn spaces(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let body = format!("{GENERIC}\n    {mnemonic} %p2, %d4;\n    selp.b32 %r4, 1, 0, %p2;");
    vec![Fixture { declarations: CONSTANT.to_string(), ..make(row, mnemonic, &body, 1) }]
}

fn addresses(row: &Row, mnemonic: &str, words: &[&str]) -> Vec<Fixture> {
    if mnemonic.ends_with("u32") {
        return Vec::new();
    }
    let to = words[1] == "to";
    let space = words[if to { 2 } else { 1 }];
    let plain = space.split("::").next().unwrap_or(space);
    let (declaration, setup, start) = match plain {
        "shared" => (
            "",
            ".shared .align 8 .b64 box[64];\n    mov.u64 %d2, box;\n    mul.wide.u32 %d1, %t, 8;\n    add.s64 %d1, %d1, %d2;\n    st.shared.b64 [%d1], %a;",
            "%d1",
        ),
        "local" => ("", ".local .align 8 .b8 depot[16];\n    mov.u64 %d1, depot;\n    st.local.b64 [%d1], %a;", "%d1"),
        "const" => (CONSTANT, "mov.u64 %d1, KERNEL_const;", "%d1"),
        "param" => ("", "mov.b64 %d1, p_blob;", "%d1"),
        _ => ("", "", "%A"),
    };
    // To a generic address and read there; the other way round, back to the space and read in it.
    let forward = if to { format!("cvta.{space}.u64") } else { mnemonic.to_string() };
    let mut body = format!("{setup}\n    {forward} %d5, {start};\n    ld.b32 %r4, [%d5];");
    if to {
        let _ = write!(body, "\n    {mnemonic} %d6, %d5;\n    ld.{plain}.b32 %r4, [%d6];");
    }
    vec![Fixture { declarations: declaration.to_string(), ..make(row, mnemonic, &body, 1) }]
}

fn async_copies(row: &Row, mnemonic: &str, words: &[&str]) -> Vec<Fixture> {
    let start = ".shared .align 16 .b8 cells[2048];\n    mov.u64 %d2, cells;\n    mul.wide.u32 %d0, %t, 32;\n    \
                 add.s64 %d0, %d0, %d2;\n    st.shared.v2.b64 [%d0], {%c, %c};\n    st.shared.v2.b64 [%d0+16], {%c, %c};\n    \
                 and.b32 %r1, %i, 1;\n    mul.wide.u32 %d3, %r1, 8;\n    sub.s64 %d1, %A, %d3;";
    let end = "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%d0];\n    ld.shared.v4.b32 {%r8, %r9, %r10, %r11}, [%d0+16];";
    let simple = "cp.async.ca.shared.global [%d0], [%d1], 8;";
    let hint = if words.contains(&"L2::cache_hint") { ", %d20" } else { "" };
    let policy = if hint.is_empty() { "" } else { "mov.b64 %d20, 0x12F0000000000000;\n    " };
    let mut bodies: Vec<(String, String)> = Vec::new();
    match mnemonic {
        "cp.async.commit_group" => {
            bodies.push((String::new(), format!("{simple}\n    {mnemonic};\n    cp.async.wait_group 0;")));
        }
        "cp.async.wait_group" => bodies.push((
            String::new(),
            format!(
                "{simple}\n    cp.async.commit_group;\n    cp.async.ca.shared.global [%d0+16], [%d1], 4;\n    \
                 cp.async.commit_group;\n    {mnemonic} 1;\n    {mnemonic} 0;"
            ),
        )),
        "cp.async.wait_all" => bodies.push((String::new(), format!("{simple}\n    {mnemonic};"))),
        _ => {
            let sizes: &[u32] = if words[2] == "cg" { &[16] } else { &[4, 8, 16] };
            for size in sizes {
                bodies.push((
                    format!("#{size}"),
                    format!("{policy}{mnemonic} [%d0], [%d1], {size}{hint};\n    cp.async.wait_all;"),
                ));
                let text = format!(
                    "{policy}and.b32 %r2, %t, {};\n    {mnemonic} [%d0+16], [%d1], {size}, %r2{hint};\n    cp.async.wait_all;",
                    size - 1
                );
                bodies.push((format!("#{size}-zeros"), text));
            }
        }
    }
    bodies
        .into_iter()
        .map(|(variant, text)| {
            make(row, &format!("{mnemonic}{variant}"), &format!("{start}\n    {text}\n    {end}"), 8)
        })
        .collect()
}

fn textures(row: &Row, mnemonic: &str, words: &[&str]) -> Vec<Fixture> {
    let dims = if words[1] == "1d" { 1 } else { 2 };
    let channel = words[3].chars().next().unwrap_or('f');
    let float = words[4] == "f32";
    let mut list = Vec::new();
    for (index, texture) in TEXTURES.iter().enumerate() {
        if texture.dims != dims
            || texture.channel != channel
            || texture.buffer != (dims == 1 && !float)
            || texture.filtered && !float
        {
            continue;
        }
        let coordinates = if dims == 1 { "{%r10}" } else { "{%r10, %r11}" };
        let body = format!(
            "ld.param.u64 %d1, [p_textures+{}];\n    cvt.u32.u64 %r10, %a;\n    cvt.u32.u64 %r11, %b;\n    \
             {mnemonic} {{%r4, %r5, %r6, %r7}}, [%d1, {coordinates}];",
            8 * index
        );
        let variant = if texture.filtered { "#linear" } else { "" };
        let made = make(row, &format!("{mnemonic}{variant}"), &body, 4);
        list.push(Fixture { inputs: coordinates_of(float), ..made });
    }
    list
}

/// Returns coordinates inside, on the borders between texels, and outside.
fn coordinates_of(float: bool) -> [Vec<u64>; 3] {
    let at = |step: usize, i: usize| {
        let k = (i * step % 320) as i64 - 48;
        if float {
            u64::from((k as f32 / 16.0 + if i.is_multiple_of(5) { 0.013 } else { 0.0 }).to_bits())
        } else {
            u64::from((k / 8) as i32 as u32)
        }
    };
    [(0..512).map(|i| at(7, i)).collect(), (0..512).map(|i| at(11, i)).collect(), vec![0; 512]]
}

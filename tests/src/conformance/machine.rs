//! Fixtures of everything that is neither arithmetic nor a plain access: control flow, barriers, lanes that
//! talk to each other, addresses, asynchronous copies, textures.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ptx::table::Row;
use serde::Deserialize;

use super::memory::{fixture, random_inputs};
use super::{BEFORE_VOLTA, Fixture, TARGET};
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

/// The kernels of `machine.toml`, which describes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forms {
    texts: BTreeMap<String, String>,
    /// A word of a mnemonic, the text where the mnemonic has it, and the text where not.
    words: BTreeMap<String, [String; 3]>,
    form: Vec<Form>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Form {
    of: Vec<String>,
    with: Vec<String>,
    without: Vec<String>,
    lanes: Lanes,
    /// 1 where it is left out.
    outs: usize,
    variants: Vec<Vec<String>>,
    declarations: String,
    body: String,
    between: String,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Lanes {
    #[default]
    Random,
    Drawn,
    All,
    Some,
}

static FORMS: LazyLock<Forms> =
    LazyLock::new(|| toml::from_str(include_str!("machine.toml")).unwrap_or_else(|error| panic!("{error}")));

impl Form {
    fn is_of(&self, mnemonic: &str) -> bool {
        let begins = |text: &str, start: &str, end: &str| {
            text.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with(end))
        };
        let has = |wanted: &String| mnemonic.split('.').any(|word| begins(word, wanted, "::"));
        self.of.iter().any(|start| begins(mnemonic, start, "."))
            && self.with.iter().all(has)
            && !self.without.iter().any(has)
    }

    fn fixtures(&self, row: &Row, mnemonic: &str) -> Vec<Fixture> {
        let body = match self.body.trim() {
            "" => format!("{{before}}\n    {}\n    {{after}}", self.between.trim()),
            body => body.to_owned(),
        };
        let (plain, outs) = ([String::new()], self.outs.max(1));
        let variants = self.variants.iter().map(Vec::as_slice).chain(self.variants.is_empty().then_some(&plain[..]));
        let of_variant = |variant: &[String]| {
            let (name, body) = (format!("{mnemonic}{}", variant[0]), filled(&body, mnemonic, variant));
            let made = |name: &str, body: &str| make(row, name, &self.declarations, body, outs);
            let drawn = |fixture: Fixture| Fixture { inputs: lane_inputs(), ..fixture };
            match self.lanes {
                Lanes::Random => vec![made(&name, &body)],
                Lanes::Drawn => vec![drawn(made(&name, &body))],
                Lanes::All | Lanes::Some => {
                    let all = format!("cvt.u32.u64 %r10, %a;\n    mov.b32 %r11, -1;\n    {body}");
                    let clear = each(outs, |k| format!("    mov.b32 %r{}, 0xDEAD;\n", k + 4));
                    let some = format!(
                        "cvt.u32.u64 %r10, %a;\n    mov.b32 %r11, 0xFFFFF;\n{clear}    and.b32 %r12, %t, 31;\n\
                         \x20   setp.ge.u32 %p5, %r12, 20;\n    @%p5 bra $L_done;\n    {body}\n$L_done:\n"
                    );
                    let is_new = mnemonic.contains(".sync");
                    let some = (self.lanes == Lanes::Some && is_new).then(|| made(&format!("{name}#20-lanes"), &some));
                    let target = if is_new { TARGET } else { BEFORE_VOLTA };
                    [made(&name, &all)].into_iter().chain(some).map(|one| Fixture { target, ..drawn(one) }).collect()
                }
            }
        };
        variants.flat_map(of_variant).collect()
    }
}

/// Fills in what a body of `machine.toml` names.
fn filled(body: &str, mnemonic: &str, variant: &[String]) -> String {
    let words: Vec<&str> = mnemonic.split('.').collect();
    let mut text = body.to_owned();
    let mut put = |name: &str, with: &str| text = text.replace(&format!("{{{name}}}"), with);
    FORMS.texts.iter().for_each(|(name, with)| put(name, with));
    for (name, [word, with, otherwise]) in &FORMS.words {
        put(name, if words.contains(&word.as_str()) { with } else { otherwise });
    }
    variant.iter().enumerate().skip(1).for_each(|(number, with)| put(&number.to_string(), with));
    let space = words.iter().skip(1).find(|word| **word != "to").copied().unwrap_or_default();
    put("space", space);
    put("plain", space.split("::").next().unwrap_or_default());
    put("sync", &mnemonic.replace("arrive", "sync"));
    put("mnemonic", mnemonic);
    text
}

pub(super) fn fixtures(row: &Row, mnemonic: &str) -> Vec<Fixture> {
    let words: Vec<&str> = mnemonic.split('.').collect();
    match words[0] {
        "tex" => textures(row, mnemonic, &words),
        _ => FORMS
            .form
            .iter()
            .filter(|form| form.is_of(mnemonic))
            .flat_map(|form| form.fixtures(row, mnemonic))
            .collect(),
    }
}

/// Returns a fixture that stores `%r4`, `%r5`, … as results.
fn make(row: &Row, name: &str, declarations: &str, body: &str, n: usize) -> Fixture {
    let out = |k| format!("    cvt.u64.u32 %d12, %r{};\n    st.global.b64 [%O+{}], %d12;\n", k + 4, 8 * k);
    fixture(row, name, declarations.to_owned(), format!("    {}\n{}", body.trim(), each(n, out)), n)
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
        let made = make(row, &format!("{mnemonic}{variant}"), "", &body, 4);
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

use decode::DecodeError;
use simt::module::LoadError;

use super::*;

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let text = format!(".version 8.4\n.target sm_90\n.address_size 64\n{body}\n.file 1 \"a/b.cu\"\n");
    let memory = std::sync::Arc::new(simt::memory::Memory::new(1 << 20));
    let loaded = simt::module::Module::load(&memory, &text, None);
    let Err(LoadError::Decode(DecodeError::Unsupported(refused))) = loaded else {
        panic!("it is not refused as unsupported");
    };
    let message = message(&text, &refused);
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(&lines[..lines.len() - 1], expected);
    assert!(lines[lines.len() - 1].starts_with("try: "), "{message}");
}

#[test]
fn an_instruction_is_told_once_with_its_places() {
    let hint = "createpolicy.cvt.L2.b64 p, q;\n";
    let what = "`createpolicy.cvt.L2.b64` (cache policies are not emulated yet) is not supported";
    check(
        &format!(".visible .entry _Z4gemmPf(\n.param .u64 p)\n{{\n{hint}ret;\n}}"),
        &[what, "  --> kernel gemm, PTX line 7"],
    );
    check(
        &format!(".visible .entry k()\n{{\n.loc 1 12 5\n{hint}.loc 1 14 5\n{hint}{hint}ret;\n}}"),
        &[what, "  --> a/b.cu:12, kernel k, PTX line 7; 3 times, also in PTX lines 9, 10"],
    );
    check(
        &format!(
            ".func (.param .b32 r) helper(.param .b32 x)\n{{\n{hint}ret;\n}}\n.entry k()\n{{\n.loc 1 3 5\n{hint}ret;\n}}"
        ),
        &[what, "  --> function helper, PTX line 6; 2 times, also in PTX line 12"],
    );
}

#[test]
fn any_text_is_read() {
    for line in [".entry", ".func (", ".func ()", ".entry  k", ".loc", ".file 1 \"x", ".file"] {
        let _ = (declared(line), location_of(line, 9), path_of(line, "1"));
    }
}

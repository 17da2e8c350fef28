use super::*;

/// Returns the result of a shell script in place of the compiler.
#[track_caller]
fn compiled_by(script: &str, limit: Duration) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let nvrtc = Nvrtc { version: crate::nvrtc::VERSION, directory: PathBuf::new(), include: None };
    let mut compiler = Compiler::spawn(nvrtc, command, limit).expect("it starts");
    let input = CompileInput { name: "a.cu".into(), ..CompileInput::default() };
    match compiler.compile(&input) {
        Ok(compiled) => compiled.ptx,
        Err(error) if error.is::<DoesNotCompile>() => format!("refused: {error:#}"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn answers_pass_and_endless_work_is_stopped() {
    let minute = Duration::from_secs(60);
    let good = r#"read line; echo '{"Ok": {"ptx": "text", "log": ""}}'"#;
    assert_eq!(compiled_by(good, minute), "text");
    let wrong = r#"read line; echo '{"Err": {"Source": "a.cu does not compile"}}'"#;
    assert_eq!(compiled_by(wrong, minute), "refused: a.cu does not compile");
    let broken = r#"read line; echo '{"Err": {"Compiler": "error 7"}}'"#;
    assert_eq!(compiled_by(broken, minute), "error 7");
    assert_eq!(
        compiled_by("exec sleep 1000", Duration::ZERO),
        "refused: a.cu was still being compiled after 0 s, and the compiler was stopped; look for a template, a macro or \
             an #include without end"
    );
    assert_eq!(
        compiled_by("read line; exit 3", minute),
        "the compiler ended (exit status: 3) while it compiled a.cu; if that happens again, this gets a new one where \
             it is damaged: cargo xtask setup"
    );
}

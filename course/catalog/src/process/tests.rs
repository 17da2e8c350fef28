use super::*;

fn sh(script: &str, limit: Duration, max_output: usize) -> ProcessOutput {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    run(command, limit, max_output, &|| false).expect("it starts")
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn output_and_errors_are_kept_apart() {
    let ended = sh("echo out; echo err >&2; exit 3", MINUTE, 100);
    assert_eq!((ended.output.as_slice(), ended.errors.as_str()), (&b"out\n"[..], "err\n"));
    assert_eq!((ended.status.code(), ended.stopped), (Some(3), None));
}

#[test]
fn endless_programs_are_stopped() {
    for script in ["exec sleep 1000", "exec sleep 1000 >/dev/null 2>&1"] {
        assert_eq!(sh(script, Duration::ZERO, 100).stopped, Some(Stopped::Time), "{script}");
    }
    let ended = sh("exec yes", MINUTE, 1000);
    assert_eq!((ended.stopped, ended.output.len()), (Some(Stopped::Output), 1000));
    let ended = sh("yes | head -c 1000000 >&2; echo done", MINUTE, 1000);
    assert_eq!((ended.stopped, ended.output.as_slice()), (None, &b"done\n"[..]));
}

#[test]
fn an_interrupt_is_for_the_caller() {
    // The fifth field is the process group.
    let ended = sh("read -r _ _ _ _ group _ < /proc/self/stat; echo $$ $group", MINUTE, 100);
    let text = String::from_utf8_lossy(&ended.output).into_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    if cfg!(target_os = "linux") {
        assert!(words.len() == 2 && words[0] == words[1], "{text}{}", ended.errors);
    }
    for script in ["exec sleep 1000", "exec sleep 1000 >/dev/null 2>&1"] {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let ended = run(command, MINUTE, 100, &|| true).expect("it starts");
        assert_eq!(ended.stopped, Some(Stopped::Interrupt));
    }
}

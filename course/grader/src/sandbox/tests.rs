use super::*;

#[test]
fn versions_are_compared_as_numbers() {
    assert!(is_new("bubblewrap 0.8.0\n") && is_new("bubblewrap 0.11.0") && is_new("bubblewrap 1.0"));
    assert!(!is_new("bubblewrap 0.6.1\n") && !is_new(""));
}

#[test]
fn only_processes_in_the_sandbox_are_counted() {
    let launcher = Launcher {
        program: "/launcher".into(),
        word: "confined".into(),
        libraries: BTreeSet::new(),
        interrupted: || false,
    };
    let what = Confined {
        program: Path::new("/program"),
        reads: &[],
        job: Path::new("/job"),
        arguments: &[],
        limits: JobLimits { seconds: 1, memory: 2, output: 3 },
        has_scratch: false,
    };
    let wrap = Bubblewrap { program: "/bwrap".into(), is_new: true };
    let processes = |sandbox: Sandbox| {
        let command = sandbox.command(&launcher, &what);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let at = words.iter().position(|word| word == "confined").expect("a launcher");
        words[at + 4].parse::<u64>().expect("a number")
    };
    assert_eq!(processes(Sandbox::Bubblewrap(wrap)), PROCESSES);
    assert_eq!(processes(Sandbox::None), NO_LIMIT);
}

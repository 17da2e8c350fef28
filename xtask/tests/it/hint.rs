//! `hint`: which one is chosen, and how far it goes.

use std::fs;

use crate::fakes::{Learner, conflicts, passed, wrong};

#[test]
fn a_hint_fits_the_last_check_and_goes_on_to_a_part_of_the_solution() {
    let learner = Learner::new();
    let first = "there is no check of my/v05.cu yet, so this is the general hint; for one that fits: xtask check v05\n\n\
                 a nudge (1 of 2): Go in rounds.\n\nmore: xtask hint v05 --more\n";
    assert_eq!(learner.output(0, "hint v05"), first);
    learner.run("start v05");
    learner.verdict(&conflicts());
    learner.run("check v05");
    let levels = [
        ("hint v05", "a nudge (1 of 4): Which line has it?\n"),
        ("hint v05", "a nudge (1 of 4): Which line has it?\n"),
        ("hint v05 --more", "the concept (2 of 4): Words modulo 32.\n"),
        ("hint v05 --more --more", "a part of the finished kernel (4 of 4): do it\n\n    done();\n"),
        ("hint v05 --more", "a part of the finished kernel (4 of 4): do it\n\n    done();\n"),
    ];
    for (words, expected) in levels {
        let out = learner.output(0, words);
        let chosen = "chosen by the last check, which ended with no-excess\n\n";
        assert!(out.starts_with(&format!("{chosen}{expected}")), "{words}: {out}");
    }
    let progress = learner.read("my/progress.toml");
    // One of the general hint, four of the other.
    for line in ["hints = 5", "no-excess = 4", "general = 1"] {
        assert!(progress.contains(line), "{line} in {progress}");
    }

    // Twice more: a hint was seen, so nobody is sent to it again.
    for _ in 0..2 {
        assert!(learner.run("check v05").1.ends_with("\nnext: change my/v05.cu, then: xtask check v05\n"));
    }
    fs::write(learner.path("my/v05.cu"), "void f()\n{\n  done();\n}\n").expect("a file");
    let out = learner.output(0, "hint v05");
    assert!(out.contains("(my/v05.cu has changed since: xtask check v05)"), "{out}");
    assert!(out.contains("your copy has every line of it"), "{out}");

    learner.verdict(&wrong());
    learner.run("check v05");
    let out = learner.output(0, "hint v05");
    let general = "the last check ended with wrong-result, which has no hint of its own; this is the general one\n";
    assert!(out.starts_with(general), "{out}");
    fs::write(learner.path("my/v05.cu"), "x = ?\n").expect("a file");
    learner.run("check v05");
    let out = learner.output(0, "hint v05");
    assert!(out.starts_with("it does not compile, and xtask check v05 says why; this is the general hint\n"), "{out}");
    fs::write(learner.path("my/v05.cu"), "void f() {}\n").expect("a file");
    learner.verdict(&passed());
    learner.run("check v05");
    assert_eq!(learner.output(0, "hint v05"), "v05 passed its last check\nnext: xtask diff v05\n");
}

#[test]
fn who_fails_three_times_in_the_same_way_is_sent_to_a_hint() {
    let learner = Learner::started();
    learner.verdict(&conflicts());
    let next: Vec<String> =
        (0..3).map(|_| learner.run("check v05").1.lines().last().unwrap_or_default().to_owned()).collect();
    let change = "next: change my/v05.cu, then: xtask check v05";
    assert_eq!(next, [change, change, "next: xtask hint v05"]);
    learner.run("hint v05");
    assert!(learner.run("check v05").1.contains(change));
}

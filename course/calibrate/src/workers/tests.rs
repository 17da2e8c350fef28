use super::*;

/// Supervises workers that run this script, in which `$1` are skipped; returns their names and errors.
#[cfg(unix)]
fn supervised(script: &str) -> (Result<Tally, StepError>, Vec<String>) {
    let names = ["a", "b", "c", "d"].map(str::to_owned);
    let mut records = Vec::new();
    let start = |skip: usize| {
        let mut command = Command::new("sh");
        command.args(["-c", script, "worker", &skip.to_string()]);
        Ok(command)
    };
    let tally = supervise(&names, start, &mut |record| {
        let word = |key: &str| record[key].as_str().unwrap_or_default();
        records.push(format!("{} {}", word("name"), word("error")).trim_end().to_owned());
        Ok(())
    });
    (tally, records)
}

#[cfg(unix)]
#[test]
fn each_measurement_has_one_record_whatever_its_process_does() {
    let script = r#"
        made() { echo "{\"name\":\"$1\",\"value\":1}"; }
        case $1 in
        0) made a; echo '{"name":"b","error":"its context"}'; exit 1;;
        2) printf '{"name":"c","val'; exit 7;;
        *) made d;;
        esac"#;
    let (tally, records) = supervised(script);
    assert_eq!(records, ["a", "b its context", "c its process ended with exit status: 7", "d"]);
    assert_eq!(tally.expect("there are records"), Tally { all: 4, failed: 2 });
    let (tally, records) = supervised("exit 0");
    assert_eq!(tally.expect("there are records"), Tally { all: 4, failed: 4 });
    assert_eq!(records.len(), 4);
}

#[cfg(unix)]
#[test]
fn a_worker_without_a_gpu_is_the_last() {
    let script = r#"[ $1 = 0 ] && echo '{"name":"a","error":"lost"}' || exit 3"#;
    let (tally, records) = supervised(script);
    assert_eq!(records, ["a lost"]);
    assert_eq!(tally.expect_err("the rest is missing").to_string(), "the last 3 of 4 were not measured");
}

use super::*;

const CLASS: &str = "\u{feff}id,name,team,section,extension,submitted,aliases,mail\n\
    ada,Ada Lovelace,--,1,2,,,a@x\n bob ,\"Noyce, Bob\",red,2,,2026-12-01T17:20:00Z,rnoyce;noyceb,\n\
    cat,Cat Stevens,red,2,,,,\ndan,Dan Brown,,,,,,\nden,Dan Brown,,,,,,\n";

fn given(names: &[&str]) -> Vec<(String, Vec<String>)> {
    let submissions =
        names.iter().map(|name| Submission { student: (*name).to_owned(), path: name.into(), ..Submission::absent() });
    let all = match_submissions(&parse(CLASS.into(), "class.csv").expect("a list").0, submissions.collect(), &[]);
    all.into_iter().map(|submission| (submission.student, submission.notes)).collect()
}

#[test]
fn names_of_other_systems_are_understood() {
    for name in ["ada", "Ada Lovelace", "lovelaceada_123_456_v02", "Ada Lovelace_77_assignsubmission_file_", "ADA"] {
        let all = given(&[name]);
        let notes = if name == "ada" { vec![] } else { vec![format!("handed in as {name}")] };
        assert_eq!(all[0], ("ada".to_owned(), notes), "{name}");
        // A team name without letters or digits means no team.
        assert_eq!(all[3], ("dan".to_owned(), vec![]), "{name}");
    }
    assert_eq!(given(&["noyceb_LATE_1_2_v02"])[1].1, ["handed in as noyceb_LATE_1_2_v02"]);
}

#[test]
fn teams_share_and_strangers_are_kept() {
    let all = given(&["red", "rnoyce", "Dan Brown", "eve"]);
    let notes: Vec<(&str, String)> = all.iter().map(|(name, notes)| (name.as_str(), notes.join("; "))).collect();
    let expected = [
        ("ada", ""),
        ("bob", "handed in as red; handed in earlier, and not graded: rnoyce"),
        ("cat", "handed in as red; handed in earlier, and not graded: rnoyce"),
        ("dan", ""),
        ("den", ""),
        ("Dan Brown", "several in the list have this name"),
        ("eve", "nobody in the list has this name"),
    ];
    assert_eq!(notes, expected.map(|(name, notes)| (name, notes.to_owned())));
}

#[test]
fn wrong_lists_are_refused() {
    for (text, expected) in [
        ("", "class.csv: nobody is in it; the first line names the columns, and one of them is `id`"),
        ("id\nAda\n\"\"\nada\n", "class.csv: ada: it is listed twice, apart from case and signs"),
        (
            "id,submitted\nada,yesterday\n",
            "class.csv: ada: `submitted` must be a time in UTC, such as 2026-12-01T17:20:00Z",
        ),
        ("id,extension\nada,two\n", "class.csv: CSV deserialize error: record 1 (line: 2, byte: 13): "),
        ("\u{0}i\u{0}d", "class.csv: neither UTF-8 nor Latin-1: save the list as CSV in UTF-8"),
        (
            "ID;name\nada;Ada\n",
            "class.csv: the first line names the columns ID, name; one must be `id`, in small letters",
        ),
    ] {
        let error = parse(text.into(), "class.csv").expect_err(text).to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_list_of_a_spreadsheet_is_read_with_notes() {
    let (people, notes) =
        parse(b"id;name;Team;aliases\nzoe;Zo\xeb;red;\"z;zz\"\n".to_vec(), "class.csv").expect("a list");
    assert_eq!((people[0].name.as_str(), people[0].aliases.as_str()), ("Zo\u{eb}", "z;zz"));
    assert_eq!(
        notes,
        ["class.csv is not in UTF-8, and was read as Latin-1", "class.csv has columns that are not used: Team"]
    );
}

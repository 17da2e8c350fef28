use super::*;

#[test]
fn settings_stay_but_for_crates_that_are_not_copied() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (root, out) = (root.as_path(), Path::new("/nowhere"));
    let copier = Copier { root, out };
    let mut workspace = copier.toml("Cargo.toml").expect("a manifest");
    let own = workspace_crates(&copier).expect("a lock file");
    for name in ["tests", "v00", "emulator_client"] {
        assert!(own.contains(name), "{name}");
    }
    let settings = ["simt", "tests", "v00", "emulator_client", "anybody-elses"];
    let packages: Table = settings.map(|name| (name.to_owned(), Value::Table(Table::new()))).into_iter().collect();
    let profile = Table::from_iter([("package".to_owned(), Value::Table(packages))]);
    let profiles = Table::from_iter([("dev".to_owned(), Value::Table(profile))]);
    workspace.insert("profile".into(), Value::Table(profiles));
    let members = BTreeMap::from([("simt".to_owned(), PathBuf::from("emulator/simt"))]);
    let trimmed = trimmed(workspace, &members, &own);
    let left = trimmed["profile"]["dev"]["package"].as_table().expect("settings");
    assert_eq!(left.keys().collect::<Vec<_>>(), ["anybody-elses", "simt"]);
}

#[test]
fn sets_of_two_or_three_that_answer_each_other_are_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalogues = Catalogue::load_all(&root).expect("the catalogues are right");
    let tasks = catalogues.into_iter().flat_map(|catalogue| catalogue.tasks);
    let given = tasks.filter(|task| task.has_starter && task.host.is_none() && *task.name.step < *"v09").map(|task| {
        let solution = std::fs::read_to_string(root.join(&task.solution)).expect("a solution");
        AssignedTask { starter: tasks::starter::starter(&task, &solution), task, drawn: None }
    });
    let given: Vec<AssignedTask> = given.collect();
    let refused = |set: &[usize]| {
        let mut set: Vec<AssignedTask> = set.iter().map(|at| given[*at].clone()).collect();
        let why = answers::leave_out(&mut set).and_then(|()| answers::refuse(&root, &set)).err()?.to_string();
        let between = |from: &str, to: &str| Some(why.split_once(from)?.1.split_once(to)?.0);
        let names = between(": assign ", " in a repository").zip(between("the starters of ", " have "));
        let (task, others) = names.unwrap_or_else(|| panic!("{why}"));
        Some(format!("{task}, by {others}"))
    };
    let pairs = (0..given.len()).flat_map(|a| (a + 1..given.len()).map(move |b| [a, b]));
    let (pairs, mut found): (Vec<[usize; 2]>, Vec<String>) = (pairs.collect(), Vec::new());
    let fine: Vec<[usize; 2]> =
        pairs.into_iter().filter(|set| refused(set).map(|why| found.push(why)).is_none()).collect();
    for [a, b] in &fine {
        let third = (b + 1..given.len()).filter(|c| [[*a, *c], [*b, *c]].iter().all(|pair| fine.contains(pair)));
        found.extend(third.filter_map(|c| refused(&[*a, *b, c])));
    }
    let expected = [
        "v05.double, by v06.double",
        "v03, by v04.double and v05.double",
        "v03, by v04.double and v06.double",
        "v03.double, by v04.double and v05.double",
        "v03.double, by v04.double and v06.double",
        "v05.double, by v05 and v08.flat",
    ];
    assert_eq!(found, expected);
}

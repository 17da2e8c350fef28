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

use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_killed_writer_left_goes_with_the_next_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // No process has a number as large as this one: Linux stops at 2^22.
    let others = ["a.json.4194999.tmp", "b.json.4194999.tmp", "a.json.x.tmp"];
    for name in others {
        std::fs::write(folder.join(name), "half").expect("a file");
    }
    let alive = format!("a.json.{}.tmp", std::os::unix::process::parent_id());
    std::fs::write(folder.join(&alive), "half").expect("a file");
    write_whole(&folder.join("a.json"), "whole").expect("written");
    let mut expected = vec!["a.json", &alive, "a.json.x.tmp", "b.json.4194999.tmp"];
    expected.sort_unstable();
    assert_eq!(names(folder), expected);
}

#[test]
#[cfg(target_os = "linux")]
fn a_folder_is_replaced_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let place = folder.join("book");
    // What killed processes left: half of a new folder, and an old one that was in the way.
    for name in ["book.4194999.tmp", "book.old.4194999.tmp"] {
        std::fs::create_dir(folder.join(name)).expect("a folder");
    }
    for text in ["one", "two"] {
        let staged = StagedFolder::new(&place).expect("a folder");
        std::fs::write(staged.path().join(text), "").expect("a file");
        assert!(!place.join(text).exists());
        staged.finish().expect("moved");
        assert_eq!(names(&place), [text]);
    }
    drop(StagedFolder::new(&place).expect("a folder"));
    assert_eq!((names(folder), names(&place)), (vec!["book".to_owned()], vec!["two".to_owned()]));
    let link = folder.join("link");
    std::os::unix::fs::symlink("book", &link).expect("a link");
    for refused in [&link, &place.join("two")] {
        assert!(StagedFolder::new(refused).is_err());
    }
    assert_eq!(names(&place), ["two"]);
}

#[test]
fn a_bare_name_lies_in_the_current_folder() {
    assert_eq!(folder_of(Path::new("a.json")), Path::new("."));
    assert_eq!(folder_of(Path::new("data/a.json")), Path::new("data"));
    assert_eq!(folder_of(Path::new("/a.json")), Path::new("/"));
}

#[test]
#[cfg(unix)]
fn a_folder_is_locked_once_at_a_time_and_left_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let held = lock_folder(folder).expect("locked");
    let second = File::open(folder).expect("a folder");
    assert!(second.try_lock().is_err());
    drop(held);
    assert!(second.try_lock().is_ok());
    assert_eq!(names(folder), Vec::<String>::new());
}

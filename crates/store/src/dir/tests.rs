use std::os::unix::fs::PermissionsExt;

use super::*;

const ID: StoreId = StoreId(7);

fn made(path: &Path) -> DataDir {
    let mut dir = DataDir::open(path, ID).unwrap();
    fs::create_dir_all(dir.log_path()).unwrap();
    dir.finish().unwrap();
    dir
}

#[test]
fn a_second_user_is_refused_and_told_who_the_first_is() {
    let temp = tempfile::tempdir().unwrap();
    let first = made(temp.path());
    let error = DataDir::open(temp.path(), ID).unwrap_err();
    assert!(matches!(error, DirError::InUse { pid: Some(pid), .. } if pid == std::process::id()));
    assert!(error.to_string().contains("in use by process"));
    drop(first);
    DataDir::open(temp.path(), ID).unwrap();
}

#[test]
fn the_number_of_the_store_stays() {
    let temp = tempfile::tempdir().unwrap();
    drop(made(&temp.path().join("new/deep")));
    let again = DataDir::open(&temp.path().join("new/deep"), StoreId(8)).unwrap();
    assert_eq!(again.id(), ID);
}

#[test]
fn a_foreign_directory_is_refused_and_left_as_it_is() {
    for names in [&["holiday.jpg"][..], &["000003.log", "LOCK"], &["log"]] {
        let temp = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(temp.path().join(name), "x").unwrap();
        }
        let error = DataDir::open(temp.path(), ID).unwrap_err();
        assert!(matches!(error, DirError::Foreign { .. }), "{error}");
        let mut left: Vec<_> = fs::read_dir(temp.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, names);
        for name in names {
            assert_eq!(fs::read(temp.path().join(name)).unwrap(), b"x");
        }
    }
}

#[test]
fn an_interrupted_making_is_begun_anew() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::open(temp.path(), ID).unwrap();
    fs::create_dir_all(dir.log_path()).unwrap();
    fs::write(dir.log_path().join("half"), "x").unwrap();
    drop(dir);
    let dir = DataDir::open(temp.path(), StoreId(9)).unwrap();
    assert_eq!((dir.id(), dir.log_path().exists()), (StoreId(9), false));
}

#[test]
fn newer_damaged_and_lost_parts_are_refused() {
    let newer = |error: &DirError| matches!(error, DirError::Newer { version: 2, .. });
    let damaged = |error: &DirError| matches!(error, DirError::Damaged { .. });
    let check = |text: &[u8], expected: &dyn Fn(&DirError) -> bool| {
        let temp = tempfile::tempdir().unwrap();
        drop(made(temp.path()));
        fs::write(temp.path().join(FORMAT), text).unwrap();
        let error = DataDir::open(temp.path(), ID).unwrap_err();
        assert!(expected(&error), "{error}");
    };
    check(b"masthead-store 2 0000000000000007\n", &newer);
    for text in [
        &b""[..],
        b"masthead-store",
        b"masthead-store 1 xyz",
        b"other 1 7",
        b"\xff\xff",
    ] {
        check(text, &damaged);
    }
    let temp = tempfile::tempdir().unwrap();
    let dir = made(temp.path());
    fs::remove_dir_all(dir.log_path()).unwrap();
    drop(dir);
    assert!(damaged(&DataDir::open(temp.path(), ID).unwrap_err()));
}

#[test]
fn a_new_directory_must_be_empty() {
    let temp = tempfile::tempdir().unwrap();
    drop(made(temp.path()));
    assert!(matches!(
        DataDir::create(temp.path(), ID),
        Err(DirError::NotEmpty { .. })
    ));
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("x"), "x").unwrap();
    assert!(matches!(
        DataDir::create(temp.path(), ID),
        Err(DirError::NotEmpty { .. })
    ));
}

#[test]
fn what_cannot_be_written_is_said_clearly() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = DataDir::open(&file.join("below"), ID).unwrap_err();
    assert!(
        error.to_string().contains("choose a data directory"),
        "{error}"
    );

    let locked = temp.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    // The superuser may write anywhere.
    if File::create(locked.join("probe")).is_err() {
        assert!(matches!(
            DataDir::open(&locked.join("new"), ID),
            Err(DirError::Io { .. })
        ));
    }
}

//! Links, pipes and folders at the places where a run, a report or an export would work: none is followed and none is emptied.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tests::support::open;
use crate::{DatasetError, Folder, TemporaryDataset, create_report, write_derived};
use tempfile::TempDir;

use crate::tests::support::{interrupted, mark, names, place, publish, refusal, work, write_slice};

/// A folder with files of another user.
fn victim(folder: &TempDir) -> PathBuf {
    let victim = folder.path().join("victim");
    fs::create_dir_all(victim.join(".ssh")).unwrap();
    fs::write(victim.join("thesis.txt"), "mine").unwrap();
    fs::write(victim.join(".ssh/key"), "mine").unwrap();
    victim
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs an act and expects an error, with no change outside the destination.
fn is_refused(folder: &TempDir, what: &str, act: &dyn Fn() -> Result<(), DatasetError>) {
    let before = snapshot_of_all(folder.path());
    let error = act().expect_err(what);
    assert!(matches!(error, DatasetError::WrongPath { .. }), "{what}: {error}");
    assert_eq!(snapshot_of_all(folder.path()), before, "{what}");
}

/// Every name below a folder with its kind and content; links are not followed.
fn snapshot_of_all(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        let state = if kind.is_dir() {
            found.extend(snapshot_of_all(&path));
            "folder".to_owned()
        } else if kind.is_file() {
            String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
        } else {
            format!("{:?}, inode {}", kind.file_type(), kind.ino())
        };
        found.push((path, state));
    }
    found.sort();
    found
}

fn run(folder: &TempDir) -> Result<(), DatasetError> {
    open(&folder.path().join("out"), "plan-a", false).map(drop)
}

fn export(folder: &TempDir) -> Result<(), DatasetError> {
    Folder::create(&folder.path().join("out")).map(drop)
}

type Act = fn(&TempDir) -> Result<(), DatasetError>;

/// The folders of unfinished work of a run and of an export.
const HOMES: [(&str, Act); 2] = [(".out.staging", run), (".out.unfinished", export)];

#[test]
fn a_link_in_the_place_of_unfinished_work_is_not_followed() {
    for (work_dir, act) in HOMES {
        let (folder, _) = place();
        let victim = victim(&folder);
        // The mark does not help.
        for is_marked in [false, true] {
            if is_marked {
                fs::write(victim.join(".chatmill-staging"), "").unwrap();
            }
            for target in [victim.as_path(), Path::new("victim"), Path::new("nowhere")] {
                let link = folder.path().join(work_dir);
                symlink(target, &link).unwrap();
                is_refused(&folder, work_dir, &|| act(&folder));
                fs::remove_file(link).unwrap();
            }
        }
    }
}

#[test]
fn a_link_in_the_place_of_a_dataset_that_is_wanted_for_a_while_is_not_followed() {
    let (folder, out) = place();
    let original = folder.path().join("kept");
    publish(&original, "plan-a", 1);
    let act = || TemporaryDataset::beside(&out).map(drop);
    for target in ["kept", "nowhere"] {
        symlink(target, folder.path().join(".out.dataset")).unwrap();
        is_refused(&folder, target, &act);
        fs::remove_file(folder.path().join(".out.dataset")).unwrap();
    }
    // A dataset of the user under that name is not touched either.
    fs::rename(&original, folder.path().join(".out.dataset")).unwrap();
    is_refused(&folder, "a dataset", &act);
}

#[test]
fn a_link_below_the_unfinished_work_is_not_followed() {
    for below in [
        "plan-a",
        "plan-b",
        "plan-a/data",
        "plan-a/receipts",
        "plan-a/temp",
        "plan-a/data/messages",
        "plan-a/data/messages/part-00000-00000.parquet",
        "plan-a/receipts/00000-00000.json",
        "plan-a/temp/messages.00000-00000.parquet",
        ".chatmill-staging",
    ] {
        let (folder, _) = place();
        let victim = victim(&folder);
        let link = folder.path().join(".out.staging").join(below);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        if below != ".chatmill-staging" {
            mark(&folder);
        }
        symlink(&victim, &link).unwrap();
        is_refused(&folder, below, &|| run(&folder));
    }
    for below in ["files", "files/train.jsonl"] {
        let (folder, _) = place();
        let victim = victim(&folder);
        let work_dir = folder.path().join(".out.unfinished");
        let link = work_dir.join(below);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::write(work_dir.join(".chatmill-staging"), "").unwrap();
        symlink(&victim, &link).unwrap();
        is_refused(&folder, below, &|| export(&folder));
    }
}

#[test]
fn a_user_folder_named_like_the_work_directory_stays() {
    for (work_dir, act) in HOMES {
        let (folder, _) = place();
        let path = folder.path().join(work_dir);
        fs::create_dir_all(path.join("photos")).unwrap();
        fs::write(path.join("photos/cat.jpg"), "mine").unwrap();
        is_refused(&folder, work_dir, &|| act(&folder));
        // A mark does not make it ours either.
        fs::write(path.join(".chatmill-staging"), "").unwrap();
        is_refused(&folder, work_dir, &|| act(&folder));
        fs::remove_dir_all(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        is_refused(&folder, work_dir, &|| act(&folder));
        fs::remove_file(&path).unwrap();
        pipe(&path);
        is_refused(&folder, work_dir, &|| act(&folder));
    }
}

#[test]
fn an_empty_folder_that_a_kill_left_is_no_obstacle() {
    for (work_dir, act) in HOMES {
        let (folder, _) = place();
        fs::create_dir(folder.path().join(work_dir)).unwrap();
        act(&folder).unwrap();
    }
}

#[test]
fn an_unfinished_export_that_a_kill_left_is_cleared_away() {
    let (folder, out) = place();
    let work_dir = folder.path().join(".out.unfinished");
    fs::create_dir_all(work_dir.join("files")).unwrap();
    fs::write(work_dir.join(".chatmill-staging"), "").unwrap();
    fs::write(work_dir.join("files/train.jsonl"), "half").unwrap();
    let export = Folder::create(&out).unwrap();
    export.file("test.jsonl").unwrap().finish().unwrap();
    export.publish().unwrap();
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(names(&out), ["test.jsonl"]);
    // The state after a kill that follows the publishing.
    fs::create_dir(&work_dir).unwrap();
    fs::write(work_dir.join(".chatmill-staging"), "").unwrap();
    Folder::create(&out).unwrap_err();
    assert_eq!(names(folder.path()), ["out"]);
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let (folder, out) = place();
    interrupted(&out);
    let work_dir = folder.path().join(".out.staging");
    if std::os::unix::fs::chown(&work_dir, Some(12_345), None).is_err() {
        eprintln!("SKIPPED: this user cannot give folders away");
        return;
    }
    is_refused(&folder, "another user", &|| run(&folder));
}

#[test]
fn a_lock_that_is_none_is_left_alone() {
    let acts: [Act; 2] = [run, export];
    for act in acts {
        let (folder, _) = place();
        let lock = folder.path().join(".out.lock");
        symlink("planted", &lock).unwrap();
        is_refused(&folder, "a link to nothing", &|| act(&folder));
        fs::write(folder.path().join("planted"), "").unwrap();
        is_refused(&folder, "a link to a file", &|| act(&folder));
        fs::remove_file(&lock).unwrap();
        pipe(&lock);
        is_refused(&folder, "a pipe", &|| act(&folder));
        fs::remove_file(&lock).unwrap();
        fs::create_dir(&lock).unwrap();
        is_refused(&folder, "a folder", &|| act(&folder));
        fs::remove_dir(&lock).unwrap();
        fs::write(&lock, "process 7").unwrap();
        is_refused(&folder, "somebody's own", &|| act(&folder));
        fs::write(&lock, "").unwrap();
        act(&folder).unwrap();
        assert!(!lock.exists(), "a lock that was left is taken and removed");
    }
}

#[test]
fn a_refused_destination_leaves_nothing_beside_it() {
    let (folder, out) = place();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "mine").unwrap();
    for _ in 0..2 {
        is_refused(&folder, "a strangers' folder", &|| run(&folder));
        is_refused(&folder, "a strangers' folder", &|| export(&folder));
    }
    let inner = out.join("inner");
    fs::create_dir(&inner).unwrap();
    is_refused(&folder, "the folder above", &|| {
        open(&inner.join(".."), "plan-a", false).map(drop)
    });
    fs::write(folder.path().join("file"), "mine").unwrap();
    is_refused(&folder, "below a file", &|| {
        open(&folder.path().join("file/out"), "plan-a", false).map(drop)
    });
}

#[test]
fn a_link_under_a_temporary_name_of_a_report_is_not_followed() {
    let (folder, out) = place();
    publish(&out, "plan-a", 1);
    let mine = folder.path().join("mine");
    fs::write(&mine, "mine").unwrap();
    for name in ["report.html", "report.json", "README.md"] {
        symlink(&mine, folder.path().join(format!(".out.{name}.new"))).unwrap();
        write_derived(&out, &[(name, b"new")]).unwrap();
        assert!(!out.join(name).is_symlink());
        assert_eq!(fs::read(out.join(name)).unwrap(), b"new");
    }
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
}

#[test]
fn staging_is_private_and_a_dataset_has_the_usual_mode() {
    let (folder, out) = place();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let work_dir = folder.path().join(".out.staging");
    let staging = work(&out, "plan-a");
    assert_eq!(mode(&work_dir), 0o700);
    // A copy or a clone of the folder may have another mode.
    drop(staging);
    fs::set_permissions(&work_dir, fs::Permissions::from_mode(0o755)).unwrap();
    let staging = work(&out, "plan-a");
    assert_eq!(mode(&work_dir), 0o700);
    write_slice(&staging, 0);
    crate::tests::support::seal(staging, "plan-a", 1)
        .publish()
        .unwrap();

    let usual = folder.path().join("usual");
    fs::create_dir(&usual).unwrap();
    fs::write(usual.join("file"), "").unwrap();
    for folder in ["", "messages"] {
        assert_eq!(mode(&out.join(folder)), mode(&usual), "{folder}");
    }
    for file in ["messages/part-00000-00000.parquet", "manifest.json", "_SUCCESS"] {
        assert_eq!(mode(&out.join(file)), mode(&usual.join("file")), "{file}");
    }
}

#[test]
fn a_report_file_replaces_no_input_or_link_and_nothing_before_it_is_finished() {
    use std::io::Write;
    let (folder, _) = place();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("input.json"), "mine").unwrap();
    fs::hard_link(at("input.json"), at("same.json")).unwrap();
    symlink("input.json", at("link.json")).unwrap();
    fs::write(at("earlier.json"), "earlier").unwrap();
    fs::create_dir(at("folder")).unwrap();
    pipe(&at("pipe"));
    let (input, link) = (at("input.json"), at("link.json"));
    for (name, inputs) in [
        ("input.json", vec![input.as_path()]),
        ("input.json", vec![link.as_path()]),
        ("same.json", vec![input.as_path()]),
        ("link.json", vec![]),
        ("folder", vec![]),
        ("pipe", vec![]),
        ("folder/..", vec![]),
    ] {
        is_refused(&folder, name, &|| create_report(&at(name), &inputs).map(drop));
    }
    let before = snapshot_of_all(folder.path());
    let mut aborted = create_report(&at("earlier.json"), &[&input]).unwrap();
    aborted.write_all(b"half").unwrap();
    drop(aborted);
    assert_eq!(snapshot_of_all(folder.path()), before);
    for text in ["new", "newer"] {
        let mut whole = create_report(&at("earlier.json"), &[&input]).unwrap();
        whole.write_all(text.as_bytes()).unwrap();
        whole.finish().unwrap();
        assert_eq!(fs::read_to_string(at("earlier.json")).unwrap(), text);
    }
    drop(refusal(&at("input.json"), true));
}

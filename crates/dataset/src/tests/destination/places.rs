//! Places where no dataset can appear.

use std::fs;
use std::path::Path;

use crate::tests::support::open;
use crate::{DatasetError, certify, read_manifest};

use crate::tests::support::{names, place, publish, refusal, seal, snapshot, undisturbed, work};

#[test]
fn a_strangers_folder_is_refused_and_listed() {
    let (folder, out) = place();
    for stranger in [
        "thesis.txt",
        ".hidden",
        "manifest.json",
        "manifest.json/file",
        "sub/file",
    ] {
        let path = out.join(stranger);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let before = snapshot(&out);
        for replace in [false, true] {
            let error = refusal(&out, replace);
            assert!(matches!(error, DatasetError::WrongPath { .. }));
            assert!(
                error.to_string().contains(stranger.split('/').next().unwrap()),
                "{error}"
            );
        }
        assert_eq!(snapshot(&out), before);
        fs::remove_dir_all(&out).unwrap();
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_long_list_of_strangers_is_cut() {
    let (_folder, out) = place();
    fs::create_dir(&out).unwrap();
    for number in 0..20 {
        fs::write(out.join(format!("file-{number:02}")), "mine").unwrap();
    }
    let message = refusal(&out, false).to_string();
    assert!(message.contains("file-07 and 12 more"), "{message}");
    assert!(!message.contains("file-08"), "{message}");
}

#[test]
fn an_empty_folder_may_be_the_destination() {
    let (_folder, out) = place();
    fs::create_dir(&out).unwrap();
    publish(&out, "plan-a", 3);
    assert_eq!(snapshot(&out), undisturbed());
}

#[test]
fn a_folder_that_fills_while_the_run_works_is_not_overwritten() {
    let (_folder, out) = place();
    let sealed = seal(work(&out, "plan-a"), "plan-a", 1);
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "mine").unwrap();
    assert!(matches!(sealed.publish(), Err(DatasetError::WrongPath { .. })));
    assert_eq!(fs::read(out.join("thesis.txt")).unwrap(), b"mine");
}

#[test]
fn a_file_a_dangling_link_and_a_path_below_a_file_are_wrong_paths() {
    let (folder, out) = place();
    fs::write(&out, "mine").unwrap();
    assert!(matches!(refusal(&out, true), DatasetError::WrongPath { .. }));
    assert!(matches!(
        refusal(&out.join("below"), true),
        DatasetError::WrongPath { .. }
    ));
    assert!(matches!(
        refusal(&out.join("far/below"), true),
        DatasetError::WrongPath { .. }
    ));
    #[cfg(unix)]
    {
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &link).unwrap();
        assert!(matches!(refusal(&link, true), DatasetError::WrongPath { .. }));
        std::os::unix::fs::symlink(&out, folder.path().join("to-file")).unwrap();
        assert!(matches!(
            refusal(&folder.path().join("to-file"), true),
            DatasetError::WrongPath { .. }
        ));
    }
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    for hopeless in ["/", "/.."] {
        assert!(
            matches!(refusal(Path::new(hopeless), true), DatasetError::WrongPath { .. }),
            "{hopeless}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_allows_no_folder_and_a_mount_point_are_wrong_paths() {
    assert!(matches!(
        refusal(Path::new("/proc/out"), false),
        DatasetError::WrongPath { .. }
    ));
    assert!(matches!(
        refusal(Path::new("/proc"), false),
        DatasetError::WrongPath { .. }
    ));
}

#[test]
fn a_fingerprint_that_cannot_name_a_folder_is_refused() {
    let (folder, out) = place();
    for fingerprint in ["", "..", "a/b", "a b", &"x".repeat(129)] {
        assert!(open(&out, fingerprint, false).is_err(), "{fingerprint}");
    }
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_folder_without_manifest_is_no_dataset() {
    let (folder, out) = place();
    assert!(matches!(read_manifest(&out), Err(DatasetError::WrongPath { .. })));
    publish(&out, "plan-a", 1);
    fs::write(out.join("_SUCCESS"), "another hash\n").unwrap();
    assert!(matches!(read_manifest(&out), Err(DatasetError::Corrupt { .. })));
    drop(folder);
}

#[test]
fn missing_parent_folders_are_created() {
    let (folder, _) = place();
    let out = folder.path().join("a/b/out");
    publish(&out, "plan-a", 1);
    assert!(certify(&out).unwrap().holds());
}

//! Locks: one run at a time, and no lock file remains.

use std::fs;

use chatmill_diag::faults::{Call, Fault, inject};

use crate::tests::support::open;
use crate::{DatasetError, Opening, TemporaryDataset, certify};

use crate::tests::support::{names, place, publish, seal, snapshot, work, write_slice};

#[test]
fn a_second_run_on_a_destination_is_locked_out_until_the_first_ends() {
    let (_folder, out) = place();
    let first = work(&out, "plan-a");
    for fingerprint in ["plan-a", "plan-b"] {
        assert!(matches!(
            open(&out, fingerprint, true),
            Err(DatasetError::Locked { .. })
        ));
    }
    let sealed = seal(first, "plan-a", 1);
    assert!(matches!(
        open(&out, "plan-a", false),
        Err(DatasetError::Locked { .. })
    ));
    sealed.publish().unwrap();
    assert!(matches!(open(&out, "plan-a", false), Ok(Opening::Finished(_))));
}

#[cfg(unix)]
#[test]
fn the_lock_is_one_for_all_spellings_of_a_destination() {
    let (folder, _) = place();
    fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("real"), folder.path().join("link")).unwrap();
    let _first = work(&folder.path().join("real/out"), "plan-a");
    for spelling in ["link/out", "real/./out", "real/../link/out", "real/out/"] {
        let result = open(&folder.path().join(spelling), "plan-a", false);
        assert!(matches!(result, Err(DatasetError::Locked { .. })), "{spelling}");
    }
}

fn work_in(temporary: &TemporaryDataset) -> crate::Staging {
    match temporary.parent().claim().unwrap().open("plan-a", true).unwrap() {
        Opening::Work(staging) => staging,
        Opening::Finished(_) => panic!("it is finished"),
    }
}

#[test]
fn a_temporary_dataset_is_removed_by_who_holds_its_lock_and_by_nobody_else() {
    let (folder, out) = place();
    let first = TemporaryDataset::beside(&out).unwrap();
    let staging = work_in(&first);
    write_slice(&staging, 0);
    let before = snapshot(folder.path());
    let second = TemporaryDataset::beside(&out).unwrap_err();
    assert!(matches!(second, DatasetError::Locked { .. }), "{second}");
    assert!(snapshot(folder.path()) == before);
    seal(staging, "plan-a", 1).publish().unwrap();
    assert!(certify(&first.path()).unwrap().holds());
    drop(first);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_temporary_dataset_that_a_kill_left_is_taken_over_and_removed() {
    let (folder, out) = place();
    // The remains of a kill.
    let killed = TemporaryDataset::beside(&out).unwrap();
    let staging = work_in(&killed);
    write_slice(&staging, 0);
    let left = snapshot(folder.path());
    drop((staging, killed));
    for (name, bytes) in left {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let next = TemporaryDataset::beside(&out).unwrap();
    assert_eq!(crate::tests::support::done(&work_in(&next)), [0]);
    drop(next);
    // A finished dataset of another plan in that place is removed as well.
    publish(&out, "plan-b", 1);
    let left = TemporaryDataset::beside(&out).unwrap();
    fs::rename(&out, left.path()).unwrap();
    drop(left);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn a_temporary_dataset_is_taken_over_wherever_its_removal_was_killed() {
    let (folder, out) = place();
    for nth in 1.. {
        let temporary = TemporaryDataset::beside(&out).unwrap();
        seal(work_in(&temporary), "plan-a", 2).publish().unwrap();
        // From here on no removal succeeds.
        let injected = inject(Fault {
            call: Call::Remove,
            nth,
            errno: 5,
            lasting: true,
        });
        drop(temporary);
        drop(injected);
        if names(folder.path()).is_empty() {
            assert!(nth > 20, "only {nth} removals");
            return;
        }
        let next = TemporaryDataset::beside(&out).unwrap();
        next.parent().claim().unwrap().open("plan-b", true).unwrap();
        drop(next);
        assert_eq!(names(folder.path()), Vec::<String>::new(), "removal {nth}");
    }
}

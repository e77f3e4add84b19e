//! Locks: only one run at a time, and no lock is left behind.

use std::fs;

use crate::{DatasetError, Opening, open};

use crate::tests::support::{place, seal, work};

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

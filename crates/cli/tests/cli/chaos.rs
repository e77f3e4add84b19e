//! Kill and resume, in small: the whole campaign is `just chaos KILLS`.

use std::path::Path;

use chatmill_workshop::chaos::Ground;

use crate::test_dir::binary;

#[test]
fn killed_and_damaged_runs_end_with_the_bytes_of_an_undisturbed_one() {
    let mut ground = Ground::small(Path::new(binary()), 20_261_121);
    let outcomes = ground.campaign(5, &mut |_| {});
    assert!(outcomes.holds(), "{outcomes}\n{}", outcomes.problems.join("\n"));
    assert_eq!(outcomes.kills, 5);
    assert!(
        outcomes.with_work_left > 0,
        "no kill came while there was work to go on with: {outcomes}"
    );
}

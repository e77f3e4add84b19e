//! Kill and resume, in small: the whole campaign is `just chaos KILLS`.

use std::path::Path;

use chatmill_workshop::chaos::Ground;

use crate::desk::binary;

#[test]
fn killed_and_damaged_runs_end_with_the_bytes_of_an_undisturbed_one() {
    let mut ground = Ground::small(Path::new(binary()), 20_261_121);
    let tally = ground.campaign(5, &mut |_| {});
    assert!(tally.holds(), "{tally}\n{}", tally.faults.join("\n"));
    assert_eq!(tally.kills, 5);
    assert!(
        tally.with_work_left > 0,
        "no kill came while there was work to go on with: {tally}"
    );
}

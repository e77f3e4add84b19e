//! Pairs by the id of the content.

use chatmill_model::Message;

use super::calls_of;
use crate::build::{self, call_part, calls, notice, pairs, result_part, results, says};

#[test]
fn a_result_directly_after_its_call_is_paired() {
    assert_eq!(
        pairs(vec![calls(&["x"]), results(&["x"])]),
        ["0.0 -> 1.0 paired id"]
    );
}

#[test]
fn parallel_calls_and_results_out_of_order_are_paired() {
    assert_eq!(
        pairs(vec![
            calls(&["x", "y"]),
            calls(&["z"]),
            results(&["z"]),
            results(&["y", "x"])
        ]),
        ["0.0 -> 3.1 late id", "0.1 -> 3.0 late id", "1.0 -> 2.0 paired id"]
    );
}

#[test]
fn somebody_who_speaks_in_between_makes_a_result_late() {
    assert_eq!(
        pairs(vec![
            calls(&["x", "y"]),
            results(&["x"]),
            says("wait"),
            results(&["y"])
        ]),
        ["0.0 -> 1.0 paired id", "0.1 -> 3.0 late id"]
    );
}

#[test]
fn a_notice_in_between_does_not() {
    assert_eq!(
        pairs(vec![calls(&["x"]), notice(), results(&["x"]), notice()]),
        ["0.0 -> 2.0 paired id"]
    );
}

#[test]
fn further_calls_in_between_make_a_result_late() {
    assert_eq!(
        pairs(vec![
            calls(&["x"]),
            calls(&["y"]),
            results(&["y"]),
            calls(&["z"]),
            results(&["x", "z"])
        ]),
        [
            "0.0 -> 4.0 late id",
            "1.0 -> 2.0 paired id",
            "3.0 -> 4.1 paired id"
        ]
    );
}

#[test]
fn a_result_before_its_call_is_early() {
    assert_eq!(
        pairs(vec![results(&["x"]), calls(&["x"])]),
        ["1.0 -> 0.0 early id"]
    );
    let both = Message {
        parts: vec![result_part("x"), call_part("x")],
        ..says("")
    };
    assert_eq!(pairs(vec![both]), ["0.1 -> 0.0 early id"]);
}

#[test]
fn a_call_and_its_result_in_one_message_are_paired() {
    let both = Message {
        parts: vec![call_part("x"), result_part("x")],
        ..says("")
    };
    assert_eq!(pairs(vec![both]), ["0.0 -> 0.1 paired id"]);
}

#[test]
fn lonely_calls_and_results_stand_where_they_are() {
    assert_eq!(
        pairs(vec![
            results(&["gone"]),
            calls(&["x"]),
            results(&["other"]),
            says("bye")
        ]),
        [
            "- -> 0.0 orphaned -",
            "1.0 -> - unanswered -",
            "- -> 2.0 orphaned -"
        ]
    );
}

#[test]
fn a_further_result_for_an_answered_call_is_a_duplicate_and_the_first_is_the_pair() {
    assert_eq!(
        pairs(vec![calls(&["x"]), results(&["x", "x"]), results(&["x"])]),
        [
            "0.0 -> 1.0 paired id",
            "- -> 1.1 duplicate -",
            "- -> 2.0 duplicate -"
        ]
    );
}

#[test]
fn an_id_that_is_used_again_belongs_to_the_call_of_its_round() {
    assert_eq!(
        pairs(vec![
            calls(&["call_0"]),
            results(&["call_0"]),
            says("next"),
            calls(&["call_0"]),
            results(&["call_0"]),
        ]),
        ["0.0 -> 1.0 paired id", "3.0 -> 4.0 paired id"]
    );
    assert_eq!(
        pairs(vec![
            calls(&["call_0"]),
            says("never mind"),
            calls(&["call_0"]),
            results(&["call_0"])
        ]),
        ["0.0 -> - unanswered -", "2.0 -> 3.0 paired id"]
    );
}

/// A message of one of the participants.
fn by(sender: usize, message: Message) -> Message {
    Message {
        sender: Some(sender),
        ..message
    }
}

#[test]
fn an_id_that_is_open_twice_goes_to_the_call_with_the_name_of_the_result() {
    assert_eq!(
        pairs(vec![
            calls(&["x:time", "x:weather"]),
            results(&["x:weather", "x:time"])
        ]),
        ["0.0 -> 1.1 paired id", "0.1 -> 1.0 paired id"]
    );
}

#[test]
fn an_id_that_is_open_twice_goes_to_the_call_of_the_same_speaker() {
    assert_eq!(
        pairs(vec![
            by(0, calls(&["x:f"])),
            by(1, calls(&["x:f"])),
            by(1, results(&["x:f"])),
            by(0, results(&["x:f"])),
        ]),
        ["0.0 -> 3.0 late id", "1.0 -> 2.0 paired id"]
    );
}

#[test]
fn an_id_that_is_open_twice_goes_to_the_call_that_the_result_names_by_other_means() {
    assert_eq!(
        pairs(vec![
            calls_of("one", &["x:f"]),
            calls_of("two", &["x:f"]),
            results(&["x:f@two", "x:f@one"]),
        ]),
        ["0.0 -> 2.1 late id", "1.0 -> 2.0 paired id"]
    );
    assert_eq!(
        pairs(vec![calls(&["x:f#m1", "x:g#m2"]), results(&["x:f#m2", "x:g#m1"])]),
        ["0.0 -> 1.1 paired id", "0.1 -> 1.0 paired id"],
        "the metadata wins over the name"
    );
}

#[test]
fn an_id_that_is_open_twice_goes_to_the_first_call_where_nothing_tells_them_apart() {
    assert_eq!(
        pairs(vec![calls(&["x", "x"]), results(&["x", "x"])]),
        ["0.0 -> 1.0 paired id", "0.1 -> 1.1 paired id"]
    );
    assert_eq!(
        pairs(vec![calls(&["x", "x"]), results(&["x"])]),
        ["0.0 -> 1.0 paired id", "0.1 -> - unanswered -"]
    );
    assert_eq!(
        pairs(vec![
            calls(&["x"]),
            says("hm"),
            calls(&["x"]),
            results(&["x"]),
            results(&["x"])
        ]),
        ["0.0 -> 3.0 late id", "2.0 -> 4.0 paired id"]
    );
}

#[test]
fn a_call_that_was_given_up_takes_a_result_that_names_its_tool() {
    assert_eq!(
        pairs(vec![
            calls(&["x:f"]),
            says("hm"),
            calls(&["x:g"]),
            results(&["x:f"])
        ]),
        ["0.0 -> 3.0 late id", "2.0 -> - unanswered -"]
    );
}

#[test]
fn another_call_in_between_makes_a_result_late() {
    assert_eq!(
        pairs(vec![
            by(0, calls(&["x"])),
            by(1, calls(&["y"])),
            results(&["x"]),
            results(&["y"])
        ]),
        ["0.0 -> 2.0 late id", "1.0 -> 3.0 paired id"]
    );
}

#[test]
fn forty_thousand_calls_of_one_id_are_answered_in_linear_time() {
    let count = 20_000;
    let once = vec!["x:f"; count];
    let mut messages = vec![calls(&once), results(&["x:f"])];
    for _ in 0..count {
        messages.extend([says("hm"), calls(&["x:f"]), results(&["x:f"])]);
    }
    messages.push(results(&once));
    let (linked, _, _) = build::linked(messages);
    let answered = linked.pairings.iter().filter(|pairing| pairing.result.is_some());
    assert_eq!(
        (linked.pairings.len(), answered.count()),
        (2 * count + 1, 2 * count + 1)
    );
}

#[test]
fn a_duplicate_does_not_steal_the_answer_of_a_later_call_with_its_id() {
    assert_eq!(
        pairs(vec![
            calls(&["x"]),
            results(&["x", "x"]),
            calls(&["x"]),
            results(&["x"])
        ]),
        [
            "0.0 -> 1.0 paired id",
            "- -> 1.1 duplicate -",
            "2.0 -> 3.0 paired id"
        ]
    );
}

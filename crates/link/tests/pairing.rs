//! Calls and results.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod build;

use build::{call_part, calls, notice, pairs, result_part, results, says};
use chatmill_model::{CallStatus, Message};

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
        [
            "0.0 -> 3.1 paired id",
            "0.1 -> 3.0 paired id",
            "1.0 -> 2.0 paired id"
        ]
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
fn an_id_that_is_used_again_belongs_to_the_nearest_open_call_before_the_result() {
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

#[test]
fn without_ids_results_follow_the_order_of_the_calls() {
    assert_eq!(
        pairs(vec![calls(&[":a", ":b"]), results(&[":a", ":b"])]),
        ["0.0 -> 1.0 paired position", "0.1 -> 1.1 paired position"]
    );
    assert_eq!(
        pairs(vec![calls(&["", ""]), results(&["", ""])]),
        ["0.0 -> 1.0 paired position", "0.1 -> 1.1 paired position"]
    );
}

#[test]
fn without_ids_names_decide_where_the_order_is_another() {
    assert_eq!(
        pairs(vec![calls(&[":a", ":b", ":a"]), results(&[":b", ":a", ":a"])]),
        [
            "0.0 -> 1.1 paired position",
            "0.1 -> 1.0 paired name",
            "0.2 -> 1.2 paired position"
        ]
    );
}

#[test]
fn without_ids_different_names_are_no_pair() {
    assert_eq!(
        pairs(vec![calls(&[":a"]), results(&[":b"])]),
        ["0.0 -> - unanswered -", "- -> 1.0 orphaned -"]
    );
}

#[test]
fn a_name_that_one_side_lacks_is_no_obstacle() {
    assert_eq!(
        pairs(vec![calls(&[":a"]), results(&[""])]),
        ["0.0 -> 1.0 paired position"]
    );
    assert_eq!(
        pairs(vec![calls(&[""]), results(&[":a"])]),
        ["0.0 -> 1.0 paired position"]
    );
}

#[test]
fn one_side_without_an_id_is_paired_by_order_and_two_ids_that_differ_are_not() {
    assert_eq!(
        pairs(vec![calls(&["x:a"]), results(&[":a"])]),
        ["0.0 -> 1.0 paired position"]
    );
    assert_eq!(
        pairs(vec![calls(&[":a"]), results(&["x:a"])]),
        ["0.0 -> 1.0 paired position"]
    );
    assert_eq!(
        pairs(vec![calls(&["x:a"]), results(&["y:a"]), calls(&[":b"])]),
        [
            "0.0 -> - unanswered -",
            "- -> 1.0 orphaned -",
            "2.0 -> - unanswered -"
        ]
    );
}

#[test]
fn without_ids_the_nearest_round_with_an_open_call_counts() {
    assert_eq!(
        pairs(vec![
            calls(&[":a"]),
            says("hm"),
            calls(&[":a", ":b"]),
            results(&[":a"]),
            says("still waiting"),
            results(&[":b", ":a"]),
        ]),
        [
            "0.0 -> 5.1 late position",
            "2.0 -> 3.0 paired position",
            "2.1 -> 5.0 late position"
        ]
    );
}

#[test]
fn without_ids_a_result_never_takes_a_call_that_follows() {
    assert_eq!(
        pairs(vec![results(&[":a"]), calls(&[":a"])]),
        ["- -> 0.0 orphaned -", "1.0 -> - unanswered -"]
    );
}

#[test]
fn a_result_without_an_id_does_not_take_a_call_that_an_id_answers_later() {
    assert_eq!(
        pairs(vec![calls(&["x:a", ":a"]), results(&[":a"]), results(&["x:a"])]),
        ["0.0 -> 2.0 paired id", "0.1 -> 1.0 paired position"]
    );
}

#[test]
fn a_duplicate_does_not_take_a_call_without_an_id() {
    assert_eq!(
        pairs(vec![calls(&["x:a", ":a"]), results(&["x:a", "x:a"])]),
        [
            "0.0 -> 1.0 paired id",
            "0.1 -> - unanswered -",
            "- -> 1.1 duplicate -"
        ]
    );
}

#[test]
fn a_hundred_thousand_open_calls_are_searched_in_linear_time() {
    let count = 50_000;
    let mut messages = Vec::new();
    for number in 0..count {
        messages.push(calls(&[&format!(":a{number}")]));
        messages.push(says("hm"));
    }
    for number in 0..count {
        messages.push(results(&[&format!(":a{number}")]));
    }
    messages.extend((0..count).map(|_| results(&[":unknown"])));
    let (linked, _, _) = build::linked(messages);
    let late = linked
        .pairings
        .iter()
        .filter(|pairing| pairing.status == CallStatus::Late)
        .count();
    assert_eq!((linked.pairings.len(), late), (2 * count, count));
}

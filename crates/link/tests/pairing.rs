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
use chatmill_model::{CallStatus, Message, PairedBy, Part};

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

/// An assistant message of this id with calls.
fn calls_of(id: &str, texts: &[&str]) -> Message {
    Message {
        id: Some(id.to_owned()),
        ..calls(texts)
    }
}

#[test]
fn ids_in_the_metadata_pair_what_has_no_other_id() {
    assert_eq!(
        pairs(vec![calls(&[":a#m1", ":a#m2"]), results(&[":a#m2", ":a#m1"])]),
        ["0.0 -> 1.1 paired metadata", "0.1 -> 1.0 paired metadata"]
    );
}

#[test]
fn an_id_in_the_metadata_may_stand_against_the_id_of_the_other_side() {
    assert_eq!(
        pairs(vec![calls(&["x", "y"]), results(&["#y", "#x"])]),
        ["0.0 -> 1.1 paired metadata", "0.1 -> 1.0 paired metadata"]
    );
    assert_eq!(
        pairs(vec![calls(&["#x", "#y"]), results(&["y", "x"])]),
        ["0.0 -> 1.1 paired metadata", "0.1 -> 1.0 paired metadata"]
    );
    assert_eq!(
        pairs(vec![calls(&["p#x"]), results(&["q#x"])]),
        ["0.0 -> 1.0 paired metadata"]
    );
}

#[test]
fn the_id_of_the_content_wins_over_that_of_the_metadata() {
    assert_eq!(
        pairs(vec![calls(&["x#m1", "y#m2"]), results(&["x#m2", "y#m1"])]),
        ["0.0 -> 1.0 paired id", "0.1 -> 1.1 paired id"]
    );
}

#[test]
fn ids_in_the_metadata_that_are_used_again_belong_to_the_nearest_open_call() {
    assert_eq!(
        pairs(vec![
            calls(&["#m"]),
            results(&["#m"]),
            says("next"),
            calls(&["#m"]),
            says("hm"),
            results(&["#m", "#m"]),
        ]),
        [
            "0.0 -> 1.0 paired metadata",
            "3.0 -> 5.0 late metadata",
            "- -> 5.1 duplicate -"
        ]
    );
}

#[test]
fn a_result_before_its_call_is_found_by_its_metadata() {
    assert_eq!(
        pairs(vec![results(&["#m"]), calls(&["#m"])]),
        ["1.0 -> 0.0 early metadata"]
    );
}

#[test]
fn a_further_result_that_only_metadata_ties_to_an_answered_call_is_a_duplicate() {
    assert_eq!(
        pairs(vec![
            calls(&["x#m"]),
            results(&["x"]),
            results(&["#m"]),
            results(&["#x"])
        ]),
        [
            "0.0 -> 1.0 paired id",
            "- -> 2.0 duplicate -",
            "- -> 3.0 duplicate -"
        ]
    );
}

#[test]
fn what_looks_like_a_duplicate_by_its_id_may_answer_another_call_by_its_metadata() {
    assert_eq!(
        pairs(vec![
            calls(&["call_0#m1", "z#m2"]),
            results(&["call_0#m1", "call_0#m2"])
        ]),
        ["0.0 -> 1.0 paired id", "0.1 -> 1.1 paired metadata"]
    );
}

#[test]
fn a_result_takes_a_call_of_the_message_that_it_names() {
    assert_eq!(
        pairs(vec![
            calls_of("one", &[":a", ":b"]),
            calls_of("two", &[":a"]),
            results(&[":b@one", ":a@one", ":a@two"]),
        ]),
        [
            "0.0 -> 2.1 late metadata",
            "0.1 -> 2.0 late metadata",
            "1.0 -> 2.2 paired metadata"
        ]
    );
}

#[test]
fn in_the_message_that_a_result_names_order_decides_where_names_do_not() {
    assert_eq!(
        pairs(vec![calls_of("one", &["", ""]), results(&[":a@one", "@one"])]),
        ["0.0 -> 1.0 paired metadata", "0.1 -> 1.1 paired metadata"]
    );
    assert_eq!(
        pairs(vec![
            calls_of("one", &[":run-it", ":b"]),
            results(&[":run_it@one", ":b@one"])
        ]),
        ["0.0 -> 1.0 paired metadata", "0.1 -> 1.1 paired metadata"],
        "names that differ come last and take what is left"
    );
}

#[test]
fn a_result_whose_caller_is_there_takes_no_call_of_another_message() {
    assert_eq!(
        pairs(vec![
            calls_of("one", &[":a"]),
            calls_of("two", &[":a"]),
            results(&[":a@one", ":a@one"]),
        ]),
        [
            "0.0 -> 2.0 late metadata",
            "1.0 -> - unanswered -",
            "- -> 2.1 orphaned -"
        ]
    );
}

#[test]
fn a_result_whose_caller_is_not_there_is_paired_by_order() {
    assert_eq!(
        pairs(vec![calls_of("one", &[":a"]), results(&[":a@gone"])]),
        ["0.0 -> 1.0 paired position"]
    );
}

#[test]
fn a_caller_may_be_named_by_its_second_id_and_may_come_later() {
    let caller = Message {
        external_id: Some("ext".to_owned()),
        ..calls_of("one", &[":a"])
    };
    assert_eq!(
        pairs(vec![results(&[":a@ext"]), caller]),
        ["1.0 -> 0.0 early metadata"]
    );
}

#[test]
fn two_ids_that_differ_are_no_pair_even_in_the_message_that_the_result_names() {
    assert_eq!(
        pairs(vec![calls_of("one", &["x:a"]), results(&["y:a@one"])]),
        ["0.0 -> - unanswered -", "- -> 1.0 orphaned -"]
    );
}

#[test]
fn a_hundred_thousand_calls_of_one_message_are_answered_in_linear_time() {
    let count = 50_000;
    let names: Vec<String> = (0..count).map(|number| format!(":a{number}")).collect();
    let answers: Vec<String> = (0..count).rev().map(|number| format!(":a{number}@one")).collect();
    let by_metadata: Vec<String> = (0..count).map(|number| format!("#m{number}")).collect();
    let parts = |texts: &[String], make: fn(&str) -> Part| texts.iter().map(|text| make(text)).collect();
    let messages = vec![
        Message {
            parts: parts(&names, call_part),
            ..calls_of("one", &[])
        },
        Message {
            parts: parts(&by_metadata, call_part),
            ..calls_of("two", &[])
        },
        Message {
            parts: parts(&answers, result_part),
            ..results(&[])
        },
        Message {
            parts: parts(&by_metadata, result_part),
            ..results(&[])
        },
    ];
    let (linked, _, _) = build::linked(messages);
    assert_eq!(linked.pairings.len(), 2 * count);
    assert!(
        linked
            .pairings
            .iter()
            .all(|pairing| pairing.paired_by == Some(PairedBy::Metadata))
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

//! Pairs by what the metadata says: ids, the message that made the call, the caller.

use chatmill_model::{CallStatus, Message, PairedBy, Part};

use super::calls_of;
use crate::build::{self, call_part, calls, pairs, result_part, results, says};

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

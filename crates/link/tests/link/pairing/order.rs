//! Pairs where an id is missing: names and order decide.

use crate::build::{calls, pairs, results, says};

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

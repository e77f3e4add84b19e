//! References and cycles.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod build;

use build::{by_id, conversation, linked, refers, says, statuses, with_preview};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{LinkStatus, Message};

#[test]
fn a_reference_backwards_and_one_forwards_are_resolved() {
    let (linked, _, _) = linked(vec![refers("a", &["b"]), refers("b", &[]), refers("c", &["a"])]);
    assert_eq!(statuses(&linked), ["resolved", "", "resolved"]);
    assert_eq!(linked.links[0][0].target, Some(1));
    assert_eq!(linked.links[2][0].target, Some(0));
}

#[test]
fn a_reply_to_a_missing_message_is_dangling_unless_it_shows_what_it_said_or_names_no_target() {
    let message = Message {
        references: vec![
            by_id("gone"),
            with_preview(Some("gone"), None, Some("hello")),
            with_preview(Some("gone"), None, Some("")),
            with_preview(Some("gone"), Some("ann"), None),
            with_preview(None, None, Some("quoted")),
            with_preview(None, None, None),
        ],
        ..refers("a", &[])
    };
    let (linked, _, _) = linked(vec![message]);
    assert_eq!(
        statuses(&linked),
        ["dangling preview dangling dangling preview preview"]
    );
    assert!(linked.links[0].iter().all(|link| link.target.is_none()));
}

#[test]
fn a_preview_does_not_hide_the_message_that_is_there() {
    let message = Message {
        references: vec![with_preview(Some("a"), None, Some("something else"))],
        ..refers("b", &[])
    };
    let (linked, _, _) = linked(vec![refers("a", &[]), message]);
    assert_eq!(statuses(&linked), ["", "resolved"]);
}

#[test]
fn a_message_that_refers_to_itself_is_marked_and_is_no_cycle() {
    let (linked, _, _) = linked(vec![refers("a", &["a"]), refers("b", &["a", "b"])]);
    assert_eq!(statuses(&linked), ["itself", "resolved itself"]);
}

#[test]
fn every_reference_on_a_cycle_is_cyclic_and_those_that_lead_to_it_are_not() {
    let (linked, _, _) = linked(vec![
        refers("in", &["a"]),
        refers("a", &["b", "gone"]),
        refers("b", &["c", "out"]),
        refers("c", &["a", "c"]),
        refers("out", &[]),
    ]);
    assert_eq!(
        statuses(&linked),
        [
            "resolved",
            "cyclic dangling",
            "cyclic resolved",
            "cyclic itself",
            ""
        ]
    );
}

#[test]
fn two_cycles_that_share_no_message_do_not_infect_each_other() {
    let (linked, _, _) = linked(vec![
        refers("a", &["b"]),
        refers("b", &["a", "c"]),
        refers("c", &["d"]),
        refers("d", &["c"]),
    ]);
    assert_eq!(
        statuses(&linked),
        ["cyclic", "cyclic resolved", "cyclic", "cyclic"]
    );
}

#[test]
fn the_same_sender_is_the_same_participant() {
    let from_bob = Message {
        sender: Some(1),
        references: vec![
            by_id("a"),
            by_id("b"),
            with_preview(Some("gone"), Some("bob"), Some("x")),
            with_preview(Some("gone"), Some("ann"), Some("x")),
        ],
        ..refers("c", &[])
    };
    let from_nobody = Message {
        sender: None,
        references: vec![by_id("n"), with_preview(None, None, Some("x"))],
        ..refers("d", &[])
    };
    let (linked, _, _) = linked(vec![
        refers("a", &[]),
        Message {
            sender: Some(1),
            ..refers("b", &[])
        },
        from_bob,
        Message {
            sender: None,
            ..refers("n", &[])
        },
        from_nobody,
    ]);
    let same = |position: usize| -> Vec<bool> {
        linked.links[position]
            .iter()
            .map(|link| link.same_sender)
            .collect()
    };
    assert_eq!(same(2), [false, true, true, false]);
    assert_eq!(same(4), [false, false]);
}

#[test]
fn references_beyond_the_limit_are_dropped_with_one_note_a_message() {
    let limits = Limits {
        references_per_message: 2,
        ..Limits::default()
    };
    let messages = vec![
        refers("a", &["a", "b"]),
        refers("b", &["a", "b", "x", "y", "z"]),
        says("c"),
    ];
    let (linked, findings, _) = link(conversation(messages), &limits);
    assert_eq!(statuses(&linked), ["itself cyclic", "cyclic itself", ""]);
    assert_eq!(linked.conversation.messages[1].references.len(), 2);
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (findings[0].code.name, findings[0].count),
        ("too-many-references", 3)
    );
    assert_eq!(findings[0].position, Some(1));
}

#[test]
fn a_cycle_of_a_hundred_thousand_messages_costs_no_stack() {
    let count = 100_000;
    let messages = (0..count)
        .map(|number| refers(&number.to_string(), &[&((number + 1) % count).to_string(), "0"]))
        .collect();
    let (linked, _, _) = link(conversation(messages), &Limits::default());
    assert!(
        linked.links[1..]
            .iter()
            .flatten()
            .all(|link| link.status == LinkStatus::Cyclic)
    );
    assert_eq!(linked.links[0][1].status, LinkStatus::Itself);
}

#[test]
fn a_chain_of_a_hundred_thousand_forward_references_is_no_cycle() {
    let messages = (0..100_000)
        .map(|number| refers(&number.to_string(), &[&(number + 1).to_string()]))
        .collect();
    let (linked, _, _) = link(conversation(messages), &Limits::default());
    assert!(
        linked.links[..99_999]
            .iter()
            .flatten()
            .all(|link| link.status == LinkStatus::Resolved)
    );
    assert_eq!(linked.links[99_999][0].status, LinkStatus::Dangling);
}

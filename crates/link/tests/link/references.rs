//! References and cycles.

use crate::build::{by_id, conversation, excerpt, linked, refers, says, statuses, with_preview};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{LinkStatus, Linked, Message, Part, Preview, Reference, ReferenceForm};

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

/// A message that names its target in these ways.
fn replies(references: Vec<Reference>) -> Message {
    Message {
        references,
        ..says("a reply")
    }
}

fn targets(linked: &Linked, position: usize) -> Vec<Option<u32>> {
    linked.links[position].iter().map(|link| link.target).collect()
}

#[test]
fn a_second_id_of_a_message_is_found_where_no_message_has_it_as_its_first() {
    let external = |id: &str, other: &str| Message {
        external_id: Some(other.to_owned()),
        ..refers(id, &[])
    };
    let (linked, _, _) = linked(vec![
        external("a", "b"),
        external("b", "7"),
        external("c", "7"),
        replies(vec![by_id("b"), by_id("7"), by_id("8")]),
    ]);
    assert_eq!(targets(&linked, 3), [Some(1), Some(1), None]);
    assert_eq!(linked.links[3][0].status, LinkStatus::Resolved);
}

#[test]
fn an_excerpt_finds_the_nearest_earlier_message_that_begins_so() {
    let (linked, _, _) = linked(vec![
        says("good  morning\n everybody"),
        says("good morning again"),
        replies(vec![
            excerpt("good morning"),
            excerpt(" good\tmorning ev..."),
            excerpt("good morning e.."),
            excerpt("good morn…"),
            excerpt("a repl"),
            excerpt("good evening"),
        ]),
        says("good morning, too late"),
    ]);
    assert_eq!(
        targets(&linked, 2),
        [Some(1), Some(0), Some(0), Some(1), None, None]
    );
    assert_eq!(
        statuses(&linked)[2],
        "resolved resolved resolved resolved preview preview"
    );
}

#[test]
fn an_excerpt_of_nothing_finds_nothing() {
    let nothing = |content: Option<&str>, target: Option<&str>| Reference {
        form: ReferenceForm::Excerpt,
        ..with_preview(target, None, content)
    };
    let (linked, _, _) = linked(vec![
        says(""),
        says("..."),
        replies(vec![
            nothing(Some("..."), None),
            nothing(Some(" \n"), Some("gone")),
            nothing(None, Some("gone")),
            nothing(Some("x"), Some("gone")),
            Reference {
                preview: None,
                ..nothing(None, None)
            },
        ]),
    ]);
    assert_eq!(targets(&linked, 2), [None; 5]);
    assert_eq!(statuses(&linked)[2], "preview preview dangling preview dangling");
}

#[test]
fn an_id_goes_before_an_excerpt_and_only_excerpts_are_searched_for() {
    let (linked, _, _) = linked(vec![
        refers("a", &[]),
        says("hello"),
        replies(vec![
            Reference {
                target: Some("a".to_owned()),
                ..excerpt("hello")
            },
            Reference {
                target: Some("gone".to_owned()),
                ..excerpt("hello")
            },
            with_preview(None, None, Some("hello")),
        ]),
    ]);
    assert_eq!(targets(&linked, 2), [Some(0), Some(1), None]);
}

#[test]
fn an_excerpt_of_somebody_who_takes_part_finds_what_he_said() {
    let by = |author: &str| Reference {
        preview: Some(Preview {
            content: Some("ok".to_owned()),
            sender: Some(author.to_owned()),
            ..Preview::default()
        }),
        ..excerpt("ok")
    };
    let (linked, _, _) = linked(vec![
        says("ok"),
        Message {
            sender: Some(1),
            ..says("okay then")
        },
        replies(vec![by("ann"), by("bob"), by("somebody else"), excerpt("ok")]),
    ]);
    assert_eq!(targets(&linked, 2), [Some(0), Some(1), Some(1), Some(1)]);
    let same: Vec<bool> = linked.links[2].iter().map(|link| link.same_sender).collect();
    assert_eq!(same, [true, false, false, false]);
}

#[test]
fn the_texts_of_a_message_are_searched_as_one() {
    let message = Message {
        parts: vec![
            Part::Text("first".to_owned()),
            Part::CacheMark,
            Part::Text("second".to_owned()),
        ],
        ..says("")
    };
    let (linked, _, _) = linked(vec![message, replies(vec![excerpt("first sec…")])]);
    assert_eq!(targets(&linked, 1), [Some(0)]);
}

#[test]
fn a_reference_that_nobody_made_keeps_its_target_and_is_on_no_cycle() {
    let made_up = |target: &str| Reference {
        is_pseudo: true,
        ..by_id(target)
    };
    let pseudo = |id: &str, target: &str| Message {
        references: vec![made_up(target)],
        ..refers(id, &[])
    };
    let (linked, _, _) = linked(vec![
        pseudo("a", "b"),
        refers("b", &["a"]),
        pseudo("c", "c"),
        pseudo("d", "gone"),
    ]);
    assert_eq!(statuses(&linked), ["pseudo", "resolved", "pseudo", "pseudo"]);
    let found: Vec<_> = (0..4).flat_map(|position| targets(&linked, position)).collect();
    assert_eq!(found, [Some(1), Some(0), Some(2), None]);
}

#[test]
fn thousands_of_excerpts_in_a_long_conversation_are_found_in_linear_time() {
    let opening = "the same opening words of every message ".repeat(20);
    let mut messages = Vec::new();
    for number in 0..2_000 {
        let text = format!("{opening}{number}.");
        messages.push(says(&text));
        messages.push(replies(vec![
            excerpt(&text),
            excerpt(&format!("{opening}…")),
            excerpt("none"),
        ]));
    }
    let (linked, _, _) = linked(messages);
    for number in 0..2_000_u32 {
        assert_eq!(
            targets(&linked, number as usize * 2 + 1),
            [Some(number * 2), Some(number * 2), None]
        );
    }
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

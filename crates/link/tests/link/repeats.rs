//! Messages that share an id.

use crate::build::{conversation, ids, linked, notice, refers, says, statuses};
use chatmill_diag::{Limits, Path, Span};
use chatmill_link::link;
use chatmill_model::{Alternative, AlternativeOrigin, Judgement, Message};

fn named(id: &str, text: &str) -> Message {
    Message {
        id: Some(id.to_owned()),
        ..says(text)
    }
}

#[test]
fn a_repeat_is_dropped_with_a_note_at_the_message_it_repeats() {
    let (linked, findings, repeats) = linked(vec![
        named("a", "x"),
        named("b", "y"),
        named("a", "x"),
        named("c", "z"),
    ]);
    assert_eq!(ids(&linked), ["a", "b", "c"]);
    assert_eq!(repeats.dropped, 1);
    assert_eq!(
        (0..4).map(|before| repeats.position(before)).collect::<Vec<_>>(),
        [0, 1, 0, 2]
    );
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code.name, "repeated-row");
    assert_eq!(findings[0].position, Some(0));
    assert_eq!(findings[0].span, Some(Span { start: 20, end: 29 }));
    let positions: Vec<u32> = linked
        .conversation
        .messages
        .iter()
        .map(|message| message.position)
        .collect();
    assert_eq!(positions, [0, 1, 2]);
    assert_eq!(linked.conversation.messages[2].origin.index, 3);
}

#[test]
fn another_message_under_the_same_id_is_kept_and_qualified() {
    let (linked, findings, repeats) = linked(vec![named("a", "x"), named("a", "y"), named("a", "z")]);
    assert_eq!(ids(&linked), ["a", "a~2", "a~3"]);
    assert_eq!(repeats.dropped, 0);
    assert_eq!(repeats.position(2), 2);
    let places: Vec<_> = findings
        .iter()
        .map(|finding| {
            (
                finding.code.name,
                finding.position,
                finding.message_id.as_deref(),
                &finding.path,
            )
        })
        .collect();
    let here = Path::InMessage(String::new());
    assert_eq!(
        places,
        [
            ("duplicate-message-id", Some(1), Some("a~2"), &here),
            ("duplicate-message-id", Some(2), Some("a~3"), &here),
        ]
    );
}

#[test]
fn a_qualified_id_never_takes_an_id_that_the_source_uses() {
    let (linked, _, _) = linked(vec![
        named("a", "1"),
        named("a~2", "2"),
        named("a", "3"),
        named("a~2", "4"),
        named("a", "5"),
    ]);
    assert_eq!(ids(&linked), ["a", "a~2", "a~3", "a~2~2", "a~4"]);
}

#[test]
fn a_repeat_of_a_qualified_message_is_dropped_too() {
    let (linked, findings, repeats) = linked(vec![
        named("a", "x"),
        named("a", "y"),
        named("a", "y"),
        named("a", "x"),
    ]);
    assert_eq!(ids(&linked), ["a", "a~2"]);
    assert_eq!(repeats.dropped, 2);
    assert_eq!(
        (0..4).map(|before| repeats.position(before)).collect::<Vec<_>>(),
        [0, 1, 1, 0]
    );
    assert_eq!(findings.len(), 3);
}

#[test]
fn whatever_differs_makes_another_message() {
    let base = refers("a", &["b"]);
    let mut others = vec![base.clone(); 7];
    others[0].sender = Some(1);
    others[1].sender_name = Some("Ann".to_owned());
    others[2].role = chatmill_model::Role::Assistant;
    others[3].source_type = Some("text".to_owned());
    others[4].references.clear();
    others[5].mentions.push("bob".to_owned());
    others[6].kind = chatmill_model::MessageKind::Notice;
    for other in others {
        let (linked, _, repeats) = linked(vec![base.clone(), other.clone()]);
        assert_eq!(
            (ids(&linked), repeats.dropped),
            (vec!["a", "a~2"], 0),
            "{other:?}"
        );
    }
}

#[test]
fn repeated_notices_are_counted_apart() {
    let joined = Message {
        id: Some("n".to_owned()),
        ..notice()
    };
    let (_, _, repeats) = linked(vec![joined.clone(), joined, named("a", "x"), named("a", "x")]);
    assert_eq!((repeats.dropped, repeats.dropped_notices), (2, 1));
}

#[test]
fn messages_without_an_id_are_never_repeats() {
    let (linked, findings, repeats) = linked(vec![says("ok"), says("ok"), notice(), notice()]);
    assert_eq!(linked.conversation.messages.len(), 4);
    assert_eq!((findings.len(), repeats.dropped), (0, 0));
}

#[test]
fn references_to_a_shared_id_go_to_its_first_message() {
    let (linked, _, _) = linked(vec![named("a", "x"), named("a", "y"), refers("b", &["a", "a~2"])]);
    assert_eq!(statuses(&linked), ["", "", "resolved resolved"]);
    assert_eq!(linked.links[2][0].target, Some(0));
    assert_eq!(linked.links[2][1].target, Some(1));
}

#[test]
fn a_hundred_thousand_messages_under_one_id_are_settled_in_linear_time() {
    let mut messages: Vec<Message> = (0..100_000)
        .map(|number| named("a", &number.to_string()))
        .collect();
    messages.extend((0..100_000).map(|number| named("a", &number.to_string())));
    let (linked, _, repeats) = link(conversation(messages), &Limits::default());
    assert_eq!(repeats.dropped, 100_000);
    assert_eq!(
        linked.conversation.messages.last().unwrap().id.as_deref(),
        Some("a~100000")
    );
}

#[test]
fn alternatives_stay_where_their_messages_go() {
    let mut conversation = conversation(vec![
        named("q", "x"),
        named("q", "x"),
        named("a", "y"),
        named("b", "z"),
    ]);
    let places = [2..4, 1..2, 4..4, 0..1];
    conversation.alternatives = places
        .into_iter()
        .map(|place| Alternative {
            place,
            origin: AlternativeOrigin::Choice,
            judgement: Judgement::default(),
            messages: None,
        })
        .collect();
    let (linked, _, _) = link(conversation, &Limits::default());
    let moved = linked
        .conversation
        .alternatives
        .iter()
        .map(|each| each.place.clone());
    assert_eq!(moved.collect::<Vec<_>>(), [1..3, 1..1, 3..3, 0..1]);
    let said = linked.conversation.alternatives.iter();
    let said: Vec<usize> = said.map(|each| linked.conversation.said_by(each).len()).collect();
    assert_eq!(said, [2, 0, 0, 1]);
}

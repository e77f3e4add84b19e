//! Alternative answers of a conversation with repeated messages.

use crate::build::conversation;
use crate::cases::message;
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{Alternative, AlternativeOrigin, Judgement};

#[test]
fn alternatives_stay_where_their_messages_go() {
    let lines = ["id q; say x", "id q; say x", "id a; say y", "id b; say z"];
    let mut conversation = conversation(lines.map(message).to_vec());
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
    let message_counts = linked.conversation.alternatives.iter();
    let message_counts: Vec<usize> = message_counts
        .map(|each| linked.conversation.messages_of(each).len())
        .collect();
    assert_eq!(message_counts, [2, 0, 0, 1]);
}

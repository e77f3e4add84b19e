//! Laws that hold for every conversation, however broken.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod build;

use std::collections::{BTreeMap, BTreeSet};

use build::{by_id, call_part, conversation, notice, result_part, says, with_preview};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{CallStatus, LinkStatus, Linked, Message, Part, PartPlace, Reference};
use proptest::collection::vec;
use proptest::prelude::*;

fn id() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        1 => Just(None),
        6 => prop_oneof!["[a-d]", "[ab]~[23]"].prop_map(Some),
    ]
}

fn tool() -> impl Strategy<Value = String> {
    "(x|y|z)?(:[ab])?"
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        tool().prop_map(|text| call_part(&text)),
        tool().prop_map(|text| result_part(&text)),
        "[pq]".prop_map(Part::Text),
    ]
}

fn reference() -> impl Strategy<Value = Reference> {
    prop_oneof![
        3 => "[a-e]".prop_map(|target| by_id(&target)),
        1 => (id(), proptest::option::of("[pq]?")).prop_map(|(target, content)| {
            with_preview(target.as_deref(), Some("ann"), content.as_deref())
        }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        1 => Just(notice()),
        8 => (id(), vec(part(), 0..3), vec(reference(), 0..4), proptest::option::of(0_usize..2)).prop_map(
            |(id, parts, references, sender)| Message { id, parts, references, sender, ..says("") }
        ),
    ]
}

/// Places of the calls, or of the results, of a conversation.
fn places(linked: &Linked, is_call: bool) -> BTreeSet<PartPlace> {
    let mut places = BTreeSet::new();
    for message in &linked.conversation.messages {
        for (part, content) in (0..).zip(&message.parts) {
            let wanted = match content {
                Part::ToolCall(_) => is_call,
                Part::ToolResult(_) => !is_call,
                _ => false,
            };
            if wanted {
                places.insert(PartPlace {
                    position: message.position,
                    part,
                });
            }
        }
    }
    places
}

/// Whether there is a way from one message to another over resolved references: a slow oracle.
fn reaches(linked: &Linked, from: u32, to: u32) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![from];
    while let Some(position) = waiting.pop() {
        if position == to {
            return true;
        }
        if seen.insert(position) {
            waiting.extend(
                linked.links[position as usize]
                    .iter()
                    .filter_map(|link| link.target),
            );
        }
    }
    false
}

proptest! {
    #[test]
    fn every_call_and_every_result_appears_exactly_once(messages in vec(message(), 0..14)) {
        let (linked, _, _) = link(conversation(messages), &Limits::default());
        for is_call in [true, false] {
            let listed: Vec<PartPlace> = linked
                .pairings
                .iter()
                .filter_map(|pairing| if is_call { pairing.call } else { pairing.result })
                .collect();
            let unique: BTreeSet<PartPlace> = listed.iter().copied().collect();
            prop_assert_eq!(listed.len(), unique.len());
            prop_assert_eq!(unique, places(&linked, is_call));
        }
        let order: Vec<PartPlace> =
            linked.pairings.iter().filter_map(|pairing| pairing.call.or(pairing.result)).collect();
        prop_assert!(order.is_sorted());
    }

    #[test]
    fn status_says_what_the_places_say(messages in vec(message(), 0..14)) {
        let (linked, _, _) = link(conversation(messages), &Limits::default());
        for pairing in &linked.pairings {
            let as_expected = match pairing.status {
                CallStatus::Paired | CallStatus::Late => pairing.call < pairing.result && pairing.call.is_some(),
                CallStatus::Early => pairing.result < pairing.call && pairing.result.is_some(),
                CallStatus::Unanswered => pairing.result.is_none(),
                CallStatus::Orphaned | CallStatus::Duplicate => pairing.call.is_none(),
            };
            prop_assert!(as_expected, "{:?}", pairing);
            let is_pair = pairing.call.is_some() && pairing.result.is_some();
            prop_assert_eq!(pairing.paired_by.is_some(), is_pair);
        }
    }

    #[test]
    fn links_align_with_references_and_cycles_are_cycles(messages in vec(message(), 0..14)) {
        let (linked, _, _) = link(conversation(messages), &Limits::default());
        prop_assert_eq!(linked.links.len(), linked.conversation.messages.len());
        for (message, links) in linked.conversation.messages.iter().zip(&linked.links) {
            prop_assert_eq!(message.references.len(), links.len());
            for (reference, link) in message.references.iter().zip(links) {
                let named = linked
                    .conversation
                    .messages
                    .iter()
                    .find(|other| other.id.is_some() && other.id == reference.target)
                    .map(|other| other.position);
                prop_assert_eq!(link.target, named);
                let back = link.target.is_some_and(|target| reaches(&linked, target, message.position));
                let expected = match link.target {
                    Some(target) if target == message.position => LinkStatus::Itself,
                    Some(_) if back => LinkStatus::Cyclic,
                    Some(_) => LinkStatus::Resolved,
                    None if reference.preview.as_ref().is_some_and(|preview| {
                        let text = preview.content.as_deref();
                        reference.target.is_none() || text.is_some_and(|text| !text.is_empty())
                    }) => LinkStatus::Preview,
                    None => LinkStatus::Dangling,
                };
                prop_assert_eq!(link.status, expected);
            }
        }
    }

    #[test]
    fn ids_are_unique_and_nothing_but_repeats_is_lost(messages in vec(message(), 0..14)) {
        let before = conversation(messages);
        let (linked, _, repeats) = link(before.clone(), &Limits::default());
        let after = &linked.conversation.messages;
        let mut ids = BTreeMap::new();
        for message in after {
            if let Some(id) = &message.id {
                prop_assert_eq!(ids.insert(id.clone(), message.position), None);
            }
        }
        prop_assert_eq!(before.messages.len() as u64, after.len() as u64 + repeats.dropped);
        for message in &before.messages {
            let kept = &after[repeats.position(message.position) as usize];
            prop_assert_eq!(&kept.parts, &message.parts);
            prop_assert_eq!(&kept.references, &message.references);
            prop_assert_eq!(kept.sender, message.sender);
        }
    }

    #[test]
    fn linking_again_changes_nothing(messages in vec(message(), 0..14)) {
        let (once, _, _) = link(conversation(messages), &Limits::default());
        let (twice, findings, repeats) = link(once.conversation.clone(), &Limits::default());
        prop_assert_eq!(once, twice);
        prop_assert_eq!((findings.len(), repeats.dropped), (0, 0));
    }
}

//! Laws that hold for every conversation, however broken.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::{
    by_id, call_part, conversation, excerpt, notice, result_part, text_message, with_preview,
};
use chatmill_diag::Limits;
use chatmill_link::link;
use chatmill_model::{
    CallStatus, LinkStatus, Linked, Message, PairedBy, Part, PartPlace, Reference, ReferenceForm,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn id() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        1 => Just(None),
        6 => prop_oneof!["[a-d]", "[ab]~[23]"].prop_map(Some),
    ]
}

fn tool() -> impl Strategy<Value = String> {
    "(x|y|z)?(:[ab])?(#[xym])?(@[abe])?"
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
        1 => (id(), "[pq]( q)?(\\.\\.|…)?").prop_map(|(target, shown)| Reference { target, ..excerpt(&shown) }),
        1 => "[a-e]".prop_map(|target| Reference { is_pseudo: true, ..by_id(&target) }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        1 => Just(notice()),
        8 => (id(), id(), vec(part(), 0..3), vec(reference(), 0..4), proptest::option::of(0_usize..2)).prop_map(
            |(id, external_id, parts, references, sender)| {
                Message { id, external_id, parts, references, sender, ..text_message("") }
            }
        ),
    ]
}

/// The places of the calls, or of the results, of a conversation.
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

/// Whether there is a path from one message to another over resolved references: a slow oracle.
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
                    .filter(|link| link.status != LinkStatus::Pseudo)
                    .filter_map(|link| link.target),
            );
        }
    }
    false
}

/// The message that a reference means: a slow oracle.
fn meant(linked: &Linked, reference: &Reference, from: u32) -> Option<u32> {
    let messages = &linked.conversation.messages;
    let target = reference.target.as_ref();
    let named = target.and_then(|target| {
        let first = messages.iter().find(|other| other.id.as_ref() == Some(target));
        first.or_else(|| {
            messages
                .iter()
                .find(|other| other.external_id.as_ref() == Some(target))
        })
    });
    let shown = reference
        .preview
        .as_ref()
        .and_then(|preview| preview.content.as_deref());
    let begins_so = |message: &&Message| {
        let text = message.text().split_whitespace().collect::<Vec<_>>().join(" ");
        shown.is_some_and(|shown| text.starts_with(shown.trim_end_matches(['.', '…'])))
    };
    let earlier = messages[..from as usize].iter().rev();
    let found = named.or_else(|| {
        let is_excerpt = reference.form == ReferenceForm::Excerpt;
        earlier.filter(|_| is_excerpt).find(begins_so)
    });
    found.map(|message| message.position)
}

/// The ids that can pair a call or a result: its own and that of the metadata.
fn ids(linked: &Linked, place: PartPlace) -> (Option<&str>, Option<&str>) {
    match &linked.conversation.messages[place.position as usize].parts[place.part as usize] {
        Part::ToolCall(call) => (call.id.as_deref(), call.metadata_id.as_deref()),
        Part::ToolResult(result) => (result.call_id.as_deref(), result.metadata_id.as_deref()),
        part => panic!("{part:?}"),
    }
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn each_pair_satisfies_its_rule(messages in vec(message(), 0..14)) {
        let (linked, _, _) = link(conversation(messages), &Limits::default());
        for pairing in &linked.pairings {
            let (Some(call), Some(result)) = (pairing.call, pairing.result) else { continue };
            let (call_id, call_other) = ids(&linked, call);
            let (result_id, result_other) = ids(&linked, result);
            let equal = |one: Option<&str>, other: Option<&str>| one.is_some() && one == other;
            let by_id = equal(call_id, result_id);
            let by_metadata = equal(call_other, result_other)
                || equal(call_other, result_id)
                || equal(call_id, result_other);
            let by_caller = match &linked.conversation.messages[result.position as usize].parts[result.part as usize] {
                Part::ToolResult(found) => {
                    let caller = &linked.conversation.messages[call.position as usize];
                    let named = found.caller.as_deref();
                    equal(named, caller.id.as_deref()) || equal(named, caller.external_id.as_deref())
                }
                _ => false,
            };
            let as_expected = match pairing.paired_by {
                Some(PairedBy::Id) => by_id,
                Some(PairedBy::Metadata) => !by_id && (by_metadata || by_caller),
                Some(PairedBy::Position | PairedBy::Name) => !by_id && !by_metadata && call < result,
                None => false,
            };
            prop_assert!(as_expected, "{:?}", pairing);
        }
    }

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
    fn the_status_follows_from_the_places(messages in vec(message(), 0..14)) {
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
                let named = meant(&linked, reference, message.position);
                prop_assert_eq!(link.target, named);
                let back = link.target.is_some_and(|target| reaches(&linked, target, message.position));
                let expected = match link.target {
                    _ if reference.is_pseudo => LinkStatus::Pseudo,
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
            let remaining = &after[repeats.position(message.position) as usize];
            prop_assert_eq!(&remaining.parts, &message.parts);
            prop_assert_eq!(&remaining.references, &message.references);
            prop_assert_eq!(remaining.sender, message.sender);
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

//! Turns events into messages: their order, speakers, mentions and references.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, Path};
use chatmill_model::{Extra, Media, Message, MessageKind, Part, RawJson, Reference, Role};

use super::checks;
use super::event::{Event, Mentioned};
use super::roster::Roster;
use super::streams::{Assembler, RowOutcome, becomes};
use super::times;
use crate::base::{message_kind, quoted_list};
use crate::layout::ListReader;

/// Orders the assembled events, finds their speakers, and adds them to the list. Positions in its findings
/// are rows until then. Returns the outcome of each row.
pub(super) fn finish_messages(
    mut assembler: Assembler,
    uploads: Vec<Event>,
    roster: &mut Roster,
    list: &mut ListReader<'_, '_>,
) -> Vec<RowOutcome> {
    assembler.finish();
    attach(uploads, &mut assembler);
    let findings = &mut list.notes.findings;
    findings.append(&mut assembler.findings);
    let (accepted, outcomes) = (assembler.accepted, assembler.outcomes);
    let order = order(&accepted, assembler.has_rest);
    let mut positions: Vec<u32> = vec![0; accepted.len()];
    let mut events: Vec<Event> = Vec::with_capacity(accepted.len());
    let mut accepted: Vec<Option<Event>> = accepted.into_iter().map(Some).collect();
    for at in order {
        if let (Some(place), Some(event)) = (positions.get_mut(at), accepted.get_mut(at)) {
            *place = events.len() as u32;
            events.extend(event.take());
        }
    }
    name_senders(&mut events, roster);
    find_mentions(&mut events, roster);
    checks::check(&events, list.limits.response_depth, findings);
    for event in events {
        let message = message(event, roster, list);
        list.push(message);
    }
    for finding in &mut list.notes.findings {
        place(finding, &outcomes, &positions);
        let position = finding.position;
        if let Some(message) = position.and_then(|position| list.messages.get(position as usize)) {
            finding.message_id.clone_from(&message.id);
        }
    }
    outcomes
}

/// Attaches files to their messages. A file becomes a notice if its message is missing.
fn attach(uploads: Vec<Event>, assembler: &mut Assembler) {
    let accepted = || assembler.accepted.iter().enumerate();
    let by_id: HashMap<String, usize> = accepted()
        .filter(|(_, event)| !event.is_notice())
        .filter_map(|(at, event)| Some((event.id.clone()?, at)))
        .rev()
        .collect();
    let mut shown: HashSet<(usize, Media)> = accepted()
        .flat_map(|(at, event)| event.attachments.iter().map(move |file| (at, file.media.clone())))
        .collect();
    for upload in uploads {
        let row = upload.row;
        let target = upload.reference.as_ref().and_then(|to| to.target.as_ref());
        let at = target.and_then(|id| by_id.get(id)).copied();
        let outcome = if let Some((at, event)) = at.and_then(|at| Some((at, assembler.accepted.get_mut(at)?)))
        {
            let files = upload.attachments.into_iter();
            let new = files.filter(|file| shown.insert((at, file.media.clone())));
            event.attachments.extend(new);
            RowOutcome::Merged(Some(at))
        } else {
            assembler.accepted.push(upload);
            RowOutcome::Anchors(assembler.accepted.len() - 1)
        };
        becomes(&mut assembler.outcomes, row, outcome);
    }
}

/// The order of messages: that of the rows, or that of the times if the REST API gave some of them, because
/// its pages begin with the newest. A message without a time then stays with the row before it.
fn order(accepted: &[Event], has_rest: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..accepted.len()).collect();
    let row = |at: &usize| accepted.get(*at).map(|event| event.row);
    order.sort_by_key(row);
    if !has_rest {
        return order;
    }
    let instant = |at: usize| accepted.get(at)?.time.as_ref().and_then(times::rank);
    let mut last = order.iter().find_map(|at| instant(*at));
    let mut timed: Vec<(Option<i64>, usize)> = Vec::with_capacity(order.len());
    for at in order {
        last = instant(at).or(last);
        timed.push((last, at));
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, at)| at).collect()
}

/// Finds the participant of each event's speaker. Rows with an account come first, because they identify the
/// speakers of the desktop client's rows, which have none.
fn name_senders(events: &mut [Event], roster: &mut Roster) {
    for has_account in [true, false] {
        let events = events.iter_mut();
        for event in events.filter(|event| event.speaker.account.is_some() == has_account) {
            event.sender = roster.speaker(&event.speaker);
        }
    }
}

/// Finds the participants that each event mentions.
///
/// In these chats a mention calls an agent: an otherwise unknown participant in the desktop client's store is
/// an agent if another participant mentions it, and a person if the store is its own.
fn find_mentions(events: &mut [Event], roster: &mut Roster) {
    for event in events.iter_mut() {
        let mut mentioned = Mentioned::default();
        let mut seen = HashSet::new();
        let mut add = |place: usize, mentioned: &mut Mentioned| {
            if seen.insert(place) {
                mentioned.places.push(place);
                mentioned.words.extend(roster.id(place).map(str::to_owned));
            }
        };
        let mut known = HashSet::new();
        for word in event.mentions.iter().filter(|word| known.insert(*word)) {
            let meant = roster.meant(word);
            if meant.is_empty() {
                mentioned.words.push(word.clone());
            }
            if mentioned.written.is_none() && meant.iter().any(|place| roster.names.is_shared(*place)) {
                mentioned.written = Some(("mentions".to_owned(), quoted_list(&event.mentions)));
            }
            for place in meant {
                add(place, &mut mentioned);
            }
        }
        if !event.is_notice() {
            for place in roster.names.mentioned(&event.text) {
                add(place, &mut mentioned);
            }
        }
        for place in mentioned
            .places
            .iter()
            .filter(|place| Some(**place) != event.sender)
        {
            roster.set_kind(*place, Some(true));
        }
        event.mentioned = mentioned;
    }
    for sender in events
        .iter()
        .filter(|event| event.is_own)
        .filter_map(|event| event.sender)
    {
        roster.set_kind(sender, Some(false));
    }
}

fn message(mut event: Event, roster: &Roster, list: &ListReader<'_, '_>) -> Message {
    let sender = event.sender;
    let kind = message_kind(event.is_notice());
    let is_agent = event.speaker.is_agent;
    let is_agent = is_agent.unwrap_or_else(|| sender.is_some_and(|sender| roster.is_agent(sender)));
    let parts: Vec<Part> = event.parts(kind == MessageKind::Notice);
    let mut accepted = event.extra.iter();
    let is_api = accepted.any(|(key, value)| key == "senderType" && value.as_str() == "\"api\"");
    let source_type = match event.word.take() {
        Some(word) if is_api && word != "error" => {
            if word != "message" {
                let word = RawJson(format!("\"{word}\""));
                event.extra.push(("type".to_owned(), word));
            }
            Some("api".to_owned())
        }
        word => word,
    };
    event.extra.extend(event.mentioned.written.take());
    let known = sender.and_then(|sender| roster.participants.get(sender));
    let shown = event.speaker.shown.or(event.speaker.name);
    let role = if is_agent { Role::Assistant } else { Role::User };
    let reference = event.reference.map(|reference| signed(reference, roster));
    Message {
        id: event.id,
        sender,
        sender_name: shown.filter(|name| known.is_none_or(|known| known.name.as_ref() != Some(name))),
        kind,
        source_type,
        timestamp: event.time,
        parts,
        references: reference.into_iter().collect(),
        mentions: event.mentioned.words,
        extra: Extra(event.extra),
        ..list.message(role, event.span, event.row)
    }
}

/// Finds the author that a preview only names.
fn signed(mut reference: Reference, roster: &Roster) -> Reference {
    if let Some(preview) = &mut reference.preview
        && let Some(name) = &preview.sender_name
        && let [author] = roster.names.called(name)
    {
        preview.sender = roster.id(*author).map(str::to_owned);
        preview.from_agent = roster.is_agent(*author);
    }
    reference
}

/// Turns a finding about a row into one about a message, if the row became one or part of one.
fn place(finding: &mut Finding, outcomes: &[RowOutcome], positions: &[u32]) {
    let Some(row) = finding.position.take() else {
        return;
    };
    let outcome = outcomes.get(row as usize);
    let at = outcome.and_then(|outcome| outcome.event());
    finding.position = at.and_then(|at| positions.get(at).copied());
    if !matches!(outcome, Some(RowOutcome::Anchors(_))) || finding.position.is_none() {
        let suffix = match &finding.path {
            Path::InMessage(suffix) => suffix.as_str(),
            Path::Absolute(_) | Path::Record => "",
        };
        finding.path = Path::Absolute(format!("$[{row}]{suffix}"));
    }
}

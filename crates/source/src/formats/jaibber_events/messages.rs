//! Events as messages: their order, who speaks, whom they mention, what they answer.

use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, Path};
use chatmill_model::{Extra, Media, Message, MessageKind, MessageOrigin, Part, RawJson, Reference, Role};

use super::attachments::Upload;
use super::checks;
use super::event::{Event, EventKind};
use super::roster::Roster;
use super::streams::{Assembler, RowOutcome};
use super::times;
use crate::reader::quoted;

/// The messages of a conversation, and what became of its rows.
pub(super) struct Settled {
    /// In canonical order.
    pub messages: Vec<Message>,
    /// By index of the row.
    pub outcomes: Vec<RowOutcome>,
    /// With positions of messages and paths of rows.
    pub findings: Vec<Finding>,
}

/// Orders what was put together and finds out who speaks. `notes` are findings whose positions are rows; `start` is the
/// place of the frame in the entry.
pub(super) fn settle(
    mut assembler: Assembler,
    uploads: Vec<Upload>,
    roster: &mut Roster,
    notes: Vec<Finding>,
    start: u64,
    response_depth: u32,
) -> Settled {
    assembler.finish();
    attach(uploads, &mut assembler);
    let Assembler {
        kept,
        outcomes,
        findings: oddities,
        has_rest,
        ..
    } = assembler;
    let mut findings = notes;
    findings.extend(oddities);
    let order = order(&kept, has_rest);
    let senders = senders(&kept, &order, roster);
    let mut mentions = mentions(&kept, &order, &senders, roster);
    let mentioned = |at: usize| -> &[usize] { mentions.get(at).map_or(&[], |mentioned| &mentioned.places) };
    checks::check(&kept, &order, &senders, mentioned, response_depth, &mut findings);
    let mut positions: Vec<Option<u32>> = vec![None; kept.len()];
    let mut events: Vec<Option<Event>> = kept.into_iter().map(Some).collect();
    let mut messages = Vec::with_capacity(order.len());
    for at in order {
        let Some(event) = events.get_mut(at).and_then(Option::take) else {
            continue;
        };
        let position = messages.len() as u32;
        if let Some(place) = positions.get_mut(at) {
            *place = Some(position);
        }
        let sender = senders.get(at).copied().flatten();
        let mut message = message(event, position, sender, roster, start);
        if let Some(mentioned) = mentions.get_mut(at) {
            message.mentions = std::mem::take(&mut mentioned.words);
            message.extra.0.extend(mentioned.written.take());
        }
        messages.push(message);
    }
    for finding in &mut findings {
        place(finding, &outcomes, &positions);
        let message = finding
            .position
            .and_then(|position| messages.get(position as usize));
        if let Some(message) = message {
            finding.message_id.clone_from(&message.id);
        }
    }
    Settled {
        messages,
        outcomes,
        findings,
    }
}

/// Attaches files to their messages. A file whose message is missing becomes a notice.
fn attach(uploads: Vec<Upload>, assembler: &mut Assembler) {
    let by_id: HashMap<String, usize> = assembler
        .kept
        .iter()
        .enumerate()
        .filter(|(_, event)| !matches!(event.kind, EventKind::Start | EventKind::Notice))
        .filter_map(|(at, event)| Some((event.id.clone()?, at)))
        .rev()
        .collect();
    let mut shown: HashSet<(usize, Media)> = assembler
        .kept
        .iter()
        .enumerate()
        .flat_map(|(at, event)| event.attachments.iter().map(move |file| (at, file.media.clone())))
        .collect();
    for upload in uploads {
        let row = upload.row;
        let at = upload.message.as_ref().and_then(|id| by_id.get(id)).copied();
        let outcome = if let Some((at, event)) = at.and_then(|at| Some((at, assembler.kept.get_mut(at)?))) {
            if shown.insert((at, upload.file.media.clone())) {
                event.attachments.push(upload.file);
            }
            RowOutcome::Merged(Some(at))
        } else {
            assembler.kept.push(upload.into_event());
            RowOutcome::Anchors(assembler.kept.len() - 1)
        };
        if let Some(known) = assembler.outcomes.get_mut(row as usize) {
            *known = outcome;
        }
    }
}

/// The order of messages: that of the rows, or that of the times where the REST API gave some of them, whose pages begin
/// with the newest. What has no time then stays with the row before it.
fn order(kept: &[Event], has_rest: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..kept.len()).collect();
    let row = |at: &usize| kept.get(*at).map(|event| event.row);
    order.sort_by_key(row);
    if !has_rest {
        return order;
    }
    let instant = |at: usize| kept.get(at)?.time.as_ref().and_then(times::rank);
    let mut last = order.iter().find_map(|at| instant(*at));
    let mut timed: Vec<(Option<i64>, usize)> = Vec::with_capacity(order.len());
    for at in order {
        last = instant(at).or(last);
        timed.push((last, at));
    }
    timed.sort_by_key(|(time, _)| *time);
    timed.into_iter().map(|(_, at)| at).collect()
}

/// The participant who speaks in each event. Rows that name an account come first, because those of the desktop client,
/// which name none, are understood by them.
fn senders(kept: &[Event], order: &[usize], roster: &mut Roster) -> Vec<Option<usize>> {
    let mut senders = vec![None; kept.len()];
    for has_account in [true, false] {
        for at in order {
            if let (Some(event), Some(sender)) = (kept.get(*at), senders.get_mut(*at))
                && event.speaker.account.is_some() == has_account
            {
                *sender = roster.speaker(&event.speaker);
            }
        }
    }
    senders
}

/// Whom an event mentions, in its field or in its text.
#[derive(Clone, Debug, Default)]
struct Mentioned {
    /// Participants.
    places: Vec<usize>,
    /// Their ids, and names that nobody in the room has, in order.
    words: Vec<String>,
    /// The field as it was written, where the names alone do not say whom it means.
    written: Option<(String, RawJson)>,
    seen: HashSet<usize>,
}

impl Mentioned {
    fn add(&mut self, place: usize, roster: &Roster) {
        if self.seen.insert(place) {
            self.places.push(place);
            self.words.extend(roster.id(place).map(str::to_owned));
        }
    }
}

/// Finds out whom each event mentions.
///
/// In these rooms agents are called by a mention: somebody in the desktop client's store of whom nothing else is known is an
/// agent when he is mentioned by somebody else, and a person when the store is his own.
fn mentions(
    kept: &[Event],
    order: &[usize],
    senders: &[Option<usize>],
    roster: &mut Roster,
) -> Vec<Mentioned> {
    let mut mentions = vec![Mentioned::default(); kept.len()];
    for at in order {
        let (Some(event), Some(mentioned)) = (kept.get(*at), mentions.get_mut(*at)) else {
            continue;
        };
        let mut known = HashSet::new();
        for word in event.mentions.iter().filter(|word| known.insert(*word)) {
            let meant = roster.meant(word);
            if meant.is_empty() {
                mentioned.words.push(word.clone());
            }
            let is_shared = meant.iter().any(|place| roster.names.is_shared(*place));
            if is_shared && mentioned.written.is_none() {
                mentioned.written = Some(("mentions".to_owned(), list(&event.mentions)));
            }
            for place in meant {
                mentioned.add(place, roster);
            }
        }
        if !matches!(event.kind, EventKind::Start | EventKind::Notice) {
            for place in roster.names.mentioned(&event.text) {
                mentioned.add(place, roster);
            }
        }
        let sender = senders.get(*at).copied().flatten();
        for place in mentioned.places.iter().filter(|place| Some(**place) != sender) {
            roster.settle(*place, Some(true));
        }
    }
    for at in order {
        let own = kept.get(*at).filter(|event| event.is_own);
        if let (Some(_), Some(sender)) = (own, senders.get(*at).copied().flatten()) {
            roster.settle(sender, Some(false));
        }
    }
    mentions
}

/// A list of strings as JSON.
fn list(words: &[String]) -> RawJson {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word).0).collect();
    RawJson(format!("[{}]", quoted.join(",")))
}

/// A message, without its mentions.
fn message(mut event: Event, position: u32, sender: Option<usize>, roster: &Roster, start: u64) -> Message {
    let kind = match event.kind {
        EventKind::Start | EventKind::Notice => MessageKind::Notice,
        EventKind::Message | EventKind::Chunk | EventKind::Final => MessageKind::Message,
    };
    let is_agent = event
        .speaker
        .is_agent
        .unwrap_or_else(|| sender.is_some_and(|sender| roster.is_agent(sender)));
    let parts: Vec<Part> = event.parts(kind == MessageKind::Notice);
    let is_api = event
        .extra
        .iter()
        .any(|(key, value)| key == "senderType" && value.as_str() == "\"api\"");
    let word = event.word.take();
    let source_type = match word {
        Some(word) if is_api && word != "error" => {
            if word != "message" {
                event
                    .extra
                    .push(("type".to_owned(), RawJson(format!("\"{word}\""))));
            }
            Some("api".to_owned())
        }
        word => word,
    };
    let known_name = sender
        .and_then(|sender| roster.participants.get(sender))
        .map(|known| &known.name);
    let shown = event.speaker.shown.or(event.speaker.name);
    let origin = MessageOrigin {
        start: start + event.span.start as u64,
        end: start + event.span.end as u64,
        index: event.row,
    };
    let role = if is_agent { Role::Assistant } else { Role::User };
    let reference = event.reference.map(|reference| signed(reference, roster));
    Message {
        id: event.id,
        sender,
        sender_name: shown.filter(|name| known_name.is_none_or(|known| known.as_ref() != Some(name))),
        kind,
        source_type,
        timestamp: event.time,
        parts,
        references: reference.into_iter().collect(),
        extra: Extra(event.extra),
        ..Message::new(role, position, origin)
    }
}

/// Finds the author whom a preview only names.
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
fn place(finding: &mut Finding, outcomes: &[RowOutcome], positions: &[Option<u32>]) {
    let Some(row) = finding.position.take() else {
        return;
    };
    let outcome = outcomes.get(row as usize);
    let (at, is_anchor) = match outcome {
        Some(RowOutcome::Anchors(at)) => (Some(*at), true),
        Some(RowOutcome::Merged(at) | RowOutcome::Repeats(at)) => (*at, false),
        Some(RowOutcome::Rejected) | None => (None, false),
    };
    finding.position = at.and_then(|at| positions.get(at).copied().flatten());
    if !is_anchor || finding.position.is_none() {
        let suffix = match &finding.path {
            Path::InMessage(suffix) => suffix.as_str(),
            Path::Absolute(_) | Path::Record => "",
        };
        finding.path = Path::Absolute(format!("$[{row}]{suffix}"));
    }
}

//! Converts linked conversations, findings and rejects to rows of the dataset's tables.
//!
//! Workers, sealing and checks call it. The rows go to a `PartSet`,
//! which `dataset` writes to Parquet or, for `tables`, keeps in memory.

use std::borrow::Cow;
use std::fmt::Write;

use chatmill_dataset::rows::{
    AlternativeRow, ConversationRow, FindingRow, MessageRow, ParticipantCell, ReferenceRow, RejectRow,
    ToolCallRow,
};
use chatmill_dataset::{DatasetError, Key, PartSet};
use chatmill_diag::finding::with_known_keys;
use chatmill_diag::{Reject, cut};
use chatmill_link::{ClusterMembership, Duplicate};
use chatmill_model::fingerprint::content_hash;
use chatmill_model::{
    Arguments, Conversation, Cost, Extra, Link, Linked, Message, MessageKind, PairedBy, Pairing, Part,
    PartPlace, Reference, ReferenceForm, Score, ServiceTier, ToolCall, ToolResult, Weight,
};
use chatmill_redact::Mask;

use crate::plan::Plan;
use crate::record::locate::Located;
use crate::record::unread::FirstPlace;
use crate::slice::records::At;

pub(crate) mod written;

use written::{WrittenPreview, parts_json, written};

/// The origin of a record.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Name of the input.
    pub input: &'a str,
    /// Member of an archive.
    pub entry: &'a str,
    /// Number of the record in its entry.
    pub record: u64,
}

impl<'a> Place<'a> {
    /// Creates a place in the input with this name.
    pub(crate) fn of(input: &'a str, at: At<'a>) -> Self {
        Self {
            input,
            entry: at.entry.map_or("", |entry| entry.entry.as_str()),
            record: at.record.unwrap_or_default(),
        }
    }
}

/// Writes a conversation; `id` is the key of its id.
pub(crate) fn push_conversation(
    parts: &mut PartSet,
    id: Key,
    linked: &Linked,
    place: Place<'_>,
    membership: &ClusterMembership,
) -> Result<(), DatasetError> {
    let conversation = &linked.conversation;
    let (started_at, ended_at) = conversation.span();
    let messages = conversation.messages.iter();
    let messages = messages.filter(|message| message.kind == MessageKind::Message);
    let participants = conversation.participants.iter();
    let extras: Vec<_> = participants
        .clone()
        .map(|participant| participant.extra.to_json())
        .collect();
    let participants = participants
        .zip(&extras)
        .map(|(participant, extra)| ParticipantCell {
            id: &participant.id,
            name: participant.name.as_deref(),
            alias: participant.alias.as_deref(),
            role: participant.role.as_deref(),
            kind: participant.kind.as_str(),
            listed: participant.listed,
            is_id_made: participant.is_id_made,
            custom_role: participant.custom_role.as_deref(),
            department: participant.department.as_deref(),
            email: participant.email.as_deref(),
            extra: extra.as_deref(),
        });
    parts.push_conversation(ConversationRow {
        conversation_id: id,
        source_conversation_id: conversation.source_id.as_deref(),
        source: conversation.source,
        format_version: conversation.format_version.as_deref(),
        format_shape: Some(conversation.shape).filter(|shape| !shape.is_empty()),
        input: place.input,
        entry: place.entry,
        record: place.record,
        title: conversation.title.as_deref(),
        description: conversation.description.as_deref(),
        model: conversation.model.as_deref(),
        scene: conversation.scene.as_str(),
        message_count: messages.count() as u64,
        participant_count: conversation.participants.len() as u64,
        started_at,
        ended_at,
        participants: &participants.collect::<Vec<_>>(),
        tools: tools(linked).as_deref(),
        extra: whole_extra(&conversation.extra, &conversation.envelope).as_deref(),
        content_hash: &content_hash(conversation),
        cluster: membership.cluster.map(|cluster| cluster.to_string()).as_deref(),
        duplicate: membership.duplicate.map(Duplicate::as_str),
    })
}

fn tools(linked: &Linked) -> Option<String> {
    let tools = &linked.conversation.tools;
    if tools.is_empty() {
        return None;
    }
    let raws: Vec<&str> = tools.iter().map(chatmill_model::RawJson::as_str).collect();
    Some(format!("[{}]", raws.join(",")))
}

/// Returns metadata fields, followed by fields of the record's root under the key `/`.
fn whole_extra(extra: &Extra, envelope: &Extra) -> Option<String> {
    let Some(outer) = envelope.to_json() else {
        return extra.to_json();
    };
    let mut whole = extra.clone();
    whole.0.push(("/".to_owned(), chatmill_model::RawJson(outer)));
    whole.to_json()
}

/// Writes a message with its text, and the tokens of the text in each encoding.
pub(crate) fn push_message(
    parts: &mut PartSet,
    id: Key,
    linked: &Linked,
    message: &Message,
    text: &str,
    tokens: &[u64],
) -> Result<(), DatasetError> {
    let (sender_id, sender_name) = sender(message, &linked.conversation);
    parts.push_message(MessageRow {
        conversation_id: id,
        position: message.position.into(),
        message_id: message.id.as_deref(),
        sender_id,
        sender_name,
        role: message.role.as_str(),
        kind: message.kind.as_str(),
        source_type: message.source_type.as_deref(),
        created_at: message.timestamp.as_ref().and_then(|time| time.instant),
        created_at_raw: message.timestamp.as_ref().map(|time| time.raw.as_str()),
        text,
        parts: parts_json("messages", &message.parts)?.as_deref(),
        mentions: &message.mentions,
        weight: message.weight.map(Weight::value),
        model: message.model.as_deref(),
        usage_input: message.usage.and_then(|usage| usage.input),
        usage_cached_input: message.usage.and_then(|usage| usage.cached_input),
        usage_cache_write: message.usage.and_then(|usage| usage.cache_write),
        usage_cache_write_1h: message.usage.and_then(|usage| usage.cache_write_1h),
        usage_output: message.usage.and_then(|usage| usage.output),
        usage_searches: message.usage.and_then(|usage| usage.searches),
        usage_requests: message.usage.and_then(|usage| usage.requests).map(u64::from),
        usage_tier: message
            .usage
            .and_then(|usage| usage.tier)
            .map(ServiceTier::as_str),
        logged_cost: message.usage.and_then(|usage| usage.cost).map(Cost::amount),
        answer_id: message.answer.as_deref(),
        extra: message.extra.to_json().as_deref(),
        byte_start: message.origin.start,
        byte_end: message.origin.end,
        tokens,
    })
}

/// Returns the id and the name of a message's sender.
fn sender<'m>(message: &'m Message, conversation: &'m Conversation) -> (Option<&'m str>, Option<&'m str>) {
    let sender = message
        .sender
        .map(|index| cut::at(&conversation.participants, index));
    let listed = sender.and_then(|sender| sender.name.as_deref());
    let name = message.sender_name.as_deref().or(listed);
    (sender.map(|sender| sender.id.as_str()), name)
}

/// Writes the alternatives, message by message.
pub(crate) fn push_alternatives(parts: &mut PartSet, id: Key, linked: &Linked) -> Result<(), DatasetError> {
    let conversation = &linked.conversation;
    let mut at = None;
    let mut ordinal = 0;
    for alternative in &conversation.alternatives {
        let position = alternative.place.start;
        ordinal = if at.replace(position) == Some(position) {
            ordinal + 1
        } else {
            0
        };
        let judgement = alternative.judgement;
        for (step, message) in (0..).zip(conversation.messages_of(alternative)) {
            let (sender_id, sender_name) = sender(message, conversation);
            parts.push_alternative(AlternativeRow {
                conversation_id: id,
                position: position.into(),
                ordinal,
                step,
                origin: alternative.origin.as_str(),
                in_conversation: alternative.messages.is_none(),
                rank: judgement.rank,
                score: judgement.score.map(Score::value),
                label: judgement.label,
                message_id: message.id.as_deref(),
                sender_id,
                sender_name,
                role: message.role.as_str(),
                kind: message.kind.as_str(),
                created_at: message.timestamp.as_ref().and_then(|time| time.instant),
                text: &message.text(),
                parts: parts_json("alternatives", &message.parts)?.as_deref(),
                model: message.model.as_deref(),
                extra: message.extra.to_json().as_deref(),
                byte_start: message.origin.start,
                byte_end: message.origin.end,
            })?;
        }
    }
    Ok(())
}

/// Writes a message's references, each followed by the references inside it.
pub(crate) fn push_references(
    parts: &mut PartSet,
    id: Key,
    linked: &Linked,
    message: &Message,
) -> Result<(), DatasetError> {
    let links = cut::at(&linked.links, message.position as usize);
    let mut path = String::new();
    for (ordinal, (reference, link)) in (0..).zip(message.references.iter().zip(links)) {
        let row = ReferenceRow {
            conversation_id: id,
            position: message.position.into(),
            message_id: message.id.as_deref(),
            ordinal,
            ..ReferenceRow::default()
        };
        path.clear();
        // Writing to a String cannot fail.
        let _ = write!(path, "{ordinal}");
        push_reference(parts, &row, &mut path, reference, link)?;
    }
    Ok(())
}

fn push_reference(
    parts: &mut PartSet,
    of_message: &ReferenceRow<'_>,
    path: &mut String,
    reference: &Reference,
    link: &Link,
) -> Result<(), DatasetError> {
    let shown = reference.preview.as_ref();
    let understood = shown.map(|shown| written("message_references", &WrittenPreview::of(shown)));
    let understood = understood.transpose()?;
    // The object that a source wrote next to the id contains more than the fields that were read.
    let source = match &reference.form {
        ReferenceForm::Object(raw) if shown.is_some() => Some(raw.as_str()),
        _ => None,
    };
    parts.push_reference(ReferenceRow {
        conversation_id: of_message.conversation_id,
        position: of_message.position,
        message_id: of_message.message_id,
        ordinal: of_message.ordinal,
        path,
        target_id: reference.target.as_deref(),
        target_position: link.target.map(u64::from),
        status: link.status.as_str(),
        same_sender: link.same_sender,
        preview: source.or(understood.as_deref()),
        quoted: understood.as_deref().filter(|_| source.is_some()),
    })?;
    let above = path.len();
    for (place, (inner, link)) in reference.nested.iter().zip(&link.nested).enumerate() {
        let _ = write!(path, ".{place}");
        push_reference(parts, of_message, path, inner, link)?;
        path.truncate(above);
    }
    Ok(())
}

/// Returns the rows of a conversation's tool calls and results.
pub fn tool_calls(id: Key, linked: &Linked) -> impl Iterator<Item = ToolCallRow<'_>> {
    linked.pairings.iter().map(move |pairing| {
        let (call, result) = call_and_result(linked, pairing);
        let called = call.and_then(ToolCall::known_id);
        ToolCallRow {
            conversation_id: id,
            call_id: called.or_else(|| result.and_then(ToolResult::known_id)),
            name: tool_name(call, result),
            arguments: call.map(|call| call.arguments.source_text()),
            arguments_valid: call.map(|call| matches!(call.arguments, Arguments::Object(_))),
            call_position: pairing.call.map(|place| place.position.into()),
            result_position: pairing.result.map(|place| place.position.into()),
            result: result.map(|result| result.content.as_str()),
            is_error: result.map(|result| result.is_error),
            status: pairing.status.as_str(),
            paired_by: pairing.paired_by.map(PairedBy::as_str),
        }
    })
}

/// Returns the call and the result of a pairing, as far as they exist.
pub(crate) fn call_and_result<'l>(
    linked: &'l Linked,
    pairing: &Pairing,
) -> (Option<&'l ToolCall>, Option<&'l ToolResult>) {
    let part = |place: Option<PartPlace>| {
        let PartPlace { position, part } = place?;
        let message = cut::at(&linked.conversation.messages, position as usize);
        Some(cut::at(&message.parts, part as usize))
    };
    let call = match part(pairing.call) {
        Some(Part::ToolCall(call)) => Some(call),
        _ => None,
    };
    let result = match part(pairing.result) {
        Some(Part::ToolResult(result)) => Some(result),
        _ => None,
    };
    (call, result)
}

/// Returns the name of the tool in a call, else in the result.
pub(crate) fn tool_name<'l>(call: Option<&'l ToolCall>, result: Option<&'l ToolResult>) -> Option<&'l str> {
    let called = call.and_then(|call| call.name.as_deref());
    called.or_else(|| result.and_then(|result| result.name.as_deref()))
}

/// The parts of the input that findings may quote.
#[derive(Clone, Copy)]
pub enum Quoting<'m> {
    /// Text, ids, fields.
    All,
    /// Ids of conversations and messages in their columns; no text and
    /// no ids in sentences, and no fields that are not in any format.
    NoText,
    /// The same as `NoText`, with every id masked.
    Masked(&'m Mask),
}

impl Quoting<'_> {
    /// Returns the quoting of a run. Ids are unchanged, since rows
    /// are joined by them; messages of findings contain none.
    pub(crate) fn of(quote: bool) -> Self {
        if quote { Self::All } else { Self::NoText }
    }
}

/// The texts of a finding, for its row.
pub struct FindingTexts<'f> {
    /// The key, which stays the same if lines shift.
    pub key: String,
    conversation: Option<Cow<'f, str>>,
    message_id: Option<Cow<'f, str>>,
    json_path: Option<Cow<'f, str>>,
    message: Cow<'f, str>,
}

impl<'f> FindingTexts<'f> {
    /// Returns the texts of a finding in the conversation with this id.
    pub fn new(located: &'f Located, key: String, id: Option<&'f str>, quoting: Quoting<'_>) -> Self {
        let finding = &located.finding;
        let path = located.json_path.as_deref();
        let shown = |id: &'f str| match quoting {
            Quoting::Masked(mask) => Cow::Owned(mask.id(id)),
            Quoting::All | Quoting::NoText => Cow::Borrowed(id),
        };
        Self {
            conversation: id.map(shown),
            message_id: finding.message_id.as_deref().map(shown),
            json_path: match quoting {
                Quoting::All => path.map(Cow::Borrowed),
                _ => path.map(|path| Cow::Owned(with_known_keys(path))),
            },
            message: match (quoting, &finding.detail) {
                (Quoting::All, Some(detail)) => Cow::Owned(format!("{}: {detail}", finding.message)),
                (Quoting::All, None) => Cow::Borrowed(&finding.message),
                (Quoting::NoText, _) => Cow::Owned(finding.masked_message(&|_| "…".to_owned())),
                (Quoting::Masked(mask), _) => Cow::Owned(finding.masked_message(&|id| mask.id(id))),
            },
            key: match quoting {
                // The key is a hash of ids; a reader who guesses an id could verify the guess.
                Quoting::Masked(mask) => mask.key(&key),
                _ => key,
            },
        }
    }
}

/// Returns the row of a finding.
pub(crate) fn finding<'f>(
    located: &'f Located,
    texts: &'f FindingTexts<'_>,
    place: Place<'f>,
    in_record: bool,
) -> FindingRow<'f> {
    let finding = &located.finding;
    FindingRow {
        code: finding.code.code,
        name: finding.code.name,
        severity: finding.severity.as_str(),
        count: finding.count,
        key: &texts.key,
        input: place.input,
        entry: place.entry,
        record: in_record.then_some(place.record),
        conversation_id: texts.conversation.as_deref(),
        position: finding.position.map(u64::from),
        message_id: texts.message_id.as_deref(),
        line_number: located.line_column.map(|(line, _)| line),
        column_number: located.line_column.map(|(_, column)| column),
        byte_start: located.span.map(|span| span.start),
        byte_end: located.span.map(|span| span.end),
        json_path: texts.json_path.as_deref(),
        message: &texts.message,
        help: finding.code.page.fix,
    }
}

/// Writes the findings about a whole input, with their first places if known.
pub(crate) fn push_of_input(
    plan: &Plan,
    index: usize,
    located: &Located,
    first: Option<&FirstPlace>,
    parts: &mut PartSet,
) -> Result<(), DatasetError> {
    let name = plan.input_name(index);
    let place = Place {
        input: &name,
        entry: first.map_or("", |first| first.entry.as_str()),
        record: first.map_or(0, |first| first.record),
    };
    let key = finding_key(located, place, None);
    let texts = FindingTexts::new(located, key, None, Quoting::of(plan.quotes));
    parts.push_finding(finding(located, &texts, place, first.is_some()))
}

/// Returns a key that stays the same if lines shift: a hash of
/// code, input, conversation, message and the path below it.
pub(crate) fn finding_key(located: &Located, place: Place<'_>, id: Option<&str>) -> String {
    let finding = &located.finding;
    let below = match (&finding.path, &finding.message_id) {
        (chatmill_diag::Path::InMessage(suffix), Some(_)) => suffix.as_str(),
        _ => located.json_path.as_deref().unwrap_or_default(),
    };
    let mut hash = blake3::Hasher::new();
    for text in [
        finding.code.code,
        place.input,
        place.entry,
        id.unwrap_or_default(),
        finding.message_id.as_deref().unwrap_or_default(),
        below,
    ] {
        hash.update(text.as_bytes());
        hash.update(&[0]);
    }
    hash.finalize().to_hex().chars().take(16).collect()
}

/// Returns the row of a reject. Without `quote` it contains no source text.
pub(crate) fn reject<'r>(reject: &'r Reject, place: Place<'r>, quote: bool) -> RejectRow<'r> {
    RejectRow {
        input: place.input,
        entry: place.entry,
        record: place.record,
        level: reject.level.as_str(),
        byte_start: reject.span.start,
        byte_end: reject.span.end,
        frame_hash: &reject.hash,
        code: reject.finding.code.code,
        message: &reject.finding.message,
        head: if quote { &reject.head } else { &[] },
    }
}

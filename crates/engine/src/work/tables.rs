//! From a linked conversation to rows of the dataset.

use chatmill_dataset::rows::{
    ConversationRow, FindingRow, MessageRow, ParticipantCell, ReferenceRow, RejectRow, ToolCallRow,
};
use chatmill_diag::Reject;
use chatmill_diag::finding::without_odd_keys;
use chatmill_link::ClusterMembership;
use chatmill_model::fingerprint::content_hash;
use chatmill_model::json::push_string;
use chatmill_model::{
    Arguments, Extra, Link, Linked, MediaSource, Message, MessageKind, Pairing, Part, PartPlace, Participant,
    Reference, ReferenceForm, ToolCall, ToolResult, Weight,
};

use crate::record::locate::Located;

/// Where a record came from.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Name of the input.
    pub input: &'a str,
    /// Member of an archive.
    pub entry: &'a str,
    /// Number of the record in its entry.
    pub record: u64,
}

/// The row of a conversation.
pub fn conversation(
    id: &str,
    linked: &Linked,
    place: Place<'_>,
    standing: &ClusterMembership,
) -> ConversationRow {
    let conversation = &linked.conversation;
    let (started_at, ended_at) = conversation.span();
    let messages = conversation
        .messages
        .iter()
        .filter(|message| message.kind == MessageKind::Message)
        .count();
    ConversationRow {
        conversation_id: id.to_owned(),
        source_conversation_id: conversation.source_id.clone(),
        source: conversation.source.to_owned(),
        format_version: conversation.format_version.clone(),
        format_shape: Some(conversation.shape.to_owned()).filter(|shape| !shape.is_empty()),
        input: place.input.to_owned(),
        entry: place.entry.to_owned(),
        record: place.record,
        title: conversation.title.clone(),
        description: conversation.description.clone(),
        scene: conversation.scene.as_str().to_owned(),
        message_count: messages as u32,
        participant_count: conversation.participants.len() as u32,
        started_at,
        ended_at,
        participants: conversation.participants.iter().map(participant).collect(),
        tools: tools(linked),
        extra: whole_extra(&conversation.extra, &conversation.envelope),
        content_hash: content_hash(conversation),
        cluster: standing.cluster.clone(),
        duplicate: standing.duplicate.map(|duplicate| duplicate.as_str().to_owned()),
    }
}

fn participant(participant: &Participant) -> ParticipantCell {
    ParticipantCell {
        id: participant.id.clone(),
        name: participant.name.clone(),
        alias: participant.alias.clone(),
        role: participant.role.clone(),
        kind: participant.kind.as_str().to_owned(),
        custom_role: participant.custom_role.clone(),
        department: participant.department.clone(),
        email: participant.email.clone(),
        extra: participant.extra.to_json(),
    }
}

fn tools(linked: &Linked) -> Option<String> {
    let tools = &linked.conversation.tools;
    if tools.is_empty() {
        return None;
    }
    let raws: Vec<&str> = tools.iter().map(chatmill_model::RawJson::as_str).collect();
    Some(format!("[{}]", raws.join(",")))
}

/// Metadata fields, then fields of the record's root under the key `/`.
fn whole_extra(extra: &Extra, envelope: &Extra) -> Option<String> {
    let Some(outer) = envelope.to_json() else {
        return extra.to_json();
    };
    let mut whole = extra.clone();
    whole.0.push(("/".to_owned(), chatmill_model::RawJson(outer)));
    whole.to_json()
}

/// The row of a message; `tokens` has one count per encoding.
pub fn message(id: &str, linked: &Linked, message: &Message, tokens: Vec<u64>) -> MessageRow {
    let sender = message
        .sender
        .and_then(|index| linked.conversation.participants.get(index));
    MessageRow {
        conversation_id: id.to_owned(),
        position: message.position,
        message_id: message.id.clone(),
        sender_id: sender.map(|sender| sender.id.clone()),
        sender_name: message
            .sender_name
            .clone()
            .or_else(|| sender.and_then(|sender| sender.name.clone())),
        role: message.role.as_str().to_owned(),
        kind: message.kind.as_str().to_owned(),
        source_type: message.source_type.clone(),
        created_at: message.timestamp.as_ref().and_then(|time| time.instant),
        created_at_raw: message.timestamp.as_ref().map(|time| time.raw.clone()),
        text: message.text().into_owned(),
        parts: parts(&message.parts),
        mentions: message.mentions.clone(),
        weight: message.weight.map(Weight::value),
        extra: message.extra.to_json(),
        byte_start: message.origin.start,
        byte_end: message.origin.end,
        tokens,
    }
}

/// Writes JSON objects field by field; absent values leave no key.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self(String::from("{"))
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_string(&mut self.0, key);
        self.0.push(':');
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.key(key);
            push_string(&mut self.0, value);
        }
    }

    fn raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.0.push_str(value);
    }

    fn close(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// The parts as an array; nothing where the text says all of it.
fn parts(parts: &[Part]) -> Option<String> {
    if let [Part::Text(_)] = parts {
        return None;
    }
    let written: Vec<String> = parts.iter().map(part).collect();
    Some(format!("[{}]", written.join(",")))
}

fn part(part: &Part) -> String {
    let mut object = Object::new();
    object.text("type", Some(part.type_name()));
    match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => object.text("text", Some(text)),
        Part::Media(media) => {
            object.text("kind", Some(media.kind.as_str()));
            match &media.source {
                MediaSource::Url(url) => object.text("url", Some(url)),
                MediaSource::Inline(base64) => object.text("inline", Some(base64)),
                MediaSource::Upload => object.raw("upload", "true"),
            }
            object.text("media_type", media.media_type.as_deref());
            object.text("name", media.name.as_deref());
        }
        Part::ToolCall(call) => {
            object.text("id", call.known_id());
            object.text("name", call.name.as_deref());
            object.text("arguments", Some(call.arguments.source_text()));
        }
        Part::ToolResult(result) => {
            object.text("call_id", result.known_id());
            object.text("name", result.name.as_deref());
            object.text("content", Some(&result.content));
            if result.is_error {
                object.raw("is_error", "true");
            }
        }
        Part::CacheMark => {}
    }
    object.close()
}

/// The rows of a message's references, each with those that it shows in its turn after it.
pub fn references(id: &str, linked: &Linked, message: &Message) -> Vec<ReferenceRow> {
    let links = linked
        .links
        .get(message.position as usize)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut rows = Vec::new();
    for (ordinal, (reference, link)) in (0..).zip(message.references.iter().zip(links)) {
        let row = ReferenceRow {
            conversation_id: id.to_owned(),
            position: message.position,
            message_id: message.id.clone(),
            ordinal,
            ..ReferenceRow::default()
        };
        reference_rows(&row, &ordinal.to_string(), reference, link, &mut rows);
    }
    rows
}

fn reference_rows(
    of_message: &ReferenceRow,
    path: &str,
    reference: &Reference,
    link: &Link,
    rows: &mut Vec<ReferenceRow>,
) {
    rows.push(ReferenceRow {
        path: path.to_owned(),
        target_id: reference.target.clone(),
        target_position: link.target,
        status: link.status.as_str().to_owned(),
        same_sender: link.same_sender,
        preview: preview(reference),
        ..of_message.clone()
    });
    for (place, (inner, link)) in reference.nested.iter().zip(&link.nested).enumerate() {
        reference_rows(of_message, &format!("{path}.{place}"), inner, link, rows);
    }
}

/// The object that a source wrote beside the id, else its preview as an object.
fn preview(reference: &Reference) -> Option<String> {
    let shown = reference.preview.as_ref()?;
    if let ReferenceForm::Object(raw) = &reference.form {
        return Some(raw.as_str().to_owned());
    }
    let mut object = Object::new();
    object.text("content", shown.content.as_deref());
    object.text("sender", shown.sender.as_deref());
    object.text("sender_name", shown.sender_name.as_deref());
    Some(object.close())
}

/// The rows of a conversation's tool calls and results.
pub fn tool_calls(id: &str, linked: &Linked) -> Vec<ToolCallRow> {
    linked
        .pairings
        .iter()
        .map(|pairing| {
            let (call, result) = call_and_result(linked, pairing);
            ToolCallRow {
                conversation_id: id.to_owned(),
                call_id: call
                    .and_then(ToolCall::known_id)
                    .or_else(|| result.and_then(ToolResult::known_id))
                    .map(str::to_owned),
                name: tool_name(call, result).map(str::to_owned),
                arguments: call.map(|call| call.arguments.source_text().to_owned()),
                arguments_valid: call.map(|call| matches!(call.arguments, Arguments::Object(_))),
                call_position: pairing.call.map(|place| place.position),
                result_position: pairing.result.map(|place| place.position),
                result: result.map(|result| result.content.clone()),
                is_error: result.map(|result| result.is_error),
                status: pairing.status.as_str().to_owned(),
                paired_by: pairing.paired_by.map(|rule| rule.as_str().to_owned()),
            }
        })
        .collect()
}

/// The call and the result of a pairing, where it has them.
pub fn call_and_result<'l>(
    linked: &'l Linked,
    pairing: &Pairing,
) -> (Option<&'l ToolCall>, Option<&'l ToolResult>) {
    let part = |place: Option<PartPlace>| {
        let place = place?;
        linked
            .conversation
            .messages
            .get(place.position as usize)?
            .parts
            .get(place.part as usize)
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

/// The name of the tool that is called, else of the one that answers.
pub fn tool_name<'l>(call: Option<&'l ToolCall>, result: Option<&'l ToolResult>) -> Option<&'l str> {
    let called = call.and_then(|call| call.name.as_deref());
    called.or_else(|| result.and_then(|result| result.name.as_deref()))
}

/// The row of a finding. Without `quote`, no source text is in it.
pub fn finding(
    located: &Located,
    place: Place<'_>,
    in_record: bool,
    id: Option<&str>,
    quote: bool,
) -> FindingRow {
    let finding = &located.finding;
    let detail = finding.detail.as_deref().filter(|_| quote);
    FindingRow {
        code: finding.code.code.to_owned(),
        name: finding.code.name.to_owned(),
        severity: finding.severity.as_str().to_owned(),
        count: finding.count,
        key: finding_key(located, place, id),
        input: place.input.to_owned(),
        entry: place.entry.to_owned(),
        record: in_record.then_some(place.record),
        conversation_id: id.map(str::to_owned),
        position: finding.position,
        message_id: finding.message_id.clone(),
        line_number: located.line_column.map(|(line, _)| line),
        column_number: located.line_column.map(|(_, column)| column),
        byte_start: located.span.map(|span| span.start),
        byte_end: located.span.map(|span| span.end),
        json_path: located.json_path.as_deref().map(|path| {
            if quote {
                path.to_owned()
            } else {
                without_odd_keys(path)
            }
        }),
        message: match detail {
            Some(detail) => format!("{}: {detail}", finding.message),
            None => finding.message.clone(),
        },
        help: finding.code.page.fix.to_owned(),
    }
}

/// What stays the same when lines shift: code, input, conversation, message and the path below it.
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

/// The row of a reject. Without `quote`, no source text is in it.
pub fn reject(reject: &Reject, place: Place<'_>, quote: bool) -> RejectRow {
    RejectRow {
        input: place.input.to_owned(),
        entry: place.entry.to_owned(),
        record: place.record,
        level: reject.level.as_str().to_owned(),
        byte_start: reject.span.start,
        byte_end: reject.span.end,
        frame_hash: reject.hash.clone(),
        code: reject.finding.code.code.to_owned(),
        message: reject.finding.message.clone(),
        head: if quote { reject.head.clone() } else { Vec::new() },
    }
}

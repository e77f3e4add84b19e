//! The fields of live payloads, of stored messages and of the desktop client's entries, which differ in names only.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Preview, Reference, Timestamp};

use super::attachments;
use super::event::{Capture, Event, EventKind, Speaker};
use super::open::Opened;
use super::times;
use crate::base::{ExtraFields, Keep as _, Site, Times, fields, present, word, words};

/// Fields that are read; a row that has one of them twice is rejected.
pub(super) const KNOWN: [&str; 31] = words!(
    from fromUsername projectId text messageId id type responseId agentName mentions isAgentMessage
    responseDepth respondingChain isTaskNotification attachments parentMessageId senderId senderType
    senderName createdAt conversationId sender timestamp status parentMessage task userId projectIds
    agents blobUrl uploadedBy
);

/// Fields that become part of the event completely.
const TAKEN: [&str; 9] = words!(
    from fromUsername text parentMessageId senderId senderName parentMessage messageId createdAt
);

/// Reads an event. `key` is the project that its row was grouped under, `outside` the time of its envelope.
pub(super) fn read(
    opened: Opened<'_>,
    (row, span): (u32, Range<usize>),
    key: Option<&str>,
    outside: Option<Timestamp>,
    clock: &mut Times,
    site: &mut Site<'_>,
) -> Event {
    let body = opened.body;
    let capture = capture(opened);
    let mut extra = envelope(opened);
    let inside = time(body, clock, site);
    let id = named(body, "messageId", site).or_else(|| named(body, "id", site));
    let typed = named(body, "type", site);
    let is_notification = present(body, "isTaskNotification").and_then(Value::as_bool) == Some(true);
    let (kind, written) = kind(typed, capture, is_notification, body, site);
    let attached = present(body, "attachments").and_then(|list| attachments::list(list, site));
    let mentions = present(body, "mentions").and_then(|list| words(list, "mentions", site));
    let depth = depth(body, site);
    let chain = present(body, "respondingChain").and_then(|list| words(list, "respondingChain", site));
    let speaker = speaker(body, capture, kind, is_notification, site);
    for (name, value) in body.fields() {
        let is_taken = match &*name {
            "attachments" => attached.is_some(),
            "mentions" => mentions.is_some(),
            "projectId" | "conversationId" => fields::id(value).as_deref() == key,
            "id" => present(body, "messageId").is_none() || fields::id(value) == id,
            "senderType" => matches!(value.as_str().as_deref(), Some("user" | "agent")),
            "type" => value.as_str().as_deref() == written.as_deref(),
            "isTaskNotification" => value.as_bool() == Some(false),
            "isAgentMessage" => value.as_bool().is_some(),
            "agentName" => speaker.is_agent != Some(false),
            "timestamp" => present(body, "createdAt").is_none(),
            name => TAKEN.contains(&name),
        };
        if !is_taken && !value.is_null() {
            extra.keep(name, value);
        }
    }
    let task = present(body, "task");
    let task_agent = if is_notification {
        speaker.name.clone()
    } else {
        id_in(task, "assignedAgentName")
    };
    let message_text = text(body, task, kind, site);
    if task.is_none() {
        report_missing(id.is_some(), &speaker, kind, capture, site);
    }
    Event {
        row,
        span,
        prefix: opened.prefix,
        capture,
        kind,
        word: written,
        stream: match named(body, "responseId", site) {
            None if kind != EventKind::Start => id.clone(),
            stream => stream,
        },
        id,
        envelope_id: id_in(opened.envelope, "id"),
        speaker,
        text: message_text,
        time: inside.or(outside),
        reference: reference(body, site),
        mentions: mentions.unwrap_or_default(),
        attachments: attached.unwrap_or_default(),
        depth,
        chain: chain.unwrap_or_default(),
        task_agent,
        is_own: string(body, "sender").as_deref() == Some("me"),
        extra,
        ..Event::default()
    }
}

/// A field that is text, and not null.
fn string<'d>(body: Value<'d>, key: &str) -> Option<Cow<'d, str>> {
    present(body, key).and_then(Value::as_str)
}

/// A name or an id in a field; other types are reported.
fn named(body: Value<'_>, key: &str, site: &mut Site<'_>) -> Option<String> {
    word(present(body, key), key, site)
}

/// A name or an id in an object inside the row; other types are not reported.
fn id_in(object: Option<Value<'_>>, key: &str) -> Option<String> {
    present(object?, key).and_then(fields::id)
}

fn capture(opened: Opened<'_>) -> Capture {
    let has = |key: &str| opened.body.get(key).is_some();
    if matches!(string(opened.body, "sender").as_deref(), Some("me" | "them")) {
        Capture::Store
    } else if has("senderType") || has("senderId") || has("createdAt") || (has("id") && !has("messageId")) {
        Capture::Api
    } else {
        Capture::Live
    }
}

/// The fields of an envelope that have no place in the model.
fn envelope(opened: Opened<'_>) -> ExtraFields {
    let mut envelope_fields = ExtraFields::new();
    for (key, value) in opened.envelope.into_iter().flat_map(Value::fields) {
        let is_taken = match &*key {
            "data" | "timestamp" | "channel" | "projectId" => true,
            "name" => matches!(value.as_str().as_deref(), Some("message" | "task")),
            _ => value.is_null(),
        };
        if !is_taken {
            envelope_fields.keep(format!("envelope.{key}"), value);
        }
    }
    envelope_fields
}

/// The kind of the event, and the row's word for it.
fn kind(
    typed: Option<String>,
    capture: Capture,
    is_notification: bool,
    body: Value<'_>,
    site: &mut Site<'_>,
) -> (EventKind, Option<String>) {
    let Some(typed) = typed else {
        if body.get("task").is_some() {
            return (EventKind::Notice, None);
        }
        return match (capture, string(body, "status").as_deref()) {
            (Capture::Store, Some("streaming")) => (EventKind::Chunk, Some("chunk".to_owned())),
            (Capture::Store, Some("error")) => (EventKind::Final, Some("error".to_owned())),
            (Capture::Store, _) => (EventKind::Message, None),
            (Capture::Live | Capture::Api, _) => {
                missing("type", "type is missing: the row is read as a message", site);
                (EventKind::Message, None)
            }
        };
    };
    let kind = match typed.as_str() {
        "message" if is_notification => EventKind::Notice,
        "message" => EventKind::Message,
        "typing" => EventKind::Start,
        "chunk" => EventKind::Chunk,
        "response" | "done" | "error" => EventKind::Final,
        "system" | "deregister" => EventKind::Notice,
        word if word.starts_with("task-") => EventKind::Notice,
        _ => {
            let text = "the type is none of the system's: the row is kept as a notice";
            let place = body.get("type").unwrap_or(body);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".type", place);
            EventKind::Notice
        }
    };
    (kind, Some(typed))
}

/// Account, name and kind of the speaker. A kind stated in the row takes precedence over one implied by its
/// type.
fn speaker(
    body: Value<'_>,
    capture: Capture,
    kind: EventKind,
    is_notification: bool,
    site: &mut Site<'_>,
) -> Speaker {
    let task = present(body, "task");
    let of_task = |key: &str| id_in(task, key);
    let mut named = |key: &str| named(body, key, site);
    let account = named("from")
        .or_else(|| named("senderId"))
        .or_else(|| of_task("createdBy"));
    let shown = named("fromUsername")
        .or_else(|| named("senderName"))
        .or_else(|| of_task("createdByName"));
    let agent_name = named("agentName");
    let sender_type = string(body, "senderType");
    let stated = match sender_type.as_deref() {
        Some("agent" | "api") => Some(true),
        Some("user") => Some(false),
        _ => present(body, "isAgentMessage").and_then(Value::as_bool),
    };
    let answers = matches!(kind, EventKind::Start | EventKind::Chunk | EventKind::Final);
    let hinted = match (capture, task) {
        (_, Some(_)) => of_task("createdByType").map(|word| word == "agent"),
        (Capture::Store, None) => {
            let is_own = string(body, "sender").as_deref() == Some("me");
            match string(body, "status").as_deref() {
                Some("sending" | "sent") => Some(false),
                _ if present(body, "executionMode").is_some() => Some(false),
                _ => (answers && !is_own).then_some(true),
            }
        }
        _ if kind == EventKind::Notice && !is_notification && agent_name.is_none() => None,
        _ => Some(answers || is_notification || agent_name.is_some()),
    };
    if let Some(value) = present(body, "senderType")
        && kind != EventKind::Notice
        && !matches!(sender_type.as_deref(), Some("agent" | "api" | "user"))
    {
        let text = "the kind of sender is none of user, agent and api";
        site.warn("senderType", text, value);
    }
    if stated == Some(false) && answers && capture != Capture::Store {
        let text = "the sender of an answer is a person";
        let mut fields = ["senderType", "isAgentMessage"].into_iter();
        if let Some((field, place)) = fields.find_map(|field| Some((field, present(body, field)?))) {
            site.note(&codes::ROLE_CONFLICT, text, format!(".{field}"), place);
        }
    }
    let is_agent = stated.or(hinted);
    let name = if is_agent == Some(false) { None } else { agent_name };
    Speaker {
        account,
        name: name.or_else(|| shown.clone()),
        shown,
        is_agent,
    }
}

fn text(body: Value<'_>, task: Option<Value<'_>>, kind: EventKind, site: &mut Site<'_>) -> String {
    let Some(value) = present(body, "text") else {
        let is_needed = matches!(kind, EventKind::Message | EventKind::Chunk | EventKind::Final);
        if is_needed && present(body, "attachments").is_none() {
            missing("text", "text is missing", site);
        }
        let title = task.and_then(|task| string(task, "title"));
        return title.map(String::from).unwrap_or_default();
    };
    if let Some(text) = value.as_str() {
        return text.into_owned();
    }
    site.error("text", "text is not a string and is read as written", value);
    value.raw().to_owned()
}

/// Reports missing fields that every message has.
fn report_missing(has_id: bool, speaker: &Speaker, kind: EventKind, capture: Capture, site: &mut Site<'_>) {
    let [id, account, name] = match capture {
        Capture::Live => ["messageId", "from", "fromUsername"],
        Capture::Api | Capture::Store => ["id", "senderId", "senderName"],
    };
    if !has_id && kind != EventKind::Start {
        missing(id, "the row has no id", site);
    }
    if capture == Capture::Store || kind == EventKind::Notice {
        return;
    }
    if speaker.account.is_none() {
        missing(
            account,
            "the row does not name the account that it comes from",
            site,
        );
    }
    if speaker.shown.is_none() {
        missing(name, "the row does not name its sender", site);
    }
}

fn missing(field: &str, text: &str, site: &mut Site<'_>) {
    site.note(&codes::SPARED_FIELD, text, format!(".{field}"), site.message);
}

fn time(body: Value<'_>, clock: &mut Times, site: &mut Site<'_>) -> Option<Timestamp> {
    let mut keys = ["createdAt", "timestamp"].into_iter();
    let (value, key) = keys.find_map(|key| Some((present(body, key)?, key)))?;
    times::read(clock, value, key, site)
}

fn depth(body: Value<'_>, site: &mut Site<'_>) -> Option<u64> {
    let value = present(body, "responseDepth")?;
    let depth = value.number_text().and_then(|number| number.parse().ok());
    if depth.is_none() {
        site.warn("responseDepth", "the depth is not a whole number", value);
    }
    depth
}

/// The strings of a list; `None` if it is not a list or has other elements.
fn words(list: Value<'_>, field: &str, site: &mut Site<'_>) -> Option<Vec<String>> {
    let words: Option<Vec<String>> = (list.kind() == Kind::Array)
        .then(|| list.items().map(|item| item.as_str().map(String::from)).collect())
        .flatten();
    if words.is_none() {
        let text = "the field is not a list of strings and is kept as it is";
        site.warn(field, text, list);
    }
    words
}

/// The reply, with the preview of its target that the desktop client shows.
fn reference(body: Value<'_>, site: &mut Site<'_>) -> Option<Reference> {
    let parent = present(body, "parentMessage");
    let target = named(body, "parentMessageId", site).or_else(|| id_in(parent, "id"));
    let preview = Preview {
        content: id_in(parent, "text"),
        sender_name: id_in(parent, "senderName"),
        ..Preview::default()
    };
    let preview = (preview != Preview::default()).then_some(preview);
    (target.is_some() || preview.is_some()).then_some(Reference {
        target,
        preview,
        ..Reference::default()
    })
}

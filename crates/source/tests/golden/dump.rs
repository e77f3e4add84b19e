//! A readable dump of a reading: the content of a fixture's `<name>.expected.json`.

use chatmill_diag::{Finding, Path, Reject};
use chatmill_model::{
    Alternative, Arguments, Conversation, Extra, Media, MediaSource, Message, OwnItem, Part, Participant,
    Reference, ReferenceForm, Score, Timestamp, Weight,
};
use chatmill_source::{Reading, Unread};
use serde_json::{Map, Value, json};

/// Writes the whole reading as JSON, with the unread fields of its record; absent and empty values are left out.
pub(crate) fn whole(reading: &Reading, unread: &[Unread]) -> Value {
    let mut whole = self::reading(reading);
    if let Some(fields) = whole.as_object_mut().filter(|_| !unread.is_empty()) {
        let unread = unread.iter().map(|unread| {
            let words = if unread.has_words { ", words" } else { "" };
            let told = format!("{} times, {} bytes{words}", unread.count, unread.bytes);
            (unread.path.clone(), told.into())
        });
        fields.insert("unread".to_owned(), Value::Object(unread.collect()));
    }
    whole
}

fn reading(reading: &Reading) -> Value {
    let rows = reading.rows;
    Object::new()
        .maybe("conversation", reading.conversation.as_ref().map(conversation))
        .maybe("fault", reading.error.as_ref().map(finding))
        .list("findings", reading.findings.iter().map(finding))
        .list("rejects", reading.rejects.iter().map(reject))
        .with(
            "rows",
            json!({
                "rows": rows.rows, "messages": rows.messages, "notices": rows.notices,
                "repeated": rows.repeated, "rejected": rows.rejected
            }),
        )
        .maybe(
            "alternatives",
            (rows.alternatives > 0).then_some(rows.alternatives),
        )
        .list("also", reading.also.iter().map(self::reading))
        .finish()
}

struct Object(Map<String, Value>);

impl Object {
    fn new() -> Self {
        Self(Map::new())
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    fn text(self, key: &str, value: Option<&String>) -> Self {
        self.maybe(key, value.map(String::as_str))
    }

    fn list(self, key: &str, values: impl Iterator<Item = Value>) -> Self {
        let values: Vec<Value> = values.collect();
        if values.is_empty() {
            self
        } else {
            self.with(key, values)
        }
    }

    fn extra(self, key: &str, extra: &Extra) -> Self {
        // A list of pairs, because names may repeat; and numbers are written unchanged.
        let pair =
            |(name, raw): &(String, chatmill_model::RawJson)| json!(format!("{name}: {}", raw.as_str()));
        self.list(key, extra.0.iter().map(pair))
    }

    fn finish(self) -> Value {
        Value::Object(self.0)
    }
}

fn conversation(conversation: &Conversation) -> Value {
    Object::new()
        .with("source", conversation.source)
        .text("source_id", conversation.source_id.as_ref())
        .text("format_version", conversation.format_version.as_ref())
        .with("shape", conversation.shape)
        .with("scene", conversation.scene.as_str())
        .maybe("model", conversation.model.as_deref())
        .text("title", conversation.title.as_ref())
        .text("description", conversation.description.as_ref())
        .list("participants", conversation.participants.iter().map(participant))
        .list(
            "tools",
            conversation.tools.iter().map(|tool| json!(tool.as_str())),
        )
        .list(
            "messages",
            conversation
                .messages
                .iter()
                .map(|each| message(each, conversation)),
        )
        .list(
            "alternatives",
            conversation
                .alternatives
                .iter()
                .map(|each| alternative(each, conversation)),
        )
        .extra("extra", &conversation.extra)
        .extra("envelope", &conversation.envelope)
        .finish()
}

fn alternative(alternative: &Alternative, conversation: &Conversation) -> Value {
    let judgement = alternative.judgement;
    let messages = alternative.messages.iter().flatten();
    Object::new()
        .with(
            "place",
            format!("{}..{}", alternative.place.start, alternative.place.end),
        )
        .with("origin", alternative.origin.as_str())
        .with("in_conversation", alternative.messages.is_none())
        .maybe("rank", judgement.rank)
        .maybe("score", judgement.score.map(Score::value))
        .maybe("label", judgement.label)
        .list("messages", messages.map(|each| message(each, conversation)))
        .finish()
}

fn participant(participant: &Participant) -> Value {
    Object::new()
        .with("id", participant.id.as_str())
        .text("name", participant.name.as_ref())
        .text("alias", participant.alias.as_ref())
        .text("role", participant.role.as_ref())
        .with("kind", participant.kind.as_str())
        .text("custom_role", participant.custom_role.as_ref())
        .text("department", participant.department.as_ref())
        .text("email", participant.email.as_ref())
        .with("listed", participant.listed)
        .extra("extra", &participant.extra)
        .finish()
}

fn message(message: &Message, conversation: &Conversation) -> Value {
    let sender = message
        .sender
        .map(|index| conversation.participants[index].id.as_str());
    let time = message.timestamp.as_ref().map(time);
    let origin = message.origin;
    Object::new()
        .with("position", message.position)
        .text("id", message.id.as_ref())
        .text("external_id", message.external_id.as_ref())
        .maybe("sender", sender)
        .text("sender_name", message.sender_name.as_ref())
        .with("role", message.role.as_str())
        .with("kind", message.kind.as_str())
        .text("source_type", message.source_type.as_ref())
        .maybe("timestamp", time)
        .list("parts", message.parts.iter().map(part))
        .list("references", message.references.iter().map(reference))
        .list("mentions", message.mentions.iter().map(|mention| json!(mention)))
        .maybe("weight", message.weight.map(Weight::value))
        .maybe("model", message.model.as_deref())
        .maybe(
            "usage",
            message
                .usage
                .map(|usage| json!([usage.input, usage.cached_input, usage.output])),
        )
        .extra("extra", &message.extra)
        .with(
            "origin",
            format!("[{}] {}..{}", origin.index, origin.start, origin.end),
        )
        .finish()
}

fn time(time: &Timestamp) -> Value {
    let origin = format!("{:?}", time.offset);
    Object::new()
        .maybe("instant", time.instant)
        .with("raw", time.raw.as_str())
        .with("offset", origin)
        .finish()
}

/// A piece of a message.
pub(crate) fn part(part: &Part) -> Value {
    let object = Object::new().with("type", part.type_name());
    match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => object.with("text", text.as_str()),
        Part::Media(each) => media(object, each),
        Part::ToolCall(call) => {
            let (what, text) = match &call.arguments {
                Arguments::Object(raw) => ("object", raw.as_str()),
                Arguments::NotObject(raw) => ("not object", raw.as_str()),
                Arguments::Malformed(text) => ("malformed", text.as_str()),
            };
            object
                .text("id", call.id.as_ref())
                .text("metadata_id", call.metadata_id.as_ref())
                .text("name", call.name.as_ref())
                .with("arguments", text)
                .with("which are", format!("{what}, {:?}", call.form))
                .text("own", call.own.as_deref().map(own).as_ref())
        }
        Part::ToolResult(result) => object
            .text("call_id", result.call_id.as_ref())
            .text("name", result.name.as_ref())
            .with("content", result.content.as_str())
            .text("metadata_id", result.metadata_id.as_ref())
            .text("caller", result.caller.as_ref())
            .with("is_error", result.is_error)
            .maybe("media", (result.media > 0).then_some(result.media))
            .maybe("joined", (result.joined > 0).then_some(result.joined))
            .text("own", result.own.as_deref().map(own).as_ref()),
        Part::CacheMark => object,
        Part::Item(item) => object
            .with("vendor", item.vendor.as_str())
            .with("item", item.raw.as_str()),
    }
    .finish()
}

fn own(own: &OwnItem) -> String {
    match own {
        OwnItem::Client(item) => format!("client {}", item.raw.as_str()),
        OwnItem::Hosted(item) => format!("hosted {}", item.raw.as_str()),
        OwnItem::Inside => "inside".to_owned(),
    }
}

fn media(object: Object, media: &Media) -> Object {
    let object = object.with("kind", media.kind.as_str());
    let object = match &media.source {
        MediaSource::Url(url) => object.with("url", url.as_str()),
        MediaSource::Inline(data) => object.with("inline", data.as_str()),
        MediaSource::Text(text) => object.with("text", text.as_str()),
        MediaSource::Upload => object.with("upload", true),
    };
    object
        .text("media_type", media.media_type.as_ref())
        .text("name", media.name.as_ref())
}

fn reference(reference: &Reference) -> Value {
    let preview = reference.preview.as_ref().map(|preview| {
        Object::new()
            .text("content", preview.content.as_ref())
            .text("sender", preview.sender.as_ref())
            .text("sender_name", preview.sender_name.as_ref())
            .with("from_agent", preview.from_agent)
            .maybe("timestamp", preview.timestamp.as_ref().map(time))
            .text("source_type", preview.source_type.as_ref())
            .finish()
    });
    let form = match &reference.form {
        ReferenceForm::Id => None,
        ReferenceForm::Object(raw) => Some(raw.as_str()),
        ReferenceForm::Excerpt => Some("excerpt"),
    };
    Object::new()
        .text("target", reference.target.as_ref())
        .maybe("preview", preview)
        .maybe("form", form)
        .maybe("is_pseudo", reference.is_pseudo.then_some(true))
        .list("nested", reference.nested.iter().map(self::reference))
        .finish()
}

fn finding(finding: &Finding) -> Value {
    let path = match &finding.path {
        Path::Record => String::new(),
        Path::Absolute(path) => path.clone(),
        Path::InMessage(suffix) => format!("message{suffix}"),
    };
    Object::new()
        .with("code", finding.code.name)
        .with("severity", finding.severity.as_str())
        .maybe("count", (finding.count != 1).then_some(finding.count))
        .maybe("position", finding.position)
        .text("message_id", finding.message_id.as_ref())
        .with("path", path)
        .maybe(
            "span",
            finding.span.map(|span| format!("{}..{}", span.start, span.end)),
        )
        .with("message", finding.message.as_str())
        .text("detail", finding.detail.as_ref())
        .finish()
}

fn reject(reject: &Reject) -> Value {
    Object::new()
        .with("level", reject.level.as_str())
        .with("span", format!("{}..{}", reject.span.start, reject.span.end))
        .with("hash", reject.hash.as_str())
        .with("head", String::from_utf8_lossy(&reject.head).into_owned())
        .with("finding", finding(&reject.finding))
        .finish()
}

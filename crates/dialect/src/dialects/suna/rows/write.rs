//! Rows as they are written: columns in the order of the document.

use chatmill_model::{Component, Level, Sink};

use super::columns::{Metadata, Value};
use super::content::{Call, Content, TextBlock};
use super::row::Row;
use crate::write::object::{Object, key};

impl<'a> Row<'a> {
    /// Writes it.
    pub(super) fn write(self, sink: &mut Sink<'a>) {
        let mut row = Object::open(sink);
        row.string(key!("message_id"), Some(self.id), Component::Meta);
        self.thread.write(row.key(key!("thread_id")), Component::Meta);
        row.string(key!("type"), Some(self.kind), Component::Meta);
        self.content.write(row.key(key!("content")));
        self.is_llm_message
            .write(row.key(key!("is_llm_message")), Component::Meta);
        self.metadata.write(row.key(key!("metadata")));
        for (key, id) in [
            (key!("agent_id"), self.agent),
            (key!("agent_version_id"), self.agent_version),
            (key!("created_by_user_id"), self.user),
        ] {
            if let Some(id) = id {
                id.write(row.key(key), Component::Names);
            }
        }
        row.string(key!("created_at"), self.created, Component::Meta);
        if let Some(updated) = self.updated {
            updated.write(row.key(key!("updated_at")), Component::Meta);
        }
        for (column, value) in self.others {
            let sink = row.key("");
            sink.json_string(column, Component::Meta);
            sink.framing(":");
            sink.raw_json(value, Component::Meta);
        }
        row.close();
    }
}

impl<'a> Value<'a> {
    fn write(self, sink: &mut Sink<'a>, component: Component) {
        match self {
            Self::Raw(raw) => sink.raw_json(raw, component),
            Self::Text(text) => sink.json_string(text, component),
            Self::Word(word) => sink.framing(word),
        }
    }
}

impl<'a> Metadata<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let fields = match self {
            Self::Whole(raw) => return sink.raw_json(raw, Component::Meta),
            Self::Fields(fields) => fields,
        };
        sink.framing("{");
        for (index, (key, value)) in fields.into_iter().enumerate() {
            if index > 0 {
                sink.framing(",");
            }
            sink.json_string(key, Component::Meta);
            sink.framing(":");
            value.write(sink, Component::Meta);
        }
        sink.framing("}");
    }
}

impl<'a> Content<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        match self {
            Self::Object(raw) => return sink.raw_json(raw, Component::Content),
            Self::Text(text) => return sink.json_string(text, Component::Content),
            _ => sink.framing("\""),
        }
        match self {
            Self::Said {
                role,
                is_null,
                texts,
                calls,
            } => {
                inner(sink, "{\"role\":\"");
                inner(sink, role);
                inner(sink, "\",\"content\":");
                match texts.as_slice() {
                    [] if is_null => inner(sink, "null"),
                    [] => inner(sink, "\"\""),
                    [only] if !only.is_cached => inner_string(sink, only.text, Component::Content),
                    _ => list(sink, texts),
                }
                for (index, call) in calls.iter().enumerate() {
                    inner(sink, if index == 0 { ",\"tool_calls\":[" } else { "," });
                    call.write(sink);
                }
                inner(sink, if calls.is_empty() { "}" } else { "]}" });
            }
            Self::Result { id, name, content } => {
                inner(sink, "{\"role\":\"tool\"");
                if let Some(id) = id {
                    inner(sink, ",\"tool_call_id\":");
                    inner_string(sink, id, Component::Meta);
                }
                if let Some(name) = name {
                    inner(sink, ",\"name\":");
                    inner_string(sink, name, Component::Tools);
                }
                inner(sink, ",\"content\":");
                inner_string(sink, content, Component::Tools);
                inner(sink, "}");
            }
            Self::Object(_) | Self::Text(_) => {}
        }
        sink.framing("\"");
    }
}

impl<'a> Call<'a> {
    fn write(&self, sink: &mut Sink<'a>) {
        inner(sink, "{\"id\":");
        inner_string(sink, self.id, Component::Meta);
        inner(sink, ",\"type\":\"function\",\"function\":{\"name\":");
        inner_string(sink, self.name, Component::Tools);
        inner(sink, ",\"arguments\":");
        inner_string(sink, self.arguments, Component::Tools);
        inner(sink, "}}");
    }
}

fn list<'a>(sink: &mut Sink<'a>, texts: Vec<TextBlock<'a>>) {
    let mut separator = "[";
    for block in texts {
        inner(sink, separator);
        separator = ",";
        inner(sink, "{\"type\":\"text\",\"text\":");
        inner_string(sink, block.text, Component::Content);
        inner(
            sink,
            if block.is_cached {
                ",\"cache_control\":{\"type\":\"ephemeral\"}}"
            } else {
                "}"
            },
        );
    }
    inner(sink, "]");
}

/// Framing inside the string.
fn inner(sink: &mut Sink<'_>, text: &'static str) {
    sink.content(text, Level::JsonString, Component::Framing);
}

/// A string inside the string.
fn inner_string<'a>(sink: &mut Sink<'a>, text: &'a str, component: Component) {
    inner(sink, "\"");
    sink.content(text, Level::JsonInJsonString, component);
    inner(sink, "\"");
}

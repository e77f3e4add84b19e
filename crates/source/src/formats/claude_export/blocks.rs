//! What a message says: its blocks, the text beside them, attachments and files.

use std::collections::HashSet;

use chatmill_diag::codes;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Media, MediaKind, MediaSource, Part, ToolCall, ToolResult};

use super::Wire;
use crate::reader::{Keep as _, Kept, Site, arguments, message_object, present, text};

/// What stands in `text` in the place of a block that is no text.
const PLACEHOLDER: &str = "This block is not supported on your current device yet.";

/// What a message says.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) parts: Vec<Part>,
    pub(super) extra: Kept,
}

impl Turn {
    pub(super) fn read(wire: &Wire<'_>, site: &mut Site<'_>) -> Self {
        let mut turn = Self::default();
        turn.attachments(wire.attachments, site);
        for files in [wire.files, wire.files_v2].into_iter().flatten() {
            turn.files(files);
        }
        match wire.content {
            Some(content) if content.kind() == Kind::Array => {
                for (index, block) in content.items().enumerate() {
                    turn.block(block, &format!("content[{index}]"), site);
                }
            }
            Some(content) => {
                let text = "content is not a list of blocks and is read as its text";
                site.warn("content", text, content);
                turn.parts.push(Part::Text(message_object::text_of(content)));
            }
            None => {}
        }
        turn.beside(wire.text, site);
        turn
    }

    /// The text beside the blocks: read where they hold no words, else kept where it says something else.
    fn beside(&mut self, beside: Option<Value<'_>>, site: &mut Site<'_>) {
        let Some(value) = beside else { return };
        let Some(said) = text(Some(value)) else {
            site.warn("text", "text is not a string and is left out", value);
            return;
        };
        let words = |text: &str| -> String { text.split_whitespace().collect() };
        let own: String = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(words(text)),
                _ => None,
            })
            .collect();
        let has_words = self.parts.iter().any(|part| !matches!(part, Part::Media(_)));
        if said.is_empty() || said.contains(PLACEHOLDER) && has_words || own.ends_with(&words(&said)) {
            return;
        }
        if has_words && !own.is_empty() {
            self.extra.keep("text", value);
        } else {
            self.parts.push(Part::Text(said));
        }
    }

    /// Files whose text was taken out when they were attached: the model was given the text.
    fn attachments(&mut self, list: Option<Value<'_>>, site: &mut Site<'_>) {
        for (index, value) in list.into_iter().flat_map(Value::items).enumerate() {
            let path = format!("attachments[{index}]");
            if value.kind() != Kind::Object {
                site.warn(
                    &path,
                    "the attachment is not an object and is kept as it is",
                    value,
                );
                self.extra.keep(path, value);
                continue;
            }
            let name = text(value.get("file_name")).filter(|name| !name.is_empty());
            let media_type = text(value.get("file_type")).filter(|word| word.contains('/'));
            let mut known = vec!["file_name", "extracted_content"];
            if media_type.is_some() {
                known.push("file_type");
            }
            self.parts.push(Part::Media(Media {
                kind: MediaKind::File,
                source: MediaSource::Upload,
                media_type,
                name,
            }));
            let held = text(value.get("extracted_content")).filter(|held| !held.is_empty());
            self.parts.extend(held.map(Part::Text));
            self.extra.keep_rest(value, &path, &known);
        }
    }

    fn files(&mut self, list: Value<'_>) {
        let known = self.parts.iter().filter_map(|part| match part {
            Part::Media(media) => Some(media.name.clone()),
            _ => None,
        });
        let mut known: HashSet<Option<String>> = known.collect();
        for file in list.items() {
            let name = text(file.get("file_name")).or_else(|| text(file.get("file_uuid")));
            let is_image = text(file.get("file_kind")).is_some_and(|kind| kind == "image");
            if !known.insert(name.clone()) {
                continue;
            }
            self.parts.push(Part::Media(Media {
                kind: if is_image {
                    MediaKind::Image
                } else {
                    MediaKind::File
                },
                source: MediaSource::Upload,
                media_type: None,
                name,
            }));
        }
    }

    fn block(&mut self, block: Value<'_>, path: &str, site: &mut Site<'_>) {
        let word = text(block.get("type"));
        let field = |key: &str| text(block.get(key));
        // Every block says when it began and ended.
        let times = [
            "type",
            "start_timestamp",
            "stop_timestamp",
            "flags",
            "citations",
            "cut_off",
        ];
        let (part, known): (Option<Part>, &[&str]) = match word.as_deref() {
            Some("text") => (field("text").map(Part::Text), &["text"]),
            Some("thinking") => (field("thinking").map(Part::Reasoning), &["thinking", "signature"]),
            Some("tool_use") => (Some(call(block)), &["id", "name", "input"]),
            Some("tool_result") => (
                Some(self.result(block, path)),
                &["tool_use_id", "name", "content", "is_error"],
            ),
            _ => (None, &[]),
        };
        let Some(part) = part else {
            let text = "the block has no form that is known here and is kept as it is";
            let place = block.get("type").unwrap_or(block);
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, format!(".{path}"), place);
            self.extra.keep_told(path, block);
            return;
        };
        self.parts.push(part);
        let known: Vec<&str> = times.iter().chain(known).copied().collect();
        let from = self.extra.len();
        self.extra.keep_rest(block, path, &known);
        let is_empty = |raw: &str| ["[]", "{}", "\"\"", "false"].contains(&raw);
        let kept = self.extra.split_off(from).into_iter();
        self.extra.extend(kept.filter(|(_, raw)| !is_empty(raw.as_str())));
        if let Some(citations) = present(block, "citations").filter(|list| !list.is_empty()) {
            self.extra.keep(format!("{path}.citations"), citations);
        }
    }

    fn result(&mut self, block: Value<'_>, path: &str) -> Part {
        let mut content = String::new();
        match present(block, "content") {
            Some(list) if list.kind() == Kind::Array => {
                for (index, piece) in list.items().enumerate() {
                    let Some(words) = text(piece.get("text")) else {
                        self.extra.keep(format!("{path}.content[{index}]"), piece);
                        continue;
                    };
                    if !content.is_empty() {
                        content.push('\n');
                    }
                    content.push_str(&words);
                }
            }
            Some(value) => content = message_object::text_of(value),
            None => {}
        }
        Part::ToolResult(ToolResult {
            call_id: text(block.get("tool_use_id")),
            name: text(block.get("name")),
            content,
            is_error: block.get("is_error").and_then(Value::as_bool) == Some(true),
            ..ToolResult::default()
        })
    }
}

fn call(block: Value<'_>) -> Part {
    let input = present(block, "input");
    let arguments = input.map_or(
        (
            chatmill_model::Arguments::Malformed(String::new()),
            chatmill_model::ArgumentForm::Text,
        ),
        |input| (arguments::embedded(input), chatmill_model::ArgumentForm::Embedded),
    );
    Part::ToolCall(ToolCall::new(
        text(block.get("id")),
        text(block.get("name")),
        arguments,
    ))
}

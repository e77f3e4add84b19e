//! Inspect AI: a sample with the conversation before the assistant's last turn as `input`, and that turn as `target`.
//!
//! ```json
//! {"id":"c1","input":[{"role":"user","content":"Hi"}],"target":"Hello","metadata":{"conversation_id":"c1"}}
//! ```
//!
//! - INS-01 the assistant has a turn, and another turn precedes it.
//! - INS-02 the target is a text and not a call.
//! - INS-03 a call is flat, and its arguments are an object.
//! - INS-04 content is a text, or parts that are texts and pictures.
//! - INS-05 the target is not context: no model wrote the placeholder for a picture, and a bad answer is not a target.
//!
//! A result names its function; names of participants have no field and are in the message's metadata. Turns after the
//! assistant's last one are cut.

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_dataset::FreeKind;

use super::training_role::TrainingRole;
use super::{Envelope, ExportRow, Masking, Wrapped, borrowed};
use crate::envelope::turns::{self, Call, Message};
use crate::fields::{Field, object, text};

/// The envelope of Inspect samples.
pub(super) static INSPECT: Envelope = Envelope {
    id: "inspect",
    record: "`id`, `input`, `target`, `metadata`, with flat calls",
    left_out: "the same; arguments that are not an object",
    title: "Inspect AI samples",
    specification: "inspect_ai 0.3.285, json_dataset",
    reasons: REASONS,
    masking: Masking::InRecord,
    dialects: &["openai-chat", "hf-messages"],
    keys: &[
        ("id", FreeKind::Text),
        ("input", FreeKind::Json),
        ("target", FreeKind::Text),
        ("metadata", FreeKind::Json),
    ],
    is_one_file: true,
    ..Envelope::of(wrap)
};

chatmill_diag::reasons! {
    SILENT = "INS-01", "the assistant has no turn, or no message precedes it", "where no participant is an agent, convert with `--set perspective.as=each-participant`";
    TARGET = "INS-02", "the assistant's last turn is not text, or calls a tool", "choose windows that end with text: `window.targets = \"answers\"`";
    CALLS = "INS-03", "the arguments of a call are not an object", "look for TL006 and TL007 in the findings, which name the calls";
    CONTENT = "INS-04", "a part is neither text nor picture", "name media in the text: `policy.media = \"placeholder\"`";
    CONTEXT = "INS-05", "the assistant's last turn is context", "choose windows that end with a trained turn";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let turns = borrowed(row, "messages")
        .and_then(turns::of)
        .ok_or(SILENT.words)?;
    let cut = turns::cut(&turns).ok_or(SILENT.words)?;
    let target = cut.answer.message.only_text().filter(|text| !text.is_empty());
    let target = target.ok_or(TARGET.words)?;
    if row.training_role(cut.answer.json) == TrainingRole::Context {
        return Err(CONTEXT.words);
    }
    let mut input = Vec::new();
    // Results come after their calls and name them by id.
    let mut called: HashMap<&str, &str> = HashMap::new();
    for turn in cut.before {
        called.extend(
            turn.message
                .tool_calls
                .iter()
                .map(|call| (&*call.id, &*call.function.name)),
        );
        input.push(message(&turn.message, &called)?);
    }
    let fields = vec![
        Field::new("id", text(&sample_id(row))),
        Field::new("input", format!("[{}]", input.join(","))),
        Field::new("target", text(&target)),
        Field::new("metadata", metadata(row)),
    ];
    Ok(Wrapped::whole(fields).without_turns(cut.after))
}

/// An id that is unique in the export: `CONVERSATION@PERSPECTIVE#ORDINAL`, with these characters escaped in names.
fn sample_id(row: &ExportRow<'_>) -> String {
    let mut id = escaped(row.conversation);
    if !row.perspective.is_empty() {
        id.push('@');
        id.push_str(&escaped(row.perspective));
    }
    if row.ordinal > 0 {
        id.push('#');
        id.push_str(&row.ordinal.to_string());
    }
    id
}

fn escaped(name: &str) -> String {
    name.replace('%', "%25").replace('@', "%40").replace('#', "%23")
}

fn metadata(row: &ExportRow<'_>) -> String {
    object(&[
        Field::new("conversation_id", text(row.conversation)),
        Field::new("perspective", text(row.perspective)),
        Field::new("ordinal", row.ordinal.to_string()),
        Field::new("dialect", text(row.dialect)),
    ])
}

fn message(message: &Message<'_>, called: &HashMap<&str, &str>) -> Result<String, &'static str> {
    let mut fields = vec![
        Field::new("role", text(&message.role)),
        Field::new("content", content(message)?),
    ];
    if let Some(name) = message.name.as_ref().filter(|_| message.role != "tool") {
        let metadata = object(&[Field::new("name", text(name))]);
        fields.push(Field::new("metadata", metadata));
    }
    if let Some(id) = &message.tool_call_id {
        let function = called.get(id.as_ref());
        fields.push(Field::new("tool_call_id", text(id)));
        fields.extend(function.map(|name| Field::new("function", text(name))));
    }
    if !message.tool_calls.is_empty() {
        let calls: Result<Vec<String>, _> = message.tool_calls.iter().map(flat).collect();
        fields.push(Field::new("tool_calls", format!("[{}]", calls?.join(","))));
    }
    Ok(object(&fields))
}

/// The content, with the reasoning as a part before it.
fn content<'a>(message: &Message<'a>) -> Result<Cow<'a, str>, &'static str> {
    let mut parts: Vec<Cow<'a, str>> = Vec::new();
    if let Some(reasoning) = message.reasoning_content {
        let part = [
            Field::new("type", "\"reasoning\""),
            Field::new("reasoning", reasoning.get()),
        ];
        parts.push(object(&part).into());
    }
    match (message.text(), message.content) {
        (Some(_), Some(json)) if parts.is_empty() => return Ok(json.get().into()),
        (Some(_), Some(json)) => {
            let part = [Field::new("type", "\"text\""), Field::new("text", json.get())];
            parts.push(object(&part).into());
        }
        (_, Some(_)) => {
            for (json, part) in message.parts().ok_or(CONTENT.words)? {
                let picture = part.image_url.map(|picture| picture.url).or(part.url);
                parts.push(match (&*part.kind, picture) {
                    ("text", _) => json.into(),
                    ("image_url" | "image", Some(address)) => {
                        let image = [
                            Field::new("type", "\"image\""),
                            Field::new("image", text(&address)),
                        ];
                        object(&image).into()
                    }
                    _ => return Err(CONTENT.words),
                });
            }
        }
        (_, None) if parts.is_empty() => return Ok("\"\"".into()),
        (_, None) => {}
    }
    Ok(format!("[{}]", parts.join(",")).into())
}

/// A call without the nesting of Chat Completions.
fn flat(call: &Call<'_>) -> Result<String, &'static str> {
    let arguments = call.object().ok_or(CALLS.words)?;
    // Each line is a record. A line break inside a text is always escaped, so these are between values.
    let arguments = arguments.replace(['\n', '\r'], " ");
    Ok(object(&[
        Field::new("id", text(&call.id)),
        Field::new("function", text(&call.function.name)),
        Field::new("arguments", arguments),
        Field::new("type", "\"function\""),
    ]))
}

//! Vertex AI supervised tuning of Gemini models: a line is a `generateContent` request that ends with the model's turn.
//!
//! ```json
//! {"contents":[{"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[{"text":"Hello"}]}]}
//! ```
//!
//! - VTX-01 keys are `systemInstruction`, `contents` and `tools`.
//! - VTX-02 the first turn is a user's, and the last turn is the model's.
//! - VTX-03 a turn has more than placeholders for media: turns of the model without more are left out with their questions.
//! - VTX-04 the schema of a tool is under `parameters`: the dialect has a profile for that.
//! - VTX-05 a turn of the model is trained on: its reader learns all of them.
//!
//! A file has at most one gigabyte. All rules of the dialect apply, too: `--valid` enforces them.

use std::borrow::Cow;

use chatmill_dataset::FreeKind;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::training_role::unmarkable::{RecordTurns, RoleTurn, TurnRole};
use super::{Envelope, ExportRow, Masking, Wrapped, known_fields, value};
use crate::fields;
use crate::summary::turn_counts::TurnCounts;

/// The envelope of Vertex tuning files.
pub(super) static VERTEX_TUNING: Envelope = Envelope {
    id: "vertex-tuning",
    record: "the request",
    left_out: "a first turn that is not a user's, a last turn that is not the model's, a tool with `parametersJsonSchema`, or no trained turn. A file of 1 GiB at most",
    title: "Vertex AI tuning",
    specification: "Vertex AI, supervised tuning data for Gemini models",
    reasons: REASONS,
    masking: Masking::Unknown,
    dialects: &["gemini-contents"],
    profile: Some("parameters-only"),
    keys: &[
        ("systemInstruction", FreeKind::Json),
        ("contents", FreeKind::Json),
        ("tools", FreeKind::Json),
    ],
    most_bytes: Some(1 << 30),
    has_fixed_keys: true,
    is_one_file: true,
    ..Envelope::of(wrap)
};

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    parts: Vec<ContentPart<'a>>,
}

/// A part; without a text it is a call, a result or a medium.
#[derive(Deserialize)]
struct ContentPart<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default, rename = "functionDeclarations")]
    functions: Vec<Function>,
}

/// A function, with the JSON Schema of its parameters if it has one.
#[derive(Deserialize)]
struct Function {
    #[serde(rename = "parametersJsonSchema")]
    beyond: Option<IgnoredAny>,
}

chatmill_diag::reasons! {
    KEYS = "VTX-01", "the keys are systemInstruction, contents and tools", "take the dialect in a profile that writes no other keys";
    TURNS = "VTX-02", "the first turn is not a user's, or the last turn is not the model's", "`window.mode = \"consecutive\"` makes rows that end with an answer; `window.targets = \"steps\"` lets them end with calls, too";
    SCHEMAS = "VTX-04", "a tool has a schema that `parameters` cannot express", "render `gemini-contents@parameters-only`, which reports the problem of the tool";
    WORDLESS = "VTX-03", "every turn of the model is only a placeholder for media", "`window.learn_placeholders = true` trains on them";
    CONTEXT = "VTX-05", "no turn of the model is trained on", "choose windows that end with a trained turn";
}

fn wrap<'a>(row: &ExportRow<'a>) -> Result<Wrapped<'a>, &'static str> {
    let mut fields = known_fields(row, &VERTEX_TUNING).ok_or(KEYS.words)?;
    let tools = value(&fields, "tools").and_then(|json| serde_json::from_str::<Vec<Tool>>(json).ok());
    let mut functions = tools.iter().flatten().flat_map(|tool| &tool.functions);
    if functions.any(|function| function.beyond.is_some()) {
        return Err(SCHEMAS.words);
    }
    let contents = value(&fields, "contents").and_then(fields::elements);
    let contents: Vec<(&str, Content<'_>)> = contents.ok_or(KEYS.words)?;
    let has_role = |content: Option<&(&str, Content<'_>)>, role| {
        content.is_some_and(|(_, content)| content.role == role)
    };
    if !has_role(contents.first(), "user") || !has_role(contents.last(), "model") {
        return Err(TURNS.words);
    }
    let role_turns: Vec<RoleTurn<'_>> = contents.iter().map(role_turns).collect();
    let record = RecordTurns::of(row, &role_turns);
    if record.turns.is_empty() {
        return Err(WORDLESS.words);
    }
    let turn_counts = TurnCounts {
        placeholders: record.placeholders,
        ..row
            .usable_counts(record.turns.iter().copied())
            .ok_or(CONTEXT.words)?
    };
    let list = (record.placeholders > 0).then(|| record.list());
    let contents = fields.iter_mut().find(|field| field.name == "contents");
    if let Some((field, list)) = contents.zip(list) {
        field.json = list.into();
    }
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

fn role_turns<'t>((json, content): &(&'t str, Content<'t>)) -> RoleTurn<'t> {
    let texts: Option<Vec<&str>> = content.parts.iter().map(|part| part.text.as_deref()).collect();
    let by = match &*content.role {
        "model" => TurnRole::Assistant,
        _ if texts.is_some() => TurnRole::Person,
        _ => TurnRole::Other,
    };
    (*json, by, texts.map(|texts| texts.join("\n").into()))
}

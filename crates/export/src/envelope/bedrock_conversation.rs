//! Bedrock's `bedrock-conversation-2024`: a Converse request with the name of its schema, for tuning Nova models.
//!
//! ```json
//! {"schemaVersion":"bedrock-conversation-2024","messages":[{"role":"user","content":[{"text":"Hi"}]},{"role":"assistant","content":[{"text":"Hello"}]}]}
//! ```
//!
//! - BCV-01 keys are `schemaVersion`, `system`, `messages` and, with tools, `toolConfig`.
//! - BCV-02 user and assistant alternate, the user first and the assistant last.
//! - BCV-03 no text contains a reserved word, in any case, even inside another word: `the robot: hi` is refused.
//! - BCV-04 pictures are in S3, in user turns only, ten at most.
//! - BCV-05 no tools. The documentation of AWS states both that tools are supported and that they are not; the envelope
//!   `bedrock-conversation-2024@tools` allows them.
//! - BCV-06 a block is text, picture or tool: there are no cache marks.
//! - BCV-07 a turn has more than placeholders for media: turns of the assistant without more are left out with their questions.
//! - BCV-08 a turn of the assistant is trained on: its reader learns all of them.
//!
//! A training file has 8 to 20,000 records.

use std::borrow::Cow;

use chatmill_dataset::FreeKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::training_role::unmarkable::{RecordTurns, RoleTurn, TurnRole};
use super::{Envelope, ExportRow, Masking, Wrapped, known_fields, value};
use crate::fields::{self, Field};
use crate::summary::turn_counts::TurnCounts;

/// The envelope for every model, without tools.
pub(super) static WITHOUT_TOOLS: Envelope = Envelope {
    id: "bedrock-conversation-2024",
    record: "the request with `schemaVersion`",
    left_out: "no strict turns; reserved words (`User:`, `Bot:`, `<image>` …); pictures outside S3; tools; no trained turn. 8 to 20,000 records",
    keys: &[
        ("schemaVersion", FreeKind::Text),
        ("system", FreeKind::Json),
        ("messages", FreeKind::Json),
    ],
    wrap: |row| wrap(row, false),
    ..WITH_TOOLS
};

/// The envelope for models that are tuned for tools.
pub(super) const WITH_TOOLS: Envelope = Envelope {
    id: "bedrock-conversation-2024@tools",
    record: "the same",
    left_out: "the same, but tools pass",
    title: "Bedrock conversation 2024",
    specification: "Amazon Nova, preparing data for supervised fine-tuning",
    reasons: REASONS,
    masking: Masking::Unknown,
    dialects: &["bedrock-converse"],
    keys: &[
        ("schemaVersion", FreeKind::Text),
        ("system", FreeKind::Json),
        ("messages", FreeKind::Json),
        ("toolConfig", FreeKind::Json),
    ],
    least_records: 8,
    most_records: Some(20_000),
    has_fixed_keys: true,
    is_one_file: true,
    ..Envelope::of(|row| wrap(row, true))
};

chatmill_diag::reasons! {
    KEYS = "BCV-01", "the keys are system, messages and toolConfig", "take the dialect in a profile that writes no other keys";
    TURNS = "BCV-02", "user and assistant do not alternate from a user to the assistant", "choose windows from a person to an answer: `window.mode = \"consecutive\"`";
    WORDS = "BCV-03", "a text holds a reserved word", "write the word otherwise at the source: `User:`, `Bot:`, `<image>` and similar words are refused";
    PICTURES = "BCV-04", "a picture is not in S3, is the assistant's, or is one of more than ten", "put pictures into S3, or name them in the text: `policy.media = \"placeholder\"`";
    TOOLS = "BCV-05", "there are tools; bedrock-conversation-2024@tools takes them", "take `bedrock-conversation-2024@tools` for a model that is tuned for tools";
    BLOCKS = "BCV-06", "a block is neither text nor picture nor tool", "name media in the text (`policy.media = \"placeholder\"`), and leave cache marks out at the source";
    WORDLESS = "BCV-07", "every turn of the assistant is only a placeholder for media", "`window.learn_placeholders = true` trains on them";
    CONTEXT = "BCV-08", "no turn of the assistant is trained on", "choose windows that end with a trained turn";
}

/// Words that no text may contain, in lower case. The JSON of a rendering never escapes them, and none can occur between values, because a quotation
/// mark follows each key.
const RESERVED: [&str; 7] = [
    "system:",
    "user:",
    "bot:",
    "assistant:",
    "[eos]",
    "<image>",
    "<video>",
];

const MOST_PICTURES: usize = 10;

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

/// A block with the members that the rules read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    image: Option<Image<'a>>,
    #[serde(borrow, default)]
    tool_use: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Image<'a> {
    #[serde(borrow)]
    source: Source<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    #[serde(borrow, default)]
    s3_location: Option<&'a RawValue>,
}

fn wrap<'a>(row: &ExportRow<'a>, takes_tools: bool) -> Result<Wrapped<'a>, &'static str> {
    let mut fields = known_fields(row, &WITH_TOOLS).ok_or(KEYS.words)?;
    let turns = value(&fields, "messages").and_then(fields::elements);
    let (raw, turns): (Vec<&str>, Vec<Turn<'_>>) = turns.ok_or(KEYS.words)?.into_iter().unzip();
    if !alternate(&turns) {
        return Err(TURNS.words);
    }
    let text = row.content.to_ascii_lowercase();
    if RESERVED.iter().any(|word| text.contains(word)) {
        return Err(WORDS.words);
    }
    let blocks = || turns.iter().flat_map(|turn| &turn.content);
    if !pictures_are_allowed(&turns) {
        return Err(PICTURES.words);
    }
    let is_tool = |block: &Block<'_>| block.tool_use.is_some() || block.tool_result.is_some();
    if !takes_tools && (value(&fields, "toolConfig").is_some() || blocks().any(is_tool)) {
        return Err(TOOLS.words);
    }
    if blocks().any(|block| !is_tool(block) && block.text.is_none() && block.image.is_none()) {
        return Err(BLOCKS.words);
    }
    if value(&fields, "system").is_some_and(|system| system.contains("\"cachePoint\":")) {
        return Err(BLOCKS.words);
    }
    let role_turns: Vec<RoleTurn<'_>> = raw.into_iter().zip(&turns).map(role_turn).collect();
    let (turn_counts, list) = without_placeholders(row, &role_turns)?;
    let messages = fields.iter_mut().find(|field| field.name == "messages");
    if let Some((field, list)) = messages.zip(list) {
        field.json = list.into();
    }
    fields.insert(0, Field::new("schemaVersion", "\"bedrock-conversation-2024\""));
    Ok(Wrapped::whole(fields).with_turn_counts(turn_counts))
}

/// Leaves out turns that are only placeholders for media: the counts of the others, and their list if any was left out.
fn without_placeholders(
    row: &ExportRow<'_>,
    turns: &[RoleTurn<'_>],
) -> Result<(TurnCounts, Option<String>), &'static str> {
    let record = RecordTurns::of(row, turns);
    if record.turns.is_empty() {
        return Err(WORDLESS.words);
    }
    // Each goes with its question: the result of a tool is none, and would be followed by a user's turn.
    if record.turns.len() as u64 + 2 * record.placeholders != turns.len() as u64 {
        return Err(TURNS.words);
    }
    let turn_counts = TurnCounts {
        placeholders: record.placeholders,
        ..row
            .usable_counts(record.turns.iter().copied())
            .ok_or(CONTEXT.words)?
    };
    Ok((turn_counts, (record.placeholders > 0).then(|| record.list())))
}

fn role_turn<'t>((json, turn): (&'t str, &'t Turn<'_>)) -> RoleTurn<'t> {
    let texts: Option<Vec<&str>> = turn.content.iter().map(|block| block.text.as_deref()).collect();
    let by = match &*turn.role {
        "assistant" => TurnRole::Assistant,
        _ if turn.content.iter().all(|block| block.tool_result.is_none()) => TurnRole::Person,
        _ => TurnRole::Other,
    };
    (json, by, texts.map(|texts| texts.join("\n").into()))
}

fn alternate(turns: &[Turn<'_>]) -> bool {
    let roles = turns.iter().map(|turn| turn.role.as_ref());
    let wanted = ["user", "assistant"].into_iter().cycle();
    !turns.is_empty()
        && turns.len().is_multiple_of(2)
        && roles.zip(wanted).all(|(role, wanted)| role == wanted)
}

fn pictures_are_allowed(turns: &[Turn<'_>]) -> bool {
    let mut pictures = 0;
    for turn in turns {
        for image in turn.content.iter().filter_map(|block| block.image.as_ref()) {
            pictures += 1;
            if turn.role != "user" || image.source.s3_location.is_none() {
                return false;
            }
        }
    }
    pictures <= MOST_PICTURES
}

//! What Mistral's messages have that OpenAI's do not: thoughts as a list of texts.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::Part;

use super::OPENAI;
use crate::base::{Keep as _, Site, Turn, text};
use crate::grammar::{BlockForm, Grammar, Read, typed};

/// Messages of Mistral: OpenAI's, with blocks of its own.
pub(crate) static MISTRAL: Grammar = Grammar {
    blocks: &[THOUGHTS],
    ..Grammar::own("mistral", OPENAI.fields, |value, site| OPENAI.turn(value, site))
};

/// Thoughts as a list of texts. Gateways write them into OpenAI's messages, too, so that OpenAI's parts include this form.
pub(super) const THOUGHTS: BlockForm = typed("thinking", Read::Own(thoughts));

fn thoughts(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(list) = value.get("thinking").filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    let is_text = |chunk: Value<'_>| chunk.get("text").and_then(Value::as_str).is_some();
    if !list.items().all(is_text) {
        return false;
    }
    for (index, chunk) in list.items().enumerate() {
        turn.parts.extend(text(chunk.get("text")).map(Part::Reasoning));
        turn.keep_rest(chunk, &format!("{path}.thinking[{index}]"), &["type", "text"]);
    }
    turn.keep_rest(value, path, &["type", "thinking", "cache_control"]);
    true
}

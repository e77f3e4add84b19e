//! The differences of Mistral's messages from OpenAI's: thoughts as a list of texts, and references between texts.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::Part;

use super::OPENAI;
use crate::base::{Keep as _, Site, Turn, text, words};
use crate::grammar::{BlockForm, Grammar, Read, When, only, typed};

/// Messages of Mistral: OpenAI's, with additional blocks.
pub(crate) static MISTRAL: Grammar = Grammar {
    verified: "mistral-common 1.13.1, 2026-11",
    blocks: &[THOUGHTS, only(REFERENCE)],
    joins_texts: true,
    ..Grammar::own("mistral", OPENAI.fields, |value, site| OPENAI.turn(value, site))
};

/// Thoughts as a list of texts. Gateways write them into OpenAI's messages, too, so that OpenAI's parts include this form.
pub(super) const THOUGHTS: BlockForm = typed("thinking", Read::Own(thoughts));

/// References to the sources of the text before them: they do not separate texts.
pub(super) const REFERENCE: BlockForm = BlockForm::of(When::OneOf(&REFERENCES), Read::Extra);

const REFERENCES: [&str; 2] = words!(reference tool_reference);

fn thoughts(turn: &mut Turn, path: &str, value: Value<'_>, _: &mut Site<'_>) -> bool {
    let Some(list) = value.get("thinking").filter(|list| list.kind() == Kind::Array) else {
        return false;
    };
    let is_reference = |chunk: Value<'_>| {
        let kind = chunk.get("type").and_then(Value::string);
        kind.is_some_and(|kind| REFERENCES.contains(&&*kind))
    };
    let is_text = |chunk: Value<'_>| chunk.get("text").and_then(Value::string).is_some();
    if !list.items().all(|chunk| is_text(chunk) || is_reference(chunk)) {
        return false;
    }
    for (index, chunk) in list.items().enumerate() {
        let path = format!("{path}.thinking[{index}]");
        match text(chunk.get("text")) {
            Some(thought) => {
                turn.parts.push(Part::Reasoning(thought));
                turn.keep_rest(chunk, &path, &["type", "text"]);
            }
            None => turn.keep(path, chunk),
        }
    }
    turn.keep_rest(value, path, &["type", "thinking", "cache_control"]);
    true
}

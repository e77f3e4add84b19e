//! The structural validator: whether a rendering follows the written rules of its format.
//!
//! It is written from the vendors' rules (`docs/dialect-rules.md`) and the documents of the systems, and reads only the
//! text of a rendering, not the code of a dialect, so that writer and validator do not share mistakes. Rules that only
//! the types of an SDK can check are left to the external validators of `just oracles`.
//!
//! To add a validator for a dialect: write its rules as a function in the file here that reads its form of request, add
//! its line to `VALIDATORS`, and add a request that breaks each rule to `tests/runs/torture/broken.rs`.

mod blocks;
mod contents;
mod items;
mod lists;
mod records;
mod schemas;
mod systems;

use serde_json::Value;

/// A rule that a rendering breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleBreach {
    /// The code of the rule, as in `docs/dialect-rules.md` or on the page of the dialect.
    pub rule: &'static str,
    /// The turn, message or item that breaks the rule, if it is a single one.
    pub place: Option<usize>,
}

type Validator = fn(&Written<'_>, &mut RuleBreaches);

/// The validator of each dialect.
const VALIDATORS: &[(&str, Validator)] = &[
    ("group-chat", systems::group_chat),
    ("tzurot", systems::tzurot),
    ("gryag-gemini", systems::gryag_gemini),
    ("gryag-compact", systems::gryag_compact),
    ("suna-llm", lists::suna_llm),
    ("suna-list", lists::suna_list),
    ("suna-cached", lists::suna_cached),
    ("suna-bedrock", lists::suna_bedrock),
    ("suna-rows", systems::suna_rows),
    ("jaibber-context", systems::jaibber_context),
    ("jaibber-events", systems::jaibber_events),
    ("openai-chat", lists::openai_chat),
    ("openai-responses", items::openai_responses),
    ("anthropic-messages", blocks::anthropic_messages),
    ("gemini-contents", contents::gemini_contents),
    ("bedrock-converse", blocks::bedrock_converse),
    ("mistral-chat", lists::mistral_chat),
    ("hf-messages", lists::hf_messages),
    ("sharegpt", records::sharegpt),
    ("chatml", records::chatml),
];

/// Whether a dialect has a validator.
pub fn knows(dialect: &str) -> bool {
    VALIDATORS.iter().any(|(id, _)| *id == dialect)
}

/// Whether a text shows which call a result belongs to; false if calls have no ids or are plain text. In such a
/// dialect, a result without a call after a call without a result cannot be detected.
pub fn sees_pairs(dialect: &str, profile: &str) -> bool {
    !matches!(
        (dialect, profile),
        ("sharegpt" | "suna-cached" | "gryag-gemini", _) | ("gemini-contents", "no-ids")
    )
}

/// All rules that a rendering breaks; empty if it is valid, or if its dialect has no validator.
pub fn breaches(dialect: &str, profile: &str, text: &str) -> Vec<RuleBreach> {
    let mut breaches = RuleBreaches::default();
    if let Some((_, validator)) = VALIDATORS.iter().find(|(id, _)| *id == dialect) {
        let body = serde_json::from_str(text).unwrap_or(Value::Null);
        validator(&Written { profile, text, body }, &mut breaches);
    }
    breaches.found
}

/// A rendering under test.
struct Written<'a> {
    profile: &'a str,
    text: &'a str,
    /// The body as JSON; null if it is not JSON.
    body: Value,
}

/// The breaches found so far, and the place that is being checked.
#[derive(Default)]
struct RuleBreaches {
    found: Vec<RuleBreach>,
    place: Option<usize>,
}

impl RuleBreaches {
    /// Attributes the following breaches to this turn, message or item.
    fn check_at(&mut self, place: usize) {
        self.place = Some(place);
    }

    /// Attributes the following breaches to the whole rendering.
    fn check_the_whole(&mut self) {
        self.place = None;
    }

    fn when(&mut self, is_broken: bool, rule: &'static str) {
        if is_broken {
            let place = self.place;
            self.found.push(RuleBreach { rule, place });
        }
    }
}

/// The members of an array; empty if the value is not one.
fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a string; empty if the value is not one.
fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether a value is a string of 1 to `most` letters, digits, `_` and `-`.
fn is_word(value: &Value, most: usize) -> bool {
    let text = string(value);
    let is_narrow = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=most).contains(&text.len()) && text.bytes().all(is_narrow)
}

/// Whether a text is blank.
fn is_blank(text: &str) -> bool {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
        .is_empty()
}

/// Whether an object has exactly these keys; those with `?` may be missing.
fn has_keys(value: &Value, keys: &[&str]) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let is_known = |key: &String| keys.iter().any(|known| known.trim_end_matches('?') == key);
    let is_there = |key: &&str| key.ends_with('?') || object.contains_key(*key);
    object.keys().all(is_known) && keys.iter().all(is_there)
}

/// The calls that wait for their results, with id and name.
#[derive(Default)]
struct Waiting<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Waiting<'a> {
    /// Adds a call; false if a call with that id is already waiting.
    fn add(&mut self, id: &'a Value, name: &'a Value) -> bool {
        let is_new = self.0.iter().all(|(open, _)| *open != string(id));
        self.0.push((string(id), string(name)));
        is_new
    }

    /// Ends the waiting of a call; false if none with that id waits, or if the result has another name.
    fn answer(&mut self, id: &Value, name: Option<&Value>) -> bool {
        let is_its =
            |(open, called): &(&str, &str)| *open == string(id) && name.is_none_or(|name| name == called);
        let call = self.0.iter().position(is_its);
        call.map(|call| self.0.remove(call)).is_some()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Checks that tools have different names and take an object.
fn tools<'a>(
    defined: impl Iterator<Item = (&'a Value, &'a Value)>,
    rule: &'static str,
    most: usize,
    object: &str,
    breaches: &mut RuleBreaches,
) {
    breaches.check_the_whole();
    let mut names = Vec::new();
    for (name, parameters) in defined {
        breaches.when(names.contains(&name), rule);
        names.push(name);
        breaches.when(!is_word(name, most), rule);
        let takes = &parameters["type"];
        breaches.when(!parameters.is_null() && takes != object, rule);
    }
}

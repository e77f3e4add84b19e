//! Recognises the vendor of messages by fields and blocks that only one vendor writes: in the sketch of a record, to recognise a
//! format, and in a message of a log or trace, because these contain requests of all vendors.
//!
//! Every vendor writes `{"role", "content"}`. A block of type `tool_use`, a key `toolUse` or an item of type `function_call`
//! identifies one vendor, at any place in the list. Each such word is in the table of its grammar, and nowhere else.
//!
//! A conversation has one vendor. A message that only one vendor can have written decides, at any place; messages that several
//! could have written are read as that vendor's. If no message decides, the vendor is OpenAI.

use std::borrow::Cow;
use std::ops::Bound;

use chatmill_intake::json::{Kind, Value};
use chatmill_intake::{Framing, Name, RecordSketch, Sketch};

use super::{
    AI_SDK, ANTHROPIC, BlockForm, CONVERSE, GEMINI, GRAMMARS, Grammar, LANGCHAIN, MISTRAL, OPENAI, OTEL,
    RESPONSES, Sign, When, frameworks,
};
use crate::base::{Keep as _, Site, Turn, present, words};

/// The grammars with messages that identify a format, in the order of the search.
static RECOGNISED: [&Grammar; 4] = [&AI_SDK, &ANTHROPIC, &CONVERSE, &RESPONSES];

/// The grammars for messages of a log, in the order of the search.
static LOGGED: [&Grammar; 9] = [
    &RESPONSES, &LANGCHAIN, &AI_SDK, &OTEL, &CONVERSE, &GEMINI, &MISTRAL, &ANTHROPIC, &OPENAI,
];

/// Fields of requests, answers and envelopes that contain messages.
const HOLDERS: [&str; 14] = words!(
    messages input contents prompt completion message choices candidates output response body generations
    responseMessages new_message
);

/// Fields of a message with thoughts as gateways write them in OpenAI's form: blocks of thoughts next to them show no vendor.
const THOUGHTS: [&str; 3] = words!(reasoning_content reasoning thinking_blocks);

/// The deepest nesting of [`HOLDERS`] that is searched.
const MOST_NESTED: u8 = 6;

/// The confidence that a block of a single vendor gives.
pub(crate) const SURE: u8 = 96;

/// The vendor that one of the messages in a value identifies.
pub(crate) fn vendor_in(value: Value<'_>) -> Option<&'static Grammar> {
    found_in(value, MOST_NESTED)
}

fn found_in(value: Value<'_>, depth: u8) -> Option<&'static Grammar> {
    let depth = depth.checked_sub(1)?;
    match value.kind() {
        Kind::Array => value.items().find_map(|item| found_in(item, depth)),
        Kind::Object => {
            let own = value.get("role").and_then(|_| identified(value));
            // OpenAI is the vendor if no other is found, and items of Responses name their type.
            own.filter(|grammar| !grammar.is(&OPENAI) && !grammar.is(&RESPONSES))
                .or_else(|| HOLDERS.iter().find_map(|key| found_in(value.get(key)?, depth)))
        }
        _ => None,
    }
}

/// Reads a message, an item, or a text. A message that several vendors could have written is read as one of `vendor`.
pub(crate) fn any(value: Value<'_>, vendor: &'static Grammar, site: &mut Site<'_>) -> Turn {
    if let Some(message) = present(value, "message").filter(|inner| inner.kind() == Kind::Object) {
        let mut turn = any(message, vendor, site);
        turn.keep_rest(value, "", &["message"]);
        // Some frameworks repeat its text next to it.
        let is_again = frameworks::contain_text(&turn.parts, value.get("text"));
        turn.rest.retain(|(key, _)| key != "text" || !is_again);
        return turn;
    }
    if let Some(message) = present(value, "content").filter(|inner| present(*inner, "parts").is_some()) {
        return any(message, vendor, site);
    }
    let grammar = detect(value, vendor);
    let mut turn = grammar.turn(value, site);
    // A plain list of texts shows no vendor.
    turn.joins_texts &= value.kind() == Kind::Object || vendor.joins_texts || grammar.has_written(value);
    turn
}

/// The grammar of a message, of a list of blocks, or of a text.
fn detect(value: Value<'_>, vendor: &'static Grammar) -> &'static Grammar {
    if value.kind() != Kind::Object {
        let mut lists = [&CONVERSE, &OTEL].into_iter();
        return lists
            .find(|grammar| grammar.has_written(value))
            .unwrap_or(&ANTHROPIC);
    }
    identified(value).unwrap_or_else(|| match OTEL.list_in(value) {
        Some("parts") => &OTEL,
        _ if vendor.list_in(value).is_some() => vendor,
        _ => &OPENAI,
    })
}

/// The only vendor that can have written a message, if there is one.
fn identified(message: Value<'_>) -> Option<&'static Grammar> {
    LOGGED.into_iter().find(|grammar| grammar.has_written(message))
}

/// Whether a message in a request of this grammar has the form of another vendor. OpenAI's parts are also those of Responses.
pub(crate) fn is_foreign(message: Value<'_>, grammar: &Grammar) -> bool {
    identified(message).is_some_and(|found| !found.is(grammar) && !found.is_openais())
}

/// The words that identify blocks and items of one vendor, with the id of its grammar. `OpenAI`'s are not among them, because they
/// are names of fields, too.
pub fn own_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = GRAMMARS.iter().filter(|grammar| !grammar.is(&OPENAI));
    others.flat_map(|grammar| {
        let forms = grammar.blocks.iter().filter(|form| form.is_sign);
        let blocks = forms.flat_map(|form| match form.when {
            When::Type(ref word) | When::Begins(ref word) | When::Has(ref word) | When::Key(ref word) => {
                std::slice::from_ref(word)
            }
            When::OneOf(words) => words,
            When::Untyped => &[],
        });
        let items = grammar.signs.iter().flat_map(|sign| match sign {
            Sign::Item(words) => *words,
            _ => &[],
        });
        blocks.chain(items).map(|word| (grammar.id, *word))
    })
}

impl Grammar {
    /// The field of a message with the list of blocks.
    pub(super) fn list_in(&self, message: Value<'_>) -> Option<&'static str> {
        let is_list = |field: &&str| message.get(field).is_some_and(|list| list.kind() == Kind::Array);
        self.lists.iter().copied().find(|field| is_list(field))
    }

    /// Whether only this vendor can have written a message, or a list of blocks. The check marks nothing as read.
    fn has_written(&self, value: Value<'_>) -> bool {
        let has = |sign: &Sign| match sign {
            Sign::Field(field) => present(value, field).is_some(),
            Sign::Item(words) => type_of(value).is_some_and(|kind| words.contains(&&*kind)),
            Sign::Text(field) => {
                let is_text =
                    |block: Value<'_>| block.get(field).is_some_and(|text| text.kind() == Kind::String);
                let is_gateways = THOUGHTS.iter().any(|key| present(value, key).is_some());
                self.blocks_of(value).any(is_text) && !OPENAI.has_own_block(value) && !is_gateways
            }
            Sign::Source => {
                let has_type = |block: Value<'_>| {
                    block
                        .get("source")
                        .and_then(|source| source.get("type"))
                        .is_some()
                };
                self.blocks_of(value).any(has_type)
            }
            Sign::Untyped => {
                let mut blocks = self.blocks_of(value).peekable();
                blocks.peek().is_some()
                    && blocks.all(|block| block.get("type").is_none() && self.is_block(block))
            }
            Sign::Words(list, field) => {
                let list = value.get(list).into_iter().flat_map(Value::items);
                let mut texts = value
                    .items()
                    .chain(list)
                    .filter(|block| type_of(*block).as_deref() == Some("text"));
                texts.any(|text| present(text, field).is_some())
            }
            Sign::Own(is_own) => is_own(value),
        };
        self.signs.iter().any(has) || self.has_own_block(value)
    }

    /// Whether a message, or a list of blocks, has a block that only this vendor has.
    fn has_own_block(&self, value: Value<'_>) -> bool {
        let is_own = |block: Value<'_>| {
            let kind = type_of(block);
            let mut own = self.blocks.iter().filter(|form| form.is_sign);
            own.any(|form| form.is_of(block, kind.as_deref()))
        };
        self.blocks_of(value).any(is_own)
    }

    /// Whether a block without a type belongs to this vendor.
    fn is_block(&self, block: Value<'_>) -> bool {
        self.blocks.iter().any(|form| form.is_of(block, None))
    }

    /// The blocks of a message, or of a list.
    fn blocks_of<'v>(&self, value: Value<'v>) -> impl Iterator<Item = Value<'v>> {
        let lists = self.lists.iter().filter_map(move |field| value.get(field));
        let own = (value.kind() == Kind::Array).then_some(value);
        lists.chain(own).flat_map(Value::items)
    }
}

/// The type of a message or block, which stays unread.
fn type_of(value: Value<'_>) -> Option<Cow<'_, str>> {
    value.get("type").and_then(Value::string)
}

/// A record, and the path of its messages: `messages[]`, `[]` if the record is the list itself, empty if the record is a message.
#[derive(Clone, Copy)]
struct Sketched<'s> {
    record: &'s RecordSketch,
    list: &'s str,
    /// Whether blocks of thoughts show no vendor, because gateways wrote messages of the entry.
    is_gateways: bool,
}

impl<'s> Sketched<'s> {
    /// The messages at a path; `None` if the record has nothing there, which is the usual case.
    fn of(record: &'s RecordSketch, list: &'s str) -> Option<Self> {
        let mut inside = record
            .names
            .range::<str, _>((Bound::Included(list), Bound::Unbounded));
        let is_there = list.is_empty() || inside.next().is_some_and(|(name, _)| name.starts_with(list));
        is_there.then(|| {
            let plain = Self {
                record,
                list,
                is_gateways: false,
            };
            let is_gateways = THOUGHTS.iter().any(|key| plain.names(key));
            Self { is_gateways, ..plain }
        })
    }

    /// The path of a field of a message.
    fn path(self, field: &str) -> String {
        if self.list.is_empty() {
            field.to_owned()
        } else {
            format!("{}.{field}", self.list)
        }
    }

    /// Whether messages have a field.
    fn names(self, field: &str) -> bool {
        self.record.names(&self.path(field))
    }

    /// The first word in a field that `is_wanted` accepts.
    fn word(self, field: &str, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let words = &self.record.names.get(&self.path(field))?.words;
        words.iter().find(|word| is_wanted(word)).cloned()
    }
}

/// The vendor that a record's messages identify, with the confidence and the reason. `list` is the path of a message: `messages[]`,
/// `[]` if the record is the list itself, empty if the record is a message.
pub(crate) fn of(record: &RecordSketch, list: &str) -> Option<(&'static Grammar, u8, String)> {
    identify(Sketched::of(record, list)?)
}

/// The same for the records of an entry. If gateways wrote thoughts into a field of messages in one of them, blocks of thoughts show no vendor
/// in any.
pub(crate) fn in_entry(
    entry: &Sketch,
    list: &str,
) -> impl Fn(&RecordSketch, &str) -> Option<(&'static Grammar, u8, String)> {
    let mut sketches = entry
        .records
        .iter()
        .filter_map(|record| Sketched::of(record, list));
    let is_gateways = sketches.any(|sketch| sketch.is_gateways);
    move |record, list| {
        let sketch = Sketched::of(record, list)?;
        identify(Sketched {
            is_gateways: is_gateways || sketch.is_gateways,
            ..sketch
        })
    }
}

fn identify(sketch: Sketched<'_>) -> Option<(&'static Grammar, u8, String)> {
    let mut found = RECOGNISED
        .into_iter()
        .filter_map(|grammar| Some((grammar, SURE, grammar.sketched(sketch)?)));
    found.next().or_else(|| {
        let why = "messages hold blocks of text without a type";
        (sketch.names("role") && has_converse_text(sketch)).then(|| (&CONVERSE, 88, why.to_owned()))
    })
}

/// The grammar of a vendor's block in a field of messages. Sources need not know the vendor.
pub(crate) fn of_blocks(record: &RecordSketch, list: &str, field: &str) -> Option<&'static Grammar> {
    let sketch = Sketched::of(record, list)?;
    let mut grammars = LOGGED.into_iter();
    grammars.find(|grammar| grammar.sketched_block(sketch, &[field]).is_some())
}

impl Grammar {
    /// The reason why only this vendor can have written the messages of a sketch.
    fn sketched(&self, sketch: Sketched<'_>) -> Option<String> {
        let of_sign = |sign: &Sign| match sign {
            Sign::Field(field) => sketch.names(field).then(|| format!("messages hold {field}")),
            Sign::Item(words) => {
                let word = sketch.word("type", |word| words.contains(&word));
                word.map(|word| format!("items are of type {word}"))
            }
            Sign::Text(field) => {
                let is_there = sketch.word("content[].type", |word| word == *field).is_some()
                    && sketch.names(&format!("content[].{field}"))
                    && !sketch.names(&format!("content[].{field}[].type"))
                    && !sketch.is_gateways
                    && OPENAI.sketched(sketch).is_none();
                is_there.then(|| format!("messages hold blocks of type {field}, with the thought as text"))
            }
            Sign::Source => {
                let is_there = sketch.names("content[].source.type");
                is_there.then(|| "messages hold media with a source".to_owned())
            }
            Sign::Words(list, field) => {
                let word = sketch.word(&kind(list), |word| word == "text");
                let word = word.filter(|_| sketch.names(&format!("{list}[].{field}")));
                word.map(|word| why(list, &word))
            }
            Sign::Untyped | Sign::Own(_) => None,
        };
        self.sketched_block(sketch, self.lists)
            .or_else(|| self.signs.iter().find_map(of_sign))
    }

    /// The block in a sketch of messages that only this vendor has, in one of these fields.
    fn sketched_block(&self, sketch: Sketched<'_>, fields: &[&str]) -> Option<String> {
        let of_block = |form: &BlockForm| {
            let typed = |is_wanted: &dyn Fn(&str) -> bool| {
                let mut fields = fields.iter();
                fields.find_map(|field| Some(why(field, &sketch.word(&kind(field), is_wanted)?)))
            };
            match form.when {
                When::Type(wanted) => typed(&|word| word == wanted),
                When::OneOf(words) => typed(&|word| words.contains(&word)),
                When::Begins(start) => typed(&|word| word.starts_with(start)),
                When::Key(key) | When::Has(key) => fields
                    .iter()
                    .any(|field| sketch.names(&format!("{field}[].{key}")))
                    .then(|| format!("messages hold blocks with {key}")),
                When::Untyped => None,
            }
        };
        let mut own = self.blocks.iter().filter(|form| form.is_sign);
        own.find_map(of_block)
    }
}

/// The path of the types of blocks in a field of messages.
fn kind(field: &str) -> String {
    format!("{field}[].type")
}

/// The reason for a vendor: a type of blocks in a field of messages.
fn why(field: &str, word: &str) -> String {
    let blocks = if field == "parts" { "parts" } else { "blocks" };
    format!("messages hold {blocks} of type {word}")
}

/// Whether blocks are blocks of text in Converse's form: a block has one field, its kind. A block of text with another field next
/// to it belongs to another vendor, and nothing of it would be read.
fn has_converse_text(sketch: Sketched<'_>) -> bool {
    let blocks = sketch.path("content[].");
    let is_text = |(name, found): (&str, &Name)| name == "text" && found.longest > 0;
    let is_kind = |name: &str| {
        let own = name.split(['.', '[']).next();
        CONVERSE
            .blocks
            .iter()
            .any(|form| matches!(form.when, When::Key(key) if own == Some(key)))
    };
    let mut names = sketch
        .record
        .names
        .range(blocks.clone()..)
        .map_while(|(name, found)| Some((name.strip_prefix(&blocks)?, found)));
    names.clone().any(is_text) && names.all(|(name, _)| is_kind(name))
}

/// Whether a record's messages call tools, or answer calls, in `OpenAI`'s form.
pub(crate) fn is_openai(record: &RecordSketch) -> bool {
    record.names("messages[].tool_calls[]") || record.has_value("messages[].role", &["tool"])
}

/// Whether an entry is one bare list of this vendor's messages. Like every array, it is framed message by message.
pub(crate) fn is_list(sketch: &Sketch, grammar: &Grammar) -> Option<(u8, String)> {
    let is_turn = |record: &RecordSketch| {
        !record.is_object
            || record.names("role")
                && (record.names("content") || record.names("parts"))
                && !record.names("messages")
            || Sketched::of(record, "").is_some_and(|sketch| RESPONSES.sketched(sketch).is_some())
    };
    if sketch.framing != Framing::Array || !sketch.records.iter().all(is_turn) {
        return None;
    }
    let of = in_entry(sketch, "");
    let mut found = sketch.records.iter().filter_map(|record| of(record, ""));
    found
        .find(|(found, _, _)| found.is(grammar))
        .map(|(_, confidence, why)| (confidence, format!("the top-level array is a bare list: {why}")))
}

#[cfg(test)]
mod tests {
    use chatmill_intake::json;

    use super::*;

    fn found(message: &str, vendor: &'static Grammar) -> &'static str {
        let document = json::scan(message.as_bytes(), 16).unwrap();
        detect(document.root(), vendor).id
    }

    #[test]
    fn a_message_is_of_the_vendor_that_alone_writes_such_blocks() {
        for (message, wanted) in [
            (
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}"#,
                "anthropic",
            ),
            (
                r#"{"role":"user","content":[{"type":"mcp_tool_result"}]}"#,
                "anthropic",
            ),
            (
                r#"{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}"#,
                "anthropic",
            ),
            (
                r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
                "anthropic",
            ),
            (r#"{"role":"user","content":[{"text":"hi"}]}"#, "converse"),
            (r#"{"role":"user","content":[{"guardContent":{}}]}"#, "converse"),
            (r#"{"role":"user","parts":[{"text":"hi"}]}"#, "gemini"),
            (
                r#"{"role":"user","parts":[{"type":"text","text":"hi"}]}"#,
                "ai-sdk",
            ),
            (
                r#"{"role":"user","parts":[{"type":"text","content":"hi"}]}"#,
                "otel",
            ),
            (
                r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"a"}]}"#,
                "ai-sdk",
            ),
            (
                r#"{"role":"tool","content":[{"type":"tool_call_response","id":"a"}]}"#,
                "otel",
            ),
            (r#"{"type":"human","content":"hi"}"#, "langchain"),
            (r#"{"type":"function_call","name":"a"}"#, "openai-responses"),
            (r#"{"type":"reasoning","summary":[]}"#, "openai-responses"),
        ] {
            assert_eq!(found(message, &OPENAI), wanted, "{message}");
            assert_eq!(found(message, &ANTHROPIC), wanted, "{message}");
        }
    }

    #[test]
    fn a_message_that_several_could_have_written_is_of_the_conversations_vendor() {
        for message in [
            r#"{"role":"user","content":[{"type":"text","text":"hi"}]}"#,
            r#"{"role":"user","content":[{"type":"document","document":{"id":"a"}}]}"#,
        ] {
            assert_eq!(found(message, &ANTHROPIC), "anthropic", "{message}");
            assert_eq!(found(message, &OPENAI), "openai-chat", "{message}");
        }
        // Gateways add thoughts to OpenAI's messages.
        let parts =
            r#"{"type":"thinking","thinking":"hm"},{"type":"image_url","image_url":"https://a.example"}"#;
        for message in [
            format!(r#"{{"role":"assistant","content":[{parts}]}}"#),
            r#"{"role":"user","content":"hi"}"#.to_owned(),
            // A field next to the text of a block: Converse has none.
            r#"{"role":"user","content":[{"text":"hi","lang":"en"}]}"#.to_owned(),
        ] {
            assert_eq!(found(&message, &OPENAI), "openai-chat", "{message}");
        }
    }

    #[test]
    fn looking_for_a_vendor_reads_nothing() {
        let message =
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"a"}],"parts":[{"text":"hi"}]}"#;
        let document = json::scan(message.as_bytes(), 16).unwrap();
        assert!(vendor_in(document.root()).is_some());
        assert!(!document.root().is_touched());
    }

    #[test]
    fn each_word_identifies_one_vendor() {
        let mut known = std::collections::BTreeMap::new();
        // A key of Gemini's parts is also the type of an item of Responses.
        for (vendor, word) in own_words().filter(|word| *word != ("gemini", "function_call")) {
            let other = known.insert(word, vendor);
            assert_eq!(other, None, "{word}: {vendor}");
        }
        assert!(known.contains_key("tool_use") && known.contains_key("function_call_output"));
    }
}

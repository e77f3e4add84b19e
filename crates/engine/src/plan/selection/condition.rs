//! Resolves `[[select.where]]`: conditions over extra fields of the record and over lengths.
//!
//! A conversation is kept if it meets all of them. A number is compared with
//! numbers and a text with texts. A field that is missing or has another type
//! meets no condition; conversations excluded by that are counted separately.

use std::sync::Arc;

use chatmill_model::{Conversation, Extra, Message, MessageKind, Part, Role};
use chatmill_token::{Encoding, SharedTokenCounter};
use serde_json::Value;

use crate::error::PlanError;
use crate::pipeline::{Operator, WhereSection, WhereValue};
use crate::plan::encodings::required;
use crate::plan::require;

/// The quantity that a condition tests.
#[derive(Clone)]
enum Field {
    /// An extra field of the conversation: its name, or a path of names.
    Extra(String),
    /// The number of turns.
    Turns,
    /// A length in tokens.
    Tokens(Length, Arc<SharedTokenCounter>),
}

/// The texts that a length in tokens covers.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// All texts of a conversation added up.
    Conversation,
    /// Each answer of an agent separately.
    Answer,
    /// Each turn separately.
    Turn,
}

/// A resolved condition.
#[derive(Clone)]
pub(super) struct Condition {
    field: Field,
    op: Operator,
    value: WhereValue,
    /// The reason under which conversations that do not meet the condition are counted as filtered.
    reason: String,
    /// The reason for conversations without the field.
    missing: String,
}

impl Condition {
    /// Checks and resolves a section.
    pub(super) fn new(section: &WhereSection, encodings: &[Encoding]) -> Result<Self, PlanError> {
        let is_list = matches!(section.value, WhereValue::Numbers(_) | WhereValue::Texts(_));
        let (is_empty, is_finite) = match &section.value {
            WhereValue::Number(number) => (false, number.is_finite()),
            WhereValue::Text(_) => (false, true),
            WhereValue::Numbers(numbers) => (
                numbers.is_empty(),
                numbers.iter().all(|number| number.is_finite()),
            ),
            WhereValue::Texts(texts) => (texts.is_empty(), true),
        };
        let op = section.op.as_str();
        let problem = match (section.op == Operator::In, is_list) {
            _ if !is_finite => Some("a number must be finite".to_owned()),
            _ if is_empty => Some("the list is empty; name something or leave the condition out".to_owned()),
            (true, false) => Some("`in` needs a list of numbers or of texts".to_owned()),
            (false, true) => Some(format!("`{op}` needs one number or text; `in` takes a list")),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(PlanError::value("select.where.value", problem));
        }
        let field = Field::read(&section.field, encodings)?;
        let is_text = matches!(section.value, WhereValue::Text(_) | WhereValue::Texts(_));
        let problem = format!("`{}` is a number, and is compared with numbers", section.field);
        require(
            !is_text || matches!(field, Field::Extra(_)),
            "select.where.value",
            problem,
        )?;
        let name = &section.field;
        Ok(Self {
            field,
            op: section.op,
            reason: format!("where {name} {op} {}", section.value),
            missing: format!("where {name} is missing"),
            value: section.value.clone(),
        })
    }

    /// Returns the reason for excluding a conversation, if it does not meet the condition.
    pub(super) fn excluded_by(&self, conversation: &Conversation) -> Option<&str> {
        let is_met = match &self.field {
            Field::Extra(name) => self.is_met_by(&extra(conversation, name)),
            Field::Turns => self.is_met_by(&turns(conversation).count().into()),
            Field::Tokens(length, counter) => {
                counter.with(|count| self.is_met_by_length(*length, count, conversation))
            }
        };
        match is_met {
            Some(true) => None,
            Some(false) => Some(&self.reason),
            None => Some(&self.missing),
        }
    }

    /// Returns whether a value meets the condition; `None` if it is missing or has another type.
    fn is_met_by(&self, found: &Value) -> Option<bool> {
        Some(match &self.value {
            WhereValue::Number(value) => self.op.holds(found.as_f64()?.partial_cmp(value)?),
            WhereValue::Text(value) => self.op.holds(found.as_str()?.cmp(value)),
            WhereValue::Numbers(values) => values.contains(&found.as_f64()?),
            WhereValue::Texts(values) => {
                let found = found.as_str()?;
                values.iter().any(|value| value == found)
            }
        })
    }

    /// Returns whether the length of a conversation, or of each of its answers
    /// or turns, meets the condition; `None` without any answer or turn.
    fn is_met_by_length(
        &self,
        length: Length,
        count: &mut dyn FnMut(&str) -> u64,
        conversation: &Conversation,
    ) -> Option<bool> {
        let wanted = |message: &&Message| match length {
            Length::Answer => message.role == Role::Assistant,
            Length::Conversation | Length::Turn => true,
        };
        if let Length::Conversation = length {
            return self.is_met_by(&conversation_tokens(conversation, count).into());
        }
        let tokens = |message: &Message| count(&message.text());
        let mut lengths = turns(conversation).filter(wanted).map(tokens).peekable();
        lengths.peek()?;
        Some(lengths.all(|length| self.is_met_by(&length.into()) == Some(true)))
    }
}

impl Field {
    fn read(word: &str, encodings: &[Encoding]) -> Result<Self, PlanError> {
        const KEY: &str = "select.where.field";
        if let Some(name) = Extra::selected(word) {
            return Ok(Self::Extra(name.to_owned()));
        }
        if word == "turns" {
            return Ok(Self::Turns);
        }
        let (length, encoding) = match word.split_once('@') {
            Some(("tokens", encoding)) => (Length::Conversation, encoding),
            Some(("answer_tokens", encoding)) => (Length::Answer, encoding),
            Some(("turn_tokens", encoding)) => (Length::Turn, encoding),
            _ => {
                let problem = format!(
                    "`{word}` is no field: write `extra.{word}` for one of the record, `turns`, or `tokens`, `answer_tokens` or \
                     `turn_tokens` with `@` and an encoding"
                );
                return Err(PlanError::value(KEY, problem));
            }
        };
        let encoding = required(encodings, KEY, encoding)?.clone();
        Ok(Self::Tokens(length, Arc::new(SharedTokenCounter::new(encoding))))
    }
}

/// Returns the messages of people and agents.
pub(super) fn turns(conversation: &Conversation) -> impl Iterator<Item = &Message> {
    let is_turn = |message: &&Message| {
        message.kind == MessageKind::Message && matches!(message.role, Role::User | Role::Assistant)
    };
    conversation.messages.iter().filter(is_turn)
}

/// Counts the tokens of all messages of a conversation, with their calls and results.
pub(crate) fn conversation_tokens(conversation: &Conversation, count: &mut dyn FnMut(&str) -> u64) -> u64 {
    let messages = conversation.messages.iter();
    let messages = messages.filter(|message| message.kind == MessageKind::Message);
    messages
        .map(|message| count(&message.text()) + tools(message, count))
        .sum()
}

/// Counts the tokens of a message's calls and results.
fn tools(message: &Message, count: &mut dyn FnMut(&str) -> u64) -> u64 {
    let tokens = |part: &Part| match part {
        Part::ToolCall(call) => count(call.arguments.source_text()),
        Part::ToolResult(result) => count(&result.content),
        _ => 0,
    };
    message.parts.iter().map(tokens).sum()
}

/// Returns the value of an extra field of a conversation: the one with this name,
/// else a value inside the field that is the first step of the name; null if missing.
fn extra(conversation: &Conversation, name: &str) -> Value {
    let read = |name: &str| -> Option<Value> {
        let raw = conversation.extra.get(name)?;
        serde_json::from_str(raw.as_str()).ok()
    };
    let below = || {
        let (first, rest) = name.split_once('.')?;
        let mut value = read(first)?;
        for step in rest.split('.') {
            value = value.get_mut(step)?.take();
        }
        Some(value)
    };
    read(name).or_else(below).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use chatmill_model::{Extra, MessageOrigin, RawJson};

    use super::*;

    fn conversation() -> Conversation {
        let fields = [
            ("quality", "0.5"),
            ("language", "\"uk\""),
            ("a.b", "7"),
            ("scores", "{\"help\": {\"n\": 3}}"),
            ("flags", "[1]"),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), RawJson(value.to_owned())));
        let message = |role, position, text: &str| Message {
            parts: vec![Part::Text(text.to_owned())],
            ..Message::new(role, position, MessageOrigin::default())
        };
        Conversation {
            extra: Extra(fields.to_vec()),
            messages: vec![
                message(Role::System, 0, "Be brief."),
                message(Role::User, 1, "How high is the tide tonight?"),
                message(Role::Assistant, 2, "High."),
                message(Role::Assistant, 3, "At nine o'clock in the evening."),
            ],
            ..Conversation::default()
        }
    }

    fn left_out(condition: &str) -> Option<String> {
        let section: WhereSection = toml::from_str(condition).unwrap();
        let condition = Condition::new(&section, &[]).unwrap();
        condition.excluded_by(&conversation()).map(str::to_owned)
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        for (field, op, value, is_kept) in [
            ("extra.quality", "==", "0.5", true),
            ("extra.quality", "!=", "0.5", false),
            ("extra.quality", ">=", "0.5", true),
            ("extra.quality", ">", "0.5", false),
            ("extra.quality", "<", "1", true),
            ("extra.quality", "<=", "0.4", false),
            ("extra.quality", "in", "[1, 0.5]", true),
            ("extra.language", "==", "'uk'", true),
            ("extra.language", "in", "['en', 'de']", false),
            ("extra.language", "<", "'v'", true),
            ("extra.a.b", "==", "7", true),
            ("extra.scores.help.n", ">=", "3", true),
            ("turns", ">=", "3", true),
            ("turns", ">", "3", false),
        ] {
            let found = left_out(&format!("field = {field:?}\nop = {op:?}\nvalue = {value}"));
            assert_eq!(found.is_none(), is_kept, "{field} {op} {value}: {found:?}");
        }
    }

    #[test]
    fn a_field_that_is_missing_or_of_another_kind_meets_nothing_and_is_counted_apart() {
        for (field, value) in [
            ("extra.none", "1"),
            ("extra.quality", "'high'"),
            ("extra.language", "2"),
            ("extra.flags", "1"),
            ("extra.scores.help.m", "1"),
            ("extra.language.x", "1"),
        ] {
            for op in ["==", "!="] {
                let found = left_out(&format!("field = {field:?}\nop = {op:?}\nvalue = {value}"));
                assert_eq!(found, Some(format!("where {field} is missing")));
            }
        }
        let found = left_out("field = 'extra.quality'\nop = '>'\nvalue = 0.75");
        assert_eq!(found.as_deref(), Some("where extra.quality > 0.75"));
    }

    #[test]
    fn lengths_are_those_of_all_texts_and_of_each_answer_and_turn() {
        let encoding = chatmill_token::find("o200k_base").unwrap();
        let tokens = |text: &str| encoding.counter().count(text);
        let texts = conversation();
        let texts: Vec<u64> = texts
            .messages
            .iter()
            .map(|message| tokens(&message.text()))
            .collect();
        let [_, question, short, long] = texts[..] else {
            panic!("{texts:?}")
        };
        for (field, least) in [
            ("tokens", texts.iter().sum::<u64>()),
            ("answer_tokens", short),
            ("turn_tokens", short.min(question)),
        ] {
            for (value, is_kept) in [(least, true), (least + 1, false)] {
                let found = left_out(&format!(
                    "field = '{field}@o200k_base'\nop = '>='\nvalue = {value}"
                ));
                assert_eq!(found.is_none(), is_kept, "{field} {value}");
            }
        }
        assert!(
            left_out(&format!(
                "field = 'answer_tokens@o200k_base'\nop = '<='\nvalue = {long}"
            ))
            .is_none()
        );
    }
}

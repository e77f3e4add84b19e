//! The meaning of a row's columns, by name: one table for all readers of rows, and for requests that are stored with their
//! answer.

use std::borrow::Cow;

use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Role;

use crate::base::{fields::present, roles::api_role};

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnMeaning {
    /// The system prompt.
    System,
    /// The history: messages, or questions with their answers.
    History,
    /// A whole conversation.
    Turns,
    /// A whole conversation in one text.
    Transcript,
    /// The question.
    Question,
    /// Context of the question, placed before it.
    Context,
    /// Input of the question, placed after it.
    Input,
    /// The answer.
    Answer,
    /// The preferred answer.
    Better,
    /// The rejected answer.
    Worse,
}
use ColumnMeaning::{Answer, Better, Context, History, Input, Question, System, Transcript, Turns, Worse};

/// Columns in the order of their contents in a conversation. Of several columns with one meaning, the first is used.
static COLUMNS: [(&str, ColumnMeaning); 35] = [
    ("system", System),
    ("system_prompt", System),
    ("system_message", System),
    ("system_instruction", System),
    ("history", History),
    ("messages", Turns),
    ("input.messages", Turns),
    ("conversation", Turns),
    ("data", Turns),
    ("transcript", Transcript),
    ("context", Context),
    ("prompt", Question),
    ("instruction", Question),
    ("question", Question),
    ("query", Question),
    ("problem", Question),
    ("responses_create_params.input", Question),
    ("user_prompt", Question),
    ("input", Input),
    ("completion", Answer),
    ("response", Answer),
    ("output", Answer),
    ("answer", Answer),
    ("choices", Answer),
    ("assistant_response", Answer),
    ("chosen", Better),
    ("chosen_messages", Better),
    ("chosen_response", Better),
    ("preferred_output", Better),
    ("preferred", Better),
    ("rejected", Worse),
    ("rejected_messages", Worse),
    ("rejected_response", Worse),
    ("non_preferred_output", Worse),
    ("dispreferred", Worse),
];

/// Whether a column is a field of the record even if its text is a turn: the answer next to its worked solution, because that is what other answers
/// are graded against.
pub(crate) fn is_graded(root: Value<'_>, name: &str) -> bool {
    name == "answer" && present(root, "solution").is_some()
}

/// Columns with a reference for grading an answer, in rows that have a question and no answer.
pub(crate) const REFERENCES: [&str; 7] = [
    "ground_truth",
    "reference_answer",
    "expected_answer",
    "final_answer",
    "verification_info",
    "solution",
    "reward_model",
];

/// The columns with this meaning.
pub(crate) fn names(meaning: ColumnMeaning) -> impl Iterator<Item = &'static str> {
    let columns = COLUMNS.iter().filter(move |(_, purpose)| *purpose == meaning);
    columns.map(|(name, _)| *name)
}

/// The meaning of a column, by its name.
pub(crate) fn meaning(name: &str) -> Option<ColumnMeaning> {
    let found = COLUMNS.iter().find(|(known, _)| *known == name);
    found.map(|(_, meaning)| *meaning)
}

/// The value of a column; `outer.inner` is a field of an object.
pub(crate) fn column<'d>(root: Value<'d>, name: &str) -> Option<Value<'d>> {
    match name.split_once('.') {
        Some((outer, inner)) => present(present(root, outer)?, inner),
        None => present(root, name),
    }
}

/// The columns of a row with this meaning. Empty texts are left out, and so are options to choose from.
pub(crate) fn all(
    root: Value<'_>,
    meaning: ColumnMeaning,
) -> impl Iterator<Item = (&'static str, Value<'_>)> {
    let columns = names(meaning).filter_map(move |name| Some((name, column(root, name)?)));
    columns.filter(|(name, value)| match value.kind() {
        Kind::String => value.string().is_some_and(|text| !text.trim().is_empty()),
        Kind::Array if *name == "choices" => value.items().any(|choice| choice.kind() == Kind::Object),
        _ => *name != "choices",
    })
}

/// The answer of a row that is stored next to these messages, if there are any. If the messages end with an answer, a text is
/// not a further turn.
pub(crate) fn answer<'d>(root: Value<'d>, messages: Option<Value<'d>>) -> Option<(&'static str, Value<'d>)> {
    let found = first(root, Better).or_else(|| first(root, Answer));
    found.filter(|(_, value)| value.kind() != Kind::String || !messages.is_some_and(ends_with_answer))
}

/// Whether messages end with one of the assistant.
fn ends_with_answer(turns: Value<'_>) -> bool {
    let last = turns.items().last();
    last.is_some_and(|last| {
        let mut words = ["role", "from"].iter().filter_map(|key| present(last, key));
        let word = words.next().and_then(Value::string).unwrap_or_default();
        let is_assistants = api_role(&word) == Some(Role::Assistant) || word.eq_ignore_ascii_case("gpt");
        is_assistants && present(last, "tool_calls").is_none()
    })
}

/// The columns with empty texts.
pub(crate) fn empty(root: Value<'_>) -> impl Iterator<Item = &'static str> {
    let texts = COLUMNS
        .iter()
        .filter_map(move |(name, _)| Some((*name, column(root, name)?)));
    let empty = texts.filter(|(_, value)| value.string().is_some_and(|text| text.trim().is_empty()));
    empty.filter_map(|(name, value)| value.as_str().map(|_| name))
}

/// Whether a list has no text and no field in it. If another list of the record has the turns, such a list is nothing.
pub(crate) fn is_empty_list(list: Value<'_>) -> bool {
    let is_empty = |item: Value<'_>| item.is_empty() && item.kind() != Kind::String;
    list.kind() == Kind::Array && list.items().all(is_empty)
}

/// The only list of such turns in a record, under any name.
pub(crate) fn alone<'d>(
    root: Value<'d>,
    is_turn: impl Fn(Value<'d>) -> bool,
) -> Option<(Cow<'d, str>, Value<'d>)> {
    let mut lists = root
        .fields()
        .filter(|(_, list)| list.kind() == Kind::Array && list.items().any(&is_turn));
    lists.next().filter(|_| lists.next().is_none())
}

/// The name of the only list in a sketch of a record with elements that have all of these names.
pub(crate) fn name_alone<'r>(record: &'r RecordSketch, wanted: &[&str]) -> Option<&'r str> {
    let (first, others) = wanted.split_first()?;
    // One walk over the names is enough; a look-up of each name under each key built thousands of paths for a small file.
    let lists = record.names.keys().filter_map(|name| {
        let list = name.strip_suffix(first)?.strip_suffix("[].")?;
        let has = |other: &&str| record.names(&format!("{list}[].{other}"));
        others.iter().all(has).then_some(list)
    });
    let mut lists = lists.filter(|list| record.keys.iter().any(|key| key == list));
    lists.next().filter(|_| lists.next().is_none())
}

/// The question and the answer of an object that contains both, as two texts.
pub(crate) fn question_and_answer(turn: Value<'_>) -> Option<[Value<'_>; 2]> {
    let one = |meaning: ColumnMeaning, further: &str| {
        let mut found = all(turn, meaning)
            .map(|(_, value)| value)
            .chain(present(turn, further));
        found.next().filter(|text| text.kind() == Kind::String)
    };
    let has_role = turn.kind() != Kind::Object || turn.get("role").is_some() || turn.get("from").is_some();
    let question = || {
        one(Question, "input")
            .or_else(|| one(Question, "user"))
            .or_else(|| one(Question, "human"))
    };
    let answer = || one(Answer, "assistant").or_else(|| one(Answer, "bot"));
    (!has_role).then(|| Some([question()?, answer()?]))?
}

/// The first column with this meaning.
pub(crate) fn first(root: Value<'_>, meaning: ColumnMeaning) -> Option<(&'static str, Value<'_>)> {
    all(root, meaning).next()
}

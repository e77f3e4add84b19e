//! The columns of a row that together are one conversation: system prompt, history, question, answer.

use std::borrow::Cow;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Role;

use crate::base::{roles::api_role, texts::transcript};
use crate::frame::FrameView;
use crate::layout::columns::{self, ColumnMeaning};

/// Turns of a row from one place.
#[derive(Clone)]
pub(super) enum RowTurns<'d> {
    /// The record's own list of messages.
    List(Value<'d>),
    /// A list of messages in another column.
    Column(Value<'d>),
    /// Content of one turn, without the object around it, with its index.
    Content(Role, u32, Value<'d>),
    /// Texts of one turn. A single text may be a whole conversation written out.
    Text(Role, Vec<Value<'d>>),
    /// An object with a question and its answer, and these two.
    Pair(Value<'d>, Value<'d>, Value<'d>),
    /// A written-out conversation, with any of the known marks.
    Transcript(Value<'d>),
    /// An answer in a column, in any form.
    Answer(&'static str, Value<'d>),
}

/// A row.
#[derive(Default)]
pub(super) struct Row<'d> {
    /// The columns of its turns.
    pub columns: Vec<Cow<'d, str>>,
    /// The field of the system text, if the vendor has one.
    pub system: Option<&'static str>,
    /// The turns of the columns, in the row's order.
    pub turns: Vec<RowTurns<'d>>,
    /// The index of the turn that begins the answer.
    pub answer: Option<usize>,
}

impl<'d> Row<'d> {
    /// A list of messages without a row around it.
    pub(super) fn list(list: Value<'d>) -> Self {
        Self {
            turns: vec![RowTurns::List(list)],
            ..Self::default()
        }
    }

    /// The columns of a row; an error if it is rejected.
    pub(super) fn of_columns(frame: FrameView<'d>, limits: &Limits) -> Result<Self, Box<Finding>> {
        let root = frame.root();
        let mut row = Self::default();
        let better = columns::first(root, ColumnMeaning::Better);
        let whole = better.filter(|(_, value)| holds_question(*value));
        let turns = || columns::all(root, ColumnMeaning::Turns);
        let listed = turns().find(|(_, value)| is_listed(*value));
        let listed = listed.or_else(|| turns().find(|(name, _)| *name == "messages"));
        // The only list of messages may have any name.
        let knows = [
            ColumnMeaning::Question,
            ColumnMeaning::History,
            ColumnMeaning::Better,
        ]
        .map(|meaning| columns::all(root, meaning).any(|(_, value)| !columns::is_empty_list(value)));
        let unnamed = columns::alone(root, |turn| {
            turn.get("role").is_some() && turn.get("content").is_some()
        })
        .filter(|(name, _)| !knows.contains(&true) && columns::meaning(name) != Some(ColumnMeaning::Answer));
        let listed = listed.filter(|(_, list)| unnamed.is_none() || !columns::is_empty_list(*list));
        row.add(frame, columns::first(root, ColumnMeaning::System), limits)?;
        if let Some(listed) = whole.or(listed) {
            if whole.is_some() {
                row.answer = Some(row.turns.len());
            }
            row.add(frame, Some(listed), limits)?;
        } else if let Some((name, list)) = unnamed {
            row.columns.push(name);
            row.turns.push(RowTurns::Column(list));
        } else if let Some((name, text)) =
            columns::first(root, ColumnMeaning::Transcript).filter(|(_, text)| is_written_out(*text))
        {
            single(frame, (name, text))?;
            row.columns.push(name.into());
            row.turns.push(RowTurns::Transcript(text));
        } else {
            row.add(frame, columns::first(root, ColumnMeaning::History), limits)?;
            row.question(frame, limits)?;
        }
        let answer = columns::answer(root, listed.map(|(_, list)| list));
        if let Some(answer) = answer.filter(|_| whole.is_none()) {
            row.answer = Some(row.turns.len());
            row.add(frame, Some(answer), limits)?;
        }
        Ok(row)
    }

    /// Reads the question: a list of messages, or texts, including those with context of the question.
    fn question(&mut self, frame: FrameView<'d>, limits: &Limits) -> Result<(), Box<Finding>> {
        let root = frame.root();
        let asked = columns::first(root, ColumnMeaning::Question);
        if asked.is_some_and(|(_, value)| value.kind() != Kind::String) {
            return self.add(frame, asked, limits);
        }
        let around =
            [ColumnMeaning::Context, ColumnMeaning::Input].map(|meaning| columns::first(root, meaning));
        let [before, behind] = around.map(|found| found.filter(|(_, value)| value.kind() == Kind::String));
        let texts: Vec<_> = [before, asked, behind].into_iter().flatten().collect();
        for found in &texts {
            single(frame, *found)?;
        }
        self.columns
            .extend(texts.iter().map(|(name, _)| Cow::Borrowed(*name)));
        if !texts.is_empty() {
            let texts = texts.into_iter().map(|(_, text)| text).collect();
            self.turns.push(RowTurns::Text(Role::User, texts));
        }
        Ok(())
    }

    /// Adds the turns of a column.
    fn add(
        &mut self,
        frame: FrameView<'d>,
        found: Option<(&'static str, Value<'d>)>,
        limits: &Limits,
    ) -> Result<(), Box<Finding>> {
        let Some((name, value)) = found else {
            return Ok(());
        };
        single(frame, (name, value))?;
        let error = |code, text: String| Err(frame.error(code, text, format!("$.{name}"), value));
        let count = ("the conversation", value.len(), "messages");
        frame.bound(count, format!("$.{name}"), value, limits)?;
        let meaning = columns::meaning(name);
        let is_answer = matches!(meaning, Some(ColumnMeaning::Answer | ColumnMeaning::Better));
        match value.kind() {
            Kind::String => {
                let role = match meaning {
                    Some(ColumnMeaning::System) => Role::System,
                    _ if is_answer => Role::Assistant,
                    _ => Role::User,
                };
                self.turns.push(RowTurns::Text(role, vec![value]));
            }
            _ if is_answer && !of_messages(value) => self.turns.push(RowTurns::Answer(name, value)),
            Kind::Array if !is_answer && value.items().next().is_some_and(|turn| texts(turn).is_some()) => {
                // Texts by turns, the person's first.
                let mut roles = [Role::User, Role::Assistant].into_iter().cycle();
                for (index, turn) in value.items().enumerate() {
                    let Some(turn_texts) = texts(turn) else {
                        let (text, place) = (
                            format!("{name} holds something else than texts"),
                            format!("$.{name}[{index}]"),
                        );
                        return Err(frame.error(&codes::WRONG_TYPE, text, place, turn));
                    };
                    if let (Kind::Object, [question, answer]) = (turn.kind(), &*turn_texts) {
                        self.turns.push(RowTurns::Pair(turn, *question, *answer));
                        continue;
                    }
                    for text in turn_texts {
                        let role = roles.next().unwrap_or(Role::User);
                        self.turns.push(RowTurns::Text(role, vec![text]));
                    }
                }
            }
            Kind::Array if name == "messages" => self.turns.push(RowTurns::List(value)),
            Kind::Array => self.turns.push(RowTurns::Column(value)),
            _ => {
                let text = format!("{name} is neither a list of messages nor a text");
                return error(&codes::WRONG_TYPE, text);
            }
        }
        self.columns.push(Cow::Borrowed(name));
        Ok(())
    }
}

/// A column that the row must not have twice.
fn single(frame: FrameView<'_>, (name, value): (&str, Value<'_>)) -> Result<(), Box<Finding>> {
    let times = frame.root().fields().filter(|(key, _)| key == name).count();
    if times > 1 {
        let text = format!("duplicate key {name} in the record");
        return Err(frame.error(&codes::DUPLICATE_KEY, text, format!("$.{name}"), value));
    }
    Ok(())
}

/// A text, or the question and the answer in a list of both.
fn texts(turn: Value<'_>) -> Option<Vec<Value<'_>>> {
    match turn.kind() {
        Kind::String => Some(vec![turn]),
        Kind::Array if turn.items().all(|text| text.kind() == Kind::String) => Some(turn.items().collect()),
        Kind::Object => columns::question_and_answer(turn).map(Vec::from),
        _ => None,
    }
}

/// Whether a text is a written-out conversation.
fn is_written_out(value: Value<'_>) -> bool {
    value
        .string()
        .is_some_and(|text| transcript::written_out(&text).is_some())
}

/// Whether a column contains messages, or texts by turns.
fn is_listed(value: Value<'_>) -> bool {
    let mut turns = value.items().skip_while(|turn| turn.is_null());
    turns.next().map_or(value.kind() == Kind::Array, |first| {
        first.get("role").is_some() || matches!(first.kind(), Kind::String)
    })
}

/// Whether a list contains only messages, without an API's wrapping.
fn of_messages(value: Value<'_>) -> bool {
    let is_message = |item: Value<'_>| item.get("role").is_some() && item.get("type").is_none();
    value.kind() == Kind::Array && !value.is_empty() && value.items().all(is_message)
}

/// Whether a value begins with the question, so that it is the whole conversation.
fn holds_question(value: Value<'_>) -> bool {
    if let Some(text) = value.string() {
        return transcript::is_one(&text);
    }
    let first = value.items().next().and_then(|message| message.get("role"));
    let word = first.and_then(Value::string);
    matches!(
        word.as_deref().and_then(api_role),
        Some(Role::User | Role::System)
    )
}

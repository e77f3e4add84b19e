//! Reads the turns of a request or of a row, in order.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{AlternativeOrigin, Judgement, Part, Role, Weight};

use super::cached;
use super::row::RowTurns;
use crate::base::{Turn, present, texts::transcript};
use crate::frame::FrameView;
use crate::grammar::{self, Grammar, RESPONSES, is_call, is_foreign, stream};
use crate::layout::columns::{self, ColumnMeaning};
use crate::layout::turns::weight;
use crate::layout::{Element, OUTSIDE_LISTS, Turns, exchange::Exchange, preference};

/// A column of answers, and the columns that state which of them are right; the first with a statement is used.
const GENERATIONS: &str = "generations";
const VERDICTS: [&str; 4] = [
    "correctness_math_verify",
    "correctness_llama",
    "correctness",
    "is_correct",
];

/// Reads the turns of one record.
pub(super) struct TurnReader<'d, 'r> {
    /// The messages, and the other fields of the record.
    pub exchange: Exchange<'d, 'r>,
    /// Whether the list of turns is not the record's own, but another column.
    pub is_column: bool,
    /// The grammar of the turns.
    grammar: &'static Grammar,
    /// Whether the question is a conversation written out as text.
    is_written_out: bool,
    /// The messages that a cached block may repeat.
    earlier: cached::Earlier,
    /// The number of messages up to the last one with the role of a call.
    calls_until: usize,
}

impl<'d, 'r> TurnReader<'d, 'r> {
    /// A reader without turns.
    pub(super) fn new(grammar: &'static Grammar, frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            exchange: Exchange::new(Turns::new(frame, limits)),
            is_column: false,
            grammar,
            is_written_out: false,
            earlier: cached::Earlier::default(),
            calls_until: 0,
        }
    }

    /// The number of messages so far.
    pub(super) fn count(&self) -> usize {
        self.exchange.turns.list.messages.len()
    }

    /// Reads turns from one place.
    pub(super) fn turns(&mut self, turns: RowTurns<'d>) {
        match turns {
            RowTurns::List(list) => (0..)
                .zip(list.items())
                .for_each(|(index, turn)| self.read(index, turn)),
            RowTurns::Column(list) => list.items().for_each(|turn| self.read(OUTSIDE_LISTS, turn)),
            RowTurns::Content(role, index, value) => self.content(role, index, value),
            RowTurns::Text(role, texts) => self.texts(role, &texts),
            RowTurns::Pair(pair, question, answer) => self.pair(pair, question, answer),
            RowTurns::Transcript(text) => {
                let turns = text.as_str().and_then(|words| transcript::written_out(&words));
                self.turns_of(turns.into_iter().flatten(), text);
            }
            RowTurns::Answer(name, value) => {
                if !columns::is_graded(self.exchange.turns.list.frame.root(), name) {
                    self.exchange.beside.take(name);
                }
                self.answer(name, value);
            }
        }
    }

    /// Reads the rejected answer: an alternative to the answer from `start` on, else to the last one.
    pub(super) fn compare(&mut self, root: Value<'d>, start: Option<usize>) {
        let Some((field, other)) =
            columns::first(root, ColumnMeaning::Worse).filter(|(_, other)| preference::may_be_answer(*other))
        else {
            return;
        };
        let start = start.unwrap_or_else(|| preference::answer(&self.exchange.turns.list.messages));
        let before_answer = self.exchange.turns.list.begin_alternative();
        self.answer(field, other);
        if preference::compare(&mut self.exchange.turns.list, before_answer, root, start) {
            self.exchange.beside.take(field);
        }
    }

    /// Reads `generations`, each labelled right or wrong in another column. The one that is the conversation's answer gets its label, and the
    /// others are alternatives to it.
    pub(super) fn generations(&mut self, root: Value<'d>) {
        let verdicts = VERDICTS
            .iter()
            .filter_map(|name| Some((*name, present(root, name)?)));
        let mut verdicts =
            verdicts.filter(|(_, list)| list.items().any(|verdict| verdict.as_bool().is_some()));
        let Some(((name, verdicts), all)) = verdicts.next().zip(present(root, GENERATIONS)) else {
            return;
        };
        let is_text = |answer: Value<'_>| answer.kind() == Kind::String;
        if all.kind() != Kind::Array || !all.items().all(is_text) || all.len() != verdicts.len() {
            return;
        }
        let (mut own, mut others) = (None, Vec::new());
        let start = preference::answer(&self.exchange.turns.list.messages);
        for (answer, verdict) in all.items().zip(verdicts.items()) {
            let judgement = Judgement {
                label: verdict.as_bool(),
                ..Judgement::default()
            };
            let before_answer = self.exchange.turns.list.begin_alternative();
            self.texts(Role::Assistant, &[answer]);
            let list = &mut self.exchange.turns.list;
            let mut answer = list.end_alternative(before_answer);
            preference::leave_common(list, start, &mut answer);
            if answer.is_empty() {
                own = own.or(Some((AlternativeOrigin::Choice, judgement)));
            } else {
                others.push((AlternativeOrigin::Choice, judgement, answer));
            }
        }
        let list = &mut self.exchange.turns.list;
        if others.is_empty() && own.is_none() {
            return;
        }
        let text = format!(
            "{GENERATIONS} are answers that {name} calls right or wrong: they have these labels among the alternatives"
        );
        list.notes.push(
            Finding::new(&codes::LABELLED_ANSWER, text).at_path(format!("$.{GENERATIONS}")),
            Some(all),
        );
        if own.is_some_and(|(_, judgement)| judgement.label == Some(false)) {
            // A wrong answer is not a training target.
            let messages = list.messages.iter_mut().skip(start);
            messages.for_each(|message| message.weight = Weight::new(0.0));
        }
        list.alternatives(start..list.messages.len(), own, others);
        self.exchange.beside.take(GENERATIONS);
        self.exchange.beside.take(name);
    }

    /// Reads an answer: turns of the same vendor, or any vendor's answer.
    fn answer(&mut self, field: &str, value: Value<'d>) {
        let is_own = |turn: Value<'_>| !self.grammar.is_openais() && self.grammar.is_like_message(turn);
        if value.kind() == Kind::String {
            self.texts(Role::Assistant, &[value]);
        } else if value.kind() == Kind::Number {
            value.mark(Mark::Taken);
            self.turns_of([(Role::Assistant, value.raw().to_owned())], value);
        } else if is_own(value) {
            self.read(OUTSIDE_LISTS, value);
        } else if value.kind() == Kind::Array && !value.is_empty() && value.items().all(is_own) {
            self.turns(RowTurns::Column(value));
        } else {
            self.exchange.answered(value, field);
        }
    }

    /// Reads the turn with this index in the list.
    pub(super) fn read(&mut self, index: u32, value: Value<'d>) {
        let list = &mut self.exchange.turns.list;
        let document = list.frame.document;
        let path = || document.path_at(value.span().start);
        let single = |value| self.grammar.single(value);
        if list.element(Element::Message, path, value, single).is_some() {
            self.add(index, value);
        }
    }

    /// Reads content that is a turn: the system text, or a text in place of the list.
    fn content(&mut self, role: Role, index: u32, value: Value<'d>) {
        self.exchange.turns.list.rows.rows += 1;
        if role == Role::User {
            self.add(index, value);
            return;
        }
        let mut turn = if value.kind() == Kind::Object {
            let mut turn = Turn::default();
            let text = "the system text is an object and is read as its JSON text";
            turn.malformed_content("", text, value, &mut self.exchange.turns.list.site(None, value));
            turn
        } else {
            self.turn(value)
        };
        turn.role = Some(role);
        self.exchange.turns.push(index, value, turn);
    }

    /// Reads texts: one turn, or several turns written out; or an answer that was logged as a stream.
    fn texts(&mut self, role: Role, texts: &[Value<'d>]) {
        let Some(value) = texts.first() else { return };
        let limits = self.exchange.turns.list.limits;
        if role == Role::Assistant && texts.len() == 1 && stream::open(*value, limits).is_some() {
            return self.exchange.answered(*value, "answer");
        }
        let words: Vec<_> = texts.iter().filter_map(|text| text.as_str()).collect();
        let text = words.join("\n");
        let mut turns = transcript::turns(&text).unwrap_or_else(|| {
            // The answer to a written-out conversation continues after the name.
            let text = text.strip_prefix(' ').filter(|_| self.is_written_out);
            vec![(role, text.map_or_else(|| words.join("\n"), str::to_owned))]
        });
        // The name of the next speaker at the end asks for an answer.
        let is_asking = |(last, text): &(Role, String)| *last == Role::Assistant && text.trim().is_empty();
        if role == Role::User && turns.last().is_some_and(is_asking) {
            turns.pop();
            self.is_written_out = true;
        }
        self.turns_of(turns, *value);
    }

    /// Reads a question and its answer, in an object that may also have the system text and the weight of the answer.
    fn pair(&mut self, pair: Value<'d>, question: Value<'d>, answer: Value<'d>) {
        let system = columns::first(pair, ColumnMeaning::System).map(|(_, system)| system);
        if let Some(system) = system.filter(|system| system.kind() == Kind::String) {
            self.texts(Role::System, &[system]);
        }
        self.texts(Role::User, &[question]);
        let start = self.count();
        self.texts(Role::Assistant, &[answer]);
        if let Some(weight) = weight::take(pair, &mut Vec::new()) {
            let answers = self.exchange.turns.list.messages.iter_mut().skip(start);
            answers.for_each(|message| message.weight = Some(weight));
        }
    }

    /// Adds the turns of one text.
    fn turns_of(&mut self, turns: impl IntoIterator<Item = (Role, String)>, value: Value<'d>) {
        for (role, text) in turns {
            let turn = Turn::of(role, Part::Text(text));
            self.exchange.turns.list.rows.rows += 1;
            self.exchange.turns.push(OUTSIDE_LISTS, value, turn);
        }
    }

    fn add(&mut self, index: u32, value: Value<'d>) {
        let list = &self.exchange.turns.list;
        let (known, document) = (list.notes.findings.len(), list.frame.document);
        let turn = self.turn(value);
        if self.grammar.is_openais() {
            let findings = self.exchange.turns.list.notes.findings.iter_mut();
            findings
                .skip(known)
                .for_each(|finding| finding.message_id.clone_from(&turn.id));
        }
        let place = || document.path_at(value.span().start);
        self.exchange.turns.add(index, value, turn, known, place);
        if is_call(value) {
            let is_parallel = self.calls_until > 0 && self.count() == self.calls_until + 1;
            if is_parallel {
                self.exchange.turns.list.join_last();
            }
            self.calls_until = self.count();
        }
        self.find_block(value);
    }

    fn turn(&mut self, value: Value<'d>) -> Turn {
        let grammar = self.grammar;
        let is_other = !grammar.is_openais() && is_of_other_vendor(value, grammar);
        self.exchange.turns.read(value, "", |value, site| {
            if is_other {
                return grammar::any(value, grammar, site);
            }
            site.is_strict = true;
            grammar.turn(value, site)
        })
    }

    /// Reports a newest message that is a cached block, and one that repeats the messages before it.
    fn find_block(&mut self, value: Value<'d>) {
        let list = &mut self.exchange.turns.list;
        let Some((newest, earlier)) = list.messages.split_last() else {
            return;
        };
        let Some(block) = cached::block(newest) else {
            return;
        };
        let notes = &mut list.notes;
        let content = value.get("content").unwrap_or(value);
        let place = |finding: Finding| finding.at_message(newest.position, newest.id.as_deref(), ".content");
        let text = "the message is earlier conversation written out for a prompt cache";
        notes.push(place(Finding::new(&codes::CACHED_BLOCK, text)), Some(content));
        let count = self.earlier.repeated(block, earlier);
        if count > 0 {
            let text = format!("the cached block repeats {count} of the messages before it");
            let mut finding = place(Finding::new(&codes::HISTORY_REPEATED, text));
            finding.count = count;
            notes.push(finding, Some(content));
        }
    }
}

/// Whether a turn among those of a vendor belongs to another: it calls tools as `OpenAI` does, or items have blocks of another API.
fn is_of_other_vendor(turn: Value<'_>, grammar: &Grammar) -> bool {
    let calls = ["tool_calls", "tool_call_id"].iter();
    calls.into_iter().any(|key| present(turn, key).is_some())
        || turn.get("role").and_then(Value::string).as_deref() == Some("tool")
        || grammar.is(&RESPONSES) && is_foreign(turn, grammar)
}

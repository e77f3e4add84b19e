//! Filters of message lists: they keep the order of the source and leave out what a program does not send to a model.
//!
//! A result needs an open call before it. A user's text that contains a result in words is left out too, unless a cache mark shows that it
//! is history. Calls without a result stay.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use chatmill_model::{Message, Part, PartPlace, Role};
use regex_automata::meta::Regex;

use crate::loss::{LossCode, LossReason, Losses};
use crate::messages::pairing::{Arrangement, Call, FoundResult, MessageParts, Pairs, Step};
use crate::messages::text::message_text;
use crate::view::View;

/// The losses that a filter may declare.
pub(crate) const LOSES: &[LossCode] = &[
    LossCode::DuplicateResult,
    LossCode::OrphanResultDropped,
    LossCode::ToolResultDropped,
    LossCode::RoleMapped,
    LossCode::PartMoved,
];

/// Which calls a result may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenCalls {
    /// Every earlier call without a result.
    EveryCall,
    /// Calls of the assistant's newest turn, if they have an id.
    NewestTurn,
}

/// A filter as data.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Which calls a result may answer.
    pub(crate) open: OpenCalls,
    /// Regular expressions for texts that embed a result.
    pub(crate) embedded: &'static [&'static str],
    /// Whether the last filtered user turn is kept if otherwise only system text would be left.
    pub(crate) keeps_last_user: bool,
    /// The rule that drops results.
    pub(crate) result_rule: LossReason,
    /// The rule that drops texts.
    pub(crate) text_rule: LossReason,
    /// The compiled expressions, set on first use.
    pub(crate) compiled: OnceLock<Regex>,
}

impl Filter {
    /// Returns the steps that remain, in the order of the source.
    pub(crate) fn arrange<'a>(
        &self,
        view: &View<'a>,
        shown: &[&'a Message],
        losses: &mut Losses,
    ) -> Arrangement<'a> {
        let mut filtering = Filtering {
            filter: self,
            view,
            pairs: Pairs::of(view, shown),
            open: BTreeSet::new(),
            answered: BTreeSet::new(),
            embedding: Vec::new(),
            steps: Vec::new(),
        };
        for message in shown {
            filtering.add(message, losses);
        }
        filtering.finish(losses)
    }

    fn opens(&self, call: &Call<'_>) -> bool {
        self.open == OpenCalls::EveryCall || call.call.known_id().is_some()
    }

    fn embeds(&self, view: &View<'_>, message: &Message) -> bool {
        let is_cached = message.parts.iter().any(|part| matches!(part, Part::CacheMark));
        if is_cached {
            return false;
        }
        let mut texts = message.texts().map(|text| message_text(view, message, text));
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => self.matches(&first),
            Some(second) => {
                let all: Vec<_> = [first, second].into_iter().chain(texts).collect();
                self.matches(&all.join(" "))
            }
        }
    }

    #[expect(
        clippy::expect_used,
        reason = "the expressions are constants and tests compile each filter"
    )]
    fn matches(&self, text: &str) -> bool {
        let compiled = self
            .compiled
            .get_or_init(|| Regex::new_many(self.embedded).expect("the expressions of a filter compile"));
        compiled.is_match(text)
    }
}

struct Filtering<'f, 'v, 'a> {
    filter: &'f Filter,
    view: &'v View<'a>,
    pairs: Pairs,
    open: BTreeSet<PartPlace>,
    answered: BTreeSet<PartPlace>,
    /// Messages that embed a result.
    embedding: Vec<&'a Message>,
    steps: Vec<Step<'a>>,
}

impl<'a> Filtering<'_, '_, 'a> {
    fn add(&mut self, message: &'a Message, losses: &mut Losses) {
        let mut found = MessageParts::of(self.view, message);
        let (before, after) = found.split_results(message);
        for answer in before {
            self.answer(answer, losses);
        }
        if found.has_content || !found.calls.is_empty() {
            self.message(message, std::mem::take(&mut found.calls));
        }
        for answer in after {
            if self.answer(answer, losses) {
                found.declare_moved(answer, losses);
            }
        }
    }

    fn message(&mut self, message: &'a Message, calls: Vec<Call<'a>>) {
        if self.view.is_own(message) {
            if self.filter.open == OpenCalls::NewestTurn {
                self.open.clear();
            }
            let filter = self.filter;
            let opened = calls.iter().filter(|call| filter.opens(call));
            self.open.extend(opened.map(|call| call.place));
        } else if message.role != Role::System && self.filter.embeds(self.view, message) {
            self.embedding.push(message);
            return;
        }
        self.steps.push(Step::Message { message, calls });
    }

    /// Adds or leaves out a result; returns whether it is rendered.
    fn answer(&mut self, answer: FoundResult<'a>, losses: &mut Losses) -> bool {
        let call = self.pairs.call_of(answer.place());
        let call = call.and_then(|place| self.call(place));
        if let Some((caller, _)) = call.filter(|(caller, _)| !self.view.is_own(caller)) {
            self.steps.push(Step::foreign(answer, caller, losses));
            return true;
        }
        let has_id = self.filter.open == OpenCalls::EveryCall || answer.result.known_id().is_some();
        let code = match call {
            Some((_, call)) if has_id && self.open.remove(&call.place) => {
                self.answered.insert(call.place);
                self.steps.push(Step::Answer(call, answer));
                return true;
            }
            Some((_, call)) if self.answered.contains(&call.place) => LossCode::DuplicateResult,
            _ => LossCode::OrphanResultDropped,
        };
        answer.leave_out((code, self.filter.result_rule), losses);
        false
    }

    fn call(&self, place: PartPlace) -> Option<(&'a Message, Call<'a>)> {
        let caller = self.view.message(place.position)?;
        match caller.parts.get(place.part as usize)? {
            Part::ToolCall(call) => Some((caller, Call { place, call })),
            _ => None,
        }
    }

    fn finish(mut self, losses: &mut Losses) -> Arrangement<'a> {
        let is_empty = self
            .steps
            .iter()
            .all(|step| matches!(step, Step::Message { message, .. } if message.role == Role::System));
        if is_empty
            && self.filter.keeps_last_user
            && let Some(message) = self.embedding.pop()
        {
            self.steps.push(Step::Message {
                message,
                calls: Vec::new(),
            });
        }
        for message in self.embedding {
            losses.at(
                (LossCode::ToolResultDropped, self.filter.text_rule),
                message.position,
            );
        }
        Arrangement {
            steps: self.steps,
            rejected: Vec::new(),
        }
    }
}

//! Orders a conversation for dialects with tool turns: every result directly follows its call.
//!
//! In a conversation others may speak between a call and its result, and results may come late, early, twice or never. Whole turns are
//! moved and nothing is cut. The canonical record keeps the true order, and every move is declared as a loss.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use chatmill_diag::cut;
use chatmill_model::{CallStatus, Message, Part, PartPlace, Role, ToolCall, ToolResult};

use crate::loss::violation::Violation;
use crate::loss::{LossCause, LossCode, LossReason, Losses, reasons};
use crate::view::View;
use crate::view::policy::Orphans;

/// The losses that leaving out tools may declare.
pub(crate) const LOSES_TOOLS: &[LossCode] = &[
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::RoleMapped,
    LossCode::PartMoved,
];

/// A call of the perspective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// The position of its message, and its index among the parts.
    pub(crate) place: PartPlace,
    /// The call itself.
    pub(crate) call: &'a ToolCall,
}

/// A result and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundResult<'a> {
    /// The message that contains it.
    pub(crate) message: &'a Message,
    /// The result itself.
    pub(crate) result: &'a ToolResult,
    /// Its index among the parts of the message.
    pub(crate) part: u32,
}

impl FoundResult<'_> {
    /// Returns the place of the result.
    pub(crate) fn place(self) -> PartPlace {
        View::place(self.message, self.part as usize)
    }

    /// Counts the cache marks that follow the result and its media.
    pub(crate) fn marks(self) -> u64 {
        self.message.marks_on(self.part as usize) as u64
    }

    /// Declares that the result is left out, with its media and its cache marks.
    pub(crate) fn leave_out(self, cause: impl Into<LossCause>, losses: &mut Losses) {
        let position = self.message.position;
        let media = self.message.media_of(self.part as usize).count() as u64;
        losses.at(cause, position);
        losses.several(reasons::RESULT_OF_THE_MEDIUM_IS_LEFT_OUT, position, media);
        losses.several(reasons::MARKED_RESULT_IS_LEFT_OUT, position, self.marks());
    }
}

/// A message or a result in the order of a rendering.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// A message without its results, and those of its calls that are written as calls.
    Message {
        /// The message.
        message: &'a Message,
        /// The calls of the perspective in it; empty for messages of others.
        calls: Vec<Call<'a>>,
    },
    /// The result of a call of the step before.
    Answer(Call<'a>, FoundResult<'a>),
    /// A synthetic result for a call of the step before.
    Missing(Call<'a>),
    /// A result that is written as text because its call is missing or not the perspective's; the index of the participant who called.
    Inline(FoundResult<'a>, Option<usize>),
    /// A result without a call that stays as it is, because policy rejects instead of repairing.
    Loose(FoundResult<'a>),
}

/// The steps of a rendering, and the calls and results that policy rejects.
pub(crate) struct Arrangement<'a> {
    /// The steps, in the order in which they are rendered.
    pub(crate) steps: Vec<Step<'a>>,
    /// A violation for each call or result that policy rejects.
    pub(crate) rejected: Vec<Violation>,
}

/// Orders the messages that a rendering shows so that results follow their calls.
pub(crate) fn arrange<'a>(view: &View<'a>, shown: &[&'a Message], losses: &mut Losses) -> Arrangement<'a> {
    let mut builder = OrderBuilder {
        view,
        pairs: Pairs::of(view, shown),
        between: OnceCell::new(),
        open: None,
        turns: Arrangement {
            steps: Vec::new(),
            rejected: Vec::new(),
        },
        losses,
    };
    for message in shown {
        builder.add(message);
    }
    builder.finish()
}

/// Leaves out the perspective's calls, their results, and results without a call: for dialects that have no tools.
pub(crate) fn without_tools<'a>(
    view: &View<'a>,
    shown: &[&'a Message],
    reason: LossReason,
    losses: &mut Losses,
) -> Arrangement<'a> {
    let pairs = Pairs::of(view, shown);
    let mut steps = Vec::new();
    for message in shown {
        let found = MessageParts::of(view, message);
        losses.several(
            (LossCode::ToolCallDropped, reason),
            message.position,
            found.calls.len() as u64,
        );
        let (before, after) = found.split_results(message);
        let answer = |answer: FoundResult<'a>, steps: &mut Vec<Step<'a>>, losses: &mut Losses| {
            let caller = pairs.call_of(answer.place());
            let caller = caller.and_then(|call| view.message(call.position));
            let caller = caller.filter(|caller| !view.is_own(caller));
            match caller {
                Some(caller) => steps.push(Step::foreign(answer, caller, losses)),
                None => answer.leave_out((LossCode::ToolResultDropped, reason), losses),
            }
            caller.is_some()
        };
        for result in before {
            answer(result, &mut steps, losses);
        }
        if found.has_content {
            steps.push(Step::Message {
                message,
                calls: Vec::new(),
            });
        }
        for result in after {
            if answer(result, &mut steps, losses) {
                found.declare_moved(result, losses);
            }
        }
    }
    Arrangement {
        steps,
        rejected: Vec::new(),
    }
}

impl<'a> Step<'a> {
    /// Returns the position of the message; `None` for system text and results.
    pub(crate) fn message_position(&self) -> Option<u32> {
        match self {
            Self::Message { message, .. } if message.role != Role::System => Some(message.position),
            _ => None,
        }
    }

    /// The result of a call that is not the perspective's, as text.
    pub(crate) fn foreign(answer: FoundResult<'a>, caller: &Message, losses: &mut Losses) -> Self {
        losses.at(reasons::FOREIGN_RESULT_AS_TEXT, answer.message.position);
        Self::Inline(answer, caller.sender)
    }
}

/// The parts of a message, sorted by kind.
pub(crate) struct MessageParts<'a> {
    /// Whether the message has anything other than results and the perspective's calls.
    pub(crate) has_content: bool,
    /// The perspective's calls.
    pub(crate) calls: Vec<Call<'a>>,
    /// All tool results in the message, of any participant's calls.
    pub(crate) results: Vec<FoundResult<'a>>,
    /// The index of the last part that is neither a result nor a mark on one.
    last_own_part: Option<usize>,
}

impl<'a> MessageParts<'a> {
    /// Sorts the parts of a message.
    pub(crate) fn of(view: &View<'a>, message: &'a Message) -> Self {
        let results = (0..)
            .zip(&message.parts)
            .filter_map(|(part, content)| match content {
                Part::ToolResult(result) => Some(FoundResult {
                    message,
                    result,
                    part,
                }),
                _ => None,
            });
        let mut found = Self {
            has_content: message.parts.is_empty(),
            calls: Vec::new(),
            results: results.collect(),
            last_own_part: None,
        };
        for (index, part) in message.parts_without_results() {
            found.last_own_part = Some(index);
            match part {
                Part::ToolCall(call) if view.is_own(message) => {
                    let place = View::place(message, index);
                    found.calls.push(Call { place, call });
                }
                _ => found.has_content = true,
            }
        }
        found
    }
}

impl<'a> MessageParts<'a> {
    /// Splits the results into those before all other parts of the message, and the rest.
    pub(crate) fn split_results(&self, message: &Message) -> (Vec<FoundResult<'a>>, Vec<FoundResult<'a>>) {
        let is_other = |part: &Part| !matches!(part, Part::ToolResult(_) | Part::CacheMark);
        let first = message.own_parts().find(|(_, part)| is_other(part));
        let results = self.results.iter().copied();
        results.partition(|answer| first.is_none_or(|(first, _)| (answer.part as usize) < first))
    }

    /// Declares a result that is rendered after its message as moved, if another part of the message followed it.
    pub(crate) fn declare_moved(&self, answer: FoundResult<'_>, losses: &mut Losses) {
        if self.last_own_part > Some(answer.part as usize) {
            losses.at(reasons::RESULT_STANDS_BEHIND_ITS_MESSAGE, answer.message.position);
        }
    }
}

/// The pairs of a call and a result that are both shown.
pub(crate) struct Pairs {
    by_call: BTreeMap<PartPlace, (PartPlace, CallStatus)>,
    by_result: BTreeMap<PartPlace, PartPlace>,
    duplicates: BTreeMap<PartPlace, Option<PartPlace>>,
}

impl Pairs {
    /// Returns the call that a result answers, also for duplicate results.
    pub(crate) fn call_of(&self, result: PartPlace) -> Option<PartPlace> {
        let paired = self.by_result.get(&result).copied();
        paired.or_else(|| self.duplicates.get(&result).copied().flatten())
    }

    /// Collects the pairs among the shown messages.
    pub(crate) fn of(view: &View<'_>, shown: &[&Message]) -> Self {
        // The shown messages are sorted by position.
        let is_shown = |place: &PartPlace| {
            let found = shown.binary_search_by_key(&place.position, |message| message.position);
            found.is_ok()
        };
        let mut pairs = Self {
            by_call: BTreeMap::new(),
            by_result: BTreeMap::new(),
            duplicates: BTreeMap::new(),
        };
        for pairing in &view.linked.pairings {
            let call = pairing.call.filter(is_shown);
            let result = pairing.result.filter(is_shown);
            match (pairing.status, call, result) {
                (CallStatus::Duplicate, call, Some(result)) => {
                    pairs.duplicates.insert(result, call);
                }
                (CallStatus::Paired | CallStatus::Late | CallStatus::Early, Some(call), Some(result)) => {
                    pairs.by_call.insert(call, (result, pairing.status));
                    pairs.by_result.insert(result, call);
                }
                _ => {}
            }
        }
        pairs
    }
}

/// What is between the first call with a result and the last result. Every message is read once here, so that testing each pair takes
/// constant time, however far apart a call and its result are.
struct Between {
    /// The position of the first call.
    first: u32,
    /// The facts about each position from there on.
    places: Vec<PositionFacts>,
}

#[derive(Clone, Copy)]
struct PositionFacts {
    /// Number of earlier turns that have anything other than results of the perspective's calls.
    others: u32,
    /// The index of the first part that is neither a mark nor a result of the perspective's calls.
    first: Option<u32>,
}

impl Between {
    fn of(view: &View<'_>, pairs: &Pairs) -> Self {
        let first = pairs.by_call.keys().next().map_or(0, |call| call.position);
        let results = pairs.by_call.values().map(|(result, _)| result.position);
        let end = results.max().map_or(first, |last| last + 1);
        let counts = |message: &Message, index: usize, part: &Part| match part {
            Part::CacheMark => false,
            Part::ToolResult(_) => Self::is_foreign(view, pairs, View::place(message, index)),
            _ => true,
        };
        let mut others = 0;
        let places = (first..end).map(|position| {
            let message = view.message(position);
            let first = |message: &'_ Message| {
                let mut parts = message.own_parts();
                parts
                    .find(|(index, part)| counts(message, *index, part))
                    .map(|(index, _)| index)
            };
            let first = message.and_then(first);
            let place = PositionFacts {
                others,
                first: first.map(|part| part as u32),
            };
            let turn = message.filter(|message| View::is_turn(message));
            others += u32::from(turn.is_some_and(|turn| Self::is_other(view, pairs, turn)));
            place
        });
        Self {
            first,
            places: places.collect(),
        }
    }

    /// Whether a turn has anything other than results of the perspective's calls.
    fn is_other(view: &View<'_>, pairs: &Pairs, turn: &Message) -> bool {
        let found = MessageParts::of(view, turn);
        found.has_content
            || !found.calls.is_empty()
            || found
                .results
                .into_iter()
                .any(|answer| Self::is_foreign(view, pairs, answer.place()))
    }

    /// Whether a result is rendered and does not answer a call of the perspective. Duplicate results of the perspective's calls are left
    /// out.
    fn is_foreign(view: &View<'_>, pairs: &Pairs, result: PartPlace) -> bool {
        match pairs.call_of(result) {
            Some(call) => !view
                .message(call.position)
                .is_some_and(|caller| view.is_own(caller)),
            None => !pairs.duplicates.contains_key(&result),
        }
    }

    fn at(&self, position: u32) -> Option<PositionFacts> {
        let index = position.checked_sub(self.first)?;
        self.places.get(index as usize).copied()
    }

    /// Whether another part precedes a result in its message, or another turn is between the call and the result.
    fn has_others(&self, call: PartPlace, result: PartPlace) -> bool {
        if result.position <= call.position {
            return false;
        }
        let (after, before) = (self.at(call.position + 1), self.at(result.position));
        let (Some(after), Some(before)) = (after, before) else {
            return false;
        };
        before.first.is_some_and(|first| first < result.part) || before.others > after.others
    }
}

struct OrderBuilder<'v, 'a, 'l> {
    view: &'v View<'a>,
    pairs: Pairs,
    /// What is between calls and their results, computed on first use.
    between: OnceCell<Between>,
    /// The last message, if it has calls without any result. It is held back: if nothing follows, the calls are the perspective's answer
    /// and their results are not missing.
    open: Option<MessageCalls<'a>>,
    turns: Arrangement<'a>,
    losses: &'l mut Losses,
}

/// A message, and the perspective's calls in it.
struct MessageCalls<'a> {
    message: &'a Message,
    has_content: bool,
    calls: Vec<Call<'a>>,
}

impl<'a> OrderBuilder<'_, 'a, '_> {
    fn add(&mut self, message: &'a Message) {
        let mut found = MessageParts::of(self.view, message);
        let (before, after) = found.split_results(message);
        for answer in before {
            self.unpaired(answer);
        }
        let message = MessageCalls {
            message,
            has_content: found.has_content,
            calls: std::mem::take(&mut found.calls),
        };
        self.message(message);
        for answer in after {
            if self.unpaired(answer) {
                found.declare_moved(answer, self.losses);
            }
        }
    }

    /// Adds a message and the results of its calls.
    fn message(&mut self, message: MessageCalls<'a>) {
        if !message.has_content && message.calls.is_empty() {
            return;
        }
        self.follow();
        let is_answered = |call: &Call<'_>| self.pairs.by_call.contains_key(&call.place);
        if message.calls.is_empty() || message.calls.iter().any(is_answered) {
            self.answer_all(message);
        } else {
            self.open = Some(message);
        }
    }

    /// Adds the message that was held back: another step follows, so the results of its calls are missing.
    fn follow(&mut self) {
        if let Some(message) = self.open.take() {
            self.answer_all(message);
        }
    }

    /// Appends a step.
    fn push(&mut self, step: Step<'a>) {
        self.follow();
        self.turns.steps.push(step);
    }

    /// Returns all steps, after the last message.
    fn finish(mut self) -> Arrangement<'a> {
        if let Some(MessageCalls { message, calls, .. }) = self.open.take() {
            self.push(Step::Message { message, calls });
        }
        self.turns
    }

    fn answer_all(&mut self, message: MessageCalls<'a>) {
        let MessageCalls {
            message,
            has_content,
            mut calls,
        } = message;
        if self.view.policy.orphans == Orphans::Drop {
            let (answered, open): (Vec<_>, Vec<_>) = calls
                .into_iter()
                .partition(|call| self.pairs.by_call.contains_key(&call.place));
            calls = answered;
            self.losses.several(
                reasons::POLICY_DROPS_OPEN_CALLS,
                message.position,
                open.len() as u64,
            );
        }
        if !has_content && calls.is_empty() {
            return;
        }
        self.push(Step::Message {
            message,
            calls: calls.clone(),
        });
        let mut newest = None;
        for call in calls {
            match self.pairs.by_call.get(&call.place) {
                Some(&(place, status)) => {
                    self.answer(call, place, status, newest);
                    newest = newest.max(Some(place));
                }
                None if self.view.policy.orphans == Orphans::Reject => {
                    let position = message.position;
                    let problem = format!("the call in message {position} has no result");
                    let problem = Violation::at(position, problem).of_call(call.call.known_id());
                    self.turns.rejected.push(problem);
                }
                None => {
                    self.losses.at(reasons::CALL_HAS_NO_RESULT, message.position);
                    self.push(Step::Missing(call));
                }
            }
        }
    }

    fn answer(&mut self, call: Call<'a>, place: PartPlace, status: CallStatus, newest: Option<PartPlace>) {
        let message = cut::at(&self.view.conversation().messages, place.position as usize);
        let Part::ToolResult(result) = cut::at(&message.parts, place.part as usize) else {
            return;
        };
        let moved = match status {
            CallStatus::Late => Some(reasons::TURNS_BETWEEN_CALL_AND_RESULT),
            CallStatus::Early => Some(reasons::RESULT_BEFORE_ITS_CALL),
            _ if newest > Some(place) => Some(reasons::RESULTS_IN_ANOTHER_ORDER),
            _ if self.is_separated(call.place, place) => Some(reasons::SOMETHING_BETWEEN_CALL_AND_RESULT),
            _ => None,
        };
        if let Some(moved) = moved {
            self.losses.at(moved, place.position);
        }
        let answer = FoundResult {
            message,
            result,
            part: place.part,
        };
        self.push(Step::Answer(call, answer));
    }

    /// Whether anything other than the perspective's results is between a call and a result that counts as directly after it.
    fn is_separated(&self, call: PartPlace, result: PartPlace) -> bool {
        let between = self.between.get_or_init(|| Between::of(self.view, &self.pairs));
        between.has_others(call, result)
    }

    /// Adds or leaves out a result that does not follow a call of the perspective; returns whether it is rendered.
    fn unpaired(&mut self, answer: FoundResult<'a>) -> bool {
        let position = answer.message.position;
        let is_duplicate = self.pairs.duplicates.contains_key(&answer.place());
        let call = self.pairs.call_of(answer.place());
        if let Some(caller) = call.and_then(|call| self.view.message(call.position)) {
            if !self.view.is_own(caller) {
                let foreign = Step::foreign(answer, caller, self.losses);
                self.push(foreign);
                return true;
            }
            if !is_duplicate {
                return false;
            }
        }
        match self.view.policy.orphans {
            Orphans::Reject => {
                let problem = if is_duplicate {
                    "answers a call that is answered already"
                } else {
                    "has no call"
                };
                let problem = format!("the result in message {position} {problem}");
                let problem = Violation::at(position, problem).of_call(answer.result.known_id());
                self.turns.rejected.push(problem);
                self.push(Step::Loose(answer));
                true
            }
            Orphans::Repair | Orphans::Drop if is_duplicate => {
                answer.leave_out(reasons::CALL_IS_ANSWERED_ALREADY, self.losses);
                false
            }
            Orphans::Drop => {
                answer.leave_out(reasons::POLICY_DROPS_LOOSE_RESULTS, self.losses);
                false
            }
            Orphans::Repair => {
                self.losses.at(reasons::RESULT_HAS_NO_CALL, position);
                self.push(Step::Inline(answer, None));
                true
            }
        }
    }
}

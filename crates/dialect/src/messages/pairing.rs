//! The order in which a dialect with tool turns says a conversation: every result directly after its call.
//!
//! Somebody may speak between a call and its result, results may come late, early, twice or never. Whole turns are
//! moved, nothing is cut; the canonical record keeps the true order, and every move is declared.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use chatmill_diag::cut;
use chatmill_model::{CallStatus, Message, Part, PartPlace, Role, ToolCall, ToolResult};

use crate::loss::violation::Violation;
use crate::loss::{LossCode, LossReason, Losses, reasons};
use crate::view::View;
use crate::view::policy::Orphans;

/// What it may cost to leave tools out.
pub(crate) const LOSES_TOOLS: &[LossCode] = &[
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::RoleMapped,
];

/// A call of the perspective.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    /// Where it stands.
    pub(crate) place: PartPlace,
    /// What it asks.
    pub(crate) call: &'a ToolCall,
}

/// A result, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundResult<'a> {
    /// The message that holds it.
    pub(crate) message: &'a Message,
    /// What the tool answered.
    pub(crate) result: &'a ToolResult,
    /// Where it stands among the message's parts.
    pub(crate) part: u32,
}

impl FoundResult<'_> {
    /// The place of the result.
    pub(crate) fn place(self) -> PartPlace {
        View::place(self.message, self.part as usize)
    }
}

/// One thing to say.
#[derive(Debug)]
pub(crate) enum Step<'a> {
    /// A message without its results, and the calls in it that are said as calls.
    Say {
        /// The message.
        message: &'a Message,
        /// Its calls; empty when they are somebody else's.
        calls: Vec<Call<'a>>,
    },
    /// The result of a call of the step before.
    Answer(Call<'a>, FoundResult<'a>),
    /// A result that has to be made up for a call of the step before.
    Missing(Call<'a>),
    /// A result that is said as text: its call is somebody else's, or there is none; who called, by the index of the participant.
    Inline(FoundResult<'a>, Option<usize>),
    /// A result without a call that stays as it is, because policy rejects instead of repairing.
    Loose(FoundResult<'a>),
}

/// Steps, and why they cannot be said, if so.
pub(crate) struct Turns<'a> {
    /// In the order in which to say them.
    pub(crate) steps: Vec<Step<'a>>,
    /// One clause for each call or result that policy rejects.
    pub(crate) faults: Vec<Violation>,
}

/// Puts the messages that a rendering shows into the order in which to say them: results follow their calls.
pub(crate) fn arrange<'a>(view: &View<'a>, shown: &[&'a Message], losses: &mut Losses) -> Turns<'a> {
    let mut arranger = Arranger {
        view,
        pairs: Pairs::of(view, shown),
        between: OnceCell::new(),
        open: None,
        turns: Turns {
            steps: Vec::new(),
            faults: Vec::new(),
        },
        losses,
    };
    for message in shown {
        arranger.add(message);
    }
    arranger.finish()
}

/// Leaves out the perspective's calls, their results, and results without a call: for dialects that have no tools.
pub(crate) fn without_tools<'a>(
    view: &View<'a>,
    shown: &[&'a Message],
    reason: LossReason,
    losses: &mut Losses,
) -> Turns<'a> {
    let pairs = Pairs::of(view, shown);
    let mut steps = Vec::new();
    for message in shown {
        let found = Found::of(view, message);
        losses.several(
            (LossCode::ToolCallDropped, reason),
            message.position,
            found.calls.len() as u64,
        );
        let (before, after) = found.split_results(message);
        let mut answer = |answer: FoundResult<'a>, steps: &mut Vec<Step<'a>>| {
            let caller = pairs.call_of(answer.place());
            let caller = caller.and_then(|call| view.message(call.position));
            match caller.filter(|caller| !view.is_own(caller)) {
                Some(caller) => steps.push(Step::foreign(answer, caller, losses)),
                None => losses.at((LossCode::ToolResultDropped, reason), message.position),
            }
        };
        for result in before {
            answer(result, &mut steps);
        }
        if found.says_more {
            steps.push(Step::Say {
                message,
                calls: Vec::new(),
            });
        }
        for result in after {
            answer(result, &mut steps);
        }
    }
    Turns {
        steps,
        faults: Vec::new(),
    }
}

impl<'a> Step<'a> {
    /// Where the message stands that it says; nothing for system text and results.
    pub(crate) fn says(&self) -> Option<u32> {
        match self {
            Self::Say { message, .. } if message.role != Role::System => Some(message.position),
            _ => None,
        }
    }

    /// The result of somebody else's call, as text.
    pub(crate) fn foreign(answer: FoundResult<'a>, caller: &Message, losses: &mut Losses) -> Self {
        losses.at(reasons::FOREIGN_RESULT_AS_TEXT, answer.message.position);
        Self::Inline(answer, caller.sender)
    }
}

/// What a message holds.
pub(crate) struct Found<'a> {
    /// Whether it holds anything but the perspective's calls, and results.
    pub(crate) says_more: bool,
    /// The perspective's calls.
    pub(crate) calls: Vec<Call<'a>>,
    /// Tool results in the message, whichever participant made the call.
    pub(crate) results: Vec<FoundResult<'a>>,
}

impl<'a> Found<'a> {
    /// Sorts the parts of a message.
    pub(crate) fn of(view: &View<'a>, message: &'a Message) -> Self {
        let mut found = Self {
            says_more: message.parts.is_empty(),
            calls: Vec::new(),
            results: Vec::new(),
        };
        for (index, part) in message.own_parts() {
            match part {
                Part::ToolResult(result) => found.results.push(FoundResult {
                    message,
                    result,
                    part: index as u32,
                }),
                Part::ToolCall(call) if view.is_own(message) => {
                    let place = View::place(message, index);
                    found.calls.push(Call { place, call });
                }
                // A mark belongs to the part before it and is not a message of its own.
                Part::CacheMark if !found.results.is_empty() => {}
                _ => found.says_more = true,
            }
        }
        found
    }
}

impl<'a> Found<'a> {
    /// The results that stand before everything else in the message, and the others.
    pub(crate) fn split_results(&self, message: &Message) -> (Vec<FoundResult<'a>>, Vec<FoundResult<'a>>) {
        let is_other = |part: &Part| !matches!(part, Part::ToolResult(_) | Part::CacheMark);
        let first = message.own_parts().find(|(_, part)| is_other(part));
        let results = self.results.iter().copied();
        results.partition(|answer| first.is_none_or(|(first, _)| (answer.part as usize) < first))
    }
}

/// The pairings whose two ends are shown.
pub(crate) struct Pairs {
    by_call: BTreeMap<PartPlace, (PartPlace, CallStatus)>,
    by_result: BTreeMap<PartPlace, PartPlace>,
    duplicates: BTreeMap<PartPlace, Option<PartPlace>>,
}

impl Pairs {
    /// The call that a result answers, be it the first or a further answer.
    pub(crate) fn call_of(&self, result: PartPlace) -> Option<PartPlace> {
        let paired = self.by_result.get(&result).copied();
        paired.or_else(|| self.duplicates.get(&result).copied().flatten())
    }

    /// Pairings among the messages that are shown.
    pub(crate) fn of(view: &View<'_>, shown: &[&Message]) -> Self {
        // Messages are shown in order of their positions.
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

/// What stands between the first call that has a result and the last result: one look at each message, however many calls
/// ask.
struct Between {
    /// The position of the first call.
    first: u32,
    /// What is known of each position from there on.
    places: Vec<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    /// Turns before it that hold anything but results of the perspective's calls.
    others: u32,
    /// The first part that is neither a result nor a mark.
    said: Option<u32>,
}

impl Between {
    fn of(view: &View<'_>, pairs: &Pairs) -> Self {
        let first = pairs.by_call.keys().next().map_or(0, |call| call.position);
        let results = pairs.by_call.values().map(|(result, _)| result.position);
        let end = results.max().map_or(first, |last| last + 1);
        let is_said = |part: &Part| !matches!(part, Part::ToolResult(_) | Part::CacheMark);
        let mut others = 0;
        let places = (first..end).map(|position| {
            let message = view.message(position);
            let said = message.and_then(|message| message.own_parts().find(|(_, part)| is_said(part)));
            let place = Place {
                others,
                said: said.map(|(part, _)| part as u32),
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

    /// Whether a turn holds anything but results of the perspective's calls.
    fn is_other(view: &View<'_>, pairs: &Pairs, turn: &Message) -> bool {
        let found = Found::of(view, turn);
        // Further results of the perspective's own calls are left out.
        let is_foreign = |place| match pairs.call_of(place) {
            Some(call) => !view
                .message(call.position)
                .is_some_and(|caller| view.is_own(caller)),
            None => !pairs.duplicates.contains_key(&place),
        };
        found.says_more
            || !found.calls.is_empty()
            || found.results.into_iter().any(|answer| is_foreign(answer.place()))
    }

    fn at(&self, position: u32) -> Option<Place> {
        let index = position.checked_sub(self.first)?;
        self.places.get(index as usize).copied()
    }

    /// Whether something said stands before a result in its message, or another turn after the call's.
    fn has_others(&self, call: PartPlace, result: PartPlace) -> bool {
        if result.position <= call.position {
            return false;
        }
        let (after, before) = (self.at(call.position + 1), self.at(result.position));
        let (Some(after), Some(before)) = (after, before) else {
            return false;
        };
        before.said.is_some_and(|said| said < result.part) || before.others > after.others
    }
}

struct Arranger<'v, 'a, 'l> {
    view: &'v View<'a>,
    pairs: Pairs,
    /// What stands between calls and their results, once somebody asks.
    between: OnceCell<Between>,
    /// What was said last, where it has calls and none of them a result. Where nothing follows, they are what the perspective
    /// has to say, and miss nothing.
    open: Option<Said<'a>>,
    turns: Turns<'a>,
    losses: &'l mut Losses,
}

/// A message, and the perspective's calls in it.
struct Said<'a> {
    message: &'a Message,
    says_more: bool,
    calls: Vec<Call<'a>>,
}

impl<'a> Arranger<'_, 'a, '_> {
    fn add(&mut self, message: &'a Message) {
        let found = Found::of(self.view, message);
        let (before, after) = found.split_results(message);
        for answer in before {
            self.unpaired(answer);
        }
        let said = Said {
            message,
            says_more: found.says_more,
            calls: found.calls,
        };
        self.say(said);
        for answer in after {
            self.unpaired(answer);
        }
    }

    /// A message, and the answers to its calls.
    fn say(&mut self, said: Said<'a>) {
        if !said.says_more && said.calls.is_empty() {
            return;
        }
        self.follow();
        let is_answered = |call: &Call<'_>| self.pairs.by_call.contains_key(&call.place);
        if said.calls.is_empty() || said.calls.iter().any(is_answered) {
            self.answer_all(said);
        } else {
            self.open = Some(said);
        }
    }

    /// Something follows what was said last, whose calls have no result then.
    fn follow(&mut self) {
        if let Some(said) = self.open.take() {
            self.answer_all(said);
        }
    }

    /// Adds a step behind all others.
    fn push(&mut self, step: Step<'a>) {
        self.follow();
        self.turns.steps.push(step);
    }

    /// The steps, where nothing follows any more.
    fn finish(mut self) -> Turns<'a> {
        if let Some(Said { message, calls, .. }) = self.open.take() {
            self.push(Step::Say { message, calls });
        }
        self.turns
    }

    fn answer_all(&mut self, said: Said<'a>) {
        let Said {
            message,
            says_more,
            mut calls,
        } = said;
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
        if !says_more && calls.is_empty() {
            return;
        }
        self.push(Step::Say {
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
                    let fault = format!("the call in message {position} has no result");
                    let fault = Violation::at(position, fault).of_call(call.call.known_id());
                    self.turns.faults.push(fault);
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
            _ if self.stands_apart(call.place, place) => Some(reasons::SOMETHING_BETWEEN_CALL_AND_RESULT),
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

    /// Whether anything but the perspective's results stands between a call and the result that counts as directly after it.
    fn stands_apart(&self, call: PartPlace, result: PartPlace) -> bool {
        let between = self.between.get_or_init(|| Between::of(self.view, &self.pairs));
        between.has_others(call, result)
    }

    /// A result that does not follow a call of the perspective.
    fn unpaired(&mut self, answer: FoundResult<'a>) {
        let position = answer.message.position;
        let is_duplicate = self.pairs.duplicates.contains_key(&answer.place());
        let call = self.pairs.call_of(answer.place());
        if let Some(caller) = call.and_then(|call| self.view.message(call.position)) {
            if !self.view.is_own(caller) {
                let foreign = Step::foreign(answer, caller, self.losses);
                self.push(foreign);
                return;
            }
            if !is_duplicate {
                return;
            }
        }
        match self.view.policy.orphans {
            Orphans::Reject => {
                let fault = if is_duplicate {
                    "answers a call that is answered already"
                } else {
                    "has no call"
                };
                let fault = format!("the result in message {position} {fault}");
                let fault = Violation::at(position, fault).of_call(answer.result.known_id());
                self.turns.faults.push(fault);
                self.push(Step::Loose(answer));
            }
            Orphans::Repair | Orphans::Drop if is_duplicate => {
                self.losses.at(reasons::CALL_IS_ANSWERED_ALREADY, position);
            }
            Orphans::Drop => self.losses.at(reasons::POLICY_DROPS_LOOSE_RESULTS, position),
            Orphans::Repair => {
                self.losses.at(reasons::RESULT_HAS_NO_CALL, position);
                self.push(Step::Inline(answer, None));
            }
        }
    }
}

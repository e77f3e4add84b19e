//! Builds conversations from the steps of a trace: the longest history of each chain of requests, once.
//!
//! A model is sent the whole history with every request, so that a trace of n answers contains it n times. A request that
//! another one continues is a prefix of it: its answer is in the longer history, and gets its model, usage and time from the
//! earlier step. Tool results that no later request repeats come last. If requests have no history (some frameworks log only
//! the new messages), the steps in their order are the conversation.

use std::collections::{BTreeSet, HashMap, HashSet};

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{Extra, Message, MessageKind, Part, Role, ToolResult, Weight};

use super::calls::{Call, CallValue, Print, Step};
use super::known_texts::KnownTexts;
use super::waiting::Waiting;
use crate::base::{Turn, drop_extra, present, quoted_list, text, text_of};
use crate::frame::{FrameView, Reading};
use crate::layout::{Turns, exchange::Exchange};

/// A conversation that was found in a trace.
pub(crate) struct Found<'d, 'r> {
    /// The messages that were read from the step.
    pub exchange: Exchange<'d, 'r>,
    /// The id of the step that contains the whole conversation.
    pub whole: Option<String>,
    /// The ids of the steps with shorter histories of the same conversation.
    pub prefixes: Vec<String>,
}

impl Found<'_, '_> {
    /// Finishes the conversation with this number in a trace, of this source and structure; `extra` contains the trace's own
    /// fields.
    pub(crate) fn reading(
        mut self,
        (trace, number): (Option<&str>, usize),
        shape: &'static str,
        mut extra: Extra,
    ) -> Reading {
        let beside = &mut self.exchange.beside;
        beside.id = match (trace, self.whole) {
            (Some(trace), Some(step)) if number > 0 => Some(format!("{trace}/{step}")),
            (trace, step) => trace.map(str::to_owned).or(step),
        };
        if !self.prefixes.is_empty() {
            let prefixes = quoted_list(&self.prefixes);
            extra.0.push(("prefixes".to_owned(), prefixes));
        }
        extra.0.append(&mut beside.extra.0);
        beside.extra = extra;
        self.exchange.finish(shape)
    }
}

/// A summary of a step.
struct Outline {
    /// The fingerprints of all messages but the system's.
    prints: Vec<Print>,
    /// The number of input messages among them.
    sent: usize,
    /// The index of the answer among the messages.
    answer: usize,
    /// The fingerprint of the answer.
    first_answer: Option<u64>,
    /// Whether the step has alternative answers.
    has_others: bool,
    /// The reasoning before the answer: no later request repeats it.
    thoughts: Vec<Part>,
}

/// Finds the conversations in the steps of a trace.
pub(crate) fn conversations<'d, 'r>(
    frame: FrameView<'d>,
    limits: &'r Limits,
    mut calls: Vec<Call<'d>>,
) -> Vec<Found<'d, 'r>> {
    calls.sort_by_key(|call| call.begun);
    let (found, whole) = chains(frame, limits, &calls);
    let whole: HashSet<usize> = whole.into_iter().collect();
    // Other steps count as read as far as the conversations contain their texts.
    let others = calls
        .iter()
        .enumerate()
        .filter(|(place, _)| !whole.contains(place));
    let mut others = others.flat_map(|(_, call)| call.values()).peekable();
    if others.peek().is_some() {
        let mut known_texts = KnownTexts::default();
        for Found { exchange, .. } in &found {
            let list = &exchange.turns.list;
            known_texts.add_messages(&list.messages, limits);
            for messages in list.alternatives.iter().flat_map(|other| &other.messages) {
                known_texts.add_messages(messages, limits);
            }
            for tool in &exchange.beside.tools {
                known_texts.add_json(tool.as_str(), limits);
            }
        }
        others.for_each(|value| known_texts.mark_each(value, limits));
    }
    found
}

/// The conversations, and the steps that they are read from.
fn chains<'d, 'r>(
    frame: FrameView<'d>,
    limits: &'r Limits,
    calls: &[Call<'d>],
) -> (Vec<Found<'d, 'r>>, Vec<usize>) {
    let outlines: Vec<Option<Outline>> = calls.iter().map(|call| outline(frame, limits, call)).collect();
    let of = |step: Step| -> Vec<usize> {
        let all = calls.iter().zip(&outlines).enumerate();
        all.filter(|(_, (call, outline))| call.step == step && outline.is_some())
            .map(|(place, _)| place)
            .collect()
    };
    let (models, agents) = (of(Step::Model), of(Step::Agent));
    let candidates = if models.is_empty() { &agents } else { &models };
    let mut covered = prefixes_of(&outlines, candidates);
    let mut whole: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(|place| !covered.contains_key(place))
        .collect();
    if whole.len() > 1 && is_step_by_step(calls, &outlines, &models) {
        return (vec![step_by_step(frame, limits, calls, &outlines)], Vec::new());
    }
    if !models.is_empty() {
        replace_by_agent(&outlines, &agents, &mut whole, &mut covered);
    }
    let mut parts: HashMap<usize, Vec<(usize, Option<String>)>> = HashMap::new();
    for (part, call) in calls.iter().enumerate() {
        if let Some(place) = covered.get(&part) {
            parts.entry(*place).or_default().push((part, call.id.clone()));
        }
    }
    let chains = whole.iter().copied().map(|place| {
        let mut exchange = Exchange::new(Turns::new(frame, limits));
        exchange.turns.list.answers.in_pieces = true;
        let prefixes = parts.remove(&place).unwrap_or_default();
        if let Some(call) = calls.get(place) {
            call.read_input(&mut exchange, limits);
            call.read_output(&mut exchange, limits);
        }
        let steps = prefixes.iter().map(|(part, _)| *part).chain([place]);
        let answers = answers(&exchange.turns.list.messages);
        let nearest = nearest_answers(&exchange.turns.list.messages);
        for step in steps {
            let (Some(call), Some(Some(outline))) = (calls.get(step), outlines.get(step)) else {
                continue;
            };
            // If the longest history names no tools, an earlier step may.
            call.read_tools(&mut exchange, limits);
            let known = outline
                .first_answer
                .and_then(|print| answers.get(&print).copied());
            if let Some(at) = known.filter(|_| outline.has_others && step != place) {
                call.read_others(at, &mut exchange, limits);
            }
            let messages = &mut exchange.turns.list.messages;
            // The step of an agent is not an answer of a model. An answer that the history repeats in another form is
            // completed at the place where it was asked for.
            match known {
                Some(at) => {
                    complete_answer(messages, call, at);
                    if let Some(message) = messages.get_mut(at)
                        && !message.parts.iter().any(is_thought)
                    {
                        message.parts.splice(0..0, outline.thoughts.iter().cloned());
                    }
                }
                None if call.step == Step::Model => {
                    let at = nearest.get(outline.answer).copied();
                    complete_answer(messages, call, at.unwrap_or(nearest.len()));
                }
                None => {}
            }
        }
        Found {
            exchange,
            whole: calls.get(place).and_then(|call| call.id.clone()),
            prefixes: prefixes.into_iter().filter_map(|(_, id)| id).collect(),
        }
    });
    let mut found: Vec<Found<'_, '_>> = chains.collect();
    learn_once(&mut found);
    add_results(&mut found, calls);
    (found, whole)
}

/// Keeps each answer as a training target only in the first conversation that has it after the same history; in the others it
/// gets the weight 0.
fn learn_once(found: &mut [Found<'_, '_>]) {
    let mut known = HashSet::new();
    for found in found {
        let mut history = 0;
        for message in &mut found.exchange.turns.list.messages {
            history = mixed(history, Print::of(message).hash);
            if !known.insert(history) && message.role == Role::Assistant {
                message.weight = Weight::new(0.0);
            }
        }
    }
}

/// Reads one step by itself, for its outline.
fn outline(frame: FrameView<'_>, limits: &Limits, call: &Call<'_>) -> Option<Outline> {
    if call.step == Step::Tool {
        return None;
    }
    let mut exchange = Exchange::new(Turns::new(frame, limits));
    call.read_input(&mut exchange, limits);
    let answer = exchange.turns.list.messages.len();
    let prints_of = |exchange: &Exchange<'_, '_>| {
        let mut prints = Print::all(&exchange.turns.list.messages);
        prints.retain(|print| print.role != Role::System);
        prints
    };
    let sent = prints_of(&exchange).len();
    call.read_output(&mut exchange, limits);
    let prints = prints_of(&exchange);
    // The conversation that contains the step keeps its extra fields.
    call.values().for_each(drop_extra);
    let first_answer = prints.get(sent).map(|print| print.hash);
    (!prints.is_empty()).then_some(Outline {
        prints,
        sent,
        answer,
        first_answer,
        has_others: !exchange.turns.list.alternatives.is_empty(),
        thoughts: exchange
            .turns
            .list
            .messages
            .into_iter()
            .skip(answer)
            .flat_map(|message| message.parts)
            .filter(is_thought)
            .collect(),
    })
}

/// The steps that are a prefix of another step, with that step.
fn prefixes_of(outlines: &[Option<Outline>], candidates: &[usize]) -> HashMap<usize, usize> {
    let mut by = HashMap::new();
    // Hashes of histories, with the step that ends with them: with its answer, and without.
    let (mut answered, mut asked) = (HashMap::<u64, usize>::new(), HashMap::<u64, usize>::new());
    for place in candidates {
        let Some(Some(outline)) = outlines.get(*place) else {
            continue;
        };
        let mut history = 0;
        let mut own_question = None;
        let mut prints = outline.prints.iter().enumerate().peekable();
        while let Some((index, print)) = prints.next() {
            history = mixed(history, print.hash);
            if let Some(part) = answered.remove(&history) {
                by.insert(part, *place);
            }
            let is_answered = prints
                .peek()
                .is_some_and(|(_, next)| next.role == Role::Assistant);
            if index + 1 < outline.sent
                && is_answered
                && let Some(part) = asked.remove(&history)
            {
                by.insert(part, *place);
            }
            if index + 1 == outline.sent {
                own_question = Some(history);
            }
        }
        answered.insert(history, *place);
        // An answer without text has many spellings, so that only its question is compared.
        let words = outline.prints.get(outline.sent..).unwrap_or_default();
        if let Some(question) = own_question.filter(|_| words.iter().all(|print| !print.has_words)) {
            asked.insert(question, *place);
        }
    }
    // A step that covers another may be covered by a later one: going from the last to the first, each end is
    // known when it is needed.
    let mut ends: HashMap<usize, usize> = HashMap::new();
    for place in candidates.iter().rev() {
        let next = by.get(place).filter(|next| *next > place);
        let end = next.and_then(|next| ends.get(next)).unwrap_or(place);
        ends.insert(*place, *end);
    }
    let end = |next: usize| ends.get(&next).copied().unwrap_or(next);
    by.into_iter().map(|(place, next)| (place, end(next))).collect()
}

fn mixed(history: u64, next: u64) -> u64 {
    (history.rotate_left(7) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Replaces the models' histories that an agent's longest history contains by that one.
fn replace_by_agent(
    outlines: &[Option<Outline>],
    agents: &[usize],
    whole: &mut Vec<usize>,
    covered: &mut HashMap<usize, usize>,
) {
    let length = |place: &usize| {
        let outline = outlines.get(*place).and_then(Option::as_ref);
        outline.map_or(0, |outline| outline.prints.len())
    };
    let Some(agent) = agents.iter().copied().max_by_key(length) else {
        return;
    };
    let Some(Some(outline)) = outlines.get(agent) else {
        return;
    };
    let seen: HashSet<u64> = outline.prints.iter().map(|print| print.hash).collect();
    let is_piece = |place: &usize| {
        let piece = outlines.get(*place).and_then(Option::as_ref);
        length(place) < length(&agent)
            && piece.is_some_and(|piece| piece.prints.iter().all(|print| seen.contains(&print.hash)))
    };
    let pieces: HashSet<usize> = whole.iter().copied().filter(is_piece).collect();
    if pieces.is_empty() {
        return;
    }
    whole.retain(|place| !pieces.contains(place));
    whole.insert(0, agent);
    for place in covered.values_mut().filter(|by| pieces.contains(by)) {
        *place = agent;
    }
    let mut pieces: Vec<usize> = pieces.into_iter().collect();
    pieces.sort_unstable();
    covered.extend(pieces.into_iter().map(|piece| (piece, agent)));
}

/// Whether requests have no history although tools were called between them.
fn is_step_by_step(calls: &[Call<'_>], outlines: &[Option<Outline>], models: &[usize]) -> bool {
    let outlines = || models.iter().filter_map(|place| outlines.get(*place)?.as_ref());
    let is_fresh = |outline: &Outline| {
        let sent = outline.prints.get(..outline.sent).unwrap_or_default();
        sent.iter().all(|print| print.role == Role::User)
    };
    calls.iter().any(|call| call.step == Step::Tool)
        && outlines().all(is_fresh)
        && outlines().any(|outline| outline.prints.iter().any(|print| print.has_calls))
}

/// Reads all steps in their order as one conversation.
fn step_by_step<'d, 'r>(
    frame: FrameView<'d>,
    limits: &'r Limits,
    calls: &[Call<'d>],
    outlines: &[Option<Outline>],
) -> Found<'d, 'r> {
    let mut exchange = Exchange::new(Turns::new(frame, limits));
    exchange.turns.list.answers.in_pieces = true;
    let mut seen: HashSet<u64> = HashSet::new();
    let agents = calls.iter().filter(|call| call.step == Step::Agent);
    for input in agents.flat_map(|call| &call.input) {
        input.open(&mut exchange, limits, |exchange, input| {
            if exchange.turns.list.messages.is_empty() {
                exchange.instructions_before(input);
            }
        });
    }
    let mut prefixes = Vec::new();
    let mut waiting = Waiting::default();
    for (call, outline) in calls.iter().zip(outlines) {
        match (call.step, outline) {
            (Step::Model, Some(outline)) => {
                let sent = outline.prints.get(..outline.sent).unwrap_or_default();
                let is_new = sent.iter().any(|print| !seen.contains(&print.hash));
                let is_first = seen.is_empty();
                call.read_tools(&mut exchange, limits);
                if is_first || is_new && call.input.iter().any(names_role) {
                    call.read_input(&mut exchange, limits);
                }
                seen.extend(outline.prints.iter().map(|print| print.hash));
                let at = exchange.turns.list.messages.len();
                call.read_output(&mut exchange, limits);
                complete_answer(&mut exchange.turns.list.messages, call, at);
                prefixes.extend(call.id.clone());
            }
            (Step::Tool, _) => {
                waiting.add_messages(&exchange.turns.list.messages);
                let place = waiting.find(call.answers.as_deref(), call.name.as_deref());
                if let Some(asked) = place.and_then(|place| waiting.get(place)) {
                    add_result(&mut exchange, call, asked.clone());
                }
            }
            _ => {}
        }
    }
    Found {
        exchange,
        whole: None,
        prefixes,
    }
}

/// Whether the input names roles.
fn names_role(value: &CallValue<'_>) -> bool {
    match value {
        CallValue::Value(value) => value.as_str().is_none_or(|text| text.contains("\"role\":")),
        CallValue::Json(text, ..) => text.contains("\"role\":"),
    }
}

/// The positions of answers by fingerprint; equal answers have the position of the first.
fn answers(messages: &[Message]) -> HashMap<u64, usize> {
    let mut places = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        if is_answer(message) {
            places.entry(Print::of(message).hash).or_insert(place);
        }
    }
    places
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.kind == MessageKind::Message
}

fn is_thought(part: &Part) -> bool {
    matches!(part, Part::Reasoning(_))
}

/// The position of the first answer from each position on.
fn nearest_answers(messages: &[Message]) -> Vec<usize> {
    let mut nearest: Vec<usize> = (0..messages.len()).collect();
    let mut last = messages.len();
    for (message, place) in messages.iter().zip(&mut nearest).rev() {
        last = if is_answer(message) { *place } else { last };
        *place = last;
    }
    nearest
}

/// Completes the first answer from a position on with the facts of its step.
fn complete_answer(messages: &mut [Message], call: &Call<'_>, at: usize) {
    let mut answers = messages.iter_mut().skip(at);
    if let Some(message) = answers.find(|message| is_answer(message)) {
        call.complete(message);
    }
}

/// Adds tool results to calls that wait for one. A step of a tool is compared only with chains that may have such a call.
fn add_results(found: &mut [Found<'_, '_>], calls: &[Call<'_>]) {
    let mut waiting: Vec<Waiting> = Vec::with_capacity(found.len());
    let mut chains: HashMap<(bool, String), BTreeSet<usize>> = HashMap::new();
    for (chain, Found { exchange, .. }) in found.iter().enumerate() {
        let mut own = Waiting::default();
        own.add_messages(&exchange.turns.list.messages);
        for (id, name) in own.asked() {
            for (is_id, key) in [(true, id), (false, name)] {
                let key = key.iter().map(|key| (is_id, key.clone()));
                key.for_each(|key| _ = chains.entry(key).or_default().insert(chain));
            }
        }
        waiting.push(own);
    }
    for call in calls.iter().filter(|call| call.step == Step::Tool) {
        let keys = [(true, &call.answers), (false, &call.name)];
        let keys = keys.map(|(is_id, key)| Some((is_id, key.clone()?)));
        let asking = keys.iter().flatten().filter_map(|key| chains.get(key));
        for chain in asking.flatten().copied().collect::<BTreeSet<usize>>() {
            let (Some(own), Some(found)) = (waiting.get_mut(chain), found.get_mut(chain)) else {
                continue;
            };
            let place = own.find(call.answers.as_deref(), call.name.as_deref());
            match place.and_then(|place| own.take(place)) {
                Some(asked) => add_result(&mut found.exchange, call, asked),
                // All calls have their results: these keys are not needed again.
                None => keys.iter().flatten().for_each(|key| {
                    chains.get_mut(key).map(|chains| chains.remove(&chain));
                }),
            }
        }
    }
}

/// Adds the output of a tool as the result of a call.
fn add_result(
    exchange: &mut Exchange<'_, '_>,
    call: &Call<'_>,
    (call_id, name): (Option<String>, Option<String>),
) {
    let mut content = String::new();
    for output in &call.output {
        output.open(exchange, exchange.turns.list.limits, |_, output| {
            content = texts_of_server(output).unwrap_or_else(|| text_of(output));
        });
    }
    let result = ToolResult {
        call_id,
        name,
        content,
        ..ToolResult::default()
    };
    let turn = Turn::of(Role::Tool, Part::ToolResult(result));
    exchange.turns.list.rows.rows += 1;
    exchange.turns.push(0, call.at, turn);
    if let Some(message) = exchange.turns.list.messages.last_mut() {
        message.timestamp.clone_from(&call.done);
    }
}

/// The result of a Model Context Protocol server that consists of texts only:
/// `{"content": [{"type": "text", "text": …}]}`.
fn texts_of_server(output: Value<'_>) -> Option<String> {
    let list = present(output, "content").filter(|list| list.kind() == Kind::Array && !list.is_empty())?;
    let is_text = |block: Value<'_>| text(block.get("type")).as_deref() == Some("text");
    let texts = list
        .items()
        .map(|block| text(block.get("text")).filter(|_| is_text(block)));
    let texts: Option<Vec<String>> = texts.collect();
    texts.map(|texts| texts.join("\n"))
}

//! From the steps of a trace to conversations: of each chain of requests the longest history, once.
//!
//! A model is sent the whole history with every request, so that a trace of n answers holds it n times. A request that another
//! one continues is a prefix of it: its answer stands there, and gets its model, its usage and its time from it. What a tool gave
//! and no later request repeats comes last. Where requests hold no history (some frameworks log what is new alone), the
//! steps in their order are the conversation.

use std::collections::{HashMap, HashSet};

use chatmill_diag::Limits;
use chatmill_intake::json::{Kind, Mark, Value};
use chatmill_model::{Message, MessageKind, Part, RawJson, Role, ToolResult};

use super::calls::{Call, Print, Said, Step};
use crate::frame::FrameView;
use crate::reader::exchange::Exchange;
use crate::reader::{Turn, Turns, message_object, present, quoted_list, text};

/// A conversation that was found in a trace.
pub(crate) struct Found<'d, 'r> {
    /// What was read of it.
    pub exchange: Exchange<'d, 'r>,
    /// The step that holds it whole.
    pub whole: Option<String>,
    /// The steps of which it is a longer history.
    pub prefixes: Vec<String>,
}

impl Found<'_, '_> {
    /// The ids of the steps whose histories it holds, as an extra field.
    pub(crate) fn named_prefixes(&self) -> Option<(String, RawJson)> {
        (!self.prefixes.is_empty()).then(|| ("prefixes".to_owned(), quoted_list(&self.prefixes)))
    }
}

/// What a step holds, in short.
struct Outline {
    /// All that is said, but what the system says.
    prints: Vec<Print>,
    /// Of these, what went in.
    sent: usize,
    /// Where the answer stands among the messages.
    answer: usize,
    /// What the answer says.
    said: Option<u64>,
    /// Whether others came out beside it.
    has_others: bool,
}

/// Finds the conversations in the steps of a trace.
pub(crate) fn conversations<'d, 'r>(
    frame: FrameView<'d>,
    limits: &'r Limits,
    mut calls: Vec<Call<'d>>,
) -> Vec<Found<'d, 'r>> {
    calls.sort_by_key(|call| call.begun);
    let outlines: Vec<Option<Outline>> = calls.iter().map(|call| outline(frame, limits, call)).collect();
    let of = |step: Step| -> Vec<usize> {
        let all = calls.iter().zip(&outlines).enumerate();
        all.filter(|(_, (call, outline))| call.step == step && outline.is_some())
            .map(|(place, _)| place)
            .collect()
    };
    let (models, agents) = (of(Step::Model), of(Step::Agent));
    let candidates = if models.is_empty() { &agents } else { &models };
    let mut covered = covered(&outlines, candidates);
    let mut whole: Vec<usize> = candidates
        .iter()
        .copied()
        .filter(|place| !covered.contains_key(place))
        .collect();
    if whole.len() > 1 && is_told_step_by_step(&calls, &outlines, &models) {
        return vec![step_by_step(frame, limits, &calls, &outlines)];
    }
    if !models.is_empty() {
        replace_by_agent(&outlines, &agents, &mut whole, &mut covered);
    }
    let chains = whole.into_iter().map(|place| {
        let mut exchange = Exchange::new(Turns::new(frame, limits));
        let mut prefixes = Vec::new();
        if let Some(call) = calls.get(place) {
            call.read_input(&mut exchange, limits);
            call.read_output(&mut exchange, limits);
        }
        for (part, _) in covered.iter().filter(|(_, by)| **by == place) {
            if let Some(id) = calls.get(*part).and_then(|call| call.id.clone()) {
                prefixes.push((*part, id));
            }
        }
        prefixes.sort();
        let steps = prefixes.iter().map(|(part, _)| *part).chain([place]);
        let answers = answers(&exchange.turns.list.messages);
        for step in steps {
            let (Some(call), Some(Some(outline))) = (calls.get(step), outlines.get(step)) else {
                continue;
            };
            // Where the longest history names no tools, its pieces may.
            call.read_tools(&mut exchange, limits);
            let known = outline.said.and_then(|said| answers.get(&said).copied());
            if let Some(at) = known.filter(|_| outline.has_others && step != place) {
                call.read_others(at, &mut exchange, limits);
            }
            let messages = &mut exchange.turns.list.messages;
            // An agent's step is no answer of a model's; what is written in another way stands where it was asked.
            match known {
                Some(at) => tell(messages, call, at),
                None if call.step == Step::Model => tell(messages, call, outline.answer),
                None => {}
            }
        }
        add_results(&mut exchange, &calls);
        Found {
            exchange,
            whole: calls.get(place).and_then(|call| call.id.clone()),
            prefixes: prefixes.into_iter().map(|(_, id)| id).collect(),
        }
    });
    chains.collect()
}

/// Reads a step for what it says alone.
fn outline(frame: FrameView<'_>, limits: &Limits, call: &Call<'_>) -> Option<Outline> {
    if call.step == Step::Tool {
        // What a model called it with, and what it was told, stands in the model's own steps, or is added to them.
        for said in call.input.iter().chain(&call.output) {
            if let Said::Value(value) = said {
                value.mark(Mark::Taken);
            }
        }
        return None;
    }
    let mut exchange = Exchange::new(Turns::new(frame, limits));
    call.read_input(&mut exchange, limits);
    let answer = exchange.turns.list.messages.len();
    let told = |exchange: &Exchange<'_, '_>| {
        let mut prints = Print::all(&exchange.turns.list.messages);
        prints.retain(|print| print.role != Role::System);
        prints
    };
    let sent = told(&exchange).len();
    call.read_output(&mut exchange, limits);
    let prints = told(&exchange);
    let said = prints.get(sent).map(|print| print.hash);
    (!prints.is_empty()).then_some(Outline {
        prints,
        sent,
        answer,
        said,
        has_others: !exchange.turns.list.alternatives.is_empty(),
    })
}

/// Which steps are a prefix of another, and of which.
fn covered(outlines: &[Option<Outline>], candidates: &[usize]) -> HashMap<usize, usize> {
    let mut by = HashMap::new();
    // Histories, as a number, and the step that ends with them: with its answer, and without.
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
        // An answer without words is written in many ways.
        let words = outline.prints.get(outline.sent..).unwrap_or_default();
        if let Some(question) = own_question.filter(|_| words.iter().all(|print| !print.has_words)) {
            asked.insert(question, *place);
        }
    }
    // What covers a step may be covered itself.
    let ends: Vec<(usize, usize)> = candidates
        .iter()
        .filter_map(|place| Some((*place, end(&by, *place)?)))
        .collect();
    ends.into_iter().collect()
}

/// The step that covers a step in the end.
fn end(by: &HashMap<usize, usize>, place: usize) -> Option<usize> {
    let mut last = *by.get(&place)?;
    while let Some(next) = by.get(&last).filter(|next| **next > last) {
        last = *next;
    }
    Some(last)
}

fn mixed(history: u64, next: u64) -> u64 {
    (history.rotate_left(7) ^ next).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Puts the longest history of an agent in the place of what models alone hold only a piece of.
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
    let said: HashSet<u64> = outline.prints.iter().map(|print| print.hash).collect();
    let is_piece = |place: &usize| {
        let piece = outlines.get(*place).and_then(Option::as_ref);
        length(place) < length(&agent)
            && piece.is_some_and(|piece| piece.prints.iter().all(|print| said.contains(&print.hash)))
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

/// Whether requests hold no history although tools were called between them.
fn is_told_step_by_step(calls: &[Call<'_>], outlines: &[Option<Outline>], models: &[usize]) -> bool {
    let outlines = || models.iter().filter_map(|place| outlines.get(*place)?.as_ref());
    let is_fresh = |outline: &Outline| {
        let sent = outline.prints.get(..outline.sent).unwrap_or_default();
        sent.iter().all(|print| print.role == Role::User)
    };
    calls.iter().any(|call| call.step == Step::Tool)
        && outlines().all(is_fresh)
        && outlines().any(|outline| outline.prints.iter().any(|print| print.has_calls))
}

/// All steps in their order as one conversation.
fn step_by_step<'d, 'r>(
    frame: FrameView<'d>,
    limits: &'r Limits,
    calls: &[Call<'d>],
    outlines: &[Option<Outline>],
) -> Found<'d, 'r> {
    let mut exchange = Exchange::new(Turns::new(frame, limits));
    let mut said: HashSet<u64> = HashSet::new();
    let agents = calls.iter().filter(|call| call.step == Step::Agent);
    for input in agents.flat_map(|call| &call.input) {
        input.open(&mut exchange, limits, |exchange, input| {
            if exchange.turns.list.messages.is_empty() {
                exchange.told_before(input);
            }
        });
    }
    let mut prefixes = Vec::new();
    for (call, outline) in calls.iter().zip(outlines) {
        match (call.step, outline) {
            (Step::Model, Some(outline)) => {
                let sent = outline.prints.get(..outline.sent).unwrap_or_default();
                let is_new = sent.iter().any(|print| !said.contains(&print.hash));
                let is_first = said.is_empty();
                call.read_tools(&mut exchange, limits);
                if is_first || is_new && call.input.iter().any(names_role) {
                    call.read_input(&mut exchange, limits);
                }
                said.extend(outline.prints.iter().map(|print| print.hash));
                let at = exchange.turns.list.messages.len();
                call.read_output(&mut exchange, limits);
                tell(&mut exchange.turns.list.messages, call, at);
                prefixes.extend(call.id.clone());
            }
            (Step::Tool, _) => add_results(&mut exchange, std::slice::from_ref(call)),
            _ => {}
        }
    }
    Found {
        exchange,
        whole: None,
        prefixes,
    }
}

/// Whether what went in says who speaks.
fn names_role(said: &Said<'_>) -> bool {
    match said {
        Said::Value(value) => value.as_str().is_none_or(|text| text.contains("\"role\":")),
        Said::Json(text, _) => text.contains("\"role\":"),
    }
}

/// Where the answers are, by what they say; of those that say the same, the first.
fn answers(messages: &[Message]) -> HashMap<u64, usize> {
    let mut places = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant && message.kind == MessageKind::Message {
            places.entry(Print::of(message).hash).or_insert(place);
        }
    }
    places
}

/// Tells the answer at a place what its step says of it.
fn tell(messages: &mut [Message], call: &Call<'_>, at: usize) {
    let answers = messages.iter_mut().skip(at);
    let mut answers =
        answers.filter(|message| message.role == Role::Assistant && message.kind == MessageKind::Message);
    if let Some(message) = answers.next() {
        call.tell(message);
    }
}

/// Adds what tools gave, where a call waits for it.
fn add_results(exchange: &mut Exchange<'_, '_>, calls: &[Call<'_>]) {
    let mut open: Vec<(Option<String>, Option<String>)> = Vec::new();
    for part in exchange
        .turns
        .list
        .messages
        .iter()
        .flat_map(|message| &message.parts)
    {
        match part {
            Part::ToolCall(call) => open.push((call.id.clone(), call.name.clone())),
            Part::ToolResult(result) => {
                let by_id = open
                    .iter()
                    .position(|(id, _)| id.is_some() && *id == result.call_id);
                if let Some(place) = by_id.or_else(|| (!open.is_empty()).then_some(0)) {
                    open.remove(place);
                }
            }
            _ => {}
        }
    }
    for call in calls.iter().filter(|call| call.step == Step::Tool) {
        let by_id = open
            .iter()
            .position(|(id, _)| id.is_some() && *id == call.answers);
        let by_name = || {
            open.iter()
                .position(|(_, name)| name.is_some() && *name == call.name)
        };
        let Some(place) = by_id.or_else(by_name) else {
            continue;
        };
        let (call_id, name) = open.remove(place);
        let mut content = String::new();
        for output in &call.output {
            output.open(exchange, exchange.turns.list.limits, |_, output| {
                content = texts_of_server(output).unwrap_or_else(|| message_object::text_of(output));
            });
        }
        let turn = Turn {
            role: Some(Role::Tool),
            parts: vec![Part::ToolResult(ToolResult {
                call_id,
                name,
                content,
                ..ToolResult::default()
            })],
            ..Turn::default()
        };
        exchange.turns.list.rows.rows += 1;
        exchange.turns.push(0, call.at, turn);
        if let Some(message) = exchange.turns.list.messages.last_mut() {
            message.timestamp.clone_from(&call.done);
        }
    }
}

/// What a server of the Model Context Protocol gave, where it is nothing but texts: `{"content": [{"type": "text", "text": …}]}`.
fn texts_of_server(output: Value<'_>) -> Option<String> {
    let list = present(output, "content").filter(|list| list.kind() == Kind::Array && !list.is_empty())?;
    let is_text = |block: Value<'_>| text(block.get("type")).as_deref() == Some("text");
    let texts = list
        .items()
        .map(|block| text(block.get("text")).filter(|_| is_text(block)));
    let texts: Option<Vec<String>> = texts.collect();
    texts.map(|texts| texts.join("\n"))
}

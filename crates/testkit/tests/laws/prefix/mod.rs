//! The prefix law: the messages before an answer, rendered in the dialect of the log, are the request of that answer.
//!
//! A gateway logs a request for each answer, and each request repeats the history. The conversation of the last request
//! is cut before each of its answers and rendered in the dialect of the log: messages, system text and tools must be
//! those of the request of that answer, except for the declared losses. Model, settings, cache marks and metadata are
//! not compared. Where a client omitted turns or replaced them by a summary, a request does not continue the previous
//! one: the law classifies and counts that, and continues with the next.

mod same;
mod sessions;
mod wires;

use std::collections::BTreeMap;
use std::io::Write as _;

use chatmill_diag::Limits;
use chatmill_dialect::policy::Reasoning;
use chatmill_dialect::{Policy, Rendering, Shared, View, Window, WindowRange, auto_perspective};
use chatmill_drawn::{cases, random};
use chatmill_model::{Linked, MessageKind, OwnItem, Part, Role};
use chatmill_testkit::conversations::{read, reading};
use chatmill_testkit::samples::sample_files;
use serde_json::{Value, json};

use same::RequestContent;
use sessions::{Cut, Session};
use wires::WIRES;

/// Renders the messages before a position in a dialect.
fn rendered_before(dialect: &str, linked: &Linked, position: u32) -> (Value, Rendering) {
    let dialect = chatmill_dialect::find(dialect).expect("a dialect");
    let policy = Policy {
        reasoning: Reasoning::Keep,
        ..Policy::default()
    };
    let range = WindowRange {
        session_start: 0,
        session_end: position,
        start: 0,
        end: position,
        trained_from: 0,
    };
    let view = View {
        window: Some(Window {
            range,
            shared: Shared::default().into(),
        }),
        ..View::whole(linked, auto_perspective(linked), &policy)
    };
    let mut found = None;
    dialect.render_each(&view, &mut |sink, rendering| {
        found = Some((serde_json::from_str(sink.text()).expect("JSON"), rendering));
    });
    found.expect("a rendering")
}

/// A rendering as the validators of `.ci/oracles` read it.
fn row(dialect: &str, rendered: &Value, rendering: &Rendering) -> Value {
    let violations: Vec<&str> = rendering
        .violations
        .iter()
        .map(|violation| violation.rule.as_str())
        .collect();
    json!({
        "dialect": dialect, "profile": chatmill_dialect::find(dialect).expect("a dialect").profile(), "conversation": "", "perspective": "",
        "place": "prefix", "valid": rendering.is_valid(), "violations": violations, "content": rendered.to_string()
    })
}

/// The positions of the answers. The result of a tool that ran at the vendor is inside an answer.
fn answers(linked: &Linked) -> Vec<u32> {
    let mut is_inside = false;
    let answers = linked.conversation.messages.iter().filter(|message| {
        let hosted = |part: &Part| {
            matches!(part, Part::ToolResult(result) if matches!(result.own.as_deref(), Some(OwnItem::Hosted(_) | OwnItem::Inside)))
        };
        let continues = std::mem::replace(&mut is_inside, message.parts.iter().any(hosted));
        message.role == Role::Assistant && message.kind == MessageKind::Message && !continues
    });
    answers.map(|message| message.position).collect()
}

/// The change of the history between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The next request continues the previous one.
    Continued,
    /// It has some turns of the previous one, but not all.
    LeftOut,
    /// It begins with a new turn, and others follow.
    Summary,
}

fn step(one: &RequestContent, next: &RequestContent) -> Step {
    if next.turns.starts_with(&one.turns) {
        return Step::Continued;
    }
    let mut turns = next.turns.iter().filter(|(role, _)| role != "system");
    let is_known = turns.next().is_none_or(|turn| one.turns.contains(turn));
    if is_known || turns.next().is_none() {
        Step::LeftOut
    } else {
        Step::Summary
    }
}

/// The results of the law.
#[derive(Debug, Default)]
struct Found {
    /// The number of requests that were compared.
    compared: usize,
    steps: BTreeMap<Step, usize>,
    unexplained: Vec<String>,
    /// The renderings.
    rendered: Vec<Value>,
}

impl Found {
    /// Applies the law to the log of a session.
    fn log(&mut self, dialect: &str, log: &[(Value, Value)]) {
        let content: Vec<RequestContent> = log
            .iter()
            .map(|(request, _)| RequestContent::of(dialect, request))
            .collect();
        let mut begin = 0;
        for end in 1..=log.len() {
            let step = content.get(end).map(|next| step(&content[end - 1], next));
            if let Some(step) = step {
                *self.steps.entry(step).or_default() += 1;
            }
            if step != Some(Step::Continued) {
                self.chain(dialect, &log[begin..end]);
                begin = end;
            }
        }
    }

    /// Applies the law to requests that continue one another: to each alone, and to all of them in the last one.
    fn chain(&mut self, dialect: &str, log: &[(Value, Value)]) {
        let requests: Vec<&Value> = log.iter().map(|(request, _)| request).collect();
        for (number, (request, response)) in log.iter().enumerate() {
            let record = json!({"id": "r-1", "request": request, "response": response}).to_string();
            let linked = read("request-log", &record);
            let among = if number + 1 == log.len() { 0 } else { number };
            self.requests(dialect, &linked, &requests[among..=number], &record);
        }
    }

    /// Compares requests with the renderings of the messages before their answers in a conversation.
    fn requests(&mut self, dialect: &str, linked: &Linked, requests: &[&Value], record: &str) {
        let answers = answers(linked);
        for request in requests {
            self.compared += 1;
            let content = RequestContent::of(dialect, request);
            let Some(position) = answers.get(content.answers()) else {
                self.unexplained
                    .push(format!("{dialect}: answers at {answers:?}\n{record}"));
                continue;
            };
            let (rendered, rendering) = rendered_before(dialect, linked, *position);
            self.rendered.push(row(dialect, &rendered, &rendering));
            let losses = rendering.losses;
            let differences = content.differences(RequestContent::of(dialect, &rendered), &losses);
            if !differences.is_empty() {
                let losses: Vec<String> = losses
                    .iter()
                    .map(|loss| format!("{} {}", loss.code.as_str(), loss.amount))
                    .collect();
                self.unexplained.push(format!(
                    "{dialect}: {}\n{losses:?}\n{request}\n{rendered}",
                    differences.join("\n")
                ));
            }
        }
    }
}

#[test]
fn what_was_said_before_an_answer_is_its_request() {
    for (salt, wire) in (1_u64..).zip(&WIRES) {
        let mut draw = random(0x7072_6566 + salt);
        let mut found = Found::default();
        let mut cuts: BTreeMap<Step, usize> = BTreeMap::new();
        for _ in 0..cases(10) {
            let session = Session::drawn(&mut draw);
            found.log(wire.dialect, &wire.log(&session, &mut draw));
            if let Some((_, cut)) = session.cut {
                let step = if cut == Cut::LeftOut {
                    Step::LeftOut
                } else {
                    Step::Summary
                };
                *cuts.entry(step).or_default() += 1;
            }
        }
        found.steps.remove(&Step::Continued);
        let shown: Vec<&String> = found.unexplained.iter().take(3).collect();
        assert!(
            shown.is_empty(),
            "{} of {} requests differ\n{shown:?}",
            found.unexplained.len(),
            found.compared
        );
        assert_eq!(found.steps, cuts, "{}", wire.dialect);
    }
}

#[test]
#[ignore = "writes what vendors' types are asked about"]
fn rendered_requests_are_written() {
    let path = std::env::var_os("CHATMILL_REQUESTS").expect("CHATMILL_REQUESTS names the file");
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    for (salt, wire) in (1_u64..).zip(&WIRES) {
        let mut draw = random(0x7265_7175 + salt);
        let mut found = Found::default();
        for _ in 0..cases(50) {
            let log = wire.log(&Session::drawn(&mut draw), &mut draw);
            found.log(wire.dialect, &log);
            let (request, response) = log.last().unwrap();
            let record = json!({"id": "r-1", "request": request, "response": response}).to_string();
            let linked = read("request-log", &record);
            let end = linked.conversation.messages.len() as u32;
            for other in WIRES.iter().map(|wire| wire.dialect).chain(["mistral-chat"]) {
                let (rendered, rendering) = rendered_before(other, &linked, end);
                found.rendered.push(row(other, &rendered, &rendering));
            }
        }
        for rendered in found.rendered {
            writeln!(file, "{rendered}").unwrap();
        }
    }
}

/// The requests of Chat Completions in a trace, possibly as JSON in strings: lists of messages that have a user and do
/// not end with the model.
fn requests_in(value: &Value, found: &mut Vec<Value>) {
    let is_message = |message: &Value| {
        message["role"].is_string() && message["parts"].is_null() && !message["content"].is_object()
    };
    let is_request = |list: &[Value]| {
        let is_of = |message: &Value, role: &str| message["role"] == json!(role);
        list.iter().all(is_message)
            && list.iter().any(|message| is_of(message, "user"))
            && list.last().is_some_and(|last| !is_of(last, "assistant"))
    };
    match value {
        Value::Array(list) if is_request(list) => found.push(json!({"messages": list})),
        Value::Array(list) => list.iter().for_each(|value| requests_in(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| requests_in(value, found)),
        Value::String(text) => {
            if let Ok(value @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
                requests_in(&value, found);
            }
        }
        _ => {}
    }
}

#[test]
fn requests_of_a_trace_are_what_was_said_before_their_answers() {
    let (mut compared, mut unexplained) = (0, Vec::new());
    let folders = ["sources/langfuse", "sources/langfuse/example"];
    for file in folders.into_iter().flat_map(sample_files) {
        let name = file.to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(record) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let mut requests = Vec::new();
        requests_in(&record, &mut requests);
        let content: Vec<RequestContent> = requests
            .iter()
            .map(|request| RequestContent::of("openai-chat", request))
            .collect();
        if name.contains(".expected.") || content.len() < 2 {
            continue;
        }
        let read = reading("langfuse", &text, &Limits::default());
        let conversations = read
            .conversation
            .into_iter()
            .chain(read.also.into_iter().filter_map(|also| also.conversation));
        let conversations: Vec<Linked> = conversations
            .map(|one| chatmill_link::link(one, &Limits::default()).0)
            .collect();
        for content in content {
            compared += 1;
            let mut places = conversations.iter().flat_map(|linked| {
                answers(linked)
                    .into_iter()
                    .map(move |position| (linked, position))
            });
            let is_there = places.any(|(linked, position)| {
                let (mut rendered, rendering) = rendered_before("openai-chat", linked, position);
                rendered["tools"] = Value::Null;
                let mut content = content.clone();
                content.tools.clear();
                content
                    .differences(RequestContent::of("openai-chat", &rendered), &rendering.losses)
                    .is_empty()
            });
            if !is_there {
                unexplained.push(format!("{name}: {content:?}"));
            }
        }
    }
    assert!(
        unexplained.is_empty(),
        "{} of {compared}\n{}",
        unexplained.len(),
        unexplained.join("\n")
    );
    assert!(compared > 5, "{compared} requests");
}

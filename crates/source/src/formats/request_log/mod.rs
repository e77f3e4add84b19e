//! Logs of requests: one record for each request, with the request as sent and the answer as received.
//!
//! The smallest example:
//!
//! ```json
//! {"timestamp": "2026-01-02T10:00:00Z", "request": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
//!  "response": {"choices": [{"message": {"role": "assistant", "content": "Hello"}}], "usage": {"prompt_tokens": 1}}}
//! ```
//!
//! Request and answer are those of any vendor, as objects, inside a `body`, or as JSON in strings; a log that has
//! only the texts is also read. Of several answers (`choices`, `candidates`) the first is the answer, the others are
//! alternatives. [`REQUESTS`] and [`ANSWERS`] list every spelling that is read. The model and the token usage are
//! kept with the answer. A request that failed is kept with the reason as a notice.

mod without_text;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::RecordSketch;
use chatmill_intake::json::{Kind, Value};
use chatmill_model::Extra;

use crate::base::{Keep as _, id, present, text, texts::quoted_json, words};
use crate::frame::{FrameView, Reading};
use crate::grammar::stream;
use crate::layout::exchange::{Exchange, LISTS, is_request, logged};
use crate::layout::{Turns, best, columns};
use crate::rust_format::{Read, RustFormat};
use crate::source::{About, NO_TEXT_ARGUMENTS};

/// Fields that contain a request.
const REQUESTS: [&str; 10] =
    words!(request request_body requestBody request_json requestJson req raw_request kwargs input inputs);

/// Fields inside those that contain the request or the answer itself; the last two are those of Bedrock's invocation
/// logs.
const BODIES: [&str; 3] = words!(body inputBodyJson outputBodyJson);

/// Fields that contain an answer.
const ANSWERS: [&str; 10] = words!(
    response response_body responseBody response_json responseJson resp raw_response completion output result
);

/// Fields that name the conversation; the first one present is used.
const IDS: [&str; 8] = words!(conversation_id thread_id session_id request_id requestId call_id trace_id id);

/// Fields with the time of the request.
const TIMES: [&str; 7] = words!(timestamp time created_at createdAt start_time startTime date);

static ABOUT: About = About {
    id: "request-log",
    title: "Logs of requests",
    specification: "what proxies and clients write: the request and the answer as the vendor's API has them",
    verified: "2026-11",
    shapes: &["log"],
    carries: "requests and answers of OpenAI's, Anthropic's and Gemini's APIs, models, usage, times, failures",
    traits: NO_TEXT_ARGUMENTS.of_one_request(),
};

/// The source `request-log`.
pub static REQUEST_LOG: RustFormat = RustFormat {
    has_scattered_messages: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Thoughts(read))
};

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    if let Some(found) = without_text::recognise(record) {
        return Some(found);
    }
    let answer = ANSWERS.into_iter().find(|key| record.names(key))?;
    let request = REQUESTS.into_iter().find(|key| record.names(key))?;
    let holds = |list: &&str| {
        let within = |place: &str| record.names(&format!("{request}.{place}{list}"));
        within("") || BODIES.iter().any(|body| within(&format!("{body}.")))
    };
    let is_object = LISTS.iter().any(holds);
    let is_text = !request.starts_with("input")
        && record
            .starts
            .iter()
            .chain(&record.strings)
            .any(|(key, text)| key == request && text.trim_start().starts_with('{'));
    // A list of messages next to them has precedence.
    let other = columns::name_alone(record, &["role", "content"]).filter(|name| *name != answer);
    if other.is_none() && !is_object && !is_text && ANSWERED.iter().any(|name| record.names(name)) {
        let why = format!("the record has {request}, and an answer as an API gives it in {answer}");
        return Some((60, why));
    }
    let is_batch = record.names("custom_id");
    let why = format!("the record has {request} with messages, and {answer}");
    (!is_batch && (is_object || is_text)).then_some((if is_object { 96 } else { 88 }, why))
}

/// Whether the answer came from the gateway's cache. `LiteLLM` logs such an answer with a copy of the usage of the
/// original, paid request.
fn is_from_cache(root: Value<'_>) -> bool {
    let mark = present(root, "cache_hit");
    mark.is_some_and(|mark| {
        text(Some(mark)).map_or(mark.raw() == "true", |mark| mark.eq_ignore_ascii_case("true"))
    })
}

/// Names in an answer that only APIs and frameworks give.
const ANSWERED: [&str; 9] = [
    "output[].type",
    "output[].role",
    "output[].message",
    "output.role",
    "output.message",
    "output.choices",
    "output.generations",
    "output.parts",
    "output.candidates",
];

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let root = frame.root();
    if root.kind() != Kind::Object {
        return Err(frame.error(&codes::WRONG_TYPE, "the record is not an object", "$", root));
    }
    let field = |keys: &[&'static str]| keys.iter().find_map(|key| Some((*key, present(root, key)?)));
    let mut requests = REQUESTS
        .iter()
        .filter_map(|key| Some((*key, present(root, key)?)));
    // If none of the fields contains a request, the record itself may be one.
    let found = requests.find(|(key, value)| !key.starts_with("input") || holds_request(*value));
    let found = found.or_else(|| (is_request(root) && !without_text::is_one(root)).then_some(("", root)));
    let Some((request_key, request)) = found else {
        if without_text::is_one(root) {
            return Ok(without_text::read(frame, limits));
        }
        let text = "the record has no request";
        return Err(frame.error(&codes::MISSING_FIELD, text, "$.request", root));
    };
    let mut exchange = Exchange::new(Turns::new(frame, limits));
    exchange.identify(request);
    field(&ANSWERS).inspect(|(_, answer)| exchange.identify(*answer));
    let found = opened(&mut exchange, request, limits, |exchange, request| {
        let body = body_of(request).filter(|(_, body)| is_request(*body));
        match body {
            Some((field, body)) => {
                exchange.request(body, "request");
                exchange.beside.find_tools(body, limits);
                let extra = &mut exchange.beside.extra;
                extra.keep_rest(request, "request.envelope", &[field]);
            }
            None if request_key.is_empty() => exchange.request(request, ""),
            None => exchange.request(request, "request"),
        }
        exchange.beside.find_tools(request, limits);
        is_request(body.map_or(request, |(_, body)| body))
    });
    if !found {
        let text = format!("{request_key} holds no messages");
        return Err(frame.error(&codes::MISSING_FIELD, text, format!("$.{request_key}"), request));
    }
    let answer = field(&ANSWERS);
    if let Some((_, answer)) = answer {
        opened(&mut exchange, answer, limits, |exchange, answer| {
            // HTTP clients call the text of a stream so.
            let text = || present(answer, "text").filter(|text| stream::open(*text, limits).is_some());
            let body = body_of(answer).or_else(|| Some(("text", text()?)));
            let usage = exchange.answer(body.map_or(answer, |(_, body)| body), "response");
            if let Some((field, _)) = body {
                let extra = &mut exchange.beside.extra;
                extra.keep_rest(answer, "response.envelope", &[field]);
            }
            let holders: Vec<Value<'_>> = usage.into_iter().chain([answer, root]).collect();
            exchange.spent(&holders);
        });
        if is_from_cache(root) {
            exchange.unpaid();
        }
        // A line of Vertex's output of a batch.
        if present(root, "processed_time").is_some() {
            logged::batched(&mut exchange.turns.list.messages);
        }
    } else if let Some(error) = present(root, "error") {
        exchange.failed(error);
    }
    if let Some((key, time)) = field(&TIMES)
        && let Some(last) = exchange.turns.list.messages.len().checked_sub(1)
    {
        let mut site = exchange.turns.list.site(None, root);
        site.position = last as u32;
        let timestamp = exchange.turns.times.read(Some(time), key, &mut site);
        if let Some(message) = exchange.turns.list.messages.get_mut(last) {
            message.timestamp = timestamp;
        }
    }
    exchange.beside.find_tools(root, limits);
    let named = IDS
        .iter()
        .find_map(|key| Some((*key, root.get(key).and_then(id)?)));
    let mut known = vec![request_key, "model", "usage"];
    known.extend(named.as_ref().map(|(key, _)| *key));
    known.extend(answer.map(|(key, _)| key));
    known.extend(field(&TIMES).map(|(key, _)| key));
    let beside = &mut exchange.beside;
    beside.id = named.map(|(_, id)| id);
    if request_key.is_empty() {
        let is_own = |(key, _): &(String, _)| !known.contains(&key.as_str());
        beside.extra.0.retain(is_own);
    } else {
        let mut extra = Extra::default();
        extra.keep_rest(root, "", &known);
        extra.0.append(&mut beside.extra.0);
        beside.extra = extra;
    }
    Ok(exchange.finish("log"))
}

/// The body of a request or an answer, with its field name.
fn body_of(value: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    BODIES
        .into_iter()
        .find_map(|field| Some((field, present(value, field)?)))
}

/// Whether a value is a request, or has one in its body.
fn holds_request(value: Value<'_>) -> bool {
    is_request(value) || body_of(value).is_some_and(|(_, body)| is_request(body))
}

/// Calls a function with a value, or with the JSON in its string; findings inside are placed at the string.
pub(crate) fn opened<'d, 'r, T>(
    exchange: &mut Exchange<'d, 'r>,
    value: Value<'_>,
    limits: &Limits,
    act: impl FnOnce(&mut Exchange<'d, 'r>, Value<'_>) -> T,
) -> T {
    let Some(document) = quoted_json::open(value, limits) else {
        return act(exchange, value);
    };
    let outer = exchange.turns.within.clone().unwrap_or_else(|| value.span());
    let before = exchange.turns.within.replace(outer);
    exchange.identify(document.root());
    let done = act(exchange, document.root());
    exchange.turns.within = before;
    done
}

//! Batches of OpenAI's: a file of requests and files of results, joined by `custom_id`.
//!
//! The smallest example:
//!
//! ```json
//! {"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"messages":[{"role":"user","content":"Hi"}]}}
//! {"custom_id":"a","response":{"status_code":200,"body":{"choices":[{"message":{"role":"assistant","content":"Hello"}}]}}}
//! ```
//!
//! Requests and results of one folder are one batch, in any order; results of failed requests are in a separate file. A
//! request without a result is a conversation without its answer, and a result without its request is only the answer, each
//! with a finding. The bodies are those of the chat API or of the Responses API.

use std::collections::VecDeque;

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_intake::json::{Document, Kind, Value};
use chatmill_intake::{RecordSketch, Sketch};

use crate::base::{id, present};
use crate::frame::{ExportPath, FrameView, Reading, Row};
use crate::layout::exchange::{Exchange, logged};
use crate::layout::{Element, Turns, best, list, reading};
use crate::source::{About, NO_TEXT_ARGUMENTS, Source};

/// A source that reads the batches of one vendor.
#[derive(Debug)]
pub struct BatchFiles {
    /// Title, shape and traits of the format.
    pub about: &'static About,
    /// The field of a request that contains the request's body.
    pub body: &'static str,
    /// The field of a result that contains the response.
    pub result: &'static str,
}

static ABOUT: About = About {
    id: "openai-batch",
    title: "OpenAI batches",
    specification: "OpenAI API reference, Batch",
    verified: "openai 3.57, 2026-11",
    shapes: &["batch"],
    carries: "requests and answers of the chat and Responses APIs, tool definitions, models, usage, failures",
    traits: NO_TEXT_ARGUMENTS.of_one_request(),
};

/// The source `openai-batch`.
pub static OPENAI_BATCH: BatchFiles = BatchFiles {
    about: &ABOUT,
    body: "body",
    result: "response",
};

impl Source for BatchFiles {
    fn about(&self) -> &'static About {
        self.about
    }

    fn recognise(&self, sketch: &Sketch) -> Option<(u8, Vec<String>)> {
        best(sketch, |record| self.recognise_record(record))
    }

    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading {
        reading(self.about, self.batch(*frame, limits))
    }

    fn has_scattered_messages(&self) -> bool {
        true
    }

    fn groups_rows(&self, _sketch: &Sketch) -> bool {
        true
    }

    /// A line is a request or a result; one object may hold all requests.
    fn rows(&self, document: &Document<'_>) -> Option<Vec<Row>> {
        let root = document.root();
        let list = present(root, "requests").filter(|list| list.kind() == Kind::Array);
        let key = |row: Value<'_>| present(row, "custom_id").and_then(id);
        match list {
            Some(list) => Row::cut(list, key),
            None => (root.kind() == Kind::Object)
                .then(|| Row::cut(root, key))
                .flatten(),
        }
    }

    /// The files of a batch are in one folder.
    fn export_path(&self, _sketch: &Sketch, path: &str) -> Option<ExportPath> {
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        Some(ExportPath {
            export: folder.to_owned(),
            conversation: String::new(),
        })
    }

    fn merges(&self) -> bool {
        true
    }
}

impl BatchFiles {
    fn recognise_record(&self, record: &RecordSketch) -> Option<(u8, String)> {
        let (body, result) = (self.body, self.result);
        if record.names("custom_id") && record.names(body) {
            return Some((96, format!("lines have custom_id and {body}")));
        }
        if record.names("custom_id") && record.names(result) {
            return Some((96, format!("lines have custom_id and {result}")));
        }
        let has_all = record.names("requests[].custom_id") && record.names(&format!("requests[].{body}"));
        has_all.then(|| (96, format!("requests have custom_id and {body}")))
    }

    fn batch(&self, frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
        let mut lines = list::lines(frame, "the batch", None, limits)?;
        if let [whole] = lines.as_slice()
            && let Some(list) = present(*whole, "requests").filter(|list| list.kind() == Kind::Array)
        {
            lines = list.items().collect();
        }
        let (mut requests, mut results) = (VecDeque::new(), VecDeque::new());
        let mut turns = Turns::new(frame, limits);
        for line in lines {
            let path = || frame.document.path_at(line.span().start);
            let known = |line: Value<'_>| match line.duplicate_keys().into_iter().next() {
                Some(key) => Err(key.into()),
                None => Ok(()),
            };
            if turns.list.element(Element::Row, path, line, known).is_none() {
                continue;
            }
            turns.list.rows.merged += 1;
            if present(line, self.body).is_some() {
                requests.push_back(line);
            } else {
                results.push_back(line);
            }
        }
        let mut all: Vec<Reading> = Vec::new();
        loop {
            let (request, result) = (requests.pop_front(), results.pop_front());
            if !all.is_empty() && request.is_none() && result.is_none() {
                break;
            }
            let turns = std::mem::replace(&mut turns, Turns::new(frame, limits));
            let mut reading = self.pair(turns, request, result);
            if let (false, Some(line)) = (all.is_empty(), request.or(result)) {
                let text = "duplicate custom_id: requests and results are paired in their order";
                let finding = Finding::new(&codes::DUPLICATE_CONVERSATION_ID, text);
                let path = frame.document.path_at(line.span().start);
                let span = frame.span(line.span());
                let finding = finding.at_path(format!("{path}.custom_id"));
                reading.findings.push(finding.at_span(span.start, span.end));
            }
            all.push(reading);
        }
        let mut all = all.into_iter();
        let mut first = all.next().unwrap_or_default();
        first.also = all.collect();
        Ok(first)
    }

    /// Reads a request and its result as one conversation.
    fn pair<'d>(
        &self,
        turns: Turns<'d, '_>,
        request: Option<Value<'d>>,
        result: Option<Value<'d>>,
    ) -> Reading {
        let mut exchange = Exchange::new(turns);
        let line = request.or(result);
        let bodies = [(request, self.body), (result, self.result)];
        for body in bodies.into_iter().filter_map(|(line, key)| present(line?, key)) {
            exchange.identify(body);
        }
        if let Some(body) = request.and_then(|line| present(line, self.body)) {
            exchange.request(body, self.body);
        } else if let Some(line) = line {
            let text = "no request has this custom_id: the answer is read without one";
            note(&mut exchange, text, line, &codes::SPARED_FIELD);
        }
        if let Some(result) = result {
            self.result(&mut exchange, result);
        } else if let Some(line) = line {
            let text = "no result has this custom_id: nothing was answered";
            note(&mut exchange, text, line, &codes::UNANSWERED_REQUEST);
        }
        exchange.beside.id = line.and_then(|line| present(line, "custom_id")).and_then(id);
        exchange.finish("batch")
    }

    /// Reads the response: an answer, or the reason why there is none.
    fn result(&self, exchange: &mut Exchange<'_, '_>, line: Value<'_>) {
        let result = present(line, self.result);
        let body = result.and_then(|result| present(result, "body").or_else(|| present(result, "message")));
        let failed = || present(line, "error").or_else(|| result.and_then(|result| present(result, "error")));
        if let Some(body) = body {
            let usage = exchange.answer(body, self.result);
            exchange.spent(&usage.into_iter().collect::<Vec<_>>());
            logged::batched(&mut exchange.turns.list.messages);
        } else if let Some(error) = failed().or_else(|| result.and_then(|result| present(result, "type"))) {
            exchange.failed(error);
        } else {
            let text = "the result holds neither an answer nor an error";
            note(exchange, text, line, &codes::SPARED_FIELD);
        }
    }
}

/// Reports the missing half of a pair.
fn note(exchange: &mut Exchange<'_, '_>, text: &str, line: Value<'_>, code: &'static Code) {
    let list = &mut exchange.turns.list;
    let path = list.frame.document.path_at(line.span().start);
    let finding = Finding::new(code, text);
    list.notes
        .push(finding.at_path(path), Some(line.get("custom_id").unwrap_or(line)));
}

//! The answer of a logged request: what stands as `response` beside its messages is a turn.
//!
//! Logs keep the answer as the API gave it (a completion with `choices`, a message of Anthropic's),
//! as a message, or as its text alone.

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::json::{Kind, Value};

use super::lists;
use crate::reader::{Keep as _, Kept, Notes, present};

/// The answer that a record holds beside its messages.
pub(super) struct Response<'d> {
    /// What it says: a message, or a string.
    pub said: Value<'d>,
    /// The other answers, where several were asked for.
    pub others: Vec<Value<'d>>,
    /// Its index.
    pub index: u32,
    /// The fields around it, by path.
    pub rest: Kept,
}

/// The answer of a request that was logged with it; none where there is none, or where it has no form that is known.
pub(super) fn of<'d>(root: Value<'d>, notes: &mut Notes) -> Option<Response<'d>> {
    let response = present(root, "response")?;
    let found = find(response);
    if found.is_none() {
        let text = "the response has no form that is known here and is kept as it is";
        let finding = Finding::new(&codes::WRONG_TYPE, text).with_severity(Severity::Warning);
        notes.push(finding.at_path("$.response"), Some(response));
    }
    found
}

fn find<'d>(response: Value<'d>) -> Option<Response<'d>> {
    let plain = |said| Response {
        said,
        others: Vec::new(),
        index: lists::first("$.response"),
        rest: Kept::new(),
    };
    if response.as_str().is_some() || response.get("role").is_some() && response.get("content").is_some() {
        return Some(plain(response));
    }
    let choices = response
        .get("choices")
        .filter(|list| list.kind() == Kind::Array)?;
    let message = |choice: Value<'d>| {
        choice
            .get("message")
            .filter(|message| message.kind() == Kind::Object)
    };
    let choice = choices.items().next()?;
    let said = message(choice)?;
    let mut others = Vec::new();
    let mut rest = Kept::new();
    rest.keep_rest(response, "response", &["choices"]);
    rest.keep_rest(choice, "response.choices[0]", &["message"]);
    for (index, other) in choices.items().enumerate().skip(1) {
        let place = format!("response.choices[{index}]");
        match message(other) {
            Some(message) => {
                others.push(message);
                rest.keep_rest(other, &place, &["message"]);
            }
            None => rest.keep(place, other),
        }
    }
    Some(Response {
        said,
        others,
        index: lists::first("$.response.choices[0].message"),
        rest,
    })
}

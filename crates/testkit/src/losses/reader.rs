//! Finds the source that reads a dialect back.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use chatmill_diag::Limits;
use chatmill_dialect::{Dialect, Policy, View};
use chatmill_intake::{Framing, Head};

/// A small chat that every dialect renders without a loss.
const CHAT: &str =
    r#"{"messages":[{"role":"user","content":"Is it open?"},{"role":"assistant","content":"Yes."}]}"#;

/// The source that reads a dialect's output: the one with the same name, or else the one that recognises a small chat
/// in that dialect. `None` if no source does; then only the text can be checked.
pub fn reader(dialect: &Dialect) -> Option<&'static str> {
    static KNOWN: LazyLock<Mutex<BTreeMap<String, Option<&'static str>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap();
    *known
        .entry(format!("{dialect:?}"))
        .or_insert_with(|| recognised(dialect))
}

fn recognised(dialect: &Dialect) -> Option<&'static str> {
    if let Some(source) = chatmill_source::find(dialect.id()) {
        return Some(source.id());
    }
    let linked = crate::conversations::read("openai-messages", CHAT);
    let policy = Policy::default();
    let view = View::whole(&linked, Some(1), &policy);
    let mut text = String::new();
    dialect.render_each(&view, &mut |sink, _| text.push_str(sink.text()));
    if dialect.about().media_type.starts_with("text/") {
        return None;
    }
    let head = Head {
        framing: Framing::Documents,
        complete: true,
        bytes: text.into_bytes(),
    };
    chatmill_source::detect(&head, &Limits::default()).map(|evidence| evidence.source)
}

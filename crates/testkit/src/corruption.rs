//! A delivery of small files in which every second file is corrupt in a known way, with the codes and the line that a
//! check must report.
//!
//! The kinds of corruption are in `corruption/kinds.json`. Each is a change to the example of a source: `from` becomes
//! `to` (or `bytes`, in hexadecimal), the text ends at `cut`, or `behind` is appended. The expected line is that of the
//! change, or of `at` if the error is reported elsewhere: a missing value is reported at the value that should contain
//! it.

use serde::Deserialize;

/// A way in which a file is corrupt.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorruptionKind {
    /// The name of the kind.
    pub name: String,
    /// The source with the example that is changed.
    pub source: String,
    /// The codes of which one must be found.
    pub codes: Vec<String>,
    from: Option<String>,
    to: Option<String>,
    bytes: Option<String>,
    cut: Option<String>,
    behind: Option<String>,
    at: Option<String>,
}

/// A file of a delivery.
#[derive(Clone, Debug)]
pub struct DeliveredFile {
    /// The name of the file.
    pub name: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The kind of corruption, and its line from 1; `None` for a valid file.
    pub corruption: Option<(CorruptionKind, u64)>,
}

/// The examples that are changed: source, text and file name extension.
const EXAMPLES: [(&str, &str, &str); 4] = [
    (
        "group-chat",
        "json",
        include_str!("../../../data-samples/sources/group-chat/example/group-chat.json"),
    ),
    (
        "openai-messages",
        "json",
        include_str!("../../../data-samples/sources/openai-messages/example/openai-messages.json"),
    ),
    (
        "suna-rows",
        "jsonl",
        include_str!("../../../data-samples/sources/suna-rows/example/suna-rows.jsonl"),
    ),
    (
        "jaibber-events",
        "jsonl",
        include_str!("../../../data-samples/sources/jaibber-events/example/jaibber-events.jsonl"),
    ),
];

/// Every kind of corruption.
pub fn kinds() -> Vec<CorruptionKind> {
    serde_json::from_str(include_str!("corruption/kinds.json")).expect("the kinds of damage")
}

/// The first `files` files of the delivery: every second one is valid, and the others are corrupted by each kind in turn.
pub fn delivery(files: usize) -> impl Iterator<Item = DeliveredFile> {
    let kinds = kinds();
    (0..files).map(move |number| {
        if number % 2 == 0 {
            let (source, ending, text) = EXAMPLES[number / 2 % EXAMPLES.len()];
            return DeliveredFile {
                name: format!("{number:05}-{source}.{ending}"),
                bytes: varied(text.as_bytes().to_vec(), number),
                corruption: None,
            };
        }
        let kind = &kinds[number / 2 % kinds.len()];
        let (_, ending, text) = EXAMPLES
            .iter()
            .find(|(source, ..)| *source == kind.source)
            .unwrap_or_else(|| panic!("{}: no example of {}", kind.name, kind.source));
        let (bytes, line) = kind.apply(text);
        DeliveredFile {
            name: format!("{number:05}-{}.{ending}", kind.name),
            bytes: varied(bytes, number),
            corruption: Some((kind.clone(), line)),
        }
    })
}

impl CorruptionKind {
    /// Returns the corrupt text and the line of the corruption.
    fn apply(&self, text: &str) -> (Vec<u8>, u64) {
        let place = |what: &str| {
            text.find(what)
                .unwrap_or_else(|| panic!("{}: {what:?} is not in the example", self.name))
        };
        let (bytes, change) = if let Some(cut) = &self.cut {
            let end = place(cut);
            (text.as_bytes()[..end].to_vec(), end)
        } else if let Some(behind) = &self.behind {
            (format!("{text}{behind}").into_bytes(), text.len())
        } else {
            let from = self.from.as_deref().unwrap_or_default();
            let start = place(from);
            let to = match (&self.to, &self.bytes) {
                (Some(to), _) => to.clone().into_bytes(),
                (None, Some(digits)) => decoded(digits),
                (None, None) => Vec::new(),
            };
            let alike = from.bytes().zip(&to).take_while(|(one, other)| one == *other);
            let change = start + alike.count();
            let rest = &text.as_bytes()[start + from.len()..];
            ([&text.as_bytes()[..start], &to, rest].concat(), change)
        };
        let change = match &self.at {
            None => change,
            Some(at) => bytes
                .windows(at.len())
                .position(|window| window == at.as_bytes())
                .unwrap_or_else(|| panic!("{}: {at:?} is not in the damaged text", self.name)),
        };
        let before = bytes.iter().take(change);
        let line = 1 + before.filter(|byte| **byte == b'\n').count() as u64;
        (bytes, line)
    }
}

fn decoded(digits: &str) -> Vec<u8> {
    let byte = |at: usize| {
        let digits = digits.get(at..at + 2).expect("pairs of digits");
        u8::from_str_radix(digits, 16).expect("hexadecimal digits")
    };
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// The same file with different ids and text, so that no file repeats another.
fn varied(bytes: Vec<u8>, number: usize) -> Vec<u8> {
    let number = format!("{number:05}");
    let mut varied = bytes;
    for (from, to) in [
        ("reading-room", format!("reading-room-{number}")),
        ("c1d7e0aa-1111", format!("c1d7e0aa-{number}")),
        ("6f0a5b1e", format!("6f{number}")),
        ("reading room open", format!("reading room {number} open")),
        ("the desk of a", format!("the desk {number} of a")),
    ] {
        varied = replaced(&varied, from.as_bytes(), to.as_bytes());
    }
    varied
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

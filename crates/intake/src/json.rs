//! The JSON scan: one pass over a frame validates it and writes a tape of its values as byte spans. It is also the
//! decoder, because readers walk the tape.
//!
//! The pass is iterative, so that no nesting depth can exhaust the stack, and strict (RFC 8259). It repairs one thing:
//! the escape of a lone surrogate becomes `\uFFFD` in a copy of equal length, so that spans stay valid. Numbers are
//! validated but remain text.
//!
//! Why: docs/decisions/2026-11-21-json-scan-is-the-decoder.md.

mod escape;
mod path;
mod places;
mod scan;
#[cfg(test)]
mod tests;
mod value;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use chatmill_diag::{Code, cut};

pub(crate) use escape::unescape_lossy;
pub use path::{append_key, is_word};
pub use places::Places;
pub(crate) use scan::plain_run;
pub use scan::scan;
pub use value::{Kind, Mark, Value};

/// A note about an accepted frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `lone-surrogate`, `number-out-of-range`, `escaped-nul` or `replacement-character`.
    pub code: &'static Code,
    /// The message, one sentence.
    pub message: &'static str,
    /// The first byte in the frame.
    pub at: usize,
    /// The end in the frame, exclusive.
    pub end: usize,
}

/// The error for a frame that is not an acceptable JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// `invalid-json`, `invalid-utf8`, `depth-exceeded`, or `document-too-large` from 4 GiB on.
    pub code: &'static Code,
    /// The byte in the frame at which reading stopped.
    pub at: usize,
    /// The message: one clause with the expectation that failed.
    pub message: String,
}

/// A frame that passed the scan: its text, the tape of its values, and notes.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    text: Cow<'t, str>,
    nodes: Vec<Node>,
    /// The mark of each value, by its index on the tape; the marks of field names are not used.
    marks: Vec<Cell<Mark>>,
    notes: Vec<Note>,
    /// The step to each value, computed when the first path is asked for.
    steps: OnceCell<Vec<path::PathStep>>,
    /// The documents that were parsed from strings, by the tape index of the string.
    inside: RefCell<HashMap<u32, Vec<Rc<Document<'static>>>>>,
    /// The tape indices of the names of wide objects, sorted by name, by the tape index of the object.
    sorted: RefCell<HashMap<u32, Vec<u32>>>,
    /// The names of the object in which the last field was looked up.
    recent: RefCell<value::Recent>,
}

/// One value on the tape. Its kind follows from the byte at `start`.
///
/// Values are in the order of the input; the name of a field is a string node directly before the node of its value.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The first byte in the text.
    start: u32,
    /// The end, exclusive.
    end: u32,
    /// For containers: index of the node after the last one inside. For strings: 1 if the text has an escape.
    link: u32,
}

impl Document<'_> {
    /// The same document with an owned text.
    fn into_owned(self) -> Document<'static> {
        Document {
            text: Cow::Owned(self.text.into_owned()),
            nodes: self.nodes,
            marks: self.marks,
            notes: self.notes,
            steps: self.steps,
            inside: self.inside,
            sorted: self.sorted,
            recent: RefCell::default(),
        }
    }

    /// The outermost value.
    pub fn root(&self) -> Value<'_> {
        Value::new(self, 0)
    }

    /// The notes of the scan, by position.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The whole text with repaired lone surrogates; its length is that of the frame.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte span of the first value in a range of the frame that has this text: a string, or another value that is
    /// written so. Takes time in proportion to the range.
    pub fn find(&self, within: Range<usize>, text: &str) -> Option<Range<usize>> {
        let first = self
            .nodes
            .partition_point(|node| (node.start as usize) < within.start);
        (first..self.nodes.len())
            .map(|index| Value::new(self, index as u32))
            .take_while(|value| value.span().start < within.end)
            .find(|value| value.is_text(text))
            .map(Value::span)
    }

    /// The path of the innermost value around a byte of the frame; for a byte in a field name, the path of the field.
    ///
    /// The first path takes one sweep over the document, and each further one takes time in proportion to its depth. It
    /// may therefore be called for each element of a list, at any position.
    pub fn path_at(&self, at: usize) -> String {
        path::to(self, at)
    }

    /// The byte span in the frame of the value at a path like `$.a[3]['irregular key'].b`.
    ///
    /// Elements of lists are found as fast as by [`path_at`](Self::path_at), and fields as fast as by [`Value::get`].
    pub fn locate(&self, path: &str) -> Option<Range<usize>> {
        path::follow(self, path).map(Value::span)
    }

    fn step(&self, place: u32) -> path::PathStep {
        let steps = self.steps.get_or_init(|| path::steps(self));
        *cut::at(steps, place as usize)
    }
}

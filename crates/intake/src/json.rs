//! The JSON scan, which is also the decoder: one pass over a frame gives the verdict and a tape of raw spans.
//!
//! The pass is iterative, so no nesting depth can exhaust the stack, and strict (RFC 8259). It repairs one
//! thing: an escape of a lone surrogate becomes `\uFFFD` in a copy of equal length, so that spans stay valid.
//! Numbers are checked and kept as text; nothing here converts them.
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
    /// One sentence on the note.
    pub message: &'static str,
    /// First byte in the frame.
    pub at: usize,
    /// The end in the frame, exclusive.
    pub end: usize,
}

/// Why a frame is not an acceptable JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// `invalid-json`, `invalid-utf8`, `depth-exceeded`, or `document-too-large` from 4 GiB on.
    pub code: &'static Code,
    /// Byte in the frame where reading stopped.
    pub at: usize,
    /// One clause with the expectation that failed.
    pub message: String,
}

/// A frame that passed the scan: its text, the tape of its values, and notes.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    text: Cow<'t, str>,
    nodes: Vec<Node>,
    /// The mark of each value, by its index on the tape; those of names stay unset.
    marks: Vec<Cell<Mark>>,
    notes: Vec<Note>,
    /// The step to each value, once somebody asked for a path.
    steps: OnceCell<Vec<path::PathStep>>,
    /// The documents that were opened in strings, by the places of the strings on the tape.
    inside: RefCell<HashMap<u32, Vec<Rc<Document<'static>>>>>,
    /// The places of the names of wide objects in the order of the names, by the places of the objects.
    sorted: RefCell<HashMap<u32, Vec<u32>>>,
    /// The names of the object that was looked into last.
    recent: RefCell<value::Recent>,
}

/// One value on the tape. The kind follows from the byte at `start`.
///
/// Values stand in input order; a field's name is a string node directly before the node of its value.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// First byte in the text.
    start: u32,
    /// The end, exclusive.
    end: u32,
    /// Containers: index of the node after the last one inside. Strings: 1 when the text holds an escape.
    link: u32,
}

impl Document<'_> {
    /// The same document with a text of its own.
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

    /// The whole text, lone surrogates repaired; as long as the frame.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The byte span of the first value in a range of the frame that is this text: a string that says it, or anything else that
    /// is written so. Takes time in proportion to the range.
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

    /// The path of the innermost value around a byte of the frame; that of a field, where the byte is in its name.
    ///
    /// The first path that is asked for takes one sweep over the document, each further one time in proportion to its depth: it may
    /// be asked for each element of a list, wherever that lies.
    pub fn path_at(&self, at: usize) -> String {
        path::to(self, at)
    }

    /// The byte span in the frame of the value at a path like `$.a[3]['irregular key'].b`.
    ///
    /// Elements of lists are found as fast as paths are, and fields as [`Value::get`] finds them.
    pub fn locate(&self, path: &str) -> Option<Range<usize>> {
        path::follow(self, path).map(Value::span)
    }

    fn step(&self, place: u32) -> path::PathStep {
        let steps = self.steps.get_or_init(|| path::steps(self));
        *cut::at(steps, place as usize)
    }
}

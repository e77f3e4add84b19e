//! Collects findings with their places: path, message, and byte span in the entry.
//!
//! Every source that reads JSON uses this module; the sources define the messages of their findings.

use std::fmt::Write as _;
use std::ops::Range;

use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_intake::json::{Value, append_key};

/// The findings of one frame.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The findings so far.
    pub findings: Vec<Finding>,
    start: u64,
}

impl Notes {
    /// An empty collection for a frame that starts at this byte of the entry.
    pub(crate) fn new(start: u64) -> Self {
        Self {
            findings: Vec::new(),
            start,
        }
    }

    /// An empty collection for the same frame.
    pub(crate) fn empty_copy(&self) -> Self {
        Self::new(self.start)
    }

    /// Adds a finding, with the byte span of the value that it is about.
    pub(crate) fn push(&mut self, finding: Finding, value: Option<Value<'_>>) {
        let finding = match value {
            Some(value) => self.spanned(finding, value.span()),
            None => finding,
        };
        self.findings.push(finding);
    }

    /// Reports a tolerable value of the wrong type, and quotes it.
    pub(crate) fn warn(&mut self, path: impl Into<String>, text: &str, value: Value<'_>) {
        let finding = Finding::new(&codes::BEARABLE_TYPE, text);
        self.push(finding.quoting(value.raw()).at_path(path), Some(value));
    }

    /// Gives a finding its byte span in the entry.
    pub(crate) fn spanned(&self, finding: Finding, span: Range<usize>) -> Finding {
        finding.at_span(self.start + span.start as u64, self.start + span.end as u64)
    }

    /// Reports duplicate keys of an object: as an error if only the last value is kept (`single`), else as a note, because all are kept raw.
    pub(crate) fn repeated_keys(&mut self, object: Value<'_>, path: &str, single: impl Fn(&str) -> bool) {
        for key in object.duplicate_keys() {
            let mut place = path.to_owned();
            append_key(&mut place, &key);
            let finding = repeated_key(single(&key)).at_path(place);
            self.push(finding, object.get(&key));
        }
    }
}

/// Whether an object anywhere inside a value has duplicate keys.
pub(crate) fn has_repeats(value: Value<'_>) -> bool {
    !value.duplicate_keys().is_empty()
        || value.fields().any(|(_, field)| has_repeats(field))
        || value.items().any(has_repeats)
}

/// A `duplicate-key` finding without its place.
fn repeated_key(loses_a_value: bool) -> Finding {
    if loses_a_value {
        let text = "duplicate key: the last value is used";
        Finding::new(&codes::DUPLICATE_KEY, text)
    } else {
        let text = "duplicate key: all values are kept";
        Finding::new(&codes::RETAINED_KEY, text)
    }
}

/// The message that is being read, as a place for findings.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// The findings.
    pub notes: &'a mut Notes,
    /// Position of the message.
    pub position: u32,
    /// The id of the message.
    pub id: Option<&'a str>,
    /// The whole message.
    pub message: Value<'a>,
    /// The limits of reading.
    pub limits: &'a Limits,
    /// Whether the message is part of a request, where a vendor requires fields that logs and rows may omit.
    pub is_strict: bool,
}

impl Site<'_> {
    /// The site for a value inside one of the message's fields; its findings are collected separately.
    pub(crate) fn inside<'s>(&'s self, notes: &'s mut Notes, message: Value<'s>) -> Site<'s> {
        Site {
            notes,
            position: self.position,
            id: self.id,
            message,
            limits: self.limits,
            is_strict: self.is_strict,
        }
    }

    /// Adds a finding about a value below the message.
    pub(crate) fn push(&mut self, finding: Finding, suffix: impl Into<String>, value: Value<'_>) {
        let finding = self.place(finding, suffix, value);
        self.notes.findings.push(finding);
    }

    /// Adds a finding with the severity of its code.
    pub(crate) fn note(
        &mut self,
        code: &'static Code,
        text: &str,
        suffix: impl Into<String>,
        value: Value<'_>,
    ) {
        self.push(Finding::new(code, text), suffix, value);
    }

    /// Adds the place of a value below the message to a finding.
    pub(crate) fn place(&self, finding: Finding, suffix: impl Into<String>, value: Value<'_>) -> Finding {
        let finding = finding.at_message(self.position, self.id, suffix);
        self.notes.spanned(finding, value.span())
    }

    /// Reports a missing field.
    pub(crate) fn missing(&mut self, field: &str) {
        self.lacking(&codes::MISSING_FIELD, field, "is missing");
    }

    /// Reports a field that is empty or null, which readers of the format tolerate.
    pub(crate) fn empty(&mut self, field: &str) {
        self.lacking(&codes::SPARED_FIELD, field, "is empty or null");
    }

    /// Reports a missing field that readers of the format can do without.
    pub(crate) fn absent(&mut self, field: &str) {
        self.lacking(&codes::SPARED_FIELD, field, "is missing");
    }

    /// Reports a missing field that only requests must have.
    pub(crate) fn lacks(&mut self, field: &str) {
        if self.is_strict {
            self.missing(field);
        } else {
            self.empty(field);
        }
    }

    /// Reports a value of the wrong type, as an error in requests, and quotes it.
    pub(crate) fn error_if_strict(&mut self, field: &str, text: &str, value: Value<'_>) {
        if self.is_strict {
            self.error(field, text, value);
        } else {
            self.warn(field, text, value);
        }
    }

    fn lacking(&mut self, code: &'static Code, field: &str, what: &str) {
        self.note(
            code,
            &format!("{field} {what}"),
            format!(".{field}"),
            self.message,
        );
    }

    /// Reports a tolerable value of the wrong type, and quotes it.
    pub(crate) fn warn(&mut self, field: &str, text: &str, value: Value<'_>) {
        self.wrong(&codes::BEARABLE_TYPE, field, text, value);
    }

    /// Reports a value of the wrong type that makes a part of the message unusable, and quotes it.
    pub(crate) fn error(&mut self, field: &str, text: &str, value: Value<'_>) {
        self.wrong(&codes::WRONG_TYPE, field, text, value);
    }

    fn wrong(&mut self, code: &'static Code, field: &str, text: &str, value: Value<'_>) {
        let finding = Finding::new(code, text).quoting(value.raw());
        self.push(finding, format!(".{field}"), value);
    }

    /// Reports duplicate keys of an object: as an error if only the last value is kept (`single`), else as a note, because all are kept
    /// raw.
    pub(crate) fn repeated_keys(&mut self, object: Value<'_>, single: impl Fn(&str) -> bool) {
        for key in object.duplicate_keys() {
            let mut suffix = String::new();
            append_key(&mut suffix, &key);
            self.push(
                repeated_key(single(&key)),
                suffix,
                object.get(&key).unwrap_or(object),
            );
        }
    }

    /// Reports duplicate keys anywhere inside a value that is kept raw.
    pub(crate) fn repeated_keys_within(&mut self, value: Value<'_>, suffix: &str) {
        if has_repeats(value) {
            self.repeats_below(value, &mut suffix.to_owned());
        }
    }

    /// Reports duplicate keys below a value. `place` is one buffer, restored after each step: with a long name above many elements, a new path for
    /// each element would take time quadratic in the input.
    fn repeats_below(&mut self, value: Value<'_>, place: &mut String) {
        let length = place.len();
        for key in value.duplicate_keys() {
            append_key(place, &key);
            self.push(
                repeated_key(false),
                place.clone(),
                value.get(&key).unwrap_or(value),
            );
            place.truncate(length);
        }
        for (key, field) in value.fields() {
            append_key(place, &key);
            self.repeats_below(field, place);
            place.truncate(length);
        }
        for (index, element) in value.items().enumerate() {
            // Writing into a String cannot fail.
            let _ = write!(place, "[{index}]");
            self.repeats_below(element, place);
            place.truncate(length);
        }
    }
}

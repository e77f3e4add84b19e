//! Findings and rejects, with their places.

use std::collections::BTreeMap;
use std::fmt;
use strum::IntoStaticStr;

use crate::code::{Code, Severity};
use crate::{cut, fields};

/// A half-open byte range of a decompressed entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// The end, exclusive.
    pub end: u64,
}

impl Span {
    /// The range from a byte to an end, exclusive.
    pub const fn new(start: u64, end: u64) -> Self {
        Self { start, end }
    }
}

/// The place of a finding inside a record, as far as it is known.
///
/// Paths are written `$.conversation_list[3].sender`. Code with access to the frame converts a path into a byte span.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Path {
    /// The whole record.
    #[default]
    Record,
    /// From the record's root, for example `$.conversation_meta.name`.
    Absolute(String),
    /// Below the message of [`Finding::position`]; empty, or for example `.refer_list[0]`.
    InMessage(String),
}

/// The text that a finding marks inside its place. Rules know the text of a message and not its offset; the engine has the record and
/// searches for the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A whole value: an id, a name, an address, arguments.
    Value(String),
    /// A word inside a text.
    Word(String),
}

/// The longest text that can be marked, in bytes.
const MARK_BYTES: usize = 1024;

/// One diagnostic with its place inside a record. The engine adds input, entry, record and conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The code.
    pub code: &'static Code,
    /// The severity of the code, or of its case; an error if something is rejected.
    pub severity: Severity,
    /// The number of occurrences that this finding represents.
    pub count: u64,
    /// The position of the message in the conversation, counted from 0.
    pub position: Option<u32>,
    /// The id of that message, if it has one.
    pub message_id: Option<String>,
    /// The place inside the record.
    pub path: Path,
    /// The part of the place that is meant, if it is not all of it.
    pub mark: Option<Meant>,
    /// Ids and names of the input that the message contains, each as [`ShownId`].
    pub named: Vec<String>,
    /// The byte range in the decompressed entry, if it is known where the finding is made.
    pub span: Option<Span>,
    /// One clause without a full stop and without any byte of chat text, name or address; ids are in `named`.
    pub message: String,
    /// Source text that makes the message clearer; omitted if content must not be quoted.
    pub detail: Option<String>,
}

impl Finding {
    /// A finding about a whole record, with a code or one of its cases.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code: code.itself(),
            severity: code.severity,
            count: 1,
            position: None,
            message_id: None,
            path: Path::Record,
            mark: None,
            named: Vec::new(),
            span: None,
            message: message.into(),
            detail: None,
        }
    }

    /// Places the finding at a message, or at the field of it that `suffix` (for example `.refer_list[0]`) names.
    #[must_use]
    pub fn at_message(mut self, position: u32, id: Option<&str>, suffix: impl Into<String>) -> Self {
        self.position = Some(position);
        self.message_id = id.map(str::to_owned);
        self.path = Path::InMessage(suffix.into());
        self
    }

    /// Places the finding at a path from the record's root.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = Path::Absolute(path.into());
        self
    }

    /// Sets the byte range in the decompressed entry.
    #[must_use]
    pub fn at_span(mut self, start: u64, end: u64) -> Self {
        self.span = Some(Span { start, end });
        self
    }

    /// Marks this value inside the place. An empty or very long value is not searched for.
    #[must_use]
    pub fn marking(mut self, value: &str) -> Self {
        self.mark = marked(value).map(Meant::Value).or(self.mark);
        self
    }

    /// Marks the first occurrence of this word inside the place. An empty or very long word is not searched for.
    #[must_use]
    pub fn marking_word(mut self, word: &str) -> Self {
        self.mark = marked(word).map(Meant::Word).or(self.mark);
        self
    }

    /// Notes that the message contains this id, so that it can be masked.
    #[must_use]
    pub fn naming(mut self, id: &str) -> Self {
        if !id.is_empty() {
            self.named.push(id.to_owned());
        }
        self
    }

    /// The message with every id of the input replaced by the result of `mask`; a name in a path is hidden as in [`with_known_keys`].
    pub fn masked_message(&self, mask: &dyn Fn(&str) -> String) -> String {
        let mut message = self.message.clone();
        for id in &self.named {
            message = message.replace(&ShownId(id).to_string(), &format!("`{}`", mask(id)));
            message = message.replace(&format!("['{id}']"), "['…']");
        }
        message
    }

    /// Quotes source text; it is cut to 120 code points.
    #[must_use]
    pub fn quoting(mut self, text: &str) -> Self {
        self.detail = Some(cut::beginning(text, 120));
        self
    }

    /// Notes that the subject of the finding is rejected: that is an error, with any code.
    #[must_use]
    pub fn rejecting(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }
}

/// A text that may be searched for.
fn marked(text: &str) -> Option<String> {
    (1..=MARK_BYTES).contains(&text.len()).then(|| text.to_owned())
}

/// An id as it appears in the message of a finding: between backticks, with control characters escaped, cut to 64 code points.
#[derive(Clone, Copy, Debug)]
pub struct ShownId<'a>(pub &'a str);

impl fmt::Display for ShownId<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_CHARACTERS: usize = 64;
        out.write_str("`")?;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(MAX_CHARACTERS) {
            if character.is_control() {
                write!(out, "{}", character.escape_default())?;
            } else {
                write!(out, "{character}")?;
            }
        }
        out.write_str(if characters.next().is_some() { "…`" } else { "`" })
    }
}

/// A path in which every unknown key is `['…']`: keys that are people, ids or fields of the user.
pub fn with_known_keys(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(mark) = rest.find(['.', '[']) {
        let (before, after) = rest.split_at_checked(mark).unwrap_or((rest, ""));
        out.push_str(before);
        if let Some(quoted) = after.strip_prefix("['") {
            out.push_str("['…']");
            rest = end_of_key(quoted);
        } else if let Some(key) = after.strip_prefix('.') {
            let length = key.find(['.', '[']).unwrap_or(key.len());
            let (word, later) = key.split_at_checked(length).unwrap_or((key, ""));
            if fields::is_known(word) {
                out.push('.');
                out.push_str(word);
            } else {
                out.push_str("['…']");
            }
            rest = later;
        } else {
            out.push('[');
            rest = cut::text(after, 1..after.len());
        }
    }
    out.push_str(rest);
    out
}

/// The text after a quoted key.
fn end_of_key(quoted: &str) -> &str {
    let mut is_escaped = false;
    let end = quoted.find(|character: char| {
        let ends = character == '\'' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    end.and_then(|end| quoted.get(end..)?.strip_prefix("']"))
        .unwrap_or_default()
}

/// The unit that a reject removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum RejectLevel {
    /// A whole frame: no part of it is in the dataset.
    Frame,
    /// One message of an accepted frame.
    Message,
}

impl RejectLevel {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A unit that could not be retained. Every reject is also a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Frame or message.
    pub level: RejectLevel,
    /// Byte range in the decompressed entry.
    pub span: Span,
    /// BLAKE3 of the rejected bytes, in hexadecimal.
    pub hash: String,
    /// The first [`Limits::reject_head`](crate::Limits::reject_head) bytes.
    pub head: Vec<u8>,
    /// The finding with the reason.
    pub finding: Finding,
}

/// Keeps the first `most` findings of each code and severity, and merges the rest of each into one with a count and without a place.
/// `finding` returns the finding of an item.
pub fn fold<T>(found: Vec<T>, most: u64, finding: impl Fn(&mut T) -> &mut Finding) -> Vec<T> {
    let mut seen: BTreeMap<(&'static str, Severity), u64> = BTreeMap::new();
    let mut rests: BTreeMap<(&'static str, Severity), T> = BTreeMap::new();
    let mut shown = Vec::with_capacity(found.len());
    for mut item in found {
        let Finding {
            code,
            severity,
            count,
            ..
        } = *finding(&mut item);
        let number = seen.entry((code.code, severity)).or_default();
        *number += 1;
        if *number <= most {
            shown.push(item);
        } else if let Some(rest) = rests.get_mut(&(code.code, severity)) {
            finding(rest).count += count;
        } else {
            *finding(&mut item) = Finding {
                severity,
                count,
                ..Finding::new(code, "further findings of this code in this conversation")
            };
            rests.insert((code.code, severity), item);
        }
    }
    shown.extend(rests.into_values());
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_beyond_the_limit_become_one_of_their_code_and_severity() {
        let cases = codes::CASES.iter().copied();
        for case in cases.filter(|case| case.severity != case.itself().severity) {
            let of = |code: &'static Code, number: usize| (0..number).map(move |_| Finding::new(code, "x"));
            let found = |weak: usize, strong: usize| {
                let found = of(case.itself(), weak).chain(of(case, strong)).collect();
                let shown = fold(found, 3, |finding| finding);
                let plain = shown.iter().map(|finding| (finding.severity, finding.count));
                plain.collect::<Vec<_>>()
            };
            let (own, other) = (case.itself().severity, case.severity);
            assert_eq!(found(0, 3), [(other, 1); 3], "{}", case.code);
            assert_eq!(found(0, 5), [(other, 1), (other, 1), (other, 1), (other, 2)]);
            let mut both = found(5, 1);
            both.sort_unstable();
            let mut wanted = [(own, 1), (own, 1), (own, 1), (own, 2), (other, 1)];
            wanted.sort_unstable();
            assert_eq!(both, wanted, "{}", case.code);
        }
    }
    use crate::codes;

    #[test]
    fn a_finding_has_the_severity_of_its_code_or_case_and_rejecting_is_an_error() {
        let finding = Finding::new(&codes::DUPLICATE_KEY, "key stands twice");
        assert_eq!(finding.severity, Severity::Error);
        let kept = Finding::new(&codes::RETAINED_KEY, "key stands twice");
        assert_eq!(
            (kept.severity, kept.code.severity),
            (Severity::Note, Severity::Error)
        );
        assert_eq!(kept.rejecting().severity, Severity::Error);
    }

    #[test]
    fn a_quotation_is_cut_at_120_code_points() {
        let quote = |text: &str| {
            Finding::new(&codes::INVALID_JSON, "x")
                .quoting(text)
                .detail
                .unwrap()
        };
        assert_eq!(quote("short"), "short");
        assert_eq!(quote(&"é".repeat(120)), "é".repeat(120));
        assert_eq!(quote(&"é".repeat(121)), "é".repeat(120) + "…");
    }

    #[test]
    fn a_finding_knows_its_message_and_the_place_below_it() {
        let finding =
            Finding::new(&codes::DANGLING_REFERENCE, "x").at_message(3, Some("m3"), ".refer_list[0]");
        assert_eq!(finding.position, Some(3));
        assert_eq!(finding.message_id.as_deref(), Some("m3"));
        assert_eq!(finding.path, Path::InMessage(".refer_list[0]".to_owned()));
    }

    #[test]
    fn a_mark_is_neither_empty_nor_very_long() {
        let mark = |text: &str| Finding::new(&codes::UNANSWERED_CALL, "x").marking(text).mark;
        let word = |text: &str| Finding::new(&codes::UNANSWERED_CALL, "x").marking_word(text).mark;
        let longest = "c".repeat(MARK_BYTES);
        assert_eq!(mark("c1"), Some(Meant::Value("c1".to_owned())));
        assert_eq!(mark(&longest), Some(Meant::Value(longest.clone())));
        assert_eq!(word(&longest), Some(Meant::Word(longest.clone())));
        for unmarked in [String::new(), format!("{longest}c")] {
            assert_eq!((mark(&unmarked), word(&unmarked)), (None, None));
        }
    }

    #[test]
    fn keys_that_no_format_has_are_hidden_and_the_rest_of_the_path_stays() {
        for (path, shown) in [
            ("$.conversation_list[3].sender", "$.conversation_list[3].sender"),
            ("$", "$"),
            ("$[2].ann.role", "$[2]['…'].role"),
            (
                "$.user_details['Ann O\\'Hara'][0]['x\\\\'].role",
                "$.user_details['…'][0]['…'].role",
            ),
            ("$['never closed", "$['…']"),
        ] {
            assert_eq!(with_known_keys(path), shown);
        }
    }

    #[test]
    fn an_id_is_shown_on_one_line_and_cut_when_it_is_long() {
        assert_eq!(ShownId("msg_1").to_string(), "`msg_1`");
        assert_eq!(ShownId("a\nb").to_string(), "`a\\nb`");
        assert_eq!(
            ShownId(&"é".repeat(64)).to_string(),
            format!("`{}`", "é".repeat(64))
        );
        assert_eq!(
            ShownId(&"é".repeat(65)).to_string(),
            format!("`{}…`", "é".repeat(64))
        );
    }

    #[test]
    fn ids_that_a_message_shows_are_masked_and_nothing_else() {
        let (one, long) = ("c\t1", "x".repeat(80));
        let message = format!("call {} and {} by its `type`", ShownId(one), ShownId(&long));
        let finding = Finding::new(&codes::UNANSWERED_CALL, message)
            .naming(one)
            .naming(&long);
        let masked = finding.masked_message(&|id| format!("#{}", id.len()));
        assert_eq!(masked, "call `#3` and `#80` by its `type`");
        let path = Finding::new(&codes::NOT_ACCEPTED, "`f`: `properties['f'].items['0']`").naming("f");
        assert_eq!(
            path.masked_message(&|_| "#".to_owned()),
            "`#`: `properties['…'].items['0']`"
        );
    }
}

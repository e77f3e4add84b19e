//! Findings and rejects: what was seen, and where.

use crate::code::{Code, Severity};

/// A half-open byte range of a decompressed entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

/// Where inside a record a finding lies, as far as its finder knows.
///
/// Paths are written `$.conversation_list[3].sender`. Whoever still holds the frame turns a path into a byte span.
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

/// What a finding means inside its place. Rules know what a message says and not where: whoever still holds the text looks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A whole value: an id, a name, an address, arguments.
    Value(String),
    /// A word inside a text.
    Word(String),
}

/// The longest text that a mark is made of, in bytes.
const MARK_BYTES: usize = 1024;

/// One diagnostic with its place inside a record. The engine adds input, entry, record and conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was found.
    pub code: &'static Code,
    /// The code's severity, unless this finding says otherwise.
    pub severity: Severity,
    /// Occurrences that this finding stands for.
    pub count: u64,
    /// Position of the message in the conversation, counted from 0.
    pub position: Option<u32>,
    /// Id of that message, where it has one.
    pub message_id: Option<String>,
    /// Where inside the record.
    pub path: Path,
    /// What is meant inside that place, where it is not all of it.
    pub mark: Option<Mark>,
    /// Byte range in the decompressed entry, where the finder knows it.
    pub span: Option<Span>,
    /// One clause without a full stop and without any byte of chat text, name or address.
    pub message: String,
    /// Source text that makes the message clearer; left out when content must not be quoted.
    pub detail: Option<String>,
}

impl Finding {
    /// A finding about a whole record.
    pub fn new(code: &'static Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity,
            count: 1,
            position: None,
            message_id: None,
            path: Path::Record,
            mark: None,
            span: None,
            message: message.into(),
            detail: None,
        }
    }

    /// Places the finding at a message, or at what `suffix` (for example `.refer_list[0]`) names below it.
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

    /// Gives the byte range in the decompressed entry.
    #[must_use]
    pub fn at_span(mut self, start: u64, end: u64) -> Self {
        self.span = Some(Span { start, end });
        self
    }

    /// Means this value inside the place. An empty or very long one is not looked for.
    #[must_use]
    pub fn marking(mut self, value: &str) -> Self {
        if (1..=MARK_BYTES).contains(&value.len()) {
            self.mark = Some(Mark::Value(value.to_owned()));
        }
        self
    }

    /// Means the first of this word inside the place. An empty or very long one is not looked for.
    #[must_use]
    pub fn marking_word(mut self, word: &str) -> Self {
        if (1..=MARK_BYTES).contains(&word.len()) {
            self.mark = Some(Mark::Word(word.to_owned()));
        }
        self
    }

    /// Quotes source text; it is cut to 120 code points.
    #[must_use]
    pub fn quoting(mut self, text: &str) -> Self {
        let mut detail: String = text.chars().take(120).collect();
        if detail.len() < text.len() {
            detail.push('…');
        }
        self.detail = Some(detail);
        self
    }

    /// Overrides the code's severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// A path in which every key that is not a plain word reads `['…']`: formats have plain keys, people do not.
pub fn without_odd_keys(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, quoted)) = rest.split_once("['") {
        out.push_str(before);
        out.push_str("['…']");
        let mut is_escaped = false;
        let end = quoted.find(|character: char| {
            let ends = character == '\'' && !is_escaped;
            is_escaped = character == '\\' && !is_escaped;
            ends
        });
        rest = end
            .and_then(|end| quoted.get(end..)?.strip_prefix("']"))
            .unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// What a reject takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectLevel {
    /// A whole frame: nothing of it is in the dataset.
    Frame,
    /// One message of an accepted frame.
    Message,
}

impl RejectLevel {
    /// The word that tables use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Message => "message",
        }
    }
}

/// Something that could not be kept. Every reject is also a finding.
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
    /// The finding that says why.
    pub finding: Finding,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes;

    #[test]
    fn a_finding_takes_the_severity_of_its_code_unless_it_says_otherwise() {
        let finding = Finding::new(&codes::DUPLICATE_KEY, "key stands twice");
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.with_severity(Severity::Note).severity, Severity::Note);
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
        assert_eq!(mark("c1"), Some(Mark::Value("c1".to_owned())));
        assert_eq!(mark(&longest), Some(Mark::Value(longest.clone())));
        assert_eq!(word(&longest), Some(Mark::Word(longest.clone())));
        for unmarked in [String::new(), format!("{longest}c")] {
            assert_eq!((mark(&unmarked), word(&unmarked)), (None, None));
        }
    }

    #[test]
    fn odd_keys_are_hidden_and_the_rest_of_the_path_stays() {
        assert_eq!(without_odd_keys("$.a[3].b"), "$.a[3].b");
        assert_eq!(
            without_odd_keys("$.a['Ann O\\'Hara'][0]['x\\\\'].c"),
            "$.a['…'][0]['…'].c"
        );
        assert_eq!(without_odd_keys("$['never closed"), "$['…']");
    }
}

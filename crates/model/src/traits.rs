//! The traits of a record's format that rules and dialects depend on.
//!
//! The name of a source is for tables and people: outside of the sources, no code decides anything by it. Where formats differ in a way
//! that matters to checks or renderings, the difference is a field here.
//!
//! Why: docs/decisions/2026-11-22-format-traits-instead-of-names.md.

/// The traits of the format of a conversation's record; the default values are those of most formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatTraits {
    /// The format with fields in the conversation's `Extra` that its dialect can write back unchanged. `None` if further fields are kept
    /// for people only.
    pub extra_format: Option<&'static str>,
    /// The field of a message's `Extra` with the content that the model was sent instead, as JSON text.
    pub sent_field: Option<&'static str>,
    /// The field of a message that lists its references. `None` if they are not a separate list, and then the place of a finding is the
    /// message.
    pub reference_list: Option<&'static str>,
    /// Whether events and instructions name a sender, as messages do.
    pub senders_everywhere: bool,
    /// Whether previews and messages have different names for the same authors.
    pub previews_rename: bool,
    /// Whether calls and results belong together by place and name, and not by ids.
    pub pairs_by_place: bool,
    /// The calls with arguments in the form of a string that contains JSON.
    pub text_arguments: TextArguments,
    /// The kind of the format's records.
    pub records: Records,
}

impl FormatTraits {
    /// The traits of most formats.
    pub const USUAL: Self = Self {
        extra_format: None,
        sent_field: None,
        reference_list: None,
        senders_everywhere: false,
        previews_rename: false,
        pairs_by_place: false,
        text_arguments: TextArguments::All,
        records: Records::Conversations,
    };

    /// The same traits for a format with one request per record.
    #[must_use]
    pub const fn of_one_request(self) -> Self {
        Self {
            records: Records::Requests,
            ..self
        }
    }

    /// Whether a record is one request.
    pub fn is_one_request(&self) -> bool {
        self.records == Records::Requests
    }
}

/// The calls of a format with arguments in the form of a string that contains JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextArguments {
    /// All calls.
    #[default]
    All,
    /// Calls with an id; other calls were taken from a text or from metadata.
    WithId,
    /// None: arguments are a JSON value, or may be one.
    None,
}

/// The kind of a format's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// Conversations as they happened: each answer was requested.
    #[default]
    Conversations,
    /// Requests as they were sent, perhaps with their answers: the history is context and was not requested again.
    Requests,
}

//! Traits of a record's format that rules and dialects depend on.
//!
//! The name of a source is a fact for tables and people: nobody beside the sources decides anything by it. What differs from
//! format to format, and matters when a conversation is checked or rendered, is a field here.
//!
//! Why: docs/decisions/2026-11-22-format-traits-instead-of-names.md.

/// The traits of the format of a conversation's record; by default, those of most formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatTraits {
    /// The format whose own fields the conversation keeps in its `Extra`, so that a dialect of that format can write them
    /// back as they were. None where further fields are kept for people only.
    pub extra_format: Option<&'static str>,
    /// The field of a message's `Extra` with the content that the model was sent in its place, as JSON text; none where there is none.
    pub sent_field: Option<&'static str>,
    /// The field of a message that lists its references; none where they are no list of their own, so that a place cannot be
    /// named closer than by the message.
    pub reference_list: Option<&'static str>,
    /// Whether events and instructions name a sender, as messages do.
    pub senders_everywhere: bool,
    /// Whether previews name authors otherwise than messages name their senders.
    pub previews_rename: bool,
    /// Whether place and name tie calls and results together, and not ids.
    pub pairs_by_place: bool,
    /// Which calls write their arguments as a string that holds JSON.
    pub text_arguments: TextArguments,
    /// The kind of its records.
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

    /// The same of a format whose record is one request.
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

/// Which calls of a format write their arguments as a string that holds JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextArguments {
    /// All calls.
    #[default]
    All,
    /// Calls with an id; others were taken from a text or from metadata.
    WithId,
    /// None: arguments are a JSON value, or may be one.
    None,
}

/// The kind of a format's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// Conversations that were lived through: each answer was asked for.
    #[default]
    Conversations,
    /// Requests as they were sent, perhaps with their answers: history is context and was not asked again.
    Requests,
}

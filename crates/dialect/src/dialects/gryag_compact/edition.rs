//! How a transcript is written, as data: as in the document, and as in the code of the same day.

/// The labels or ids that get a letter after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Equal labels of different participants.
    PerPerson,
    /// Ids that end in the same digits on more than one line, even of the same person.
    PerLine,
}

/// How line breaks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    /// Each becomes a space.
    Spaces,
    /// They stay in texts; in names a line feed becomes a space.
    Unchanged,
}

/// How media are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaWords {
    /// Each by its kind, in its place.
    Kinds,
    /// All in one mark before the text, except those that gryag stores in `file_data`.
    Count,
}

/// The replies that have an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrows {
    /// Replies to a known author, but never on lines of the bot.
    Resolved,
    /// Replies that state the author's id, on all lines except the current one.
    Stated,
}

/// Where `[RESPOND]` is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    /// At the end.
    AtEnd,
    /// After the history, if there is any, and again after the line that is to be answered. The code writes that line before it is part of
    /// the history, so it has neither letter nor arrow.
    BehindBoth,
}

/// How a transcript is written.
#[derive(Debug)]
pub(super) struct Edition {
    /// The bot's name, if it is always the same.
    pub(super) bot: Option<&'static str>,
    /// Maximum number of code points in a name.
    pub(super) longest_name: Option<usize>,
    /// The labels or ids that get letters.
    pub(super) letters: Letters,
    /// How line breaks are written.
    pub(super) breaks: Breaks,
    /// How media are named.
    pub(super) media: MediaWords,
    /// The replies that have an arrow.
    pub(super) arrows: Arrows,
    /// Where the end mark is written.
    pub(super) prompt: Prompt,
    /// Whether system text and tools also have lines.
    pub(super) lines_for_all: bool,
    /// Whether a second name that is used as the name begins with the platform's `@`.
    pub(super) at_signs: bool,
    /// Whether only ids from the source are printed.
    pub(super) stated_ids: bool,
}

/// The document of 2025-10-17.
pub(super) static DOCUMENT: Edition = Edition {
    bot: None,
    longest_name: None,
    letters: Letters::PerPerson,
    breaks: Breaks::Spaces,
    media: MediaWords::Kinds,
    arrows: Arrows::Resolved,
    prompt: Prompt::AtEnd,
    lines_for_all: false,
    at_signs: false,
    stated_ids: false,
};

/// The code of the same day.
pub(super) static CODE: Edition = Edition {
    bot: Some("gryag"),
    longest_name: Some(30),
    letters: Letters::PerLine,
    breaks: Breaks::Unchanged,
    media: MediaWords::Count,
    arrows: Arrows::Stated,
    prompt: Prompt::BehindBoth,
    lines_for_all: true,
    at_signs: true,
    stated_ids: true,
};

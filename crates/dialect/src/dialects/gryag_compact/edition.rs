//! How a transcript looks, as data: the document's way, and that of the code of its day.

/// Which ids get a letter after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    /// Those of different participants whose labels would be equal.
    PerPerson,
    /// Those that end in the same digits on more than one line, be it the same person's.
    PerLine,
}

/// What becomes of line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    /// Each is a space.
    Spaces,
    /// They stay in texts; in names a line feed is a space.
    Unchanged,
}

/// How media are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MediaWords {
    /// Each by its kind, where it stands.
    Kinds,
    /// All in one mark before the text, but those that gryag stores in `file_data`.
    Count,
}

/// Which replies have an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrows {
    /// Those whose author is known, but never on the bot's own lines.
    Resolved,
    /// Those that name their author's id themselves, on all lines but the current one.
    Stated,
}

/// Where `[RESPOND]` stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    /// At the end.
    AtEnd,
    /// After the history, where there is any, and again after the line that is to be answered. That line is written before
    /// it belongs to the history, and has neither letter nor arrow.
    BehindBoth,
}

/// How a transcript looks.
#[derive(Debug)]
pub(super) struct Edition {
    /// The bot's name, where it is always the same.
    pub(super) bot: Option<&'static str>,
    /// Code points that a name may have.
    pub(super) longest_name: Option<usize>,
    /// Who gets letters.
    pub(super) letters: Letters,
    /// What becomes of line breaks.
    pub(super) breaks: Breaks,
    /// How media are named.
    pub(super) media: MediaWords,
    /// Which replies have an arrow.
    pub(super) arrows: Arrows,
    /// Where the end mark stands.
    pub(super) prompt: Prompt,
    /// Whether system text and tools have lines too.
    pub(super) lines_for_all: bool,
    /// Whether a second name that stands for a name has the platform's sign in front.
    pub(super) at_signs: bool,
    /// Whether only ids that the source has are printed.
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

/// The code of the document's own day.
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

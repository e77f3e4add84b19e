//! The words around a quote, as data: one table for each known version of Tzurot.

use chatmill_model::MediaKind;

/// What stands before a quoted text; `{}` is the author.
#[derive(Debug)]
struct Head {
    plain: &'static str,
    image: &'static str,
    audio: &'static str,
}

impl Head {
    /// A head that does not name media.
    const fn plain(words: &'static str) -> Self {
        Self {
            plain: words,
            image: words,
            audio: words,
        }
    }
}

/// The author of a quoted message, as the reader sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// The person who quotes.
    Oneself,
    /// The personality that reads.
    Active,
    /// Another agent.
    Agent,
    /// Anybody else.
    Person,
}

/// How markers of media in a quote are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markers {
    /// Each is a media item.
    Media,
    /// A text that spells the beginning of a sound's marker loses its pictures, and markers of embedded pictures are taken
    /// out without being media.
    SoundsFirst,
}

/// The words of one version.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing in which versions differ"
)]
pub(crate) struct Wording {
    /// Between the user's own text and a quote, and between quotes.
    pub(crate) separator: &'static str,
    /// Whether it stands before the first quote even where there is no own text.
    pub(crate) leads_with_separator: bool,
    /// How markers of media in a quote are read.
    pub(crate) markers: Markers,
    /// Whether a proxy's text has the proxy's name where it quotes nothing.
    pub(crate) names_proxies: bool,
    /// Whether a list that quotes nothing stays as it came: its texts separate, its media in their places, nothing removed.
    pub(crate) sends_lists: bool,
    /// Whether ids of accounts, where both are there, decide before names whether a quote is of oneself.
    pub(crate) compares_ids: bool,
    oneself: Head,
    active: Head,
    agent: Head,
    person: Head,
}

impl Wording {
    /// The words before a quoted text.
    pub(crate) fn head(&self, author: Author, name: &str, media: Option<MediaKind>) -> String {
        let head = match author {
            Author::Oneself => &self.oneself,
            Author::Active => &self.active,
            Author::Agent => &self.agent,
            Author::Person => &self.person,
        };
        let words = match media {
            None => head.plain,
            Some(MediaKind::Audio) => head.audio,
            Some(_) => head.image,
        };
        words.replace("{}", name)
    }
}

/// A mark with the author of the answered message, and nothing of its text.
pub(crate) fn mark(author: Author, name: &str) -> String {
    match author {
        Author::Oneself => "[in reply to my own message]".to_owned(),
        Author::Active => "[in reply to you]".to_owned(),
        Author::Agent | Author::Person => format!("[in reply to {name}]"),
    }
}

/// The document of 2025-05-22.
pub(crate) static DOCUMENT: Wording = Wording {
    separator: "\n",
    leads_with_separator: false,
    markers: Markers::Media,
    names_proxies: false,
    sends_lists: false,
    compares_ids: false,
    oneself: Head {
        plain: "I said:\n\"",
        image: "This is a message referencing a message with an image from me. I said:\n\"",
        audio: "This is a message referencing a message with audio from me. I said:\n\"",
    },
    active: Head::plain("You said earlier: \""),
    agent: Head::plain("{} said: \""),
    person: Head {
        plain: "{} said:\n\"",
        image: "This is a message referencing a message with an image from {}. {} said:\n\"",
        audio: "This is a message referencing a message with audio from {}. {} said:\n\"",
    },
};

/// The last release of version 2, of 2025-07-09.
pub(crate) static V2_FINAL: Wording = Wording {
    separator: "\n\n",
    leads_with_separator: true,
    markers: Markers::SoundsFirst,
    names_proxies: true,
    sends_lists: true,
    compares_ids: true,
    oneself: Head {
        plain: "I said:\n\"",
        image: "I said (with an image I shared):\n\"",
        audio: "I said (with audio I shared):\n\"",
    },
    active: Head {
        plain: "You said: \"",
        image: "You said (with an image): \"",
        audio: "You said (with audio): \"",
    },
    agent: Head {
        plain: "{} said: \"",
        image: "{} said (with an image): \"",
        audio: "{} said (with audio): \"",
    },
    person: Head {
        plain: "{} said:\n\"",
        image: "{} said (with an image):\n\"",
        audio: "{} said (with audio):\n\"",
    },
};

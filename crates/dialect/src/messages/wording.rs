//! The words around a quote, as data: one table for each known version of Tzurot.

use chatmill_model::MediaKind;

/// The words before a quoted text; `{}` is the author.
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
    /// The person who quotes the message.
    Oneself,
    /// The personality that reads the quote.
    Active,
    /// Another agent.
    Agent,
    /// A person.
    Person,
}

/// How markers of media in a quote are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markers {
    /// Each marker is a media item.
    Media,
    /// A text that contains the beginning of an audio marker loses its pictures, and markers of embedded pictures are removed without
    /// becoming media.
    SoundsFirst,
}

/// The words of one version.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent difference between versions"
)]
pub(crate) struct Wording {
    /// The text between the user's own text and a quote, and between quotes.
    pub(crate) separator: &'static str,
    /// Whether the separator precedes the first quote even if the message has no text.
    pub(crate) leads_with_separator: bool,
    /// How markers of media in a quote are read.
    pub(crate) markers: Markers,
    /// Whether the text of a proxy begins with the proxy's name if the message quotes nothing.
    pub(crate) names_proxies: bool,
    /// Whether a list without quotes stays unchanged: texts separate, media in their places, no characters removed.
    pub(crate) sends_lists: bool,
    /// Whether account ids, if both are known, rather than names decide if a quote is of the author's own message.
    pub(crate) compares_ids: bool,
    oneself: Head,
    active: Head,
    agent: Head,
    person: Head,
}

impl Wording {
    /// Returns the words before a quoted text.
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

/// Returns a mark with the author of the answered message, without its text.
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

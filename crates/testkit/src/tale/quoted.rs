//! What a message replies to, as the words of a quote say it.

use std::collections::BTreeSet;

use chatmill_model::{
    LinkStatus, Linked, Media, MediaKind, MediaSource, Message, MessageKind, Part, ParticipantKind, Role,
};

/// A message that another one quotes.
#[derive(Clone, Debug)]
pub struct Quoted {
    /// What it says.
    pub text: String,
    /// The medium that goes with the quote.
    pub medium: Option<Media>,
    /// Whether all that is quoted is known here: versions read markers of sounds and of embedded pictures differently, and
    /// a marker in the author's name is read as one of the quote's.
    pub is_known: bool,
    /// Whether it is nothing but lines of metadata that leaked into a bot's words.
    pub is_leak: bool,
}

/// The messages that a message replies to, as far as they are there, each once.
pub(super) fn quotes(linked: &Linked, message: &Message) -> Vec<Quoted> {
    let links = &linked.links[message.position as usize];
    let mut known = BTreeSet::new();
    let both = message.references.iter().zip(links).filter(|(reference, link)| {
        let named = (
            link.target,
            reference.target.as_ref().filter(|_| link.target.is_none()),
        );
        let is_there = matches!(link.status, LinkStatus::Resolved | LinkStatus::Preview);
        is_there && (named == (None, None) || known.insert(named))
    });
    let quoted = both.filter_map(|(reference, link)| match (link.status, link.target) {
        (LinkStatus::Resolved, Some(target)) => Some(Quoted::message(
            linked,
            &linked.conversation.messages[target as usize],
        )),
        (LinkStatus::Preview, _) => {
            let preview = reference.preview.as_ref()?;
            let mut quoted = Quoted::text(preview.content.as_deref().unwrap_or_default());
            quoted.is_known &= !preview.sender_name.as_deref().is_some_and(has_marker);
            Some(quoted)
        }
        _ => None,
    });
    quoted.collect()
}

impl Quoted {
    /// Whether there is nothing to quote.
    pub fn is_nothing(&self) -> bool {
        self.text.is_empty() && self.medium.is_none()
    }

    fn text(text: &str) -> Self {
        Self::new(text, Vec::new())
    }

    fn message(linked: &Linked, message: &Message) -> Self {
        let mut said: Vec<String> = Vec::new();
        let mut media: Vec<Media> = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) | Part::Notice(text) => said.push(text.clone()),
                Part::ToolResult(result) => said.push(result.content.clone()),
                Part::Media(medium) if is_heard_or_seen(medium) => media.push(Media {
                    name: None,
                    media_type: None,
                    ..medium.clone()
                }),
                Part::Media(medium) => said.push(placeholder(medium)),
                _ => {}
            }
        }
        let people = &linked.conversation.participants;
        let is_agent = |sender: usize| people[sender].kind == ParticipantKind::Agent;
        // What an event says is nobody's words.
        let is_from_agent = message.kind == MessageKind::Message
            && (message.role == Role::Assistant || message.sender.is_some_and(is_agent));
        let mut quoted = Self::new(&said.join("\n"), media);
        let mut lines = quoted.text.lines();
        let has_words = !quoted.text.is_empty() && quoted.medium.is_none();
        let author = message.sender.map(|sender| &people[sender]);
        let names = author
            .into_iter()
            .flat_map(|author| [&author.name, &author.alias]);
        let mut names = names.chain([&message.sender_name]).flatten();
        quoted.is_known &= !names.any(|name| has_marker(name));
        quoted.is_leak =
            is_from_agent && has_words && lines.all(|line| line.trim_start().starts_with("[meta]"));
        quoted
    }

    /// A quote of a text and media. Markers of media in the text are media; one medium goes with the quote, a sound before a
    /// picture, and stands for the text where there is none.
    fn new(text: &str, mut media: Vec<Media>) -> Self {
        let mut clean = without_controls(text);
        for (kind, word) in [(MediaKind::Image, "[Image: "), (MediaKind::Audio, "[Audio: ")] {
            while let Some((at, url)) = marker(&clean, word) {
                clean.replace_range(at..=at + word.len() + url.len(), "");
                media.push(Media {
                    kind,
                    source: MediaSource::Url(url),
                    media_type: None,
                    name: None,
                });
            }
        }
        let sound = media.iter().position(|medium| medium.kind == MediaKind::Audio);
        let medium = (!media.is_empty()).then(|| media.swap_remove(sound.unwrap_or(0)));
        let is_blank = |sign: char| sign != '\u{85}' && sign.is_whitespace() || sign == '\u{feff}';
        let said = match (clean.trim_matches(is_blank), &medium) {
            ("", Some(medium)) if medium.kind == MediaKind::Audio => "[Audio Message]",
            ("", Some(_)) => "[Image]",
            (said, _) => said,
        };
        Self {
            text: said.to_owned(),
            medium,
            is_leak: false,
            is_known: !text.contains("[Embed") && !text.contains("[Audio:"),
        }
    }
}

fn has_marker(name: &str) -> bool {
    name.contains("[Image:") || name.contains("[Audio:")
}

/// Where the first marker of a medium with a web address stands, and the address.
fn marker(text: &str, word: &str) -> Option<(usize, String)> {
    text.match_indices(word).find_map(|(at, _)| {
        let (url, _) = text.get(at + word.len()..)?.split_once(']')?;
        let is_address = url.starts_with("http://") || url.starts_with("https://");
        let is_whole = !url.contains(char::is_whitespace) && !url.ends_with("://");
        (is_address && is_whole).then(|| (at, url.to_owned()))
    })
}

/// Whether a medium is a picture or a sound with a web address.
pub fn is_heard_or_seen(medium: &Media) -> bool {
    let is_kind = matches!(medium.kind, MediaKind::Image | MediaKind::Audio);
    let has_address = |url: &String| {
        let mut schemes = ["http://", "https://"].iter();
        schemes.any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
    };
    is_kind && matches!(&medium.source, MediaSource::Url(url) if has_address(url))
}

/// A text without control characters; white space stays.
pub fn without_controls(text: &str) -> String {
    let is_control = |sign: char| sign < ' ' && !matches!(sign, '\t' | '\n' | '\r');
    text.chars().filter(|sign| !is_control(*sign)).collect()
}

/// The words that name a medium.
pub fn placeholder(media: &Media) -> String {
    let word = match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Video => "Video",
        MediaKind::File => "File",
        MediaKind::Link => "Link",
    };
    let name = media.name.as_deref().filter(|name| !name.is_empty());
    let label = name.or(match &media.source {
        MediaSource::Url(url) => Some(url),
        MediaSource::Inline(_) | MediaSource::Upload => None,
    });
    label.map_or_else(|| format!("[{word}]"), |label| format!("[{word}: {label}]"))
}

//! `invalid-media-url`: a media item with an unusable address.
//!
//! Four places are checked: media parts, with a URL that must be http, https, data, or an address of cloud storage that vendors' APIs
//! accept (`gs://…`, `s3://…`); Tzurot's markers in text, `[Image: …]` and `[Audio: …]`, which count as media only if `\[Image:
//! (https?://[^\s\]]+)\]` matches them; the same markers in the preview of a missing message; and the text of a message with a media type,
//! if the text is an address.

use chatmill_diag::{Finding, Limits, codes, steps};
use chatmill_model::{Linked, MediaKind, MediaSource, Message, Part};
use memchr::memchr_iter;

use crate::walk::{at_message, references};

/// Finds media with an unusable URL.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        let mut markers = Markers::default();
        for part in &message.parts {
            match part {
                Part::Text(text) => markers.scan(text),
                Part::Media(media) => {
                    if let MediaSource::Url(url) = &media.source
                        && !is_usable(url)
                    {
                        findings.push(unopened(message, media.kind, url));
                    }
                }
                _ => {}
            }
        }
        let uploaded = uploaded_from(message);
        findings.extend(uploaded.map(|(kind, address)| unopened(message, kind, address)));
        findings.extend(markers.finding("text", |text| {
            at_message(&codes::INVALID_MEDIA_URL, message, text)
        }));
    }
    // A target in the conversation is checked at its own message.
    for referring in references(linked).filter(|referring| referring.link.target.is_none()) {
        let mut markers = Markers::default();
        let preview = referring.reference.preview.as_ref();
        if let Some(shown) = preview.and_then(|preview| preview.content.as_deref()) {
            markers.scan(shown);
        }
        let place = |text| referring.finding(&codes::INVALID_MEDIA_URL, text);
        findings.extend(markers.finding("quoted text", place));
    }
}

/// The finding for a media item with an unusable address.
fn unopened(message: &Message, kind: MediaKind, address: &str) -> Finding {
    let text = format!("{} has no address that can be opened", kind.as_str());
    let finding = at_message(&codes::INVALID_MEDIA_URL, message, text);
    finding.marking(address).quoting(address)
}

/// The media item without an address in a message, and the message's text, if the text is an address that no other machine can open.
fn uploaded_from(message: &Message) -> Option<(MediaKind, &str)> {
    let mut texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.trim()),
        _ => None,
    });
    let text = texts.next().filter(|_| texts.next().is_none())?;
    let medium = message.parts.iter().find_map(|part| match part {
        Part::Media(media) if media.source == MediaSource::Upload => Some(media.kind),
        _ => None,
    });
    (is_address(text) && !is_usable(text)).then_some((medium?, text))
}

/// Whether a text is an address and nothing else: it has a scheme or drive before a colon, or is a path from the root.
fn is_address(text: &str) -> bool {
    if text.is_empty() || text.contains(char::is_whitespace) {
        return false;
    }
    let scheme = text
        .split_once(':')
        .map(|(scheme, rest)| (scheme, rest.as_bytes().first()));
    let has_scheme = scheme.is_some_and(|(scheme, next)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && matches!(next, Some(b'/' | b'\\'))
    });
    has_scheme || text.starts_with('/') || text.starts_with("\\\\")
}

/// Whether a URL has one of the schemes of media, something after it, and no white space.
fn is_usable(url: &str) -> bool {
    if url
        .chars()
        .any(|character| character.is_whitespace() || character.is_control())
    {
        return false;
    }
    let Some((scheme, rest)) = url.split_once(':') else {
        return false;
    };
    if scheme.eq_ignore_ascii_case("data") {
        return rest.contains(',');
    }
    let is_fetched = ["http", "https", "gs", "s3"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    is_fetched
        && rest
            .strip_prefix("//")
            .is_some_and(|host| !host.is_empty() && !host.starts_with(['/', '?', '#']))
}

/// The markers of a message that the pattern does not match.
#[derive(Default)]
struct Markers<'a> {
    broken: u64,
    first: Option<&'a str>,
}

impl<'a> Markers<'a> {
    fn scan(&mut self, text: &'a str) {
        for at in memchr_iter(b'[', text.as_bytes()) {
            let Some(marker) = text.get(at..) else { continue };
            let Some(rest) = marker
                .strip_prefix("[Image:")
                .or_else(|| marker.strip_prefix("[Audio:"))
            else {
                continue;
            };
            if !is_marker_url(rest) {
                self.broken += 1;
                // A marker without a bracket extends to the end of its line: only the first one, which is quoted, is followed.
                self.first = self.first.or_else(|| Some(alone(marker)));
            }
        }
    }

    fn finding(&self, place: &str, at: impl FnOnce(String) -> Finding) -> Option<Finding> {
        let first = self.first?;
        let text = format!(
            "{} of the {place}'s media markers contain no http or https URL",
            self.broken
        );
        let mut finding = at(text).marking_word(first).quoting(first);
        finding.count = self.broken;
        Some(finding)
    }
}

/// A marker without the text after it: up to its bracket or, if its line has none, up to the end of its address.
fn alone(marker: &str) -> &str {
    let line = marker.split(['\n', '\r']).next().unwrap_or(marker);
    steps::taken(line.len() / 64);
    let end = if let Some(bracket) = line.find(']') {
        bracket + 1
    } else {
        let head = "[Image:".len();
        let rest = line.split_at(head).1;
        let address = rest.trim_start();
        let blanks = rest.len() - address.len();
        head + blanks + address.find(char::is_whitespace).unwrap_or(address.len())
    };
    line.split_at(end).0
}

/// Whether a space, an http or https URL and the closing bracket follow.
fn is_marker_url(rest: &str) -> bool {
    let Some(url) = rest.strip_prefix(' ') else {
        return false;
    };
    let Some(address) = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
    else {
        return false;
    };
    match address.find(|character: char| character == ']' || is_script_space(character)) {
        None | Some(0) => false,
        Some(end) => address.get(end..).is_some_and(|tail| tail.starts_with(']')),
    }
}

/// White space as in JavaScript's `\s`: it includes the byte order mark and not U+0085.
fn is_script_space(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}

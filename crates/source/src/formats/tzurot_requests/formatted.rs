//! The quote that the formatter appends to a message, read back into a reference.
//!
//! | text | author of the quoted message |
//! |---|---|
//! | `I label:` line break `"…"` | the user |
//! | `NAME label:` line break `"…"` | a person with this name |
//! | `You label earlier: "…"`, later `You label: "…"` after a blank line | the active personality |
//! | `NAME (ID) label: "…"` | another personality |
//!
//! A quoted picture or sound puts a sentence before the first two, or, since 2025-05-23, `(with an image)` after any `label`;
//! its element is the last one, and here it becomes a marker in the quote again. Only a message with a list of elements can
//! contain a quote. A text that only looks like a bot's quote (`Anna label: "…"`) stays text, because people write such
//! sentences themselves.

use chatmill_model::{Media, MediaKind, MediaSource, Part, Preview, Reference};

/// Takes the quote out of the first text; `user` is the id of the speaker.
pub(super) fn take_reference(parts: &mut Vec<Part>, user: &str) -> Option<Reference> {
    let Some(Part::Text(text)) = parts.first() else {
        return None;
    };
    if parts.len() == 1 && !text.ends_with('"') {
        return None;
    }
    let (own, quote) = split(text, user)?;
    let (own, mut content, mut preview) = (own.to_owned(), quote.content.to_owned(), quote.preview);
    if let Some(Part::Media(Media {
        kind,
        source: MediaSource::Url(url),
        ..
    })) = parts.last()
    {
        let word = match kind {
            MediaKind::Audio => "Audio",
            _ => "Image",
        };
        let marker = format!("[{word}: {url}]");
        let is_announced = quote.media_item == Some(*kind);
        // The first formatter left the markers in quotes of a bot.
        if is_announced || content.contains(&marker) {
            parts.pop();
        }
        if is_announced {
            // The formatter writes this word if the quoted message was only its media item.
            if content == "[Image]" {
                content.clear();
            }
            if !content.is_empty() {
                content.push(' ');
            }
            content.push_str(&marker);
        }
    }
    preview.content = Some(content);
    match parts.first_mut() {
        Some(Part::Text(text)) if !own.is_empty() => *text = own,
        _ => drop(parts.remove(0)),
    }
    Some(Reference {
        preview: Some(preview),
        ..Reference::default()
    })
}

struct Quote<'t> {
    /// The author and text of the quoted message.
    preview: Preview,
    media_item: Option<MediaKind>,
    content: &'t str,
}

/// The preview of a message, with its author's id or name; the active personality has neither.
fn by(sender: Option<&str>, sender_name: Option<&str>, from_agent: bool) -> Preview {
    Preview {
        sender: sender.map(str::to_owned),
        sender_name: sender_name.map(str::to_owned),
        from_agent,
        ..Preview::default()
    }
}

/// Texts that follow the name of a bot, with the kind of media that each announces.
const MEDIA_ON_ONE_LINE: [(&str, Option<MediaKind>); 3] = [
    (" said: \"", None),
    (" said (with an image): \"", Some(MediaKind::Image)),
    (" said (with audio): \"", Some(MediaKind::Audio)),
];

/// Own text and quote: the first line that opens a quote which ends with the text.
fn split<'t>(text: &'t str, user: &str) -> Option<(&'t str, Quote<'t>)> {
    let body = text.strip_suffix('"')?;
    let mut start = 0;
    loop {
        let rest = body.get(start..)?;
        let own = body.get(..start)?;
        let is_paragraph = own.is_empty() || own.ends_with("\n\n");
        if let Some(quote) = quote(rest, user, is_paragraph) {
            // Versions after the document put a blank line between the two.
            let own = own.strip_suffix('\n').unwrap_or(own);
            return Some((own.strip_suffix('\n').unwrap_or(own), quote));
        }
        start += rest.find('\n')? + 1;
    }
}

/// Reads a quote from its first line on; the closing quotation mark is already removed. `is_paragraph`: a blank line precedes
/// it.
fn quote<'t>(text: &'t str, user: &str, is_paragraph: bool) -> Option<Quote<'t>> {
    let line = text.lines().next()?;
    let quote = |preview, media_item, content| Quote {
        preview,
        media_item,
        content,
    };
    if let Some(content) = text.strip_prefix("You said earlier: \"") {
        return Some(quote(by(None, None, true), None, content));
    }
    for (label, media_item) in MEDIA_ON_ONE_LINE {
        let Some((head, _)) = line.split_once(label) else {
            continue;
        };
        let content = text.get(head.len() + label.len()..)?;
        let author = if head == "You" && is_paragraph {
            by(None, None, true)
        } else {
            let (name, id) = head.strip_suffix(')')?.rsplit_once(" (")?;
            let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
            if id.is_empty() || !id.bytes().all(is_plain) || !is_name(name) {
                return None;
            }
            by(Some(id), Some(name), true)
        };
        return Some(quote(author, media_item, content));
    }
    let content = text.strip_prefix(line)?.strip_prefix("\n\"")?;
    let (author, media_item) = head(line, user)?;
    Some(quote(author, media_item, content))
}

/// Author and media kind of a line that ends with `label:` or with `label (with …):`.
fn head(line: &str, user: &str) -> Option<(Preview, Option<MediaKind>)> {
    const SENTENCE: &str = "This is a message referencing a message with ";
    if let Some(rest) = line.strip_prefix(SENTENCE) {
        let (media_item, rest) = match rest.strip_prefix("an image from ") {
            Some(rest) => (MediaKind::Image, rest),
            None => (MediaKind::Audio, rest.strip_prefix("audio from ")?),
        };
        if rest == "me. I said:" {
            return Some((by(Some(user), None, false), Some(media_item)));
        }
        // The name is repeated after a full stop: `Ann. Ann label:`.
        let names = rest.strip_suffix(" said:")?;
        let name = names.get(..names.len().checked_sub(2)? / 2)?;
        let is_twice = names.strip_prefix(name)?.strip_prefix(". ")? == name;
        let is_named = is_twice && is_name(name);
        return is_named.then(|| (by(Some(name), Some(name), false), Some(media_item)));
    }
    let media_item = match line {
        "I said:" => Some(None),
        "I said (with an image I shared):" => Some(Some(MediaKind::Image)),
        "I said (with audio I shared):" => Some(Some(MediaKind::Audio)),
        _ => None,
    };
    if let Some(media_item) = media_item {
        return Some((by(Some(user), None, false), media_item));
    }
    let endings = [
        (" said:", None),
        (" said (with an image):", Some(MediaKind::Image)),
        (" said (with audio):", Some(MediaKind::Audio)),
    ];
    endings.into_iter().find_map(|(ending, media_item)| {
        let name = line.strip_suffix(ending).filter(|name| is_name(name))?;
        Some((by(Some(name), Some(name), false), media_item))
    })
}

/// Names in Discord have at most 32 characters; sentences that happen to end with `label:` are longer.
fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.chars().count())
}

//! The quote that the formatter appends to a message, read back into a reference.
//!
//! | words | who wrote the quoted message |
//! |---|---|
//! | `I said:` line break `"…"` | the user |
//! | `NAME said:` line break `"…"` | somebody called so |
//! | `You said earlier: "…"`, later `You said: "…"` after a blank line | the active personality |
//! | `NAME (ID) said: "…"` | another personality |
//!
//! A quoted picture or sound puts a sentence before the first two, or, since 2025-05-23, `(with an image)` after any
//! `said`; its element is the last one, and here it becomes a marker in the quote again. Only a message with a list of
//! elements can hold a quote. What is a bot's quote by its words alone (`Anna said: "…"`) stays text, because people write
//! such sentences themselves.

use chatmill_model::{MediaKind, MediaSource, Part, Preview, Reference};

/// Takes the quote out of the first text; `user` is the id of the speaker.
pub(super) fn take_reference(parts: &mut Vec<Part>, user: &str) -> Option<Reference> {
    let Some(Part::Text(text)) = parts.first() else {
        return None;
    };
    if parts.len() == 1 && !text.ends_with('"') {
        return None;
    }
    let (own, quote) = split(text)?;
    let own = own.to_owned();
    let mut content = quote.content.to_owned();
    let preview = |content| Preview {
        content: Some(content),
        sender: match quote.author {
            Author::User => Some(user.to_owned()),
            Author::Person(name) => Some(name.to_owned()),
            Author::Personality { id, .. } => Some(id.to_owned()),
            Author::Active => None,
        },
        sender_name: match quote.author {
            Author::Person(name) | Author::Personality { name, .. } => Some(name.to_owned()),
            Author::User | Author::Active => None,
        },
        from_agent: matches!(quote.author, Author::Active | Author::Personality { .. }),
        ..Preview::default()
    };
    let media_item = match parts.last() {
        Some(Part::Media(media)) => match &media.source {
            MediaSource::Url(url) => Some((media.kind, url.clone())),
            _ => None,
        },
        _ => None,
    };
    let mut takes_media_item = false;
    if let Some((kind, url)) = media_item {
        let word = match kind {
            MediaKind::Audio => "Audio",
            _ => "Image",
        };
        let marker = format!("[{word}: {url}]");
        if quote.media_item == Some(kind) {
            // The formatter writes these words where the quoted message was nothing but its media item.
            if content == "[Image]" {
                content.clear();
            }
            if !content.is_empty() {
                content.push(' ');
            }
            content.push_str(&marker);
            takes_media_item = true;
        } else {
            // Of a bot's words the first formatter left the markers in.
            takes_media_item = content.contains(&marker);
        }
    }
    let preview = preview(content);
    if takes_media_item {
        parts.pop();
    }
    match parts.first_mut() {
        Some(Part::Text(text)) if !own.is_empty() => *text = own,
        _ => {
            parts.remove(0);
        }
    }
    Some(Reference {
        preview: Some(preview),
        ..Reference::default()
    })
}

#[derive(Clone, Copy)]
enum Author<'t> {
    User,
    Active,
    Person(&'t str),
    Personality { name: &'t str, id: &'t str },
}

struct Quote<'t> {
    author: Author<'t>,
    media_item: Option<MediaKind>,
    content: &'t str,
}

/// What stands after the name of a bot, and the media item that it announces.
const SAID_ON_ONE_LINE: [(&str, Option<MediaKind>); 3] = [
    (" said: \"", None),
    (" said (with an image): \"", Some(MediaKind::Image)),
    (" said (with audio): \"", Some(MediaKind::Audio)),
];

/// Own text and quote: the first line that opens a quote which ends with the text.
fn split(text: &str) -> Option<(&str, Quote<'_>)> {
    let body = text.strip_suffix('"')?;
    let mut start = 0;
    loop {
        let rest = body.get(start..)?;
        let own = body.get(..start)?;
        let is_apart = own.is_empty() || own.ends_with("\n\n");
        if let Some(quote) = quote(rest, is_apart) {
            // Versions after the document put a blank line between.
            let own = own.strip_suffix('\n').unwrap_or(own);
            return Some((own.strip_suffix('\n').unwrap_or(own), quote));
        }
        start += rest.find('\n')? + 1;
    }
}

/// Reads a quote from its first line on; the closing quotation mark is gone already. `is_apart`: a blank line stands before.
fn quote(text: &str, is_apart: bool) -> Option<Quote<'_>> {
    let line = text.lines().next()?;
    if let Some(content) = text.strip_prefix("You said earlier: \"") {
        return Some(Quote {
            author: Author::Active,
            media_item: None,
            content,
        });
    }
    for (said, media_item) in SAID_ON_ONE_LINE {
        let Some((head, _)) = line.split_once(said) else {
            continue;
        };
        let content = text.get(head.len() + said.len()..)?;
        let author = if head == "You" && is_apart {
            Author::Active
        } else {
            let (name, id) = head.strip_suffix(')')?.rsplit_once(" (")?;
            let is_id = !id.is_empty()
                && id
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
            if !is_id || !is_name(name) {
                return None;
            }
            Author::Personality { name, id }
        };
        return Some(Quote {
            author,
            media_item,
            content,
        });
    }
    let content = text.strip_prefix(line)?.strip_prefix("\n\"")?;
    let (author, media_item) = head(line)?;
    Some(Quote {
        author,
        media_item,
        content,
    })
}

/// Author and media kind of a line that ends with `said:` or with `said (with …):`.
fn head(line: &str) -> Option<(Author<'_>, Option<MediaKind>)> {
    const SENTENCE: &str = "This is a message referencing a message with ";
    if let Some(rest) = line.strip_prefix(SENTENCE) {
        let (media_item, rest) = match rest.strip_prefix("an image from ") {
            Some(rest) => (MediaKind::Image, rest),
            None => (MediaKind::Audio, rest.strip_prefix("audio from ")?),
        };
        if rest == "me. I said:" {
            return Some((Author::User, Some(media_item)));
        }
        // The name stands twice, with a full stop between: `Ann. Ann said:`.
        let names = rest.strip_suffix(" said:")?;
        let name = names.get(..names.len().checked_sub(2)? / 2)?;
        let is_twice = names.strip_prefix(name)?.strip_prefix(". ")? == name;
        return (is_twice && is_name(name)).then_some((Author::Person(name), Some(media_item)));
    }
    match line {
        "I said:" => return Some((Author::User, None)),
        "I said (with an image I shared):" => return Some((Author::User, Some(MediaKind::Image))),
        "I said (with audio I shared):" => return Some((Author::User, Some(MediaKind::Audio))),
        _ => {}
    }
    let endings = [
        (" said:", None),
        (" said (with an image):", Some(MediaKind::Image)),
        (" said (with audio):", Some(MediaKind::Audio)),
    ];
    endings.into_iter().find_map(|(ending, media_item)| {
        let name = line.strip_suffix(ending).filter(|name| is_name(name))?;
        Some((Author::Person(name), media_item))
    })
}

/// Names of Discord have at most 32 characters; sentences that happen to end with `said:` are longer.
fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.chars().count())
}

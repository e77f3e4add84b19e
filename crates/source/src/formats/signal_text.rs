//! A chat of Signal, as the program signal-export writes it, and others after it.
//!
//! The smallest example, of an older version and of a newer one:
//!
//! ```text
//! [2026-01-05, 10:00] Ann: Who is coming?
//! [2026-01-05 10:01:07] Me: I am
//! (- Ann: 👍 -)![kite.jpg](./media/kite.jpg)
//! ```
//!
//! A line without a time continues the message before it. `Me` is the person who exported the chat. Reactions
//! are in a line after the text, a sticker in double brackets: these become extra fields. Files come last, as
//! Markdown links. Quoted text is part of the text, after `>`: there are no ids. Lines of `WhatsApp` may also
//! begin with a date, a blank and seconds: such a chat is read as Signal's only if a participant is called
//! `Me`.

use chatmill_model::{Extra, FormatTraits, MediaKind, Part};

use crate::base::{media::upload, quoted};
use crate::layout::lines::{Form, LineKind, Lines};
use crate::layout::text::kind_of_name;
use crate::source::About;

/// The source `signal-text`.
pub static SIGNAL_TEXT: Lines = Lines {
    about: &About {
        id: "signal-text",
        title: "Signal text",
        specification: "carderne/signal-export, its Markdown files",
        verified: "2026-11",
        shapes: &["text"],
        carries: "names, text, files by path, reactions as extra fields, deletions as notices, times without a zone",
        traits: FormatTraits::USUAL,
    },
    shapes: &[FORMS],
    typical: &[
        "[{y}-{o}-{d}, {h}:{m}] {n}: {t}",
        "[{y}-{o}-{d} {h}:{m}] {n}: {t}",
        "[{y}-{o}-{d} {h}:{m}:{s}] Me: {t}",
    ],
    ranks: &[],
    goes_on: true,
    parts,
};

const FORMS: &[Form] = &[
    ("[{y}-{o}-{d}, {h}:{m}] {n}: {t}", LineKind::Message),
    ("[{y}-{o}-{d} {h}:{m}] {n}: {t}", LineKind::Message),
    ("[{y}-{o}-{d} {h}:{m}:{s}] {n}: {t}", LineKind::Message),
];

fn parts(mut text: String, extra: &mut Extra) -> Vec<Part> {
    if text == "(This message was deleted)" {
        return vec![Part::Notice(text)];
    }
    let mut files = Vec::new();
    loop {
        let own = text.trim_end();
        if let Some((before, file)) = last_file(own) {
            files.insert(0, file);
            text.truncate(before);
        } else if let Some((before, key, inside)) = last_mark(own) {
            extra.0.push((key.to_owned(), quoted(inside)));
            text.truncate(before);
        } else {
            break;
        }
    }
    let own = text.trim_matches('\n').trim_end();
    let own = (!own.is_empty()).then(|| Part::Text(own.to_owned()));
    own.into_iter().chain(files).collect()
}

/// The reaction or the sticker in the last line of a text, and the end of the text before it.
fn last_mark(text: &str) -> Option<(usize, &'static str, &str)> {
    let (before, line) = text.rsplit_once('\n')?;
    [("reactions", "(- ", " -)"), ("sticker", "(( ", " ))")]
        .into_iter()
        .find_map(|(key, open, close)| {
            let inside = line.strip_prefix(open)?.strip_suffix(close)?;
            Some((before.len(), key, inside))
        })
}

/// The file that is linked at the end of a text, and where the text before it ends.
fn last_file(text: &str) -> Option<(usize, Part)> {
    let (before, path) = text.strip_suffix(')')?.rsplit_once("](./")?;
    if path.contains([')', '\n']) {
        return None;
    }
    let (before, _) = before.rsplit_once('[')?;
    let (before, is_picture) = match before.strip_suffix('!') {
        Some(before) => (before, true),
        None => (before, false),
    };
    let kind = if is_picture {
        MediaKind::Image
    } else {
        kind_of_name(path)
    };
    Some((before.len(), upload(kind, Some(path.to_owned()))))
}

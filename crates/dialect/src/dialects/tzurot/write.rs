//! Requests as they are written.

use chatmill_model::{Component, Level, MediaKind, Sink, Speaker};

use super::request::{Piece, Request};
use crate::write::object::list;

impl<'a> Request<'a> {
    /// Writes it.
    pub(super) fn write(self, sink: &mut Sink<'a>) {
        sink.speak(Speaker::Other);
        sink.framing("[{\"role\":\"user\",\"content\":");
        match self {
            Self::Text(texts) => {
                sink.framing("\"");
                joined(sink, &texts);
                sink.framing("\"");
            }
            Self::List(pieces) => list(sink, pieces, Piece::write),
            Self::Quoting {
                texts,
                separator,
                is_first_apart,
                quotes,
                media,
            } => {
                sink.framing("[{\"type\":\"text\",\"text\":\"");
                joined(sink, &texts);
                for (index, words) in quotes.into_iter().enumerate() {
                    if index > 0 || is_first_apart {
                        sink.content(separator, Level::JsonString, Component::Replies);
                    }
                    for words in words {
                        sink.content(words, Level::JsonString, Component::Replies);
                    }
                }
                sink.framing("\"}");
                for (kind, address) in media {
                    sink.framing(",");
                    Piece::Media(kind, address).write(sink);
                }
                sink.framing("]");
            }
        }
        sink.framing("}]");
    }
}

impl<'a> Piece<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let (opening, text, closing) = match self {
            Self::Text(text) => ("{\"type\":\"text\",\"text\":", text, "}"),
            Self::Media(MediaKind::Audio, address) => {
                ("{\"type\":\"audio_url\",\"audio_url\":{\"url\":", address, "}}")
            }
            Self::Media(_, address) => ("{\"type\":\"image_url\",\"image_url\":{\"url\":", address, "}}"),
        };
        sink.framing(opening);
        sink.json_string(text, Component::Content);
        sink.framing(closing);
    }
}

/// Texts joined by one space.
fn joined<'a>(sink: &mut Sink<'a>, texts: &[&'a str]) {
    for (index, text) in texts.iter().copied().enumerate() {
        if index > 0 {
            sink.content(" ", Level::JsonString, Component::Framing);
        }
        sink.content(text, Level::JsonString, Component::Content);
    }
}

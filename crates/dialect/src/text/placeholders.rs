//! Placeholders for media, such as `[Video: tour.mp4]`: nobody wrote these words, so they are not trained on by default.

use chatmill_model::{MediaKind, Message, Part};

use crate::text::media::word;

/// How placeholders for media in the perspective's turns are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placeholders {
    /// They are written; a message with nothing else is not trained on.
    #[default]
    Written,
    /// They are left out next to other words and calls; a message with nothing else is written, but not trained on.
    Alone,
    /// They are written and trained on like other words.
    Learned,
}

impl Placeholders {
    /// Whether a message is not trained on because it has only media.
    pub(crate) fn exclude(self, message: &Message) -> bool {
        self != Self::Learned && is_only_media(message)
    }
}

/// Whether a message has only media. A link counts as words, because its address was written by the author.
pub(crate) fn is_only_media(message: &Message) -> bool {
    let mut has_media = false;
    for part in &message.parts {
        match part {
            Part::Text(text) if !text.trim().is_empty() => return false,
            Part::ToolCall(_) | Part::ToolResult(_) => return false,
            Part::Media(media) if media.kind == MediaKind::Link => return false,
            Part::Media(_) => has_media = true,
            _ => {}
        }
    }
    has_media
}

/// Whether a text consists only of placeholders for media, one on each line.
pub fn stands_for_media(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    let kinds = [
        MediaKind::Image,
        MediaKind::Audio,
        MediaKind::Video,
        MediaKind::File,
    ];
    let stands = |line: &str| {
        let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let label = |inner| {
            kinds
                .iter()
                .find_map(|kind| str::strip_prefix(inner, word(*kind)))
        };
        inner
            .and_then(label)
            .is_some_and(|label| label.is_empty() || label.starts_with(": "))
    };
    lines.peek().is_some() && lines.all(stands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_for_media_where_each_line_does() {
        for text in [
            "[Image]",
            "[Video: a tour.mp4]",
            "[Image: a.png]\n\n[File: b [1].pdf]\n",
        ] {
            assert!(stands_for_media(text), "{text}");
        }
        for text in [
            "",
            " ",
            "[Image: a.png] look",
            "[Imagine]",
            "[Link: https://a.example/]",
            "[Image: a.png]\nlook",
            "[start]",
        ] {
            assert!(!stands_for_media(text), "{text}");
        }
    }
}

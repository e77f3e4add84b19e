//! Words that stand for media, such as `[Video: tour.mp4]`: nobody wrote them, so they are not trained on by default.

use chatmill_model::{MediaKind, Message, Part};

use crate::text::media::word;

/// What becomes of the words that stand for media in the perspective's own turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placeholders {
    /// They are written; a message of nothing else is not trained on.
    #[default]
    Said,
    /// They are left out beside other words and calls; a message of nothing else is written, and not trained on.
    Alone,
    /// They are written and trained on as everything else.
    Learned,
}

impl Placeholders {
    /// Whether a message is not trained on because it is nothing but media.
    pub(crate) fn exclude(self, message: &Message) -> bool {
        self != Self::Learned && is_only_media(message)
    }
}

/// Whether a message has media and no words of its own. The address of a page is what somebody wrote.
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

/// Whether a text is nothing but words that stand for media, a line each.
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

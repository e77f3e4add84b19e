//! Words that stand for media, such as `[Video: tour.mp4]`: nobody's words, and nothing to learn.

use chatmill_model::{MediaKind, Message, Part};

/// What becomes of the words that stand for media in the perspective's own turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placeholders {
    /// They are said; a message of nothing else is not learned.
    #[default]
    Said,
    /// They are left out beside other words and calls; a message of nothing else is said, and not learned.
    Alone,
    /// They are said and learned as everything else.
    Learned,
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

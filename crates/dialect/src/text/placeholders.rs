//! Words that stand for media, such as `[Video: tour.mp4]`: nobody wrote them, so they are not trained on by default.

use chatmill_model::{MediaKind, Message, Part};

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

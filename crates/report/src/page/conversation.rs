//! The page of one conversation: the chat and, next to it, what a model gets of it.
//!
//! It is one file that loads nothing. Without scripts it is a transcript with everything on it; the script marks the turn of a message
//! where one points at either of them, and moves between messages by keys. Long conversations are cut into ranges, of which the first is
//! open: a browser lays out what is open.

use serde::Serialize;

use crate::templates::{TemplateError, fill};

/// A conversation as the page shows it.
#[derive(Debug, Default, Serialize)]
pub struct ShownChat {
    /// Its title, or its id.
    pub title: String,
    /// Lines below the title: where it is from, how large it is.
    pub facts: Vec<String>,
    /// Findings about the conversation as a whole.
    pub findings: Vec<ShownFinding>,
    /// Its messages.
    pub messages: Vec<ShownMessage>,
    /// What a model gets.
    pub renderings: Vec<ShownRendering>,
    /// Its renderings in figures, one for each dialect and perspective.
    pub figures: Vec<RenderingFigures>,
    /// The encoding of these figures; empty where nothing was counted.
    pub encoding: String,
    /// Lines about what is missing.
    pub notes: Vec<String>,
}

/// A message, a notice or another answer.
#[derive(Debug, Default, Serialize)]
pub struct ShownMessage {
    /// Its position.
    pub position: u32,
    /// Whether it is an event and no turn.
    pub is_notice: bool,
    /// The name of its sender.
    pub name: String,
    /// The first letter of it, where it has one.
    pub initial: String,
    /// The number of the sender's colour, from 0 to 5.
    pub colour: usize,
    /// What else its head shows: role, time, model.
    pub notes: Vec<String>,
    /// What it answers: the position of that message, where it is in the conversation, and its beginning.
    pub replies: Vec<(Option<u32>, String)>,
    /// Its parts.
    pub parts: Vec<ShownPart>,
    /// Fields that have no other place: reactions, edits and others, by name.
    pub fields: Vec<(String, String)>,
    /// Other answers at its place, each with what it is.
    pub others: Vec<(String, String)>,
    /// Its findings.
    pub findings: Vec<ShownFinding>,
}

/// A part of a message.
#[derive(Debug, Default, Serialize)]
pub struct ShownPart {
    /// `text`, `thought`, `call`, `result`, `media` or `mark`.
    pub kind: &'static str,
    /// The name of a tool.
    pub label: String,
    /// Its words.
    pub text: String,
}

/// A finding.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ShownFinding {
    /// Its code.
    pub code: String,
    /// The finding as `check` prints it.
    pub text: String,
}

/// A rendering.
#[derive(Debug, Default, Serialize)]
pub struct ShownRendering {
    /// Its dialect, and for whom.
    pub title: String,
    /// Its figures in words.
    pub figures: String,
    /// Tokens of each component.
    pub components: Vec<(&'static str, u64)>,
    /// Its text in pieces.
    pub pieces: Vec<ShownPiece>,
    /// Bytes that are left out behind them.
    pub left_out: u64,
    /// What was lost.
    pub losses: Vec<ShownLoss>,
    /// Rules that it breaks.
    pub violations: Vec<String>,
}

/// A piece of a rendering.
#[derive(Debug, Default, Serialize)]
pub struct ShownPiece {
    /// Its text.
    pub text: String,
    /// The message that it is the turn of, or the first of several.
    pub message: Option<u32>,
    /// Whether a trainer learns from it.
    pub is_trained: bool,
}

/// What a rendering lost of one kind for one reason.
#[derive(Debug, Default, Serialize)]
pub struct ShownLoss {
    /// What.
    pub code: &'static str,
    /// How often.
    pub amount: u64,
    /// Why.
    pub reason: String,
    /// The first positions.
    pub positions: Vec<u32>,
}

/// A rendering in figures.
#[derive(Debug, Default, Serialize)]
pub struct RenderingFigures {
    /// Its dialect, and the assistant where there are several.
    pub title: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its tokens.
    pub tokens: u64,
    /// What it lost.
    pub losses: u64,
    /// Whether it keeps the rules of the dialect.
    pub is_valid: bool,
}

/// Messages of a range.
const RANGE: usize = 500;

#[derive(Serialize)]
struct ConversationPage<'p> {
    nonce: String,
    chat: &'p ShownChat,
    ranges: Vec<Range<'p>>,
}

#[derive(Serialize)]
struct Range<'p> {
    first: u32,
    last: u32,
    messages: &'p [ShownMessage],
}

/// Writes the page of a conversation.
pub fn conversation_page(chat: &ShownChat) -> Result<String, TemplateError> {
    // No text in the page can contain a hash of it.
    let mut hasher = blake3::Hasher::new();
    hasher.update(chat.title.as_bytes());
    for part in chat.messages.iter().flat_map(|message| &message.parts) {
        hasher.update(part.text.as_bytes());
    }
    let ranges = chat.messages.chunks(RANGE).filter_map(|messages| {
        Some(Range {
            first: messages.first()?.position,
            last: messages.last()?.position,
            messages,
        })
    });
    let page = ConversationPage {
        nonce: hasher.finalize().to_hex().to_string(),
        ranges: ranges.collect(),
        chat,
    };
    Ok(fill("show.html", &page, [])?.into_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert(1)</script>\" onclick=\"x & \u{202e}z\u{1b}[2J <img src=x>";

    fn message(position: u32, text: &str) -> ShownMessage {
        ShownMessage {
            position,
            name: text.to_owned(),
            replies: vec![(Some(0), text.to_owned()), (None, text.to_owned())],
            parts: ["text", "thought", "call", "result", "media", "mark"]
                .into_iter()
                .map(|kind| ShownPart {
                    kind,
                    label: text.to_owned(),
                    text: text.to_owned(),
                })
                .collect(),
            fields: vec![(text.to_owned(), text.to_owned())],
            others: vec![(text.to_owned(), text.to_owned())],
            findings: vec![ShownFinding {
                code: "RF001".to_owned(),
                text: text.to_owned(),
            }],
            notes: vec![text.to_owned()],
            ..ShownMessage::default()
        }
    }

    fn chat(text: &str) -> ShownChat {
        ShownChat {
            title: text.to_owned(),
            facts: vec![text.to_owned()],
            messages: vec![
                message(0, text),
                ShownMessage {
                    is_notice: true,
                    ..message(1, text)
                },
            ],
            renderings: vec![ShownRendering {
                title: text.to_owned(),
                components: vec![("content", 3)],
                pieces: vec![ShownPiece {
                    text: text.to_owned(),
                    message: Some(0),
                    is_trained: true,
                }],
                losses: vec![ShownLoss {
                    code: "name-dropped",
                    amount: 2,
                    reason: text.to_owned(),
                    positions: vec![1],
                }],
                violations: vec![text.to_owned()],
                left_out: 5,
                ..ShownRendering::default()
            }],
            notes: vec![text.to_owned()],
            ..ShownChat::default()
        }
    }

    #[test]
    fn text_of_a_chat_stays_text_and_nothing_is_fetched() {
        let page = conversation_page(&chat(HOSTILE)).unwrap();
        assert!(
            !page.contains("<script>alert") && !page.contains("<img"),
            "{page}"
        );
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
        assert!(!page.contains("onclick=\"x") && !page.contains("://"), "{page}");
        assert!(page.contains("default-src 'none'"));
        // What a reader sees is what was written: every place holds the whole text.
        let shown = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onclick=&quot;x &amp; \\u{202e}z\\u{1b}[2J &lt;img src=x&gt;";
        assert!(page.matches(shown).count() > 20, "{page}");
        let plain = conversation_page(&chat("שלום, <b>x</b> 👩‍🚀")).unwrap();
        assert!(plain.contains("שלום, &lt;b&gt;x&lt;/b&gt; 👩‍🚀"));
    }

    #[test]
    fn a_message_and_its_turn_are_marked_by_the_same_number() {
        let page = conversation_page(&chat("x")).unwrap();
        assert!(
            page.contains("id=\"m0\"") && page.contains("href=\"#m0\""),
            "{page}"
        );
        assert_eq!(page.matches("data-m=\"0\"").count(), 2, "{page}");
        assert!(
            page.contains("<span class=\"trained\" data-m=\"0\">x</span>"),
            "{page}"
        );
    }

    #[test]
    fn a_long_conversation_is_cut_into_ranges_of_which_the_first_is_open() {
        let messages = |number| (0..number).map(|position| message(position, "x")).collect();
        let page = |number| {
            let chat = ShownChat {
                messages: messages(number),
                ..ShownChat::default()
            };
            conversation_page(&chat).unwrap()
        };
        let one = page(500);
        assert!(!one.contains("class=\"range\""), "one range needs no head");
        let long = page(1001);
        assert_eq!(long.matches("class=\"range\"").count(), 3);
        assert_eq!(long.matches("class=\"range\" open").count(), 1);
        assert!(long.contains("Messages 500 to 999"));
    }
}

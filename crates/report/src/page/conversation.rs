//! The page of one or several conversations: the chat and, next to it, what a model gets of it. `cli` fills in the [`ShownChat`]s.
//!
//! It is a single file that loads nothing. Without scripts it is a transcript with everything on it; the script marks the turn of the
//! message under the pointer, and the message of a turn, shows where tokens begin, searches, and moves between messages by keys. Long
//! conversations are divided into ranges, of which only the first is unfolded, since a browser lays out everything that is unfolded.

use std::fmt;

use chatmill_diag::visible::is_hidden;
use serde::Serialize;

use crate::numbers::counted;
use crate::templates::{TemplateError, fill};

/// A conversation as the page shows it.
#[derive(Debug, Default, Serialize)]
pub struct ShownChat {
    /// The title, or the id if there is none.
    pub title: String,
    /// Lines below the title: the origin and the size.
    pub facts: Vec<String>,
    /// Findings about the conversation as a whole.
    pub findings: Vec<ShownFinding>,
    /// Its messages.
    pub messages: Vec<ShownMessage>,
    /// What a model gets.
    pub renderings: Vec<ShownRendering>,
    /// The figures of its renderings, one for each dialect and perspective.
    pub figures: Vec<RenderingFigures>,
    /// The encoding of these figures; empty if nothing was counted.
    pub encoding: String,
    /// Lines about missing parts.
    pub notes: Vec<String>,
}

/// A message, a notice or another answer.
#[derive(Debug, Default, Serialize)]
pub struct ShownMessage {
    /// Its position.
    pub position: u32,
    /// Whether it is an event rather than a turn.
    pub is_notice: bool,
    /// The name of its sender.
    pub name: String,
    /// The first letter of the name, if it has one.
    pub initial: String,
    /// The number of the sender's colour, from 0 to 5.
    pub colour: usize,
    /// The notes after the name: role, time, model.
    pub notes: Vec<String>,
    /// The messages to which it replies: the position, if the message is in the conversation, and its beginning.
    pub replies: Vec<(Option<u32>, String)>,
    /// Its parts.
    pub parts: Vec<ShownPart>,
    /// Fields without a separate place on the page: reactions, edits and others, by name.
    pub fields: Vec<(String, String)>,
    /// Its tokens in each rendering, with the titles of the renderings; the first one is that of the rendering that is shown.
    pub tokens: Vec<(String, u64)>,
    /// Its losses in renderings.
    pub losses: Vec<MessageLoss>,
    /// The versions of a place that begins with it.
    pub own_place: Option<OwnPlace>,
    /// Versions after it that are not in the conversation, if the conversation has nothing at their place.
    pub others: Vec<Version>,
    /// Its findings.
    pub findings: Vec<ShownFinding>,
}

/// A place with several versions, of which one is in the conversation.
#[derive(Debug, Default, Serialize)]
pub struct OwnPlace {
    /// The rating of the version in the conversation.
    pub rating: String,
    /// The position of its last message.
    pub last: u32,
    /// The other versions.
    pub others: Vec<Version>,
}

/// A version of a place that is not in the conversation.
#[derive(Debug, Default, Serialize)]
pub struct Version {
    /// The origin of the version, and its rating.
    pub title: String,
    /// Its messages.
    pub messages: Vec<ShownMessage>,
}

/// A loss of a message, of one kind and for one reason, in some renderings.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageLoss {
    /// The code of the loss.
    pub code: &'static str,
    /// The reason.
    pub reason: String,
    /// The meaning of the code, as a sentence.
    pub meaning: &'static str,
    /// The key of the pipeline that would change it; empty if there is none.
    pub key: &'static str,
    /// The titles of these renderings.
    pub renderings: Vec<String>,
}

/// A part of a message.
#[derive(Debug, Default, Serialize)]
pub struct ShownPart {
    /// `text`, `reasoning`, `call`, `result`, `media`, `picture` or `mark`.
    pub kind: &'static str,
    /// The data address of a picture.
    pub source: String,
    /// The name of a tool.
    pub label: String,
    /// The text.
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

/// The title of a rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RenderingTitle {
    /// The dialect, with its profile.
    pub dialect: String,
    /// The name of the assistant; empty for none.
    pub perspective: String,
    /// The messages that it shows; empty if there is only one window.
    pub window: String,
}

impl fmt::Display for RenderingTitle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.dialect)?;
        for (between, word) in [(" for ", &self.perspective), (", ", &self.window)] {
            if !word.is_empty() {
                write!(formatter, "{between}{word}")?;
            }
        }
        Ok(())
    }
}

/// A rendering.
#[derive(Debug, Default, Serialize)]
pub struct ShownRendering {
    /// What it is called.
    pub title: RenderingTitle,
    /// The figures as text.
    pub figures: String,
    /// Tokens of each component.
    pub components: Vec<(&'static str, u64)>,
    /// The text in pieces.
    pub pieces: Vec<ShownPiece>,
    /// Number of bytes after the pieces that are not shown.
    pub left_out: u64,
    /// The losses.
    pub losses: Vec<ShownLoss>,
    /// The rules that it breaks.
    pub violations: Vec<String>,
}

/// A piece of a rendering.
#[derive(Debug, Default, Serialize)]
pub struct ShownPiece {
    /// Its text.
    pub text: String,
    /// The message of which it is the turn, or the first of several messages.
    pub message: Option<u32>,
    /// Whether it is trained on.
    pub is_trained: bool,
    /// The offsets in bytes at which tokens begin.
    pub token_starts: Vec<usize>,
}

/// The losses of a rendering, of one kind and for one reason.
#[derive(Debug, Default, Serialize)]
pub struct ShownLoss {
    /// The code of the loss.
    pub code: &'static str,
    /// The number of occurrences.
    pub amount: u64,
    /// The reason.
    pub reason: String,
    /// The first positions.
    pub positions: Vec<u32>,
}

/// The figures of a rendering.
#[derive(Debug, Default, Serialize)]
pub struct RenderingFigures {
    /// The title.
    pub title: RenderingTitle,
    /// The number of bytes.
    pub bytes: u64,
    /// The number of tokens.
    pub tokens: u64,
    /// The number of losses.
    pub losses: u64,
    /// Whether it follows the rules of the dialect.
    pub is_valid: bool,
}

/// The number of messages in a range.
const RANGE: usize = 500;

#[derive(Serialize)]
struct ConversationPage<'p> {
    nonce: String,
    title: String,
    has_pictures: bool,
    chats: Vec<PageChat<'p>>,
}

#[derive(Serialize)]
struct PageChat<'p> {
    /// The prefix of its element ids.
    mark: String,
    chat: &'p ShownChat,
    ranges: Vec<Range<'p>>,
    /// The lengths of the tokens of each rendering.
    tokens: Vec<String>,
}

#[derive(Serialize)]
struct Range<'p> {
    first: u32,
    last: u32,
    messages: &'p [ShownMessage],
}

/// Writes the page of conversations.
pub fn conversation_page(chats: &[ShownChat]) -> Result<String, TemplateError> {
    // No text in the page can contain its own hash.
    let mut hasher = blake3::Hasher::new();
    let parts = || {
        let messages = chats.iter().flat_map(|chat| &chat.messages);
        messages.flat_map(|message| &message.parts)
    };
    let titles = chats.iter().map(|chat| &chat.title);
    for text in titles.chain(parts().map(|part| &part.text)) {
        hasher.update(text.as_bytes());
    }
    let page = ConversationPage {
        nonce: hasher.finalize().to_hex().to_string(),
        title: match chats {
            [chat] => chat.title.clone(),
            chats => counted(chats.len() as u64, "conversation"),
        },
        has_pictures: parts().any(|part| part.kind == "picture"),
        chats: chats.iter().enumerate().map(page_chat).collect(),
    };
    Ok(fill("show.html", &page, [])?.into_string())
}

fn page_chat((number, chat): (usize, &ShownChat)) -> PageChat<'_> {
    let ranges = chat.messages.chunks(RANGE).filter_map(|messages| {
        Some(Range {
            first: messages.first()?.position,
            last: messages.last()?.position,
            messages,
        })
    });
    PageChat {
        mark: match number {
            0 => "m".to_owned(),
            number => format!("c{}-m", number + 1),
        },
        chat,
        ranges: ranges.collect(),
        tokens: chat
            .renderings
            .iter()
            .map(|rendering| token_lengths(&rendering.pieces))
            .collect(),
    }
}

/// The lengths of tokens on the page, in UTF-16 units as its script counts them; the first length is that of the text before the first
/// token.
fn token_lengths(pieces: &[ShownPiece]) -> String {
    let mut lengths = Vec::new();
    let mut length = 0;
    for piece in pieces {
        let mut starts = piece.token_starts.iter().peekable();
        for (at, sign) in piece.text.char_indices() {
            if starts.next_if(|start| **start == at).is_some() {
                lengths.push(std::mem::take(&mut length));
            }
            length += match sign {
                '\n' => 1,
                // As the templates write them.
                hidden if is_hidden(hidden) => hidden.escape_default().count(),
                sign => sign.len_utf16(),
            };
        }
    }
    if !lengths.is_empty() {
        lengths.push(length);
    }
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    lengths.join(" ")
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
            parts: ["text", "reasoning", "call", "result", "media", "mark"]
                .into_iter()
                .map(|kind| ShownPart {
                    kind,
                    label: text.to_owned(),
                    text: text.to_owned(),
                    source: String::new(),
                })
                .collect(),
            fields: vec![(text.to_owned(), text.to_owned())],
            tokens: vec![(text.to_owned(), 3)],
            losses: vec![MessageLoss {
                code: "name-dropped",
                reason: text.to_owned(),
                renderings: vec![text.to_owned()],
                ..MessageLoss::default()
            }],
            own_place: (position == 0).then(|| OwnPlace {
                rating: text.to_owned(),
                last: 1,
                others: vec![version(text)],
            }),
            others: vec![version(text)],
            findings: vec![ShownFinding {
                code: "RF001".to_owned(),
                text: text.to_owned(),
            }],
            notes: vec![text.to_owned()],
            ..ShownMessage::default()
        }
    }

    fn version(text: &str) -> Version {
        let written = || ShownMessage {
            name: text.to_owned(),
            parts: vec![ShownPart {
                kind: "text",
                text: text.to_owned(),
                ..ShownPart::default()
            }],
            ..ShownMessage::default()
        };
        Version {
            title: text.to_owned(),
            messages: vec![written(), written()],
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
                title: RenderingTitle {
                    dialect: text.to_owned(),
                    perspective: text.to_owned(),
                    window: text.to_owned(),
                },
                components: vec![("content", 3)],
                pieces: vec![ShownPiece {
                    text: text.to_owned(),
                    message: Some(0),
                    is_trained: true,
                    token_starts: vec![0],
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
        let page = conversation_page(&[chat(HOSTILE)]).unwrap();
        assert!(
            !page.contains("<script>alert") && !page.contains("<img"),
            "{page}"
        );
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert!(!page.contains('\u{202e}') && !page.contains('\u{1b}'));
        assert!(!page.contains("onclick=\"x") && !page.contains("://"), "{page}");
        assert!(page.contains("default-src 'none'"));
        // The shown text is what was written, since each place contains the whole text.
        let shown = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; onclick=&quot;x &amp; \\u{202e}z\\u{1b}[2J &lt;img src=x&gt;";
        assert!(page.matches(shown).count() > 20, "{page}");
        let plain = conversation_page(&[chat("שלום, <b>x</b> 👩‍🚀")]).unwrap();
        assert!(plain.contains("שלום, &lt;b&gt;x&lt;/b&gt; 👩‍🚀"));
    }

    #[test]
    fn a_message_and_its_turn_are_marked_by_the_same_number() {
        let page = conversation_page(&[chat("x")]).unwrap();
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
            conversation_page(&[chat]).unwrap()
        };
        let one = page(500);
        assert!(!one.contains("class=\"range\""), "one range needs no head");
        let long = page(1001);
        assert_eq!(long.matches("class=\"range\"").count(), 3);
        assert_eq!(long.matches("class=\"range\" open").count(), 1);
        assert!(long.contains("Messages 500 to 999"));
    }

    #[test]
    fn several_conversations_share_a_page_and_no_id() {
        let page = conversation_page(&[chat("x"), chat("y")]).unwrap();
        for id in ["id=\"m0\"", "id=\"m1\"", "id=\"c2-m0\"", "href=\"#c2-m0\""] {
            assert!(page.contains(id), "{id} of {page}");
        }
        let ids: Vec<&str> = page
            .split(" id=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        let known: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(known.len(), ids.len(), "{ids:?}");
        assert!(page.contains("<h1") && page.contains("2 conversations"));
    }

    #[test]
    fn tokens_are_as_long_as_the_page_shows_them() {
        let piece = |text: &str, token_starts: &[usize]| ShownPiece {
            text: text.to_owned(),
            token_starts: token_starts.to_vec(),
            ..ShownPiece::default()
        };
        // A token extends beyond the end of a piece; `\t` and U+202E are escapes on the page, and an astronaut has two units.
        let pieces = [
            piece("ab\n", &[0, 2]),
            piece("c\t\u{202e}", &[1]),
            piece("👩x", &[4]),
        ];
        assert_eq!(token_lengths(&pieces), "0 2 2 12 1");
        assert_eq!(token_lengths(&[piece("ab", &[])]), "");
    }

    #[test]
    fn pictures_are_allowed_where_there_are_some() {
        assert!(!conversation_page(&[chat("x")]).unwrap().contains("img-src"));
        let mut with = chat("x");
        with.messages[0].parts[0].kind = "picture";
        with.messages[0].parts[0].source = "data:image/png;base64,AAAA".to_owned();
        let page = conversation_page(&[with]).unwrap();
        assert!(
            page.contains("img-src data:")
                && page.contains("<img src=\"data:image/png;base64,AAAA\" alt=\"x\""),
            "{page}"
        );
    }
}

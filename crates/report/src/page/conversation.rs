//! The page of a conversation, or of several: the chat and, next to it, what a model gets of it.
//!
//! It is one file that loads nothing. Without scripts it is a transcript with everything on it; the script marks the turn of a message
//! where one points at either of them, draws where tokens begin, searches, and moves between messages by keys. Long conversations are cut into ranges, of which the first is
//! open: a browser lays out what is open.

use std::fmt;

use chatmill_diag::visible::is_hidden;
use serde::Serialize;

use crate::numbers::counted;
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
    /// Its tokens in each rendering, with their titles; the first is that of the rendering that is open.
    pub tokens: Vec<(String, u64)>,
    /// What renderings lost of it.
    pub losses: Vec<MessageLoss>,
    /// The versions of a place that begins with it.
    pub own_place: Option<OwnPlace>,
    /// What was answered after it and is not in the conversation, where that has nothing there.
    pub others: Vec<Version>,
    /// Its findings.
    pub findings: Vec<ShownFinding>,
}

/// A place of which the conversation has one of several versions.
#[derive(Debug, Default, Serialize)]
pub struct OwnPlace {
    /// How the version in the conversation was rated.
    pub rating: String,
    /// The position of its last message.
    pub last: u32,
    /// The other versions.
    pub others: Vec<Version>,
}

/// A version of a place that is not in the conversation.
#[derive(Debug, Default, Serialize)]
pub struct Version {
    /// What it is, and how it was rated.
    pub title: String,
    /// Its messages.
    pub messages: Vec<ShownMessage>,
}

/// What renderings lost of a message of one kind for one reason.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessageLoss {
    /// What.
    pub code: &'static str,
    /// Why.
    pub reason: String,
    /// What that is, in a sentence.
    pub meaning: &'static str,
    /// The key of a pipeline that would change it, where there is one.
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

/// What a rendering is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RenderingTitle {
    /// Its dialect in its profile.
    pub dialect: String,
    /// The name of the assistant; empty for none.
    pub perspective: String,
    /// The messages that it shows; empty where there is no other window.
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
    /// Where tokens begin in it, in bytes.
    pub token_starts: Vec<usize>,
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
    /// What it is called.
    pub title: RenderingTitle,
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
    title: String,
    has_pictures: bool,
    chats: Vec<PageChat<'p>>,
}

#[derive(Serialize)]
struct PageChat<'p> {
    /// What its ids begin with.
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
    // No text in the page can contain a hash of it.
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

/// The lengths of tokens on the page, in the units of its script; what is in front of the first is the first length.
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
                // As templates write it.
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
        // What a reader sees is what was written: every place holds the whole text.
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
        // A token reaches over the end of a piece; `\t` and U+202E are escapes on the page, and an astronaut has two units.
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

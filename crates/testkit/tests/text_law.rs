//! The law of losses for texts: everything that is said occurs in the rendering, in order, and every change is declared.
//!
//! What a transcript says cannot be read back message by message, so the law looks at the segments of the rendering: its
//! content is what the messages say, word by word but for what the losses of that message declare, and the rest is the
//! dialect's own framing, somebody's name, a reply, or a tool.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

use std::collections::VecDeque;

use chatmill_dialect::policy::MediaPolicy;
use chatmill_dialect::{History, Loss, LossCode, Policy, Rendering, View};
use chatmill_model::{Component, Linked, Media, MediaKind, MediaSource, Message, MessageKind, Part, Role};
use chatmill_testkit::chats::group_chat;
use chatmill_testkit::forget::without_metadata;
use chatmill_testkit::histories::history;
use chatmill_testkit::law::{cases, policy, read};
use chatmill_testkit::random::Random;
use proptest::prelude::*;

/// A dialect, and everything that it says of its own accord.
struct Transcript {
    dialect: &'static str,
    framing: &'static [&'static str],
}

const COMPACT: &[&str] = &[": ", " ", "\n", "[RESPOND]", "[RESPOND]\n"];

const TRANSCRIPTS: &[Transcript] = &[
    Transcript {
        dialect: "gryag-compact",
        framing: COMPACT,
    },
    Transcript {
        dialect: "gryag-compact@2025-10-17",
        framing: COMPACT,
    },
    Transcript {
        dialect: "jaibber-context",
        framing: &["\n\n", "\n", "Assistant (", "): ", "User: "],
    },
    Transcript {
        dialect: "chatml",
        framing: &[
            "<|im_start|>",
            "<|im_end|>",
            "system\n",
            "user\n",
            "assistant\n",
            "\n",
            "\n\n",
            "<think>\n",
            "\n</think>\n",
        ],
    },
    Transcript {
        dialect: "tzurot",
        framing: TZUROT,
    },
    Transcript {
        dialect: "tzurot@v2-final",
        framing: TZUROT,
    },
];

const TZUROT: &[&str] = &[
    "[{\"role\":\"user\",\"content\":",
    "[",
    "{\"type\":\"text\",\"text\":\"",
    "{\"type\":\"text\",\"text\":",
    "{\"type\":\"audio_url\",\"audio_url\":{\"url\":",
    "{\"type\":\"image_url\",\"image_url\":{\"url\":",
    "\"",
    "\"}",
    "}",
    "}}",
    ",",
    " ",
    "\n",
    "]",
    "}]",
];

/// The sentence that opens Jaibber's context.
const JAIBBER: &str = "Respond ONLY to the final user message.";

/// What a piece of content has to be.
#[derive(Debug)]
enum Said {
    /// This text.
    Exactly(String),
    /// This text but for how its words are set apart, or which signs are in the way: so many it may lose.
    But(String, fn(&str) -> String),
    /// Declared, but not known here; also nothing.
    Something,
    /// This, or nothing.
    Perhaps(String),
}

impl Said {
    fn is(&self, text: &str) -> bool {
        match self {
            Self::Exactly(wanted) | Self::Perhaps(wanted) => wanted == text,
            Self::But(wanted, essence) => essence(wanted) == essence(text),
            Self::Something => true,
        }
    }

    fn may_be_nothing(&self) -> bool {
        match self {
            Self::Exactly(wanted) => wanted.is_empty(),
            Self::But(wanted, essence) => essence(wanted).is_empty(),
            Self::Something | Self::Perhaps(_) => true,
        }
    }
}

fn words(text: &str) -> String {
    let words = text.split(|sign: char| sign.is_whitespace() || sign.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn without_signs(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_control()).collect()
}

fn without_escapes(text: &str) -> String {
    text.replace('\u{200b}', "")
}

/// What a rendering declares of one message.
struct Declared<'l>(Vec<&'l Loss>);

impl<'l> Declared<'l> {
    fn of(losses: &'l [Loss], message: &Message) -> Self {
        let here = losses
            .iter()
            .filter(|loss| loss.position == Some(message.position));
        Self(here.collect())
    }

    fn amount(&self, code: LossCode) -> u64 {
        let here = self.0.iter().filter(|loss| loss.code == code);
        here.map(|loss| loss.amount).sum()
    }

    fn has(&self, codes: &[LossCode]) -> bool {
        codes.iter().any(|code| self.amount(*code) > 0)
    }

    /// A text of the message.
    fn text(&self, text: &str) -> Said {
        let clean = without_metadata(text);
        let text = if self.has(&[LossCode::LeakedMetadataRemoved]) {
            &clean
        } else {
            text
        };
        if self.has(&[LossCode::Truncated]) {
            Said::Something
        } else if self.has(&[LossCode::NewlineReplaced]) {
            Said::But(text.to_owned(), words)
        } else if self.has(&[LossCode::ControlCharacterRemoved]) {
            Said::But(text.to_owned(), without_signs)
        } else if self.has(&[LossCode::ReservedTextEscaped]) {
            Said::But(text.to_owned(), without_escapes)
        } else {
            Said::Exactly(text.to_owned())
        }
    }
}

fn placeholder(dialect: &str, media: &Media) -> String {
    let word = match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Video => "Video",
        MediaKind::File => "File",
        MediaKind::Link => "Link",
    };
    let is_bare = dialect.starts_with("gryag") && !matches!(media.kind, MediaKind::File | MediaKind::Link);
    let name = media.name.as_deref().filter(|name| !name.is_empty());
    let label = name.or(match &media.source {
        MediaSource::Url(url) => Some(url),
        MediaSource::Inline(_) | MediaSource::Upload => None,
    });
    match label.filter(|_| !is_bare) {
        Some(label) => format!("[{word}: {label}]"),
        None => format!("[{word}]"),
    }
}

/// What one message has to say, in the order of its parts.
fn expected(
    view: &View<'_>,
    transcript: &Transcript,
    message: &Message,
    declared: &Declared<'_>,
) -> Vec<Said> {
    let mut all = Vec::new();
    let mut last = Vec::new();
    let (mut counted, mut thoughts) = (0, 0);
    // The last release of Tzurot leaves media in their places where nothing is quoted.
    let stays = transcript.dialect.ends_with("v2-final") && message.references.is_empty();
    for part in &message.parts {
        match part {
            Part::Text(text) => all.push(declared.text(text)),
            Part::Media(_) if view.policy.media == MediaPolicy::Drop => {
                assert!(declared.has(&[LossCode::MediaDropped]), "{}", transcript.dialect);
            }
            Part::Media(media) if declared.has(&[LossCode::MediaPlaceholder]) => {
                let word = placeholder(transcript.dialect, media);
                if transcript.dialect.ends_with("2025-10-17") {
                    counted += 1;
                } else if transcript.dialect.starts_with("tzurot") {
                    // Of several media some may be carried.
                    all.push(Said::Perhaps(word));
                } else {
                    all.push(Said::But(word, words));
                }
                if let MediaSource::Url(url) = &media.source {
                    let place = if stays { &mut all } else { &mut last };
                    place.push(Said::Perhaps(url.clone()));
                }
            }
            Part::Media(media) => {
                let MediaSource::Url(url) = &media.source else {
                    panic!("{}: {media:?} is neither named nor carried", transcript.dialect)
                };
                let place = if stays { &mut all } else { &mut last };
                place.push(Said::Exactly(url.clone()));
            }
            Part::Reasoning(thought) if !declared.has(&[LossCode::ReasoningDropped]) => {
                all.insert(thoughts, declared.text(thought));
                thoughts += 1;
            }
            Part::Notice(text) => all.push(Said::Perhaps(text.clone())),
            Part::ToolCall(_) => {
                let codes = [LossCode::ToolCallDropped, LossCode::RoleMapped];
                assert!(declared.has(&codes), "{}: a call", transcript.dialect);
            }
            Part::ToolResult(_) => {
                let codes = [LossCode::ToolResultDropped, LossCode::RoleMapped];
                assert!(declared.has(&codes), "{}: a result", transcript.dialect);
            }
            Part::CacheMark => assert!(
                declared.has(&[LossCode::CacheMarkDropped]),
                "{}",
                transcript.dialect
            ),
            Part::Reasoning(_) => {}
        }
    }
    // The code of that day counts media, in front of the texts; some it overlooks.
    let overlooked = usize::try_from(declared.amount(LossCode::MediaDropped)).unwrap();
    match usize::saturating_sub(counted, overlooked) {
        0 => {}
        1 => all.insert(0, Said::Exactly("[Media]".to_owned())),
        several => all.insert(0, Said::Exactly(format!("[{several} media items]"))),
    }
    // Elsewhere only what is quoted is filled.
    if declared.has(&[LossCode::EmptyFilled]) && transcript.dialect.starts_with("gryag-compact") {
        all.push(Said::Exactly("(no content)".to_owned()));
    }
    all.extend(last);
    all
}

/// Whether a message is left out whole, for a declared reason.
fn is_left_out(transcript: &Transcript, message: &Message, declared: &Declared<'_>) -> bool {
    let is_speech = matches!(transcript.dialect, "gryag-compact" | "jaibber-context");
    let is_notice = message.kind == MessageKind::Notice;
    declared.has(&[LossCode::SystemDropped])
        || is_notice && declared.has(&[LossCode::NoticeDropped])
        || is_speech && message.role == Role::Tool && declared.has(&[LossCode::ToolResultDropped])
}

/// What breaks the law in one rendering; `messages` are those that it has to say.
fn breach(
    view: &View<'_>,
    transcript: &Transcript,
    rendering: &Rendering<'_>,
    messages: &[Message],
) -> Option<String> {
    let segments = rendering.rope.segments();
    let mut content: VecDeque<&str> = VecDeque::new();
    for segment in segments {
        match segment.component {
            Component::Content => content.push_back(&segment.text),
            Component::Framing => {
                let text = &*segment.text;
                let is_known = transcript.framing.contains(&text)
                    || transcript.dialect == "jaibber-context" && text.starts_with(JAIBBER);
                if !is_known {
                    return Some(format!("framing that is none: {text:?}"));
                }
            }
            Component::Names | Component::Replies | Component::Tools | Component::Meta => {}
        }
    }
    // What the roster tells the perspective to do stands in front of what anybody says.
    let is_added = |loss: &Loss| loss.code == LossCode::SystemAdded;
    if rendering.losses.iter().any(is_added) && content.pop_front().is_none() {
        return Some("system text that is added is not there".to_owned());
    }
    let outside: u64 = rendering
        .losses
        .iter()
        .filter(|loss| loss.code == LossCode::Truncated && loss.position.is_none())
        .map(|loss| loss.amount)
        .sum();
    let first = rendering.first_position.filter(|_| outside > 0).unwrap_or(0);
    for message in messages.iter().filter(|message| message.position >= first) {
        let declared = Declared::of(&rendering.losses, message);
        if is_left_out(transcript, message, &declared) {
            continue;
        }
        for said in expected(view, transcript, message, &declared) {
            match content.front() {
                Some(text) if said.is(text) => {
                    content.pop_front();
                }
                _ if said.may_be_nothing() => {}
                other => {
                    return Some(format!("message {}: {said:?} but {other:?}", message.position));
                }
            }
        }
        if let Some(breach) = replies(transcript, message, &declared) {
            return Some(breach);
        }
    }
    // A medium of a quoted message goes with the quote.
    let quotes = rendering
        .losses
        .iter()
        .any(|loss| loss.code == LossCode::ReferenceInlined);
    content.retain(|text| !(quotes && text.starts_with("http")));
    content.front().map(|text| format!("nobody says {text:?}"))
}

/// Every reply is shown or declared.
fn replies(transcript: &Transcript, message: &Message, declared: &Declared<'_>) -> Option<String> {
    let codes = [
        LossCode::ReferenceDropped,
        LossCode::ReferenceUnresolved,
        LossCode::ReferenceInlined,
    ];
    let told: u64 = codes.iter().map(|code| declared.amount(*code)).sum();
    let references = message.references.len() as u64;
    let is_right = if transcript.dialect.starts_with("gryag-compact") {
        // One arrow a line is shown.
        told == references || told + 1 == references
    } else {
        told == references || declared.has(&[LossCode::EmptyDropped])
    };
    (!is_right).then(|| {
        format!(
            "message {}: {told} of {references} replies are told",
            message.position
        )
    })
}

/// Tries all transcripts of a conversation; gives the number of renderings.
fn try_all(name: &str, linked: &Linked, policy: &Policy) -> u64 {
    let mut tried = 0;
    let everybody = (0..linked.conversation.participants.len()).map(Some);
    for perspective in std::iter::once(None).chain(everybody) {
        for transcript in TRANSCRIPTS {
            let (dialect, profile) = chatmill_dialect::find(transcript.dialect).unwrap();
            let view = View {
                linked,
                perspective,
                policy,
                profile,
                history: History::Document,
                window: None,
            };
            dialect.render(&view, &mut |rendering| {
                tried += 1;
                let all = &linked.conversation.messages;
                let one = rendering.first_position.map_or(0, |position| position as usize);
                let messages = if transcript.dialect.starts_with("tzurot") {
                    &all[one..=one]
                } else {
                    all
                };
                if let Some(breach) = breach(&view, transcript, &rendering, messages) {
                    let losses: Vec<_> = rendering
                        .losses
                        .iter()
                        .map(|loss| format!("{:?} {} {}", loss.position, loss.code.as_str(), loss.reason))
                        .collect();
                    panic!(
                        "{name} {} through {perspective:?} by {policy:?}: {breach}\n{}\n{}",
                        transcript.dialect,
                        losses.join("\n"),
                        rendering.rope.text()
                    );
                }
            });
        }
    }
    tried
}

#[test]
fn cases_samples_and_lists_occur_in_order_and_every_change_is_declared() {
    let mut random = Random::new(11);
    let mut cases = cases();
    for number in 0..200 {
        let list = history(&mut random).to_string();
        cases.push((format!("list-{number}"), read("openai-messages", &list)));
    }
    let mut tried = 0;
    for (name, linked) in &cases {
        tried += try_all(name, linked, &Policy::default());
        for _ in 0..3 {
            tried += try_all(name, linked, &policy(&mut random));
        }
    }
    assert!(tried > 20_000, "{tried}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn generated_chats_occur_in_order_and_every_change_is_declared(chat in group_chat(), seed in any::<u64>()) {
        let linked = read("group-chat", &chat.to_string());
        try_all("chat", &linked, &Policy::default());
        try_all("chat", &linked, &policy(&mut Random::new(seed)));
    }
}

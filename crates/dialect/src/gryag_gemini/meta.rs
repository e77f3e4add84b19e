//! The `[meta]` line that gryag puts in front of every message (document of 2025-10-17).
//!
//! Keys stand in a fixed order and absent ones are left out; strings are quoted, ids are not. Where the document is
//! silent the code of its day holds: a line feed becomes a space, a quote is escaped, square brackets and white space at
//! the ends go, and what is empty then is left out. Nothing is cut but the excerpt, which holds 200 code points, as the
//! bot stores it.

use std::borrow::Cow;

use chatmill_model::{Component, Level, LinkStatus, Message, RawJson, Rope};

use crate::json;
use crate::loss::{LossCode, Losses};
use crate::names::own_name;
use crate::said::said;
use crate::text::excerpt;
use crate::view::View;

/// Code points of a stored excerpt.
const EXCERPT: usize = 200;

/// The values of a line; what is none is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) chat_id: Option<Cow<'a, str>>,
    pub(crate) thread_id: Option<Cow<'a, str>>,
    pub(crate) message_id: Option<Cow<'a, str>>,
    pub(crate) user_id: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) username: Option<Cow<'a, str>>,
    pub(crate) reply_to_message_id: Option<Cow<'a, str>>,
    pub(crate) reply_to_user_id: Option<Cow<'a, str>>,
    pub(crate) reply_to_name: Option<Cow<'a, str>>,
    pub(crate) reply_excerpt: Option<Cow<'a, str>>,
}

impl<'a> Meta<'a> {
    /// The line of a message.
    pub(crate) fn of(view: &View<'a>, message: &'a Message, losses: &mut Losses) -> Self {
        let (chat_id, thread_id) = chat_and_thread(view);
        let own_thread = message.extra.get("thread_id").and_then(plain_value);
        let sender = view.sender(message);
        let name = match sender {
            Some(sender) => sender.name.as_deref(),
            None => message.sender_name.as_deref(),
        };
        let mut meta = Self {
            chat_id: chat_id.map(Cow::Borrowed),
            thread_id: own_thread.or(thread_id.map(Cow::Borrowed)),
            message_id: message.id.as_deref().map(Cow::Borrowed),
            user_id: sender
                .filter(|_| !view.is_own(message))
                .map(|sender| Cow::Borrowed(sender.id.as_str())),
            name: name.map(Cow::Borrowed),
            username: sender
                .and_then(|sender| sender.alias.as_deref())
                .map(|alias| Cow::Borrowed(alias.trim_start_matches('@'))),
            ..Self::default()
        };
        meta.add_reply(view, message, losses);
        meta
    }

    fn add_reply(&mut self, view: &View<'a>, message: &'a Message, losses: &mut Losses) {
        let mut has_reply = false;
        for (reference, link) in view.references(message) {
            if link.status == LinkStatus::Pseudo {
                losses.at(
                    LossCode::ReferenceUnresolved,
                    message.position,
                    "nobody replied: the source made the reference up",
                );
                continue;
            }
            if has_reply {
                losses.at(
                    LossCode::ReferenceDropped,
                    message.position,
                    "a line holds one reply",
                );
                continue;
            }
            has_reply = true;
            self.reply_to_message_id = reference.target.as_deref().map(Cow::Borrowed);
            match (link.status, &reference.preview) {
                (LinkStatus::Resolved, _) => {
                    if let Some(target) = link.target.and_then(|target| view.message(target)) {
                        self.add_target(view, target);
                    }
                }
                (LinkStatus::Preview, Some(preview)) => {
                    self.reply_to_user_id = preview.sender.as_deref().map(Cow::Borrowed);
                    self.reply_to_name = preview.sender_name.as_deref().map(Cow::Borrowed);
                    let (text, cut) = excerpt(preview.content.as_deref().unwrap_or_default(), EXCERPT);
                    if cut {
                        losses.at(
                            LossCode::Truncated,
                            message.position,
                            "an excerpt holds 200 code points",
                        );
                    }
                    self.reply_excerpt = Some(Cow::Owned(text));
                }
                _ => {}
            }
        }
    }

    fn add_target(&mut self, view: &View<'a>, target: &'a Message) {
        let author = view.sender(target);
        self.reply_to_user_id = author
            .filter(|_| !view.is_own(target))
            .map(|author| Cow::Borrowed(author.id.as_str()));
        self.reply_to_name = author
            .and_then(own_name)
            .or(target.sender_name.as_deref())
            .map(Cow::Borrowed);
        let mut text = String::new();
        for part in target.texts() {
            text.push_str(&said(view, target, part));
            text.push('\n');
        }
        self.reply_excerpt = Some(Cow::Owned(excerpt(&text, EXCERPT).0));
    }

    /// Writes `before` and the line as the inside of a JSON string; neither when no value is left. Says whether it
    /// wrote.
    pub(crate) fn write(
        self,
        before: &'static str,
        rope: &mut Rope<'a>,
        position: u32,
        losses: &mut Losses,
    ) -> bool {
        let mut line = Line {
            before,
            rope,
            position,
            losses,
            is_open: false,
        };
        line.id(" chat_id=", self.chat_id, Component::Meta);
        line.id(" thread_id=", self.thread_id, Component::Meta);
        line.id(" message_id=", self.message_id, Component::Meta);
        line.id(" user_id=", self.user_id, Component::Meta);
        line.string(" name=\"", self.name, Component::Names);
        line.string(" username=\"", self.username, Component::Names);
        line.id(
            " reply_to_message_id=",
            self.reply_to_message_id,
            Component::Replies,
        );
        line.id(" reply_to_user_id=", self.reply_to_user_id, Component::Replies);
        line.string(" reply_to_name=\"", self.reply_to_name, Component::Replies);
        line.string(" reply_excerpt=\"", self.reply_excerpt, Component::Replies);
        line.is_open
    }
}

/// The chat, and in gryag's own archives the thread, that a conversation was held in.
fn chat_and_thread<'a>(view: &View<'a>) -> (Option<&'a str>, Option<&'a str>) {
    let conversation = view.conversation();
    let id = conversation.source_id.as_deref();
    if conversation.source.starts_with("gryag")
        && let Some((chat, thread)) = id.and_then(|id| id.split_once('/'))
    {
        return (Some(chat), Some(thread));
    }
    (id, None)
}

/// The text of a JSON number or string.
fn plain_value(raw: &RawJson) -> Option<Cow<'_, str>> {
    let raw = raw.as_str();
    if raw.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        return Some(Cow::Borrowed(raw));
    }
    json::decode_string(raw).map(Cow::Owned)
}

struct Line<'r, 'a, 'l> {
    before: &'static str,
    rope: &'r mut Rope<'a>,
    position: u32,
    losses: &'l mut Losses,
    is_open: bool,
}

impl<'a> Line<'_, 'a, '_> {
    fn open(&mut self) {
        if !self.is_open {
            self.is_open = true;
            self.rope.framing(self.before);
            self.rope.content("[meta]", Level::JsonString, Component::Framing);
        }
    }

    fn id(&mut self, key: &'static str, value: Option<Cow<'a, str>>, component: Component) {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return;
        };
        self.open();
        self.rope.content(key, Level::JsonString, component);
        if value.contains(|sign: char| sign.is_whitespace() || matches!(sign, '"' | '[' | ']')) {
            self.rope.content("\"", Level::JsonString, component);
            let clean = self.clean(value, component);
            self.rope.content(clean, Level::JsonString, component);
            self.rope.content("\"", Level::JsonString, component);
        } else {
            self.rope.content(value, Level::JsonString, component);
        }
    }

    fn string(&mut self, key: &'static str, value: Option<Cow<'a, str>>, component: Component) {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            return;
        };
        let clean = self.clean(value, component);
        if clean.is_empty() {
            return;
        }
        self.open();
        self.rope.content(key, Level::JsonString, component);
        self.rope.content(clean, Level::JsonString, component);
        self.rope.content("\"", Level::JsonString, component);
    }

    /// What is quoted of a reply stands unchanged elsewhere, so that only the speaker's own facts are losses.
    fn clean(&mut self, value: Cow<'a, str>, component: Component) -> Cow<'a, str> {
        if !value.contains(['\n', '"', '[', ']']) && value.trim().len() == value.len() {
            return value;
        }
        let mut clean = String::with_capacity(value.len());
        for sign in value.chars() {
            match sign {
                '\n' => clean.push(' '),
                '"' => clean.push_str("\\\""),
                '[' | ']' => {}
                other => clean.push(other),
            }
        }
        if component != Component::Replies {
            self.losses.at(
                LossCode::NameCleaned,
                self.position,
                "the line allows no square brackets, line breaks or bare quotes",
            );
        }
        Cow::Owned(clean.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(meta: Meta<'_>) -> String {
        let mut rope = Rope::new();
        meta.write("", &mut rope, 0, &mut Losses::default());
        rope.segments()
            .iter()
            .map(|segment| segment.text.as_ref())
            .collect()
    }

    fn name(name: &str) -> Meta<'_> {
        Meta {
            name: Some(Cow::Borrowed(name)),
            ..Meta::default()
        }
    }

    #[test]
    fn keys_stand_in_the_order_of_the_document() {
        let meta = Meta {
            chat_id: Some("-1".into()),
            thread_id: Some("12".into()),
            message_id: Some("5".into()),
            user_id: Some("9".into()),
            name: Some("N".into()),
            username: Some("n".into()),
            reply_to_message_id: Some("4".into()),
            reply_to_user_id: Some("8".into()),
            reply_to_name: Some("M".into()),
            reply_excerpt: Some("e".into()),
        };
        assert_eq!(
            line(meta),
            "[meta] chat_id=-1 thread_id=12 message_id=5 user_id=9 name=\"N\" username=\"n\" \
             reply_to_message_id=4 reply_to_user_id=8 reply_to_name=\"M\" reply_excerpt=\"e\""
        );
    }

    #[test]
    fn strings_are_cleaned_as_the_code_of_the_day_cleans_them() {
        assert_eq!(
            line(name("A\nB \"C\" [D] \\ E\tF\rG")),
            "[meta] name=\"A B \\\"C\\\" D \\ E\tF\rG\""
        );
    }

    #[test]
    fn what_cleaning_empties_is_left_out_and_an_empty_line_is_none() {
        for gone in ["[]", "   ", ""] {
            assert_eq!(line(name(gone)), "");
            let meta = Meta {
                chat_id: Some("1".into()),
                ..name(gone)
            };
            assert_eq!(line(meta), "[meta] chat_id=1");
        }
    }

    #[test]
    fn long_names_are_not_cut_by_the_document() {
        let long = "n".repeat(101);
        assert_eq!(line(name(&long)), format!("[meta] name=\"{long}\""));
    }

    #[test]
    fn an_id_that_could_not_be_told_from_the_next_key_is_quoted() {
        let meta = Meta {
            user_id: Some("a \"b\"".into()),
            ..Meta::default()
        };
        assert_eq!(line(meta), "[meta] user_id=\"a \\\"b\\\"\"");
    }
}

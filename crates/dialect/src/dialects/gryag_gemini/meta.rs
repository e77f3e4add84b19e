//! The `[meta]` line that gryag puts before every message.
//!
//! Keys stand in the order of an [`Edition`] and absent ones are left out; strings are quoted, ids are not. Where the
//! document is silent the code of its day holds: a line feed becomes a space, a quote is escaped, square brackets and white
//! space at the ends go, and what is empty then is left out. The excerpt holds 200 code points, as the bot stores it; what
//! else is cut is the edition's matter.

use std::borrow::Cow;

use chatmill_model::{Component, Fact, Level, LinkStatus, Message, Part, Participant, Preview, Sink};

use super::edition::{Edition, Key};
use crate::dialects::gryag::{chat_and_thread, is_gryags, plain_value};
use crate::loss::{LossCode, Losses, reasons};
use crate::message_text::message_text;
use crate::names::is_nobody;
use crate::text::excerpt;
use crate::view::View;

/// Code points of a stored excerpt.
const EXCERPT_CHARACTERS: usize = 200;

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
    pub(crate) reply_to_username: Option<Cow<'a, str>>,
    pub(crate) reply_to_name: Option<Cow<'a, str>>,
    pub(crate) reply_excerpt: Option<Cow<'a, str>>,
    /// Those among them that are further fields of the message.
    from_extra: Vec<Key>,
}

impl<'a> Meta<'a> {
    /// The line of a message: what its source says with it, or once for all of its kind.
    pub(crate) fn of(view: &View<'a>, message: &'a Message, losses: &mut Losses) -> Self {
        let (chat_id, thread_id) = chat_and_thread(view.conversation());
        let states = |fact| !message.unstated.holds(fact);
        let sender = view.sender(message);
        let own_name = message.sender_name.as_deref();
        let name = match sender {
            Some(_) if own_name.is_some() && is_gryags(view.conversation()) => own_name,
            Some(sender) => sender.name.as_deref().filter(|_| states(Fact::SenderName)),
            None => own_name,
        };
        let mut meta = Self {
            chat_id: chat_id.filter(|_| states(Fact::Chat)).map(Cow::Borrowed),
            thread_id: thread_id.filter(|_| states(Fact::Thread)).map(Cow::Borrowed),
            message_id: message.id.as_deref().map(Cow::Borrowed),
            user_id: sender
                .filter(|sender| !view.is_own(message) && !has_no_id(sender) && states(Fact::SenderId))
                .map(|sender| Cow::Borrowed(sender.id.as_str())),
            name: name.map(Cow::Borrowed),
            username: sender.filter(|_| states(Fact::SenderAlias)).and_then(username),
            ..Self::default()
        };
        for key in [Key::Chat, Key::Thread, Key::Username] {
            meta.take_extra(message, key);
        }
        meta.add_reply(view, message, losses);
        meta
    }

    /// Takes a value from the further fields of a message, where it has it there.
    fn take_extra(&mut self, message: &'a Message, key: Key) {
        if let Some(value) = message.extra.get(key.name()).and_then(plain_value) {
            *self.slot(key) = Some(value);
            self.from_extra.push(key);
        }
    }

    fn add_reply(&mut self, view: &View<'a>, message: &'a Message, losses: &mut Losses) {
        let mut has_reply = false;
        let mut is_made_up = false;
        for (reference, link) in view.references(message) {
            if link.status == LinkStatus::Pseudo {
                losses.at(
                    LossCode::ReferenceUnresolved,
                    message.position,
                    reasons::NOBODY_REPLIED,
                );
                is_made_up = true;
                continue;
            }
            if has_reply {
                losses.at(
                    LossCode::ReferenceDropped,
                    message.position,
                    reasons::ONE_REPLY_IN_A_LINE,
                );
                continue;
            }
            let has_words = reference.preview.as_ref().is_some_and(|preview| {
                let content = preview.content.as_deref().unwrap_or_default();
                content
                    .contains(|character: char| !character.is_whitespace() && !matches!(character, '[' | ']'))
            });
            if reference.target.is_none() && link.target.is_none() && !has_words {
                self.add_person(view, reference.preview.as_ref());
                losses.at(
                    LossCode::ReferenceUnresolved,
                    message.position,
                    reasons::REFERENCE_SAYS_NOTHING,
                );
                continue;
            }
            has_reply = true;
            self.reply_to_message_id = reference.target.as_deref().map(Cow::Borrowed);
            self.add_person(view, reference.preview.as_ref());
            match (link.status, &reference.preview) {
                (LinkStatus::Resolved, _) => {
                    if let Some(target) = link.target.and_then(|target| view.message(target)) {
                        self.add_target(view, target);
                    }
                }
                (LinkStatus::Preview, Some(preview)) => {
                    let (text, cut) =
                        excerpt(preview.content.as_deref().unwrap_or_default(), EXCERPT_CHARACTERS);
                    if cut {
                        losses.at(LossCode::Truncated, message.position, reasons::EXCERPT_OF_200);
                    }
                    self.reply_excerpt = Some(Cow::Owned(text));
                }
                _ => {}
            }
        }
        if has_reply {
            self.take_extra(message, Key::ReplyUser);
        } else if !is_made_up {
            for key in [Key::ReplyUser, Key::ReplyUsername, Key::ReplyName] {
                self.take_extra(message, key);
            }
        }
        if self.reply_to_username.is_none() && has_reply {
            self.take_extra(message, Key::ReplyUsername);
        }
    }

    /// Who was answered, as the reference itself says.
    fn add_person(&mut self, view: &View<'a>, preview: Option<&'a Preview>) {
        let Some(preview) = preview else { return };
        let people = &view.conversation().participants;
        let id = preview.sender.as_deref();
        let author = people.iter().find(|person| Some(person.id.as_str()) == id);
        let own = view.perspective.and_then(|index| people.get(index));
        let is_id = match author {
            Some(author) => !has_no_id(author) && own.is_none_or(|own| own.id != author.id),
            None => preview.sender != preview.sender_name,
        };
        self.reply_to_user_id = id.filter(|_| is_id).map(Cow::Borrowed);
        let name = preview
            .sender_name
            .as_deref()
            .or(author.and_then(Participant::own_name));
        self.reply_to_name = name.map(Cow::Borrowed);
    }

    fn add_target(&mut self, view: &View<'a>, target: &'a Message) {
        let author = view.sender(target);
        let of_author = author
            .filter(|author| !view.is_own(target) && !has_no_id(author))
            .map(|author| Cow::Borrowed(author.id.as_str()));
        self.reply_to_user_id = of_author.or(self.reply_to_user_id.take());
        self.reply_to_username = author.and_then(username);
        self.reply_to_name = author
            .and_then(Participant::own_name)
            .or(target.sender_name.as_deref())
            .map(Cow::Borrowed);
        let mut text = String::new();
        for part in &target.parts {
            match part {
                Part::Text(words) => text.push_str(&message_text(view, target, words)),
                Part::Notice(words) => text.push_str(words),
                _ => continue,
            }
            text.push('\n');
        }
        self.reply_excerpt = Some(Cow::Owned(excerpt(&text, EXCERPT_CHARACTERS).0));
    }

    /// Writes `before` and the line as the inside of a JSON string; neither when no value is left. Says whether it wrote, and how
    /// many of the message's further fields.
    pub(crate) fn write(
        mut self,
        edition: &'static Edition,
        before: &'static str,
        sink: &mut Sink<'a>,
        position: u32,
        losses: &mut Losses,
    ) -> (bool, u64) {
        let mut line = Line {
            edition,
            before,
            sink,
            position,
            losses,
            is_open: false,
        };
        let mut fields = 0;
        for key in edition.order {
            let is_field = self.from_extra.contains(key);
            fields += u64::from(is_field);
            let value = self.slot(*key).take();
            line.value(*key, value.filter(|value| !value.is_empty()));
        }
        (line.is_open, fields)
    }

    fn slot(&mut self, key: Key) -> &mut Option<Cow<'a, str>> {
        match key {
            Key::Chat => &mut self.chat_id,
            Key::Thread => &mut self.thread_id,
            Key::Message => &mut self.message_id,
            Key::User => &mut self.user_id,
            Key::Name => &mut self.name,
            Key::Username => &mut self.username,
            Key::ReplyMessage => &mut self.reply_to_message_id,
            Key::ReplyUser => &mut self.reply_to_user_id,
            Key::ReplyUsername => &mut self.reply_to_username,
            Key::ReplyName => &mut self.reply_to_name,
            Key::Excerpt => &mut self.reply_excerpt,
        }
    }
}

/// Whether nobody ever gave a participant the id: then it is not a number of an account.
fn has_no_id(participant: &Participant) -> bool {
    participant.is_id_made || is_nobody(participant)
}

/// The second name of an account, without the sign that the platform writes before it.
fn username(participant: &Participant) -> Option<Cow<'_, str>> {
    let alias = participant.alias.as_deref()?;
    Some(Cow::Borrowed(alias.trim_start_matches('@')))
}

struct Line<'r, 'a, 'l> {
    edition: &'static Edition,
    before: &'static str,
    sink: &'r mut Sink<'a>,
    position: u32,
    losses: &'l mut Losses,
    is_open: bool,
}

impl<'a> Line<'_, 'a, '_> {
    fn value(&mut self, key: Key, value: Option<Cow<'a, str>>) {
        let Some(value) = value else {
            return;
        };
        let is_word = !key.is_id() || self.edition.is_quoted(&value);
        if !is_word {
            if value != "0" || !self.edition.drops_zeros || !key.may_be_zero() {
                self.open();
                self.sink
                    .content(key.spelling(), Level::JsonString, key.component());
                self.sink.content(value, Level::JsonString, key.component());
            }
            return;
        }
        let value = match key {
            Key::Username | Key::ReplyUsername if self.edition.at_signs => Cow::Owned(format!("@{value}")),
            _ => value,
        };
        let clean = self.clean(value, key.component());
        let clean = self.cut(clean, key);
        if clean.is_empty() && !key.is_id() {
            return;
        }
        self.open();
        self.sink
            .content(key.spelling(), Level::JsonString, key.component());
        self.sink.content("\"", Level::JsonString, key.component());
        self.sink.content(clean, Level::JsonString, key.component());
        self.sink.content("\"", Level::JsonString, key.component());
    }

    fn open(&mut self) {
        if !self.is_open {
            self.is_open = true;
            self.sink.framing(self.before);
            self.sink.content("[meta]", Level::JsonString, Component::Framing);
        }
    }

    /// Cuts a value that is longer than the edition allows; escapes count, and may be cut in two.
    fn cut(&mut self, value: Cow<'a, str>, key: Key) -> Cow<'a, str> {
        let Some(most) = self.edition.longest(key) else {
            return value;
        };
        if value.chars().count() <= most {
            return value;
        }
        self.losses
            .at(LossCode::Truncated, self.position, reasons::LONG_VALUES_ARE_CUT);
        let kept = value.chars().take(most.saturating_sub(2));
        Cow::Owned(kept.chain("..".chars()).collect())
    }

    /// What is quoted of a reply stands unchanged elsewhere, so that only the speaker's own facts are losses.
    fn clean(&mut self, value: Cow<'a, str>, component: Component) -> Cow<'a, str> {
        if !value.contains(['\n', '"', '[', ']']) && value.trim().len() == value.len() {
            return value;
        }
        let mut clean = String::with_capacity(value.len());
        for character in value.chars() {
            match character {
                '\n' => clean.push(' '),
                '"' => clean.push_str("\\\""),
                '[' | ']' => {}
                other => clean.push(other),
            }
        }
        if component != Component::Replies {
            self.losses
                .at(LossCode::NameCleaned, self.position, reasons::SIGNS_OF_THE_LINE);
        }
        Cow::Owned(clean.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::edition::{CODE, DOCUMENT};
    use super::*;

    fn line(meta: Meta<'_>) -> String {
        line_of(&DOCUMENT, meta)
    }

    /// The line as it reads without the escapes of the JSON string that it stands in.
    fn line_of(edition: &'static Edition, meta: Meta<'_>) -> String {
        let mut sink = Sink::default();
        meta.write(edition, "", &mut sink, 0, &mut Losses::default());
        serde_json::from_str(&format!("\"{}\"", sink.text())).unwrap()
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
            reply_to_username: Some("m".into()),
            reply_to_name: Some("M".into()),
            reply_excerpt: Some("e".into()),
            from_extra: Vec::new(),
        };
        assert_eq!(
            line_of(&CODE, meta.clone()),
            "[meta] chat_id=-1 thread_id=12 message_id=5 user_id=9 username=\"@n\" name=\"N\" \
             reply_to_message_id=4 reply_to_user_id=8 reply_to_username=\"@m\" reply_to_name=\"M\" reply_excerpt=\"e\""
        );
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

    const VECTORS: &str = include_str!("../../../../../data-samples/dialects/gryag-gemini/vectors.json");

    /// Eleven of the vectors of that day's code. The others tell ids that are strings from ids that are numbers, or have
    /// a truth value for an id: here ids are text.
    #[test]
    fn the_code_of_the_documents_day_is_reproduced() {
        let vectors: serde_json::Value = serde_json::from_str(VECTORS).unwrap();
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 11);
        for case in cases {
            let value = |key: &str| {
                let value = &case["input"][key];
                let text = value.as_str().map(str::to_owned);
                text.or(value.as_i64().map(|number| number.to_string()))
                    .map(Cow::<str>::Owned)
            };
            let second =
                |key: &str| value(key).map(|name| Cow::Owned(name.trim_start_matches('@').to_owned()));
            let meta = Meta {
                chat_id: value("chat_id"),
                thread_id: value("thread_id"),
                message_id: value("message_id"),
                user_id: value("user_id"),
                name: value("name"),
                username: second("username"),
                reply_to_message_id: value("reply_to_message_id"),
                reply_to_user_id: value("reply_to_user_id"),
                reply_to_username: second("reply_to_username"),
                reply_to_name: value("reply_to_name"),
                reply_excerpt: value("reply_excerpt"),
                from_extra: Vec::new(),
            };
            assert_eq!(
                line_of(&CODE, meta),
                case["expected"].as_str().unwrap(),
                "{}",
                case["name"]
            );
        }
    }
}

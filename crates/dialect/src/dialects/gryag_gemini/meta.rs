//! The `[meta]` line that gryag writes before every message.
//!
//! Keys are in the order of an [`Edition`], and absent keys are left out; strings are quoted, ids are not. Where the document does not
//! specify it, the code of the same day decides: a line feed becomes a space, a quotation mark is escaped, square brackets and white space
//! at the ends are removed, and a value that is then empty is left out. The excerpt has at most 200 code points, as the bot stores it; the
//! edition decides about other limits.

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_diag::cut;
use chatmill_model::{Component, Fact, LinkStatus, Message, Part, Participant, Preview};

use super::edition::{Edition, Key};
use crate::dialects::gryag::{chat_and_thread, is_gryags, plain_value};
use crate::loss::{Losses, reasons};
use crate::messages::text::message_text;
use crate::naming::participants::is_nobody;
use crate::text::arena::TextArena;
use crate::text::edit::excerpt;
use crate::text::run::TextRun;
use crate::transcript::Transcript;

/// Maximum number of code points in a stored excerpt.
const EXCERPT_CHARACTERS: usize = 200;

/// Excerpts of answered messages, by position. They are kept because a message may have thousands of answers.
pub(super) type Excerpts<'a> = HashMap<u32, &'a str>;

/// The values of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Meta<'a> {
    /// Values by key.
    values: [Option<&'a str>; Key::Excerpt as usize + 1],
    /// The keys with values from further fields of the message.
    from_extra: Vec<Key>,
}

impl<'a> Meta<'a> {
    /// Collects the values for a message, from facts that its source states with the message, or once for all messages.
    pub(super) fn of(
        transcript: &Transcript<'a>,
        message: &'a Message,
        excerpts: &mut Excerpts<'a>,
        losses: &mut Losses,
    ) -> Self {
        let view = transcript.view();
        let (chat_id, thread_id) = chat_and_thread(view.conversation());
        let states = |fact| !message.unstated.holds(fact);
        let sender = view.sender(message);
        let own_name = message.sender_name.as_deref();
        let name = match sender {
            Some(_) if own_name.is_some() && is_gryags(view.conversation()) => own_name,
            Some(sender) => sender.name.as_deref().filter(|_| states(Fact::SenderName)),
            None => own_name,
        };
        let user =
            sender.filter(|sender| !view.is_own(message) && !has_no_id(sender) && states(Fact::SenderId));
        let mut meta = Self::default();
        for (key, value) in [
            (Key::Chat, chat_id.filter(|_| states(Fact::Chat))),
            (Key::Thread, thread_id.filter(|_| states(Fact::Thread))),
            (Key::Message, message.id.as_deref()),
            (Key::User, user.map(|sender| sender.id.as_str())),
            (Key::Name, name),
            (
                Key::Username,
                sender.filter(|_| states(Fact::SenderAlias)).and_then(username),
            ),
        ] {
            meta.set(key, value);
        }
        for key in [Key::Chat, Key::Thread, Key::Username] {
            meta.take_extra(transcript, message, key);
        }
        meta.add_reply(transcript, message, excerpts, losses);
        meta
    }

    fn set(&mut self, key: Key, value: Option<&'a str>) {
        *cut::at_mut(&mut self.values, key as usize) = value;
    }

    fn get(&self, key: Key) -> Option<&'a str> {
        *cut::at(&self.values, key as usize)
    }

    /// Takes a value from the further fields of a message, if it is there.
    fn take_extra(&mut self, transcript: &Transcript<'a>, message: &'a Message, key: Key) {
        if let Some(value) = message.extra.get(key.name()).and_then(plain_value) {
            self.set(key, Some(transcript.arena().keep(value)));
            self.from_extra.push(key);
        }
    }

    fn add_reply(
        &mut self,
        transcript: &Transcript<'a>,
        message: &'a Message,
        excerpts: &mut Excerpts<'a>,
        losses: &mut Losses,
    ) {
        let (view, position) = (transcript.view(), message.position);
        let mut has_reply = false;
        let mut is_generated = false;
        for (reference, link) in view.references(message) {
            if link.status == LinkStatus::Pseudo {
                losses.at(reasons::NOBODY_REPLIED, position);
                is_generated = true;
                continue;
            }
            if has_reply {
                losses.at(reasons::ONE_REPLY_IN_A_LINE, position);
                continue;
            }
            let preview = reference.preview.as_ref();
            self.add_person(transcript, preview);
            let content = preview
                .and_then(|preview| preview.content.as_deref())
                .unwrap_or_default();
            let is_word = |character: char| !character.is_whitespace() && !matches!(character, '[' | ']');
            if reference.target.is_none() && link.target.is_none() && !content.contains(is_word) {
                losses.at(reasons::REFERENCE_IS_EMPTY, position);
                continue;
            }
            has_reply = true;
            self.set(Key::ReplyMessage, reference.target.as_deref());
            let target = link.target.and_then(|target| view.message(target));
            match (link.status, target) {
                (LinkStatus::Resolved, Some(target)) => self.add_target(transcript, target, excerpts),
                (LinkStatus::Preview, _) if preview.is_some() => {
                    let (text, is_cut) = excerpt(content, EXCERPT_CHARACTERS);
                    losses.several(reasons::EXCERPT_OF_200, position, u64::from(is_cut));
                    self.set(Key::Excerpt, Some(transcript.arena().keep(text)));
                }
                _ => {}
            }
        }
        let keys: &[Key] = match (has_reply, is_generated) {
            (true, _) if self.get(Key::ReplyUsername).is_some() => &[Key::ReplyUser],
            (true, _) => &[Key::ReplyUser, Key::ReplyUsername],
            (false, true) => &[],
            (false, false) => &[Key::ReplyUser, Key::ReplyUsername, Key::ReplyName],
        };
        for key in keys {
            self.take_extra(transcript, message, *key);
        }
    }

    /// Sets the author of the answered message, as the reference states it.
    fn add_person(&mut self, transcript: &Transcript<'a>, preview: Option<&'a Preview>) {
        let Some(preview) = preview else { return };
        let view = transcript.view();
        let participants = &view.conversation().participants;
        let id = preview.sender.as_deref();
        let author = id.and_then(|id| participants.get(transcript.roster().find(id)?));
        let own = view.perspective.and_then(|index| participants.get(index));
        let is_id = match author {
            Some(author) => !has_no_id(author) && own.is_none_or(|own| own.id != author.id),
            None => preview.sender != preview.sender_name,
        };
        self.set(Key::ReplyUser, id.filter(|_| is_id));
        let name = preview.sender_name.as_deref();
        self.set(Key::ReplyName, name.or(author.and_then(Participant::own_name)));
    }

    fn add_target(&mut self, transcript: &Transcript<'a>, target: &'a Message, excerpts: &mut Excerpts<'a>) {
        let view = transcript.view();
        let author = view.sender(target);
        if let Some(author) = author.filter(|author| !view.is_own(target) && !has_no_id(author)) {
            self.set(Key::ReplyUser, Some(&author.id));
        }
        self.set(Key::ReplyUsername, author.and_then(username));
        let name = author.and_then(Participant::own_name);
        self.set(Key::ReplyName, name.or(target.sender_name.as_deref()));
        let excerpt = excerpts
            .entry(target.position)
            .or_insert_with(|| excerpt_of(transcript, target));
        self.set(Key::Excerpt, Some(excerpt));
    }

    /// Returns the words of the line, empty without values, and the number of further fields of the message that are in it.
    pub(super) fn line(
        &self,
        edition: &'static Edition,
        arena: &'a TextArena,
        position: u32,
        losses: &mut Losses,
    ) -> (Vec<TextRun<'a>>, u64) {
        let values = self.values.iter().flatten().count();
        let mut words = Vec::with_capacity(1 + 4 * values);
        let mut fields = 0;
        for key in edition.order {
            fields += u64::from(self.from_extra.contains(key));
            let value = self.get(*key).filter(|value| !value.is_empty());
            let value = value.and_then(|value| edition.value(*key, value, position, losses));
            let Some((value, quote)) = value else {
                continue;
            };
            if words.is_empty() {
                words.push(TextRun::new("[meta]", Component::Framing));
            }
            let value = arena.keep(value);
            let run = [key.spelling(), quote, value, quote].into_iter();
            words.extend(run.map(|text| TextRun::new(text, key.component())));
        }
        (words, fields)
    }
}

/// Returns the beginning of a message's text.
fn excerpt_of<'a>(transcript: &Transcript<'a>, target: &'a Message) -> &'a str {
    let mut text = String::new();
    for part in &target.parts {
        match part {
            Part::Text(words) => text.push_str(&message_text(transcript.view(), target, words)),
            Part::Notice(words) => text.push_str(words),
            _ => continue,
        }
        text.push('\n');
    }
    let (text, _) = excerpt(&text, EXCERPT_CHARACTERS);
    transcript.arena().keep(text)
}

/// Whether the id of a participant was made up, and thus is not the number of an account.
fn has_no_id(participant: &Participant) -> bool {
    participant.is_id_made || is_nobody(participant)
}

/// Returns the second name of an account, without the `@` that the platform writes before it.
fn username(participant: &Participant) -> Option<&str> {
    let alias = participant.alias.as_deref()?;
    Some(alias.trim_start_matches('@'))
}

impl Edition {
    /// Returns a value as it is written, and the quotation mark around it; `None` if the value is empty.
    fn value<'v>(
        &self,
        key: Key,
        value: &'v str,
        position: u32,
        losses: &mut Losses,
    ) -> Option<(Cow<'v, str>, &'static str)> {
        if key.is_id() && !self.is_quoted(value) {
            let is_nothing = value == "0" && self.drops_zeros && key.may_be_zero();
            return (!is_nothing).then_some((Cow::Borrowed(value), ""));
        }
        let value = match key {
            Key::Username | Key::ReplyUsername if self.at_signs => Cow::Owned(format!("@{value}")),
            _ => Cow::Borrowed(value),
        };
        let clean = clean(value, key.component(), position, losses);
        let clean = self.capped(clean, key, position, losses);
        (!clean.is_empty() || key.is_id()).then_some((clean, "\""))
    }

    /// Cuts a value that is longer than the edition allows. Escapes count as two characters and may be cut in half, as in the code.
    fn capped<'v>(&self, value: Cow<'v, str>, key: Key, position: u32, losses: &mut Losses) -> Cow<'v, str> {
        match self.longest(key) {
            Some(most) if value.chars().count() > most => {
                losses.at(reasons::LONG_VALUES_ARE_CUT, position);
                let shown = value.chars().take(most.saturating_sub(2));
                Cow::Owned(shown.chain("..".chars()).collect())
            }
            _ => value,
        }
    }
}

/// Removes the characters that a value must not have. Facts about the answered message are unchanged in that message, so only changes to
/// facts about the speaker are losses.
fn clean<'v>(value: Cow<'v, str>, component: Component, position: u32, losses: &mut Losses) -> Cow<'v, str> {
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
        losses.at(reasons::SIGNS_OF_THE_LINE, position);
    }
    Cow::Owned(clean.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::edition::{CODE, DOCUMENT};
    use super::*;

    fn meta<'a>(values: &[(Key, &'a str)]) -> Meta<'a> {
        let mut meta = Meta::default();
        for (key, value) in values {
            meta.set(*key, Some(value));
        }
        meta
    }

    fn line(meta: &Meta<'_>) -> String {
        line_of(&DOCUMENT, meta)
    }

    /// The line without the escapes of the JSON string that it is part of.
    fn line_of(edition: &'static Edition, meta: &Meta<'_>) -> String {
        let arena = TextArena::default();
        let meta = Meta {
            values: meta.values.map(|value| Some(arena.keep(value?.to_owned()))),
            from_extra: Vec::new(),
        };
        let (words, _) = meta.line(edition, &arena, 0, &mut Losses::default());
        words.iter().map(|run| run.text).collect()
    }

    fn name(name: &str) -> Meta<'_> {
        meta(&[(Key::Name, name)])
    }

    #[test]
    fn keys_stand_in_the_order_of_the_document() {
        let meta = meta(&[
            (Key::Chat, "-1"),
            (Key::Thread, "12"),
            (Key::Message, "5"),
            (Key::User, "9"),
            (Key::Name, "N"),
            (Key::Username, "n"),
            (Key::ReplyMessage, "4"),
            (Key::ReplyUser, "8"),
            (Key::ReplyUsername, "m"),
            (Key::ReplyName, "M"),
            (Key::Excerpt, "e"),
        ]);
        assert_eq!(
            line_of(&CODE, &meta),
            "[meta] chat_id=-1 thread_id=12 message_id=5 user_id=9 username=\"@n\" name=\"N\" \
             reply_to_message_id=4 reply_to_user_id=8 reply_to_username=\"@m\" reply_to_name=\"M\" reply_excerpt=\"e\""
        );
        assert_eq!(
            line(&meta),
            "[meta] chat_id=-1 thread_id=12 message_id=5 user_id=9 name=\"N\" username=\"n\" \
             reply_to_message_id=4 reply_to_user_id=8 reply_to_name=\"M\" reply_excerpt=\"e\""
        );
    }

    #[test]
    fn strings_are_cleaned_as_the_code_of_the_day_cleans_them() {
        assert_eq!(
            line(&name("A\nB \"C\" [D] \\ E\tF\rG")),
            "[meta] name=\"A B \\\"C\\\" D \\ E\tF\rG\""
        );
    }

    #[test]
    fn what_cleaning_empties_is_left_out_and_an_empty_line_is_none() {
        for gone in ["[]", "   ", ""] {
            assert_eq!(line(&name(gone)), "");
            let meta = meta(&[(Key::Chat, "1"), (Key::Name, gone)]);
            assert_eq!(line(&meta), "[meta] chat_id=1");
        }
    }

    #[test]
    fn long_names_are_not_cut_by_the_document() {
        let long = "n".repeat(101);
        assert_eq!(line(&name(&long)), format!("[meta] name=\"{long}\""));
    }

    #[test]
    fn an_id_that_spells_the_next_key_is_quoted() {
        let meta = meta(&[(Key::User, "a \"b\"")]);
        assert_eq!(line(&meta), "[meta] user_id=\"a \\\"b\\\"\"");
    }

    const VECTORS: &str = include_str!("../../../../../data-samples/dialects/gryag-gemini/vectors.json");

    /// Eleven vectors of that day's code. The others distinguish ids that are strings from ids that are numbers, or have a boolean as an
    /// id: here ids are text.
    #[test]
    fn the_code_of_the_documents_day_is_reproduced() {
        let vectors: serde_json::Value = serde_json::from_str(VECTORS).unwrap();
        let cases = vectors["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 11);
        for case in cases {
            let value = |key: Key| {
                let value = &case["input"][key.name()];
                let text = value.as_str().map(|name| name.trim_start_matches('@').to_owned());
                text.or(value.as_i64().map(|number| number.to_string()))
            };
            let values = CODE.order.iter().filter_map(|key| Some((*key, value(*key)?)));
            let values: Vec<(Key, String)> = values.collect();
            let values: Vec<_> = values.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let meta = meta(&values);
            assert_eq!(
                line_of(&CODE, &meta),
                case["expected"].as_str().unwrap(),
                "{}",
                case["name"]
            );
        }
    }
}

//! Reads the messages of a channel.

use std::collections::HashSet;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::{Kind as Json, Mark, Value};
use chatmill_model::{Conversation, Extra, Media, MediaKind, MediaSource, Message, Part, Role, Scene};

use super::division::{self, Post};
use super::members::Members;
use super::{Kind, incomplete, kind, tokens, words};
use crate::base::{
    ExtraFields, Keep as _, Notes, Site, Times, Wire as _, id, media::as_notice, message_kind, present,
    reply_to, text, wire, word, words,
};
use crate::frame::{FrameView, Reading};
use crate::layout::{Element, ListReader, list};

/// Kinds of messages that a participant writes.
const MESSAGE_SUBTYPES: [&str; 7] = words!(
    bot_message thread_broadcast reply_broadcast file_share file_comment me_message slackbot_response
);

/// Kinds of events. A message of any other kind, which Slack adds from time to time, is a message if it has text and
/// a sender.
const EVENT_SUBTYPES: [&str; 39] = words!(
    channel_join channel_leave channel_topic channel_purpose channel_name channel_archive channel_unarchive channel_convert_to_private
    channel_convert_to_public channel_posting_permissions channel_canvas_updated group_join group_leave group_topic group_purpose group_name
    group_archive group_unarchive pinned_item unpinned_item bot_add bot_remove bot_enable bot_disable tombstone message_changed message_deleted
    message_replied file_mention reminder_add reminder_delete ekm_access_denied huddle_thread
    joiner_notification joiner_notification_for_inviter app_conversation_join app_conversation_leave assistant_app_thread tabbed_canvas_updated
);

wire! {
    /// A message.
    Wire {
        kind: "type",
        subtype: "subtype",
        ts: "ts",
        user: "user",
        comment: "comment",
        bot_id: "bot_id",
        username: "username",
        text: "text",
        blocks: "blocks",
        attachments: "attachments",
        files: "files",
        file: "file",
        thread: "thread_ts",
        user_profile: "user_profile",
        bot_profile: "bot_profile",
        replies: "replies",
        root: "root",
        answers: "slackdump_thread_replies",
    }
}

/// Fields that repeat other fields.
const IDLE: [&str; 16] = words!(
    client_msg_id team user_team source_team reply_count reply_users_count latest_reply reply_users
    parent_user_id is_locked subscribed last_read upload display_as_bot replace_original delete_original
);

/// Reads the rows of a channel.
pub(super) struct Reader<'d, 'r> {
    list: ListReader<'d, 'r>,
    times: Times,
    members: Members,
    key: Option<String>,
    channel: Option<Value<'d>>,
    posts: Vec<Post>,
    /// Replies that messages list, with the places of the lists.
    listed: Vec<(u32, Value<'d>)>,
}

impl<'d, 'r> Reader<'d, 'r> {
    pub(super) fn new(frame: FrameView<'d>, limits: &'r Limits) -> Self {
        Self {
            list: ListReader::new(frame, limits),
            times: Times::new(frame.options),
            members: Members::default(),
            key: frame.key.map(str::to_owned),
            channel: None,
            posts: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// Reads a row that is not a message. These rows come before the messages, so that speakers are known.
    pub(super) fn beside(&mut self, index: u32, row: Value<'d>) {
        match kind(row) {
            Some(Kind::Message) => return,
            Some(Kind::Member) => self.members.member(row),
            Some(Kind::Channel) => {
                self.channel.get_or_insert(row);
            }
            None => {
                let text = "the row is neither a message nor a channel or a member: it is rejected";
                self.list.rows.rows += 1;
                let path = list::row_path(self.list.frame, index);
                self.list
                    .reject(row.span(), Finding::new(&codes::WRONG_TYPE, text).at_path(path));
                return;
            }
        }
        self.list.rows.rows += 1;
        self.list.rows.merged += 1;
    }

    pub(super) fn message(&mut self, index: u32, row: Value<'d>) {
        if kind(row) != Some(Kind::Message) {
            return;
        }
        let frame = self.list.frame;
        let path = || list::row_path(frame, index);
        let Some(wire) = self.list.element(Element::Message, path, row, Wire::read) else {
            return;
        };
        let wire = wire.without_nulls();
        let Some(ts) = wire.ts.and_then(id) else {
            let text = "the message has no ts, which is its id and its time: it is rejected";
            let finding = Finding::new(&codes::MISSING_FIELD, text).at_path(format!("{}.ts", path()));
            self.list.reject(row.span(), finding);
            return;
        };
        let mut message = self.read(&wire, row, index, ts.clone());
        let mut site = Site {
            position: index,
            ..self.list.site(Some(&ts), row)
        };
        tokens::cut(row, &mut message, &mut site);
        let thread = wire.thread.and_then(id);
        if let Some(replies) = wire.replies {
            self.listed.push((index, replies));
        }
        self.posts.push(Post { ts, thread, message });
    }

    fn read(&mut self, wire: &Wire<'d>, row: Value<'d>, index: u32, ts: String) -> Message {
        let subtype = text(wire.subtype);
        let mut site = Site {
            position: index,
            ..self.list.site(Some(&ts), row)
        };
        word(wire.ts, "ts", &mut site);
        let timestamp = self.times.read(wire.ts, "ts", &mut site);
        let is_one_of = |kinds: &[&str]| subtype.as_deref().is_some_and(|subtype| kinds.contains(&subtype));
        let is_known_message = subtype.is_none() || is_one_of(&MESSAGE_SUBTYPES);
        let is_huddle = subtype
            .as_deref()
            .is_some_and(|subtype| subtype.starts_with("sh_room_"));
        let is_unknown = !is_known_message && !is_one_of(&EVENT_SUBTYPES) && !is_huddle;
        let name = text(wire.username)
            .or_else(|| text(wire.bot_profile.and_then(|profile| profile.get("name"))))
            .filter(|name| !name.is_empty());
        let user = wire
            .user
            .or_else(|| wire.comment.and_then(|comment| comment.get("user")));
        let sender = match user.and_then(id) {
            Some(user) => Some(self.members.person(&user, wire.user_profile)),
            None => self.members.bot(wire.bot_id.and_then(id), name.clone()),
        };
        let sender_name = name.zip(sender).filter(|_| user.is_none());
        let sender_name = sender_name.and_then(|(name, sender)| self.members.other_name(sender, name));
        let is_bot = subtype.as_deref() == Some("bot_message")
            || sender.is_some_and(|sender| self.members.is_agent(sender));
        let mut extra = ExtraFields::new();
        let (mut parts, mentions) = self.read_text(wire, &mut extra);
        for files in [wire.files, wire.file].into_iter().flatten() {
            media(files, &mut parts);
        }
        let has_words = is_unknown && sender.is_some() && !parts.is_empty();
        let is_event = !(is_known_message || has_words);
        if let Some(found) = wire.subtype.filter(|_| is_unknown) {
            let text = if is_event {
                "subtype is none of the known words: the entry is kept as a notice"
            } else {
                "subtype is none of the known words, but it has words and a sender: it is read as a message"
            };
            let mut site = Site {
                position: index,
                ..self.list.site(Some(&ts), row)
            };
            site.note(&codes::UNKNOWN_MESSAGE_TYPE, text, ".subtype", found);
        }
        if is_event {
            parts = parts.into_iter().map(as_notice).collect();
        }
        // They are separate messages.
        if let Some(answers) = wire.answers {
            answers.mark(Mark::Taken);
        }
        for (key, value) in &wire.others {
            if !is_empty_value(*value) && !IDLE.contains(&&**key) {
                extra.keep(key.clone().into_owned(), *value);
            }
        }
        let above = wire.thread.and_then(id).filter(|thread| *thread != ts);
        Message {
            id: Some(ts),
            sender,
            sender_name,
            kind: message_kind(is_event),
            source_type: subtype,
            timestamp,
            parts,
            references: above.map(reply_to).into_iter().collect(),
            mentions,
            extra: Extra(extra),
            ..Message::new(
                if is_bot { Role::Assistant } else { Role::User },
                0,
                self.list.frame.origin(row.span(), index),
            )
        }
    }

    /// The text of a message: its own, else that of its blocks, else that of its attachments.
    fn read_text(&mut self, wire: &Wire<'_>, extra: &mut ExtraFields) -> (Vec<Part>, Vec<String>) {
        let mut mentions = Vec::new();
        let mut own_text = text(wire.text)
            .map(|words| words::resolved(&words, &self.members, &mut mentions))
            .unwrap_or_default();
        if let Some(blocks) = wire.blocks {
            if own_text.trim().is_empty() {
                own_text = words::of_blocks(blocks, &self.members, &mut mentions);
            } else {
                words::repeat(blocks, &text(wire.text).unwrap_or_default());
            }
        }
        if let Some(comment) = wire.comment {
            // The text names the author and the file of a comment, and repeats the comment.
            let comments = text(comment.get("comment")).unwrap_or_default();
            if own_text.trim().is_empty() {
                own_text = words::resolved(&comments, &self.members, &mut mentions);
            }
            extra.keep_rest(comment, "comment", &["user", "comment"]);
        }
        if let Some(attached) = wire.attachments {
            // If the message has text, the texts of its attachments stay unread.
            let is_alone = own_text.trim().is_empty();
            let items = attached.items().filter(|_| is_alone);
            let words: Vec<String> = items.filter_map(|item| self.attached(item)).collect();
            if !words.is_empty() {
                own_text = words.join("\n");
            }
            extra.keep("attachments", attached);
        }
        let parts = if own_text.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text(own_text)]
        };
        let mut known = HashSet::new();
        mentions.retain(|id| known.insert(id.clone()));
        (parts, mentions)
    }

    fn attached(&self, item: Value<'_>) -> Option<String> {
        let words = |key: &str| text(item.get(key)).filter(|words| !words.is_empty());
        let texts: Vec<String> = ["pretext", "title", "text"]
            .iter()
            .filter_map(|key| words(key))
            .collect();
        // `fallback` is a short form of the other fields.
        let text = if texts.is_empty() {
            words("fallback")?
        } else {
            texts.join("\n")
        };
        Some(words::resolved(&text, &self.members, &mut Vec::new()))
    }

    pub(super) fn finish(mut self) -> Reading {
        self.missing();
        self.times.finish(&mut self.list.notes);
        let word = |key: &str| {
            let value = self.channel.and_then(|channel| channel.get(key));
            let words = value.and_then(|value| text(Some(value)).or_else(|| text(value.get("value"))));
            words.filter(|words| !words.is_empty())
        };
        let name = word("name");
        let is_direct =
            self.channel.is_some() && name.as_deref().is_none_or(|name| name.starts_with("mpdm-"));
        let mut extra = ExtraFields::new();
        if let Some(channel) = self.channel {
            let known = ["id", "name", "topic", "purpose", "members"];
            extra.keep_rest(channel, "", &known);
        }
        let (topic, purpose) = (word("topic"), word("purpose"));
        if let (Some(_), Some(purpose)) = (&topic, &purpose) {
            extra.keep_text("purpose", purpose);
        }
        let conversation = Conversation {
            source_id: word("id").or_else(|| self.key.clone()),
            shape: if is_direct { "direct" } else { "channel" },
            scene: Scene::GroupChat,
            title: name.or_else(|| self.key.clone()).filter(|_| !is_direct),
            description: topic.or(purpose),
            extra: Extra(extra),
            ..Conversation::default()
        };
        let participants = self.members.finish();
        division::divide(self.list, &conversation, &participants, self.posts)
    }

    /// Reports parts of the export that are missing.
    fn missing(&mut self) {
        if self.posts.is_empty() {
            return;
        }
        if !self.members.is_listed && self.list.frame.key.is_some() {
            let text = "users.json is missing or lists none of the speakers: people are named by their ids";
            self.list.notes.findings.push(incomplete(text));
        }
        let here: HashSet<&str> = self.posts.iter().map(|post| post.ts.as_str()).collect();
        let listed = self.listed.iter().flat_map(|(index, replies)| {
            let replies = replies.items().enumerate();
            replies.map(|(number, reply)| (*index, number, reply))
        });
        let mut notes = Notes::new(self.list.frame.start);
        for (index, number, reply) in listed {
            let is_here = present(reply, "ts")
                .and_then(id)
                .is_none_or(|ts| here.contains(ts.as_str()));
            if !is_here {
                let text = "a reply that the thread lists is not in the export: its day may be missing";
                let finding = Finding::new(&codes::INCOMPLETE_EXPORT, text);
                let path = list::row_path(self.list.frame, index);
                notes.push(finding.at_path(format!("{path}.replies[{number}]")), Some(reply));
            }
        }
        self.list.notes.findings.append(&mut notes.findings);
    }
}

/// Whether a field is empty, or has only empty fields.
fn is_empty_value(value: Value<'_>) -> bool {
    match value.kind() {
        Json::Null => true,
        Json::Array => value.is_empty(),
        Json::Object => value
            .fields()
            .all(|(_, field)| field.is_null() || field.written() == "\"\""),
        _ => false,
    }
}

/// Adds files, by their addresses where they have one, and the text of mails and snippets.
fn media(files: Value<'_>, parts: &mut Vec<Part>) {
    let listed: Vec<Value<'_>> = files.items().collect();
    let one = if listed.is_empty() { vec![files] } else { listed };
    for file in one {
        let word = |key: &str| text(file.get(key)).filter(|word| !word.is_empty());
        let media_type = word("mimetype");
        let kind = media_type.as_deref().and_then(|word| word.split('/').next());
        let address = word("url_private").or_else(|| word("permalink"));
        if word("id").is_none() && word("name").is_none() && address.is_none() {
            continue;
        }
        parts.push(Part::Media(Media {
            kind: match kind {
                Some("image") => MediaKind::Image,
                Some("audio") => MediaKind::Audio,
                Some("video") => MediaKind::Video,
                _ => MediaKind::File,
            },
            source: address.map_or(MediaSource::Upload, MediaSource::Url),
            name: word("name").or_else(|| word("title")).or_else(|| word("id")),
            media_type,
        }));
        // A mail has a subject; the preview is the beginning of its text.
        let (whole, preview) = (word("plain_text"), word("preview"));
        let words: Vec<String> = word("subject").into_iter().chain(whole.or(preview)).collect();
        if !words.is_empty() {
            parts.push(Part::Text(words.join("\n")));
        }
    }
}

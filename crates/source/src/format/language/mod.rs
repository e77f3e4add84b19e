//! The language of format files. The structures define the language: `loaded.rs` parses files into them, and the readers of records follow
//! them. A JSON Schema is generated from them, and editors show their comments.
//!
//! A format file has no expressions and no recursion: it gives the paths of values, the meaning of words, and lists of cases. Reading takes
//! time in proportion to the record.

pub(in crate::format) mod budget;
pub(in crate::format) mod condition;
pub(in crate::format) mod path;
mod piece;
pub(in crate::format) mod several;
pub(in crate::format) mod template;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use self::condition::{Choices, Conditions};
use self::path::{InnerPath, MapPath, Paths};
pub(in crate::format) use self::piece::{CallMap, FileMap, Others, OthersAre, Piece, ResultMap};
use self::several::{OneOrMany, string_or_table};
use self::template::Texts;
use super::request::RequestMap;

/// A format: how its files are recognised, and where each value is in them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Language {
    /// Name for people, for example `Gemini CLI sessions`.
    pub title: String,
    /// The place where the format is described, and where its files were found.
    pub specification: String,
    /// The program and version that the file was last compared with, and the month: `claude-code 2.0.14, 2026-11`. It has no effect on reading or on
    /// fingerprints.
    #[serde(default)]
    pub verified: String,
    /// The content that a conversation of this format can hold, in one clause.
    pub carries: String,
    /// The kind of chat that its conversations are held in.
    #[serde(default)]
    pub scene: SceneWord,
    /// Whether the arguments of calls have to be text with JSON in it; otherwise they may be JSON values.
    #[serde(default)]
    pub text_arguments: bool,
    /// Whether texts are UTF-8 that was decoded as Latin-1, as in Facebook's exports: reading corrects them.
    #[serde(default)]
    pub mojibake: bool,
    /// Whether reasoning is in the text of a message, between `<think>` and `</think>`.
    #[serde(default)]
    pub thoughts_in_text: bool,
    /// The marks that identify a file of this format; one of them is enough.
    #[serde(default)]
    pub recognise: Vec<RecordMark>,
    /// Files of the same export that contain no conversation: they are skipped and counted.
    #[serde(default)]
    #[expect(dead_code, reason = "the schema describes the key here, and `Signs` reads it")]
    pub beside: Vec<Beside>,
    /// Tables of the program's own database with a record in each row. Only for built-in formats: a pipeline maps other tables.
    #[serde(default)]
    pub table: Vec<TableForm>,
    /// Set for a record that is a request to a vendor's API: then the tables below are absent.
    pub request: Option<RequestMap>,
    /// The paths of the conversation's own fields in the record.
    #[serde(default)]
    pub conversation: ConversationMap,
    /// The parents of messages, if messages branch.
    pub tree: Option<TreeMap>,
    /// The paths of a message's fields.
    #[serde(default)]
    pub message: MessageMap,
    /// Exceptions for some messages: the settings of the first case that applies replace those of `message`.
    #[serde(default)]
    pub case: Vec<Case>,
    /// The readers of elements of `parts`: the first one with a condition that holds reads an element. Elements without such a reader are read as
    /// vendors' APIs write parts.
    #[serde(default)]
    pub part: Vec<Piece>,
    /// Keys that mean nothing for a conversation, separated by blanks: ids, hashes, numbers, enumerated words, signatures and copies. Text, times and
    /// JSON that no path reads are reported nevertheless. `outer.inner` is a key in an object of that name, `$.key` a key of the record, `list[]` the
    /// elements of a list.
    #[serde(default)]
    pub silent: String,
    /// Objects and lists with notes of a program on its run. Their unread fields are kept among the extra fields and reported once, as a note;
    /// written like `silent`.
    #[serde(default)]
    pub kept_whole: String,
    /// Objects with ids as keys.
    #[serde(default)]
    pub maps: String,
}

/// The part of a format file that recognises files. Every file without a named source is compared with the
/// marks of all formats; the rest of a format file is parsed only when records are read by it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::format) struct Signs {
    /// As [`Language::recognise`].
    pub recognise: Vec<RecordMark>,
    /// As [`Language::beside`].
    pub beside: Vec<Beside>,
    /// As [`Language::table`].
    pub table: Vec<TableForm>,
    /// Present if records are requests to a vendor's API.
    pub request: Option<IgnoredAny>,
}

/// The kind of chat that a conversation was held in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::format) enum SceneWord {
    /// One person and one assistant.
    #[default]
    Assistant,
    /// Several people, with or without agents.
    GroupChat,
    /// Not stated: all messages of users without a name are taken to be from one person, as in a chat of two.
    Unknown,
}

/// A mark that identifies a record of this format. All its conditions must hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct RecordMark {
    /// Names that occur in the record: `guild`, `messages[].from_id`, `data.parts[].type`.
    #[serde(default)]
    pub has: Vec<String>,
    /// Names; one of them occurs in the record.
    #[serde(default)]
    pub any: Vec<String>,
    /// Names that do not occur in the record.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Names that all occur in the elements of one list of the record, whatever its name.
    #[serde(default)]
    pub only_list: Vec<String>,
    /// Names of fields with text values.
    #[serde(default)]
    pub text: Vec<String>,
    /// Words of which one is the value of a name; a word that begins or ends in `*` matches all words with that end or beginning.
    #[serde(default)]
    pub says: BTreeMap<String, WordList>,
    /// Words of which none is the value of a name.
    #[serde(default)]
    pub denies: BTreeMap<String, WordList>,
    /// Confidence, from 1 (a guess) to 100 (no other format looks like this).
    pub sure: u8,
    /// The evidence, in one clause, for reports.
    pub why: String,
}

/// A file of an export that contains no conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Beside {
    /// Names that occur in its records.
    pub has: Vec<String>,
    /// The kind of file, for counts: `Claude.ai account file`.
    pub title: String,
}

/// A table with a record in each row.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct TableForm {
    /// The name of the table.
    pub name: String,
    /// Columns of the table.
    pub has: Vec<String>,
    /// Those of the columns that contain JSON, whatever their types are.
    pub json: Vec<String>,
}

/// One word or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum WordList {
    /// One.
    One(String),
    /// Several; any of them matches.
    Any(Vec<String>),
}

impl WordList {
    /// The words.
    pub(in crate::format) fn all(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Any(words) => words,
        }
    }
}

/// The paths of the conversation's fields in the record.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of format files")]
pub(in crate::format) struct ConversationMap {
    /// The conversations of a record with several; the paths below then start at one of them. Of several paths, the first one with a match is used.
    pub each: Paths,
    /// The name of the record's structure, in the column `shape`; `session` unless another is given.
    pub shape: Choices,
    /// Conversations inside the conversation, at any depth, such as those of agents that it started. Each is a separate conversation, and its id
    /// includes the id of the outer one.
    pub inside: OneOrMany<InnerPath>,
    /// The id of the conversation.
    pub id: Paths,
    /// The title of the conversation.
    pub title: Paths,
    /// The description or topic of the conversation.
    pub description: Paths,
    /// The version of the format that the record states.
    pub version: Paths,
    /// The model that answers are requested from.
    pub model: Paths,
    /// The system prompt that applies from the beginning.
    pub system: Texts,
    /// Definitions of tools, as a list.
    pub tools: Paths,
    /// An object of texts and files by their ids, which messages refer to as `attachment://ID`: each reference is replaced by what it refers to.
    pub attachments: Paths,
    /// The participants, including those who wrote no message.
    pub people: Option<PeopleMap>,
    /// The messages: a list, or `$` if each record is a message and those of one conversation are grouped.
    pub messages: Paths,
    /// Whether an answer of the model may be in several messages, for example if a program records each of its calls: text, reasoning and calls
    /// that follow a call without a result belong to the answer of the call.
    pub in_pieces: bool,
    /// Whether each record is a whole conversation that is read like one message, such as a question with its answers; then `messages` is `$`.
    pub alone: bool,
    /// The condition for records that describe the conversation and are no messages, if each record is a message. The paths above are looked up in
    /// such records, from the last to the first, so that the last value is used. The id is that of the first.
    pub header: Conditions,
    /// The person that a record without a conversation id describes, for example in a file that lists all members of a server: the record
    /// belongs to those conversations with messages that contain this word, and only participants who wrote a message belong to a conversation.
    pub about: Paths,
    /// The number of messages that the record states.
    pub count: Option<MapPath>,
    /// Whether files that name the same conversation are parts of it.
    pub join: bool,
    /// Whether the newest message is first.
    pub reversed: bool,
    /// The value that messages are sorted by, for ids that grow: by length, then by letters. If the parts of a conversation are joined, all their
    /// messages are sorted together.
    pub order: Paths,
    /// A second copy of the messages, for example if a program also keeps the branch that was shown last: equal messages are skipped.
    pub again: Paths,
    /// Paid requests that the record lists apart from its messages; of several lists all are read.
    pub paid: OneOrMany<PaidMap>,
    /// Values kept among the extra fields of the conversation, in this order.
    pub keep: Vec<MapPath>,
}

/// Paid requests that a record lists apart from its messages. The usage of an entry belongs to the answer that the entry names; of
/// other entries each becomes a notice with its usage.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct PaidMap {
    /// The list of entries, an object of entries by model, or entries that a condition in brackets selects. The first path that leads to
    /// a usage is read.
    pub each: Paths,
    /// The id of the message, or of the model's answer, that the entry is about.
    #[serde(default)]
    pub answer: Paths,
    /// The condition for an entry about a message that has the usage itself.
    #[serde(default)]
    pub unless: Conditions,
    /// The model.
    #[serde(default)]
    pub model: Paths,
    /// When it was answered, in the entry or the record.
    #[serde(default)]
    pub time: Paths,
    /// The program's word for what was asked.
    #[serde(default, rename = "type")]
    pub kind: Paths,
    /// The number of requests that the counts sum up; 1 without it. Answers without a whole usage are among these requests.
    #[serde(default)]
    pub requests: Option<MapPath>,
    /// What was logged.
    pub usage: UsageMap,
}

/// The participants of a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct PeopleMap {
    /// Each of them.
    pub each: MapPath,
    /// The id.
    #[serde(default)]
    pub id: Paths,
    /// The name that others see.
    #[serde(default)]
    pub name: Paths,
}

/// The parents of messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct TreeMap {
    /// The id of the parent message. A message without this key is the child of the message before it.
    pub parent: Option<MapPath>,
    /// The id of a message that is undone, with all after it, if each record is a message: the following messages replace them.
    pub back: Option<MapPath>,
    /// Prefixes of parent ids that mean that a message has no parent.
    #[serde(default)]
    pub root: Vec<String>,
    /// Messages inside their parent message, at any depth.
    pub below: Option<InnerPath>,
    /// The id of the message that people saw last, in the record; without it, the branch of the last message is the conversation.
    #[serde(default)]
    pub visible: Paths,
}

/// The paths of a message's fields; they start at the message.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct MessageMap {
    /// The id of the message.
    pub id: Paths,
    /// The id of the model's answer that the message is a piece of: messages with the same id are one answer.
    pub answer_id: Paths,
    /// Whether ids are texts: a number is reported.
    pub text_ids: bool,
    /// The conversation of the message, if each record is a message.
    pub conversation: Texts,
    /// When the message was sent: ISO 8601, or a count since 1970 of seconds, milliseconds or microseconds.
    pub time: Paths,
    /// When the message was edited: kept if it is not the time of the message.
    pub edited: Paths,
    /// The role of the speaker: a word for it, or a path to one. Of several, the first one that applies is used.
    pub role: Choices,
    /// The meaning of words for roles beyond the usual ones; a word that ends in `*` matches every word with
    /// that prefix.
    pub roles: BTreeMap<String, Speaks>,
    /// The handling of a message with an unknown word for the role.
    pub unknown: Unknown,
    /// The sender of the message.
    pub sender: Option<SenderMap>,
    /// The format's own word for the kind of message, for the column `source_type`.
    #[serde(rename = "type")]
    pub kind: Paths,
    /// The usual word, which carries no information and is not kept.
    pub usual_type: Option<String>,
    /// Whether the format does not know this word, which is reported: with text and a sender the record is a message, otherwise an event.
    pub unknown_type: bool,
    /// The content of the message, piece by piece.
    pub say: Vec<Piece>,
    /// A second copy of the text in `say`: it is kept if it differs, and used as the text if `say` gives none.
    pub again: Option<Again>,
    /// The alternatives to the message, such as answers that were generated again.
    pub others: Option<Others>,
    /// The condition for an answer that a person rated good, as with a thumb up: it is labelled so among the alternatives.
    pub good: Conditions,
    /// The condition for an answer that a person rated bad: it is labelled so, and not trained on.
    pub bad: Conditions,
    /// The condition for a message that is context: it is rendered and never learned.
    pub context: Conditions,
    /// The condition for a message that was copied from an earlier conversation: it is context, and its usage is counted there.
    pub copied: Conditions,
    /// The system text that was sent with the message: the text of the last such message becomes the first message of the conversation, once.
    pub instructions: Paths,
    /// The text of an event, if the message is one.
    pub notice: Texts,
    /// Whether the message continues the assistant's message before it.
    pub joins: bool,
    /// The meaning of a record with the id of an earlier message, if each record is a message. If absent, it is another message.
    pub repeated: Option<Repeated>,
    /// Ids of the people who are mentioned.
    pub mentions: Option<MapPath>,
    /// The message that this one answers.
    pub reply: Option<ReplyMap>,
    /// The call that the message is the result of: a message that names a call has the role of a tool. The
    /// text of a tool's message is the result, whether it names its call or not.
    pub result: Option<Answer>,
    /// The thread of the message: a message in the same thread as an earlier one answers the first message of the thread.
    pub thread: Paths,
    /// Messages inside this one that answer it: they are messages of the conversation, and replies to it.
    pub answers: OneOrMany<InnerPath>,
    /// The earlier message that this one rewords or adds something to: if the earlier message exists, this one is not a separate message.
    pub amends: Option<AmendMap>,
    /// The model that wrote the message.
    pub model: Paths,
    /// The token usage: an object with the field names of any vendor's API, or the paths of its counts.
    pub usage: Option<UsageMap>,
    /// Values kept among the extra fields of the message, before the fields that nothing else reads.
    pub keep: Vec<MapPath>,
}

/// The meaning of a word for a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Speaks {
    /// A person.
    User,
    /// The model or bot.
    Assistant,
    /// Instructions.
    System,
    /// A tool's result.
    Tool,
    /// No speaker: an event.
    Notice,
    /// No speaker and no part of the conversation: the record is counted, and its words are reported like any
    /// unread field.
    Nothing,
}

/// The meaning of a record with the id of an earlier message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Repeated {
    /// A later version of that message: it replaces the earlier one.
    Replaces,
    /// More of that message, if it is the assistant's and directly before.
    Joins,
}

/// The handling of a message with an unknown word for the role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Unknown {
    /// The message becomes an event, with a finding.
    #[default]
    Notice,
    /// The message is a user's, with a finding.
    User,
    /// The message is rejected.
    Reject,
}

/// The paths of the sender's fields.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct SenderMap {
    /// The id.
    pub id: Paths,
    /// The name that others see.
    pub name: Paths,
    /// A second name, of the account.
    pub alias: Paths,
    /// The name at the time of the message, if people may change theirs: it is kept with the message.
    pub shown: Paths,
}

/// The call that a message is the result of.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct Answer {
    /// The id of the call.
    pub call: Paths,
    /// The tool.
    pub name: Paths,
}

/// A second copy of the text of a message.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Again {
    /// The path of the texts.
    pub text: MapPath,
    /// A placeholder text in messages that have no text.
    pub placeholder: Option<String>,
    /// Whether a differing copy is added to the text, and not only kept.
    #[serde(default)]
    pub say: bool,
}

/// A record that rewords an earlier message, or adds to it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct AmendMap {
    /// The id of the earlier message.
    pub of: MapPath,
    /// Values of the record kept among the extra fields of that message.
    pub keep: Option<MapPath>,
    /// The name under which it is kept, with a number after it: `edits` for `edits[0]`.
    pub name: String,
}

/// The message that another answers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct ReplyMap {
    /// The id of the message that is answered.
    pub to: Paths,
    /// The id of the conversation with that message, if it may be another one.
    pub conversation: Option<MapPath>,
    /// Values kept among the extra fields if the answered message is in another conversation.
    pub keep: Option<MapPath>,
}

/// The token usage of a message.
#[derive(Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum UsageMap {
    /// An object with the field names of any vendor's API.
    Object(MapPath),
    /// The paths of its counts.
    UsageCounts(UsageCounts),
}

string_or_table!(UsageMap: Object, UsageCounts);

/// The paths of the token counts of a message.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct UsageCounts {
    /// Tokens that were sent.
    pub input: Paths,
    /// Tokens that were sent and that `input` does not count: they are added.
    pub input_beside: Vec<MapPath>,
    /// The share of all that were sent that came from a cache.
    pub cached: Paths,
    /// The share that was written to a cache.
    pub written: Paths,
    /// The part of `written` that was written for an hour.
    pub written_1h: Paths,
    /// Tokens that the model wrote.
    pub output: Paths,
    /// Tokens that it wrote, as thoughts, and that `output` does not count: they are added.
    pub output_beside: Vec<MapPath>,
    /// All tokens of the request: where the others do not add up to it, a cached share that `input` does not contain is added.
    pub total: Paths,
    /// What the request cost, in US dollars.
    pub cost: Paths,
}

/// Exceptions for some messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Case {
    /// The condition under which the case applies.
    #[serde(default)]
    pub when: Conditions,
    /// The condition under which the case does not apply.
    #[serde(default)]
    pub unless: Conditions,
    /// The role of the speaker.
    pub role: Option<Choices>,
    /// The message's id.
    pub id: Option<Paths>,
    /// The id of the model's answer that the message is a piece of.
    pub answer_id: Option<Paths>,
    /// When the message was sent.
    pub time: Option<Paths>,
    /// The sender of the message.
    pub sender: Option<SenderMap>,
    /// The content of the message, piece by piece.
    pub say: Option<Vec<Piece>>,
    /// The alternatives to the message.
    pub others: Option<Others>,
    /// The text of an event.
    pub notice: Option<Texts>,
    /// Whether the format does not know the kind of the message, which is reported: with text and a sender it is a message, otherwise an event.
    pub unknown_type: Option<bool>,
    /// Whether the message continues the assistant's message before it.
    pub joins: Option<bool>,
    /// The earlier message that this one rewords or adds something to.
    pub amends: Option<AmendMap>,
    /// The model that wrote the message.
    pub model: Option<Paths>,
    /// The token usage of the message.
    pub usage: Option<UsageMap>,
}

impl Case {
    /// The map for a message of this case: the case's settings, and for the rest those of all messages.
    pub(in crate::format) fn over(&self, message: &MessageMap) -> MessageMap {
        let mut own = message.clone();
        macro_rules! take {
            ($($field:ident)+; may be none: $($option:ident)+) => {
                $(if let Some(value) = &self.$field {
                    own.$field.clone_from(value);
                })+
                $(if self.$option.is_some() {
                    own.$option.clone_from(&self.$option);
                })+
            };
        }
        take!(role id answer_id time say notice unknown_type joins model; may be none: sender others usage amends);
        own
    }
}

//! The language of format files. The structures define the language; editors show their comments, by the JSON
//! Schema generated from them.
//!
//! A format file has no expressions and no recursion: it gives the paths of values, the meaning of words, and
//! lists of cases. Reading takes time in proportion to the record.

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

/// A format: how its files are recognised, and where in them everything stands.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Language {
    /// Name for people, for example `Gemini CLI sessions`.
    pub title: String,
    /// The place where the format is described, and where its files were seen.
    pub specification: String,
    /// The program and version that the file was last compared with, and the month: `claude-code 2.0.14, 2026-11`. It changes nothing that is
    /// read, and no fingerprint.
    #[serde(default)]
    pub verified: String,
    /// The content that a conversation of this format can hold, in one clause.
    pub carries: String,
    /// The kind of chat that its conversations are held in.
    #[serde(default)]
    pub scene: SceneWord,
    /// Whether the arguments of calls have to be text that holds JSON; else they may be JSON values.
    #[serde(default)]
    pub text_arguments: bool,
    /// Whether texts were written as UTF-8 and read as Latin-1 before they came here, as those of Facebook's exports: they are led back.
    #[serde(default)]
    pub mojibake: bool,
    /// Whether reasoning is in the text of a message, between `<think>` and `</think>`.
    #[serde(default)]
    pub thoughts_in_text: bool,
    /// The marks that identify a file of this format: each of them is enough.
    #[serde(default)]
    pub recognise: Vec<RecordMark>,
    /// Files of the same export that hold no conversation: they are passed over and counted.
    #[serde(default)]
    #[expect(dead_code, reason = "what may stand here is said here, and `Signs` reads it")]
    pub beside: Vec<Beside>,
    /// Tables of the program's own database with a record in each row. Only for the formats that chatmill comes with: a pipeline maps others.
    #[serde(default)]
    pub table: Vec<TableForm>,
    /// Set for a record that is a request to a vendor's API: the tables below are left out then.
    pub request: Option<RequestMap>,
    /// The paths of the conversation's own fields in the record.
    #[serde(default)]
    pub conversation: ConversationMap,
    /// The parents of messages, where messages branch.
    pub tree: Option<TreeMap>,
    /// The paths of a message's fields.
    #[serde(default)]
    pub message: MessageMap,
    /// Exceptions for some messages: the settings of the first case that applies replace those of `message`.
    #[serde(default)]
    pub case: Vec<Case>,
    /// The readers of elements of `parts`: the first whose condition holds reads an element. Elements that
    /// none reads are read as vendors' APIs write parts.
    #[serde(default)]
    pub part: Vec<Piece>,
    /// Keys that mean nothing for a conversation, separated by blanks: ids, hashes, numbers, enumerated words, signatures and copies. Words,
    /// times and JSON that no path reads are told all the same. `outer.inner` is one in an object of that name, `$.key` one of the
    /// record, `list[]` the places of a list.
    #[serde(default)]
    pub silent: String,
    /// Objects and lists in which a program notes how it ran. Their unread fields are kept among the extra
    /// fields and reported once, as a note; written like `silent`.
    #[serde(default)]
    pub kept_whole: String,
    /// Objects whose keys are ids.
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
    /// There where records are requests to a vendor's API.
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
    /// Names that stand in the record: `guild`, `messages[].from_id`, `data.parts[].type`.
    #[serde(default)]
    pub has: Vec<String>,
    /// Names of which one stands there.
    #[serde(default)]
    pub any: Vec<String>,
    /// Names that do not.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Names that all occur in the elements of one list of the record, whatever its name.
    #[serde(default)]
    pub only_list: Vec<String>,
    /// Names of fields that hold a text.
    #[serde(default)]
    pub text: Vec<String>,
    /// Words that stand under a name, of which one is enough; a word that begins or ends in `*` means all that end or begin so.
    #[serde(default)]
    pub says: BTreeMap<String, WordList>,
    /// Words that do not stand under a name.
    #[serde(default)]
    pub denies: BTreeMap<String, WordList>,
    /// Confidence, from 1 (a guess) to 100 (no other format looks like this).
    pub sure: u8,
    /// The evidence, in one clause, for reports.
    pub why: String,
}

/// A file of an export that holds no conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Beside {
    /// Names that stand in its records.
    pub has: Vec<String>,
    /// The kind of file, for counts: `Claude.ai account file`.
    pub title: String,
}

/// A table with a record in each row.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct TableForm {
    /// Its name.
    pub name: String,
    /// Columns that it has.
    pub has: Vec<String>,
    /// Those of them that hold JSON, whatever their types are.
    pub json: Vec<String>,
}

/// One word or several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum WordList {
    /// One.
    One(String),
    /// Several, of which any is meant.
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
    /// The conversations of a record that holds several; the paths below then start at one of them. Of several paths the first that leads
    /// to some counts.
    pub each: Paths,
    /// The name of the record's structure, in the column `shape`; `session` unless another is given.
    pub shape: Choices,
    /// Conversations that stand in the conversation, at any depth, such as those of agents that it started. Each is one of its own, whose id
    /// has that of the outer one before it.
    pub inside: OneOrMany<InnerPath>,
    /// The id of the conversation.
    pub id: Paths,
    /// The title of the conversation.
    pub title: Paths,
    /// The description or topic of the conversation.
    pub description: Paths,
    /// The version of the format that it states.
    pub version: Paths,
    /// The model that its answers are asked of.
    pub model: Paths,
    /// The system prompt that applies from the beginning.
    pub system: Texts,
    /// Definitions of tools, as a list.
    pub tools: Paths,
    /// An object of texts and files by their ids, to which messages refer as `attachment://ID`: each is read in the places of its
    /// references.
    pub attachments: Paths,
    /// The participants, including those who wrote no message.
    pub people: Option<PeopleMap>,
    /// The messages: a list, or `$` where each record is a message and those of one conversation are grouped.
    pub messages: Paths,
    /// Whether an answer of the model may be in several messages, as where a program records each of its calls: text, reasoning and
    /// calls that follow a call without a result belong to the answer of the call.
    pub in_pieces: bool,
    /// Whether each record is a conversation of its own that is said like one message, as a question with its answers; `messages` is `$` then.
    pub alone: bool,
    /// The condition for records that describe the conversation and are no messages, where each record is a
    /// message. The paths above are looked up in such records, from the last to the first, so that the last
    /// value counts. The id is that of the first.
    pub header: Conditions,
    /// The person that a record without a conversation id describes, as where a file lists all members of a
    /// server: the record belongs to those conversations whose messages contain this word, and only
    /// participants who wrote a message belong to a conversation.
    pub about: Paths,
    /// The number of messages that the record claims to hold.
    pub count: Option<MapPath>,
    /// Whether files that name the same conversation are one: its parts.
    pub join: bool,
    /// Whether the newest message stands first.
    pub reversed: bool,
    /// The value by which messages are put in order, as ids that grow are: by length, then by letters. Of parts of a conversation
    /// that are joined the order is that of all.
    pub order: Paths,
    /// A second copy of the messages, as where a program keeps the branch that was shown last beside all of
    /// them: messages that are the same are skipped.
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
    /// The id of the parent message. A message without this key is the child of the one before it.
    pub parent: Option<MapPath>,
    /// The id of a message that is undone, with all after it, where each record is a message: the messages
    /// that follow replace them.
    pub back: Option<MapPath>,
    /// Prefixes of parent ids that mean that a message has no parent.
    #[serde(default)]
    pub root: Vec<String>,
    /// Messages that stand in the one above them, at any depth.
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
    /// The id of the model's answer that the message is a piece of: messages with the same one are one answer.
    pub answer_id: Paths,
    /// Whether ids are texts: a number is told.
    pub text_ids: bool,
    /// The conversation that it belongs to, where each record is a message.
    pub conversation: Texts,
    /// When it was said: ISO 8601, or a count since 1970 of seconds, milliseconds or microseconds.
    pub time: Paths,
    /// When it was edited: kept where it is another time than that of the message.
    pub edited: Paths,
    /// The role of the speaker: a word for it, or a path to one; of several the first that applies.
    pub role: Choices,
    /// The meaning of words for roles beyond the usual ones; a word that ends in `*` matches every word with
    /// that prefix.
    pub roles: BTreeMap<String, Speaks>,
    /// The handling of a message whose word for the role is not known.
    pub unknown: Unknown,
    /// The sender of the message.
    pub sender: Option<SenderMap>,
    /// The format's own word for what it is, for the column `source_type`.
    #[serde(rename = "type")]
    pub kind: Paths,
    /// The word that says nothing, for it is the usual one.
    pub usual_type: Option<String>,
    /// Whether that word is none that the format knows, which a finding tells: with words and a sender it is a message, else an event.
    pub unknown_type: bool,
    /// The content of the message, piece by piece.
    pub say: Vec<Piece>,
    /// A second copy of the text in `say`: it is kept where it differs, and used as the text where `say`
    /// gives none.
    pub again: Option<Again>,
    /// The alternatives to the message, such as answers that were generated again.
    pub others: Option<Others>,
    /// The condition for an answer that somebody called good, as by a thumb up: it bears that label among the alternatives.
    pub good: Conditions,
    /// The condition for an answer that somebody called bad: it bears that label, and is not trained on.
    pub bad: Conditions,
    /// The condition for a message that is context: it is rendered and never learned.
    pub context: Conditions,
    /// The condition for a message that was copied from an earlier conversation: it is context, and was paid there.
    pub copied: Conditions,
    /// The system text that was sent along: the last of the messages stands at the beginning of the conversation, once.
    pub instructions: Paths,
    /// The words of an event, where it is one.
    pub notice: Texts,
    /// Whether the message continues the assistant's message before it.
    pub joins: bool,
    /// The meaning of a record whose message has the id of an earlier one, where each record is a message; if
    /// absent, it is another message.
    pub repeated: Option<Repeated>,
    /// Ids of those who are mentioned.
    pub mentions: Option<MapPath>,
    /// The message that it answers.
    pub reply: Option<ReplyMap>,
    /// The call that the message is the result of: a message that names a call has the role of a tool. The
    /// text of a tool's message is the result, whether it names its call or not.
    pub result: Option<Answer>,
    /// The thread that it belongs to: those that say the same as an earlier message answer the first of them.
    pub thread: Paths,
    /// Messages that answer it and stand in it: they are messages of the conversation, and replies to it.
    pub answers: OneOrMany<InnerPath>,
    /// The earlier message that it is the new wording of, or that it adds something to: it is none itself then, where that one is there.
    pub amends: Option<AmendMap>,
    /// The model that wrote it.
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

/// The meaning of a record whose message has the id of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Repeated {
    /// A later version of that message: it replaces the earlier one.
    Replaces,
    /// More of it, where the earlier one is the assistant's and stands right before.
    Joins,
}

/// The handling of a message whose word for the role is not known.
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
    /// The name under which this message was said, where people may change theirs: it is kept with the message.
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

/// The words of a message once more.
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

/// A record that repeats an earlier message, or adds to it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct AmendMap {
    /// The id of the earlier message.
    pub of: MapPath,
    /// Values of the record kept among the extra fields of that message.
    pub keep: Option<MapPath>,
    /// The name under which it is kept, with a number behind it: `edits` for `edits[0]`.
    pub name: String,
}

/// The message that another answers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct ReplyMap {
    /// The id of the message that is answered.
    pub to: Paths,
    /// The id of the conversation that it stands in, where that may be another.
    pub conversation: Option<MapPath>,
    /// Values kept among the extra fields where the answered message is in another conversation.
    pub keep: Option<MapPath>,
}

/// The token usage of a message.
#[derive(Clone, Debug, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "a format has one, and few have more")]
pub(in crate::format) enum UsageMap {
    /// An object in the words of any vendor's API.
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
    /// Tokens that the model wrote.
    pub output: Paths,
    /// Tokens that it wrote, as thoughts, and that `output` does not count: they are added.
    pub output_beside: Vec<MapPath>,
    /// All tokens of the request: where the others do not add up to it, a cached share that `input` does not contain is added.
    pub total: Paths,
    /// What the request cost, in US dollars.
    pub cost: Paths,
}

/// A message that is otherwise.
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
    /// When it was said.
    pub time: Option<Paths>,
    /// The sender of the message.
    pub sender: Option<SenderMap>,
    /// The content of the message, piece by piece.
    pub say: Option<Vec<Piece>>,
    /// The alternatives to the message.
    pub others: Option<Others>,
    /// The words of an event.
    pub notice: Option<Texts>,
    /// Whether the format does not know its kind, which a finding tells: with words and a sender it is a message, else an event.
    pub unknown_type: Option<bool>,
    /// Whether the message continues the assistant's message before it.
    pub joins: Option<bool>,
    /// The earlier message that it is the new wording of, or that it adds something to.
    pub amends: Option<AmendMap>,
    /// The model that wrote it.
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

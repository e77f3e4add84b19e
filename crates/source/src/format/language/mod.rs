//! The language of format files: what may be written in one. The structures are the language; their comments are what editors
//! show, by the JSON Schema that is made of them.
//!
//! A format file has no expressions and no recursion: what it can say of a record is where things stand, which words mean what,
//! and which of a list of cases holds. Reading takes time in proportion to the record.

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
use self::path::{MapPath, Paths};
pub(in crate::format) use self::piece::{CallMap, FileMap, Others, OthersAre, Piece, ResultMap};
use self::several::string_or_table;
use self::template::Texts;
use super::request::RequestMap;

/// A format: how its files are recognised, and where in them everything stands.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Language {
    /// Name for people, for example `Gemini CLI sessions`.
    pub title: String,
    /// Where the format is described, and where its files were seen.
    pub specification: String,
    /// What a conversation of this format can hold, in one clause.
    pub carries: String,
    /// What kind of room its conversations are held in.
    #[serde(default)]
    pub scene: SceneWord,
    /// Whether the arguments of calls have to be text that holds JSON; else they may be JSON values.
    #[serde(default)]
    pub text_arguments: bool,
    /// Whether texts were written as UTF-8 and read as Latin-1 before they came here, as those of Facebook's exports: they are led back.
    #[serde(default)]
    pub mojibake: bool,
    /// Whether what a model thought stands in its texts, between `<think>` and `</think>`.
    #[serde(default)]
    pub thoughts_in_text: bool,
    /// What tells a file of this format: of several marks each alone.
    #[serde(default)]
    pub recognise: Vec<RecordMark>,
    /// Files of the same export that hold no conversation: they are passed over and counted.
    #[serde(default)]
    #[expect(dead_code, reason = "what may stand here is said here, and `Signs` reads it")]
    pub beside: Vec<Beside>,
    /// A record that is a request to a vendor's API: what is below is not said then.
    pub request: Option<RequestMap>,
    /// Where the conversation stands in the record.
    #[serde(default)]
    pub conversation: ConversationMap,
    /// Who stands above whom, where messages branch.
    pub tree: Option<TreeMap>,
    /// Where everything stands in a message.
    #[serde(default)]
    pub message: MessageMap,
    /// Messages that are otherwise: of the first case that holds, what it says is taken instead of what `message` says.
    #[serde(default)]
    pub case: Vec<Case>,
    /// How elements of `parts` are read: the first whose condition holds reads it. What none reads is read as vendors' APIs write parts.
    #[serde(default)]
    pub part: Vec<Piece>,
    /// Keys that mean nothing for a conversation, separated by blanks; `outer.inner` is one in an object of that name, `$.key` one of the
    /// record, `list[]` the places of a list.
    #[serde(default)]
    pub silent: String,
    /// Keys without meaning that hold words: they are kept among the extra fields, and not told.
    #[serde(default)]
    pub silent_words: String,
    /// Objects and lists in which a program notes how it ran. As far as nothing reads them, they are kept among the extra fields,
    /// whatever stands in them, and told once, as a note; written like `silent`.
    #[serde(default)]
    pub kept_whole: String,
    /// Objects whose keys are ids.
    #[serde(default)]
    pub maps: String,
}

/// What tells files of a format. Every file that nobody named a source for is held against that of all formats; the rest of a
/// format file is read by whoever reads records by it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::format) struct Signs {
    /// As [`Language::recognise`].
    pub recognise: Vec<RecordMark>,
    /// As [`Language::beside`].
    pub beside: Vec<Beside>,
    /// There where records are requests to a vendor's API.
    pub request: Option<IgnoredAny>,
}

/// What kind of room a conversation was held in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(in crate::format) enum SceneWord {
    /// One person and one assistant.
    #[default]
    Assistant,
    /// Several people, with or without agents.
    GroupChat,
    /// Nobody says: whoever speaks without a name is one person, as where there are but two.
    Unknown,
}

/// What tells a record of this format. All that is said must hold.
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
    /// Names that all stand in the elements of one list of the record, whatever it is called.
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
    /// How sure that is, from 1 (a guess) to 100 (nothing else looks like this).
    pub sure: u8,
    /// What was seen, in one clause, for reports.
    pub why: String,
}

/// A file of an export that holds no conversation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Beside {
    /// Names that stand in its records.
    pub has: Vec<String>,
    /// What it is, for counts: `Claude.ai account file`.
    pub title: String,
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
    /// All of them.
    pub(in crate::format) fn all(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Any(words) => words,
        }
    }
}

/// Where the conversation stands in the record.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct ConversationMap {
    /// The conversations of a record that holds several; the paths below then start at one of them. Of several paths the first that leads
    /// to some counts.
    pub each: Paths,
    /// What the structure of the record is called, in the column `shape`; the word `session` unless something else is said.
    pub shape: Choices,
    /// Its id.
    pub id: Paths,
    /// Its title.
    pub title: Paths,
    /// What it is about.
    pub description: Paths,
    /// The version of the format that it states.
    pub version: Paths,
    /// The model that its answers are asked of.
    pub model: Paths,
    /// What the model was told before anybody spoke.
    pub system: Texts,
    /// Definitions of tools, as a list.
    pub tools: Paths,
    /// Everybody who belongs to it, also who says nothing.
    pub people: Option<PeopleMap>,
    /// Its messages: a list, or `$` where each record is a message and those of one conversation are gathered.
    pub messages: Paths,
    /// Whether each record is a conversation of its own that is said like one message, as a question with its answers; `messages` is `$` then.
    pub alone: bool,
    /// Records that say something of the conversation, and no message, where each record is a message. The paths above are sought in them,
    /// from the last to the first: what was said last counts. The id is that of the first.
    pub header: Conditions,
    /// Whom such a record is about, where it names no conversation, as where a file lists everybody of a server: it belongs to those alone whose
    /// messages hold this word, and of the people only those belong to one who say something.
    pub about: Paths,
    /// How many messages the record says that it holds.
    pub count: Option<MapPath>,
    /// Whether files that name the same conversation are one: its parts.
    pub join: bool,
    /// Whether the newest message stands first.
    pub reversed: bool,
    /// The value by which messages are put in order, as ids that grow are: by length, then by letters. Of parts of a conversation
    /// that are joined the order is that of all.
    pub order: Paths,
    /// Its messages once more, as where a program keeps the branch that was seen last beside all of them: those that are the same are
    /// passed over.
    pub again: Paths,
    /// What is kept among its extra fields, in this order.
    pub keep: Vec<MapPath>,
}

/// Everybody who belongs to a conversation.
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

/// Who stands above whom.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct TreeMap {
    /// The id of what stands above a message. A message without this key stands below the one before it.
    pub parent: Option<MapPath>,
    /// The id of a message that is taken back, with all after it, where each record is a message: what follows stands in its place.
    pub back: Option<MapPath>,
    /// How ids begin that mean nothing stands above.
    #[serde(default)]
    pub root: Vec<String>,
    /// Messages that stand in the one above them, at any depth.
    pub below: Option<MapPath>,
    /// The id of the message that people saw last, in the record; without it, the branch of the last message is the conversation.
    #[serde(default)]
    pub visible: Paths,
}

/// Where everything stands in a message; paths start at it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct MessageMap {
    /// Its id.
    pub id: Paths,
    /// Whether ids are texts: a number is told.
    pub text_ids: bool,
    /// The conversation that it belongs to, where each record is a message.
    pub conversation: Texts,
    /// When it was said: ISO 8601, or a count since 1970 of seconds, milliseconds or microseconds.
    pub time: Paths,
    /// When it was edited: kept where it is another time than that of the message.
    pub edited: Paths,
    /// Who speaks: a word for a role, or a path to one; of several the first that holds.
    pub role: Choices,
    /// What the words for roles mean, beyond those that everybody uses; one that ends in `*` means all that begin so.
    pub roles: BTreeMap<String, Speaks>,
    /// What becomes of a message whose word for the role is not known.
    pub unknown: Unknown,
    /// Who it is.
    pub sender: Option<SenderMap>,
    /// The format's own word for what it is, for the column `source_type`.
    #[serde(rename = "type")]
    pub kind: Paths,
    /// The word that says nothing, for it is the usual one.
    pub usual_type: Option<String>,
    /// What it says, piece by piece.
    pub say: Vec<Piece>,
    /// The words of `say` once more: they are kept where they are others, and said where `say` has none.
    pub again: Option<Again>,
    /// What was said in its place, as answers that were asked for again: alternatives to it.
    pub others: Option<Others>,
    /// The words of an event, where it is one.
    pub notice: Texts,
    /// Whether it continues the assistant's message before it.
    pub joins: bool,
    /// What a record is whose message has the id of an earlier one, where each record is a message; without it, another message.
    pub repeated: Option<Repeated>,
    /// Ids of those who are mentioned.
    pub mentions: Option<MapPath>,
    /// The message that it answers.
    pub reply: Option<ReplyMap>,
    /// The call that it is the result of: a message that names one is a tool's. What a tool says is the answer, whether it names its call
    /// or not.
    pub result: Option<Answer>,
    /// The thread that it belongs to: those that say the same as an earlier message answer the first of them.
    pub thread: Paths,
    /// Messages that answer it and stand in it: they are messages of the conversation, and replies to it.
    pub answers: Paths,
    /// The earlier message that it is the new wording of, or that it adds something to: it is none itself then, where that one is there.
    pub amends: Option<AmendMap>,
    /// The model that wrote it.
    pub model: Paths,
    /// What it cost: an object in the words of any vendor's API, or where its counts stand.
    pub usage: Option<UsageMap>,
    /// What is kept among its extra fields before what nothing else reads.
    pub keep: Vec<MapPath>,
}

/// What a word for a role means.
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
    /// Nobody: an event.
    Notice,
    /// Nobody, and nothing that belongs to the conversation: it is counted, and what it holds is told as anything that nobody reads.
    Nothing,
}

/// What a record is whose message has the id of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Repeated {
    /// That message as it became: it is read in the place of the earlier one.
    Replaces,
    /// More of it, where the earlier one is the assistant's and stands right before.
    Joins,
}

/// What becomes of a message whose word for the role is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::format) enum Unknown {
    /// It is an event, which a finding tells.
    #[default]
    Notice,
    /// A person says it, which a finding tells.
    User,
    /// It is rejected.
    Reject,
}

/// Who speaks.
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
    /// Its id.
    pub call: Paths,
    /// The tool.
    pub name: Paths,
}

/// The words of a message once more.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Again {
    /// Where they stand.
    pub text: MapPath,
    /// A sentence that stands there for what has no words.
    pub placeholder: Option<String>,
    /// Whether they are said as well, and not only kept, where they are others.
    #[serde(default)]
    pub say: bool,
}

/// An earlier message that a record says anew, or adds something to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct AmendMap {
    /// The id of the earlier message.
    pub of: MapPath,
    /// What of the record is kept among the extra fields of that message.
    pub keep: Option<MapPath>,
    /// The name under which it is kept, with a number behind it: `edits` for `edits[0]`.
    pub name: String,
}

/// The message that another answers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct ReplyMap {
    /// Its id.
    pub to: Paths,
    /// The id of the conversation that it stands in, where that may be another.
    pub conversation: Option<MapPath>,
    /// What is kept among the extra fields where it stands in another conversation.
    pub keep: Option<MapPath>,
}

/// What a message cost.
#[derive(Clone, Debug, JsonSchema)]
#[serde(untagged)]
pub(in crate::format) enum UsageMap {
    /// An object in the words of any vendor's API.
    Object(MapPath),
    /// Where its counts stand.
    UsageCounts(UsageCounts),
}

string_or_table!(UsageMap: Object, UsageCounts);

/// Where the tokens of a message are counted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(in crate::format) struct UsageCounts {
    /// Tokens that were sent.
    pub input: Option<MapPath>,
    /// Tokens that were sent and that `input` does not count: they are added.
    pub input_beside: Vec<MapPath>,
    /// The share of all that were sent that came from a cache.
    pub cached: Option<MapPath>,
    /// Tokens that the model wrote.
    pub output: Option<MapPath>,
    /// Tokens that it wrote, as thoughts, and that `output` does not count: they are added.
    pub output_beside: Vec<MapPath>,
}

/// A message that is otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::format) struct Case {
    /// Where it holds.
    #[serde(default)]
    pub when: Conditions,
    /// Where it does not.
    #[serde(default)]
    pub unless: Conditions,
    /// Who speaks.
    pub role: Option<Choices>,
    /// The message's id.
    pub id: Option<Paths>,
    /// When it was said.
    pub time: Option<Paths>,
    /// Who it is.
    pub sender: Option<SenderMap>,
    /// What it says, piece by piece.
    pub say: Option<Vec<Piece>>,
    /// What was said in its place.
    pub others: Option<Others>,
    /// The words of an event.
    pub notice: Option<Texts>,
    /// Whether it continues the assistant's message before it.
    pub joins: Option<bool>,
    /// The earlier message that it is the new wording of, or that it adds something to.
    pub amends: Option<AmendMap>,
    /// The model that wrote it.
    pub model: Option<Paths>,
    /// What it cost.
    pub usage: Option<UsageMap>,
}

impl Case {
    /// A message of this case: what the case says, and for the rest what all messages have.
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
        take!(role id time say notice joins model; may be none: sender others usage amends);
        own
    }
}

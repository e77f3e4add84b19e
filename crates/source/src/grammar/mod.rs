//! How each vendor writes one message: roles, parts, calls, results, ids, usage, and definitions of tools.
//!
//! A grammar is a value, like the profile of a dialect: its id, the form of a message, and its kinds of blocks, each with a
//! condition and the way to read it. Functions in the value express what a table cannot. Layouts pass messages in and get a
//! [`Turn`] back; they do not know the names of a vendor's blocks.

mod answers;
pub(crate) mod anthropic;
mod blocks;
pub(crate) mod converse;
pub(crate) mod definitions;
pub(crate) mod frameworks;
pub(crate) mod gemini;
pub(crate) mod openai;
pub(crate) mod responses;
pub(crate) mod sharegpt;
pub(crate) mod signs;

use std::borrow::Cow;

use chatmill_diag::Limits;
use chatmill_intake::json::Value;
use chatmill_model::{MediaKind, RawJson, Vendor};

use crate::base::{Site, Turn};

pub(crate) use answers::{stream, usage, usage::UsageForm};
pub(crate) use anthropic::ANTHROPIC;
pub(crate) use converse::CONVERSE;
pub(crate) use definitions::{definition, list_of_tools, tools_of_vendor};
pub(crate) use frameworks::{ai_sdk::AI_SDK, langchain::LANGCHAIN, otel::OTEL};
pub(crate) use gemini::GEMINI;
pub(crate) use openai::{OPENAI, is_call, mistral::MISTRAL};
pub(crate) use responses::RESPONSES;
pub(crate) use sharegpt::SHAREGPT;
pub use signs::own_words;
pub(crate) use signs::{any, is_foreign, vendor_in};

/// All grammars; format files name them by their ids.
pub(crate) static GRAMMARS: &[&Grammar] = &[
    &OPENAI, &RESPONSES, &ANTHROPIC, &CONVERSE, &GEMINI, &MISTRAL, &AI_SDK, &LANGCHAIN, &OTEL, &SHAREGPT,
];

/// The grammars of blocks in lists of OpenAI's parts: gateways and tables pass blocks of other vendors through unchanged.
static IN_OPENAI: [&Grammar; 3] = [&OPENAI, &ANTHROPIC, &AI_SDK];

/// The grammars of blocks in lists that may be results: of these a block is only one with a type.
static IN_RESULTS: [&Grammar; 3] = [&OPENAI, &ANTHROPIC, &LANGCHAIN];

/// The grammars of blocks in lists of parts that frameworks write, for the same reason.
static IN_FRAMEWORKS: [&Grammar; 5] = [&AI_SDK, &OTEL, &GEMINI, &ANTHROPIC, &OPENAI];

/// A mark of messages that only one vendor has; that of a block is in the table of blocks.
#[derive(Debug)]
pub(crate) enum Sign {
    /// A field of a message.
    Field(&'static str),
    /// The type of a message, which other vendors' messages do not have.
    Item(&'static [&'static str]),
    /// Blocks with a text in this field, unless blocks that only OpenAI has are next to them: gateways add thoughts to those.
    Text(&'static str),
    /// Blocks of media with a source that has a type.
    Source,
    /// Blocks without a type, each with a single field.
    Untyped,
    /// Blocks in this list with their text in this field.
    Words(&'static str, &'static str),
    /// A sign of a whole message that only code can find.
    Own(fn(Value<'_>) -> bool),
}

/// How one vendor writes a message.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// The id, by which format files name it.
    pub id: &'static str,
    /// The program and version that it was last compared with, and the month.
    #[cfg_attr(not(test), expect(dead_code, reason = "`just drift` reads it in the source"))]
    pub verified: &'static str,
    /// Fields that a message must not have twice; the first is one that every message has.
    pub fields: &'static [&'static str],
    /// Fields that may hold the list of blocks.
    pub lists: &'static [&'static str],
    /// The signs that identify the vendor, in addition to the blocks that only it has.
    pub signs: &'static [Sign],
    /// The form of a message.
    pub message: MessageForm,
    /// The kinds of blocks. If the conditions of several are true, the first that can read the block does.
    pub blocks: &'static [BlockForm],
    /// Reads the cache mark of a block, if the vendor has such marks.
    pub cache_mark: Option<fn(&mut Turn, &str, Value<'_>)>,
    /// Whether the vendor writes one text of an answer in several blocks, as citations and long answers do.
    pub joins_texts: bool,
    /// How the vendor counts tokens, if it does.
    pub usage: Option<UsageForm>,
    /// Records in which a text describes the tools, if the vendor has such records.
    pub described: Option<Described>,
}

/// Records in which a system text describes the tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Described {
    /// The spelling of the tags around calls and results in these records; other tags are part of the text.
    pub mark: &'static str,
    /// The grammar of such a record.
    pub grammar: &'static Grammar,
    /// Reads the tools that a system text describes.
    pub tools: fn(&str, &Limits) -> Vec<RawJson>,
}

/// The form of a message.
#[derive(Debug)]
pub(crate) enum MessageForm {
    /// An object with a role and content, which is a list of blocks.
    Blocks {
        /// Whether messages have an id.
        has_id: bool,
        /// Whether the content may be a text.
        may_be_text: bool,
        /// The finding about any other content, which is read as its JSON text.
        otherwise: &'static str,
    },
    /// A form that only code can read.
    Own(fn(Value<'_>, &mut Site<'_>) -> Turn),
}

/// A kind of block.
#[derive(Debug)]
pub(crate) struct BlockForm {
    /// The condition under which a block is one of this kind.
    pub when: When,
    /// How the block is read.
    pub read: Read,
    /// Whether only this vendor has such blocks: one of them identifies it, at any place.
    pub is_sign: bool,
}

/// The condition that makes a block one of its kind.
#[derive(Debug)]
pub(crate) enum When {
    /// Its `type` is this word.
    Type(&'static str),
    /// Its `type` is one of these words.
    OneOf(&'static [&'static str]),
    /// Its `type` begins with this.
    Begins(&'static str),
    /// It has a field of this name.
    Has(&'static str),
    /// It has no `type`.
    Untyped,
    /// Its only field has this name, and the block is the value of the field.
    Key(&'static str),
}

/// How a block is read.
#[derive(Debug)]
pub(crate) enum Read {
    /// A text under the first of these keys that has one; without keys, the block itself.
    Text(&'static [&'static str]),
    /// A thought, likewise.
    Reasoning(&'static [&'static str]),
    /// A medium by its address, a string or an object with `url`, under the first of these keys that has one.
    Address(MediaKind, &'static [&'static str]),
    /// A call, by the keys of its id and its name, and the possible keys of its arguments.
    Call([&'static str; 2], &'static [&'static str]),
    /// A medium; `false` if the block has none.
    Media(MediaKind, ReadMedia),
    /// The block has no place in the model and is kept unchanged.
    Extra,
    /// An item that only this vendor has: it is a part with its raw JSON, which the vendor's own dialect writes again.
    Item(Vendor),
    /// The vendor has such blocks, but they cannot be read here.
    Unknown,
    /// A block that only code can read; `false` if it turns out to be another kind.
    Own(ReadBlock),
}

/// Reads a block at its path into a turn.
pub(crate) type ReadBlock = fn(&mut Turn, &str, Value<'_>, &mut Site<'_>) -> bool;

/// Reads a medium at its path into a turn.
pub(crate) type ReadMedia = fn(&mut Turn, &str, Value<'_>, MediaKind, &mut Site<'_>) -> bool;

impl Grammar {
    /// A grammar of messages that only code can read.
    const fn own(
        id: &'static str,
        fields: &'static [&'static str],
        read: fn(Value<'_>, &mut Site<'_>) -> Turn,
    ) -> Self {
        Self {
            id,
            verified: "",
            fields,
            lists: &["content"],
            signs: &[],
            message: MessageForm::Own(read),
            blocks: &[],
            cache_mark: None,
            joins_texts: false,
            usage: None,
            described: None,
        }
    }

    /// Whether the content of a message may be a text.
    pub(crate) const fn may_be_text(&self) -> bool {
        !matches!(
            self.message,
            MessageForm::Blocks {
                may_be_text: false,
                ..
            }
        )
    }

    /// Whether a value has the field that every message has.
    pub(crate) fn is_like_message(&self, value: Value<'_>) -> bool {
        self.fields.first().is_some_and(|key| value.get(key).is_some())
    }

    /// Returns an error with a field that a message must not have twice, and has.
    pub(crate) fn single<'d>(&self, message: Value<'d>) -> Result<(), Cow<'d, str>> {
        let mut repeated = message.duplicate_keys().into_iter();
        match repeated.find(|key| self.fields.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(key.into()),
        }
    }

    /// Whether messages have the form of OpenAI's. Mistral's differ only in their blocks.
    pub(crate) fn is_openais(&self) -> bool {
        self.is(&OPENAI) || self.is(&MISTRAL)
    }

    /// Whether this is the grammar with the id of another.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl BlockForm {
    /// A kind of block that other vendors may have, too.
    const fn of(when: When, read: Read) -> Self {
        Self {
            when,
            read,
            is_sign: false,
        }
    }
}

/// A kind of block by the word in its `type`.
const fn typed(word: &'static str, read: Read) -> BlockForm {
    BlockForm::of(When::Type(word), read)
}

/// A kind of block by the name of its only field.
const fn keyed(key: &'static str, read: Read) -> BlockForm {
    BlockForm::of(When::Key(key), read)
}

/// A kind of block that only this vendor has.
const fn only(form: BlockForm) -> BlockForm {
    BlockForm {
        is_sign: true,
        ..form
    }
}

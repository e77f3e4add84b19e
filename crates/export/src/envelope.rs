//! Envelopes: what a trainer or an evaluator wants around a rendering, and what it refuses.
//!
//! An envelope is a small file with a line in [`ENVELOPES`]. It looks at one rendering at a time and changes no turn: it
//! passes it on, puts it under other keys, or cuts it at the assistant's last turn. What its reader would refuse is left out
//! under the name of the rule.

use std::ops::Range;

use chatmill_dataset::FreeKind;
use chatmill_diag::Reason;

use crate::fields::{self, Field};
use crate::summary::FileSummary;
use crate::summary::teaching::Taught;

/// What becomes of a rendering, or the rule that forbids it.
type Wrap = for<'a> fn(&ExportRow<'a>) -> Result<Wrapped<'a>, &'static str>;

/// A format of training or evaluation files.
#[derive(Debug)]
pub struct Envelope {
    /// Its name on the command line.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Where it is specified.
    pub specification: &'static str,
    /// What a record of its files is, in Markdown.
    pub record: &'static str,
    /// What its reader would refuse and is left out, in Markdown.
    pub left_out: &'static str,
    /// Its rules: what it refuses, with what to do about it.
    pub reasons: &'static [Reason],
    /// How its reader is told which turns of the assistant are context.
    pub masking: Masking,
    /// Which judgements of answers it holds.
    pub preferences: Preferences,
    /// The dialects whose renderings it takes.
    pub dialects: &'static [&'static str],
    /// The keys of a line, which are the columns of a table.
    pub keys: &'static [(&'static str, FreeKind)],
    /// The fewest records that its reader takes for training.
    pub least_records: u64,
    /// The most records.
    pub most_records: Option<u64>,
    /// The most bytes of a file.
    pub most_bytes: Option<u64>,
    /// Whether its reader makes one table of all lines of all files, so that every file must have the same keys.
    pub is_one_table: bool,
    /// Whether a row in which nobody asks before the last answer is left out.
    pub wants_question: bool,
    /// What becomes of a rendering, or the rule that forbids it.
    pub(crate) wrap: Wrap,
    /// A further file that the reader wants beside the others: its name and its text.
    pub companion: fn(&[FileSummary]) -> Option<(&'static str, String)>,
}

impl Envelope {
    /// An envelope of conversations that takes files of any size; what it is, it says itself.
    const fn of(wrap: Wrap) -> Self {
        Self {
            id: "",
            title: "",
            specification: "",
            record: "",
            left_out: "",
            reasons: &[],
            masking: Masking::Unknown,
            preferences: Preferences::None,
            dialects: &[],
            keys: &[],
            least_records: 1,
            most_records: None,
            most_bytes: None,
            is_one_table: false,
            wants_question: false,
            wrap,
            companion: |_| None,
        }
    }
}

/// How a reader is told which turns of the assistant are context, and are not learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    /// The record says it by itself, or nobody learns from it.
    InRecord,
    /// The trainer needs this setting besides.
    Setting(&'static str),
    /// There is no way: records with such turns are left out.
    LeftOut,
    /// There is no way, and the records are written as they are.
    Unknown,
}

/// Which judgements of answers an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferences {
    /// None: it holds conversations.
    None,
    /// Of two answers, which is the better.
    Pairs,
    /// Of one answer, whether it is good.
    Labels,
}

/// A rendering with the key of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExportRow<'a> {
    /// Its conversation.
    pub conversation: &'a str,
    /// Its dialect.
    pub dialect: &'a str,
    /// The participant who is the assistant, empty for none.
    pub perspective: &'a str,
    /// Its place among the renderings of this key.
    pub ordinal: u64,
    /// Its text.
    pub content: &'a str,
    /// Bytes of it that the assistant says, in order.
    pub assistant_spans: &'a [Range<u64>],
    /// Those of them that are learned.
    pub learned_spans: &'a [Range<u64>],
    /// The same with a worse answer, where it is one of a pair.
    pub rejected: Option<&'a str>,
    /// Whether its answer is good, where somebody said so.
    pub label: Option<bool>,
}

/// What became of a rendering.
#[derive(Debug)]
pub struct Wrapped<'a> {
    /// The keys of the line in their order.
    pub fields: Vec<Field<'a>>,
    /// How many turns stand after the assistant's last one and are not in the line.
    pub turns_cut: u64,
    /// What its reader learns.
    pub taught: Taught,
}

impl<'a> Wrapped<'a> {
    fn whole(fields: Vec<Field<'a>>) -> Self {
        Self {
            fields,
            turns_cut: 0,
            taught: Taught::default(),
        }
    }

    fn teaching(self, taught: Taught) -> Self {
        Self { taught, ..self }
    }

    fn without(self, turns: usize) -> Self {
        let turns_cut = turns as u64;
        Self { turns_cut, ..self }
    }
}

mod lesson;
pub(crate) mod objections;
mod preference;
pub(crate) mod turns;

pub(crate) use lesson::notes;

/// Declares the modules, and lists the envelopes in them.
macro_rules! envelopes {
    ($($module:ident: $($envelope:ident),+;)+) => {
        $(mod $module;)+

        /// Every envelope, in the order of the documentation.
        pub static ENVELOPES: &[&Envelope] = &[$($(&$module::$envelope),+),+];
    };
}

envelopes! {
    openai_sft: OPENAI_SFT;
    openai_evals: OPENAI_EVALS;
    inspect: INSPECT;
    vertex_tuning: VERTEX_TUNING;
    bedrock_conversation: WITHOUT_TOOLS, WITH_TOOLS;
    trl_messages: TRL_MESSAGES;
    trl_prompt_completion: TRL_PROMPT_COMPLETION;
    llama_factory: LLAMA_FACTORY;
    axolotl: AXOLOTL;
    trl_dpo: TRL_DPO;
    trl_kto: TRL_KTO;
    openai_dpo: OPENAI_DPO;
    llama_factory_ranking: LLAMA_FACTORY_RANKING;
}

/// Finds an envelope by its id.
pub fn find(id: &str) -> Option<&'static Envelope> {
    ENVELOPES.iter().copied().find(|envelope| envelope.id == id)
}

/// The fields of a rendering; none where it is not an object or has a key that the envelope does not know.
fn known_fields<'a>(row: &ExportRow<'a>, envelope: &Envelope) -> Option<Vec<Field<'a>>> {
    let fields = fields::of(row.content)?;
    let is_known = |field: &Field<'_>| envelope.keys.iter().any(|(key, _)| *key == field.name);
    fields.iter().all(is_known).then_some(fields)
}

/// The JSON text of a field.
fn value<'f>(fields: &'f [Field<'_>], name: &str) -> Option<&'f str> {
    let field = fields.iter().find(|field| field.name == name)?;
    Some(&field.json)
}

/// Puts another list of messages into the fields.
fn put_messages(fields: &mut [Field<'_>], json: Option<String>) {
    let messages = fields.iter_mut().find(|field| field.name == "messages");
    if let (Some(field), Some(json)) = (messages, json) {
        field.json = json.into();
    }
}

/// The JSON text of a field of a rendering, with the rendering's lifetime.
fn borrowed<'a>(row: &ExportRow<'a>, name: &str) -> Option<&'a str> {
    let fields = fields::of(row.content)?;
    let field = fields.into_iter().find(|field| field.name == name)?;
    match field.json {
        std::borrow::Cow::Borrowed(json) => Some(json),
        std::borrow::Cow::Owned(_) => None,
    }
}

#[cfg(test)]
mod tests;

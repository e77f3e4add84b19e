//! Envelopes: the record formats of trainers and evaluators, with the rules of their readers.
//!
//! An envelope is a small file with a line in [`ENVELOPES`]; `convert` calls its function `wrap` for each rendering. An envelope changes no
//! turn: it passes the rendering on, gives it other keys, or cuts it at the assistant's last turn. A rendering that the reader would refuse
//! is left out under the name of the rule.

use std::ops::Range;

use chatmill_dataset::FreeKind;
use chatmill_diag::Reason;

use crate::fields::{self, Field};
use crate::summary::FileSummary;
use crate::summary::turn_counts::TurnCounts;

/// Makes a record of a rendering, or returns the text of the rule that forbids it.
type Wrap = for<'a> fn(&ExportRow<'a>) -> Result<Wrapped<'a>, &'static str>;

/// A format of training or evaluation files.
#[derive(Debug)]
pub struct Envelope {
    /// The name on the command line.
    pub id: &'static str,
    /// The name of the format, in a few words.
    pub title: &'static str,
    /// The specification of the format.
    pub specification: &'static str,
    /// The fields of a record, in Markdown.
    pub record: &'static str,
    /// Renderings that are left out because the reader would refuse them, in Markdown.
    pub left_out: &'static str,
    /// The rules, each with a remedy.
    pub reasons: &'static [Reason],
    /// The way in which a trainer excludes context turns from the loss.
    pub masking: Masking,
    /// The ratings of answers in its records.
    pub preferences: Preferences,
    /// The dialects with renderings that it accepts.
    pub dialects: &'static [&'static str],
    /// The profile of the first of them that its reader accepts; `None` for the default.
    pub profile: Option<&'static str>,
    /// The keys of a line, which are the columns of a table.
    pub keys: &'static [(&'static str, FreeKind)],
    /// The fewest records that its reader accepts for training.
    pub least_records: u64,
    /// The most records.
    pub most_records: Option<u64>,
    /// The most bytes of a file.
    pub most_bytes: Option<u64>,
    /// Whether its reader loads all lines of all files into one table, so that every file must have the same keys.
    pub is_one_table: bool,
    /// Whether its reader is a service that refuses any other keys.
    pub has_fixed_keys: bool,
    /// Whether its reader accepts only one file for each part.
    pub is_one_file: bool,
    /// The questions in its records.
    pub question: Question,
    /// The place of media in its records.
    pub media: MediaIn,
    /// Makes a record of a rendering, or returns the text of the rule that forbids it.
    pub(crate) wrap: Wrap,
    /// A further file that the reader needs: its name and its text.
    pub companion: fn(&[FileSummary]) -> Option<(&'static str, String)>,
}

impl Envelope {
    /// Defaults: an envelope of conversations, with files of any size.
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
            profile: None,
            keys: &[],
            least_records: 1,
            most_records: None,
            most_bytes: None,
            is_one_table: false,
            has_fixed_keys: false,
            is_one_file: false,
            question: Question::Optional,
            media: MediaIn::Parts,
            wrap,
            companion: |_| None,
        }
    }

    /// Whether its records are prompts, each with a reference.
    pub fn takes_reference(&self) -> bool {
        self.question == Question::Last
    }

    /// Whether its records are conversations that are trained on turn by turn.
    pub(crate) fn has_turns(&self) -> bool {
        self.preferences == Preferences::None && !self.takes_reference()
    }
}

/// The way in which a trainer excludes context turns from the loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    /// The record marks them, or the format is not for training.
    InRecord,
    /// The trainer needs this setting.
    Setting(&'static str),
    /// There is no way: records end before such turns, or are left out.
    CutOff,
    /// There is no known way, and the records are written unchanged.
    Unknown,
}

/// The questions in an envelope's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A row may have none, or the rules of the envelope decide.
    Optional,
    /// A message precedes the last answer: rows without one are left out.
    BeforeAnswer,
    /// The record is a prompt that ends with the question. It may have a reference, which may come from a field of the conversation's record.
    Last,
}

/// The place of media in an envelope's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaIn {
    /// In parts of a message, unchanged from the rendering.
    Parts,
    /// In the column `images`; a part without an address marks the position of each.
    Column,
    /// In the lists of the rendering.
    Lists,
    /// No place: rows with pictures are left out.
    Nowhere,
}

/// The ratings of answers in an envelope's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preferences {
    /// No ratings: the records are conversations.
    None,
    /// Two answers, the better one marked.
    Pairs,
    /// One answer, labelled good or bad.
    Labels,
}

/// A rendering with the key of its row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExportRow<'a> {
    /// The conversation.
    pub conversation: &'a str,
    /// The dialect.
    pub dialect: &'a str,
    /// The participant who is the assistant, empty for none.
    pub perspective: &'a str,
    /// The number of the rendering among those of this key.
    pub ordinal: u64,
    /// The text.
    pub content: &'a str,
    /// Ranges of bytes that are the assistant's text, in order.
    pub assistant_spans: &'a [Range<u64>],
    /// The spans that are trained on.
    pub learned_spans: &'a [Range<u64>],
    /// For a pair, the text with the rejected answer.
    pub rejected: Option<&'a str>,
    /// For a labelled answer, whether it is good.
    pub label: Option<bool>,
    /// The fields of the conversation's record without a column, as JSON; only for envelopes that take a reference.
    pub extra: Option<&'a str>,
}

/// The record that an envelope makes of a rendering.
#[derive(Debug)]
pub struct Wrapped<'a> {
    /// The keys of the line, in order.
    pub fields: Vec<Field<'a>>,
    /// The number of turns after the assistant's last one, which are not in the line.
    pub turns_cut: u64,
    /// The turns of the assistant, by their use in training.
    pub turn_counts: TurnCounts,
}

impl<'a> Wrapped<'a> {
    fn whole(fields: Vec<Field<'a>>) -> Self {
        Self {
            fields,
            turns_cut: 0,
            turn_counts: TurnCounts::default(),
        }
    }

    fn with_turn_counts(self, turn_counts: TurnCounts) -> Self {
        Self { turn_counts, ..self }
    }

    fn without_turns(self, turns: usize) -> Self {
        let turns_cut = turns as u64;
        Self { turns_cut, ..self }
    }
}

pub(crate) mod file_problems;
mod preference;
mod reference;
mod training_role;
pub(crate) mod turns;

pub(crate) use training_role::notes;

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
    openai_rft: OPENAI_RFT;
    openai_evals: OPENAI_EVALS;
    inspect: INSPECT;
    vertex_tuning: VERTEX_TUNING;
    bedrock_conversation: WITHOUT_TOOLS, WITH_TOOLS;
    trl_messages: TRL_MESSAGES;
    trl_prompt_completion: TRL_PROMPT_COMPLETION;
    trl_prompts: TRL_PROMPTS;
    verl: VERL;
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

/// The fields of a rendering; `None` if it is not an object or has a key that the envelope does not know.
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

/// Replaces the list of messages in the fields.
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

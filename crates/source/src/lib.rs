//! Input formats: one frame of bytes becomes one canonical conversation, with findings for what is odd about it.
//!
//! A source reads a frame that intake has cut and scanned. It opens nothing, links nothing and never gives up on a
//! conversation because of one message.

mod anthropic_messages;
mod arguments;
mod bedrock_converse;
mod cell;
mod chatml;
mod escapes;
mod fragments;
mod gemini_contents;
mod group_chat;
mod gryag_db;
mod hf_messages;
mod jaibber_events;
mod judged;
mod looks;
mod mapped;
mod mistral_chat;
mod notes;
mod odd_times;
mod openai_messages;
mod openai_responses;
mod parts;
mod propose;
mod reject;
mod requests;
mod roster;
mod sharegpt;
mod shown;
mod spoken;
mod suna_rows;
mod table_rows;
mod taken;
mod thoughts;
mod times;
mod turn;
mod tzurot_requests;
mod vendor;
mod weight;

use std::ops::Range;

pub use chatmill_diag::RowLedger;
use chatmill_diag::{Finding, Limits, Reject};
use chatmill_intake::Sketch;
use chatmill_intake::json::{Document, Value};
pub use chatmill_intake::table::{TableFilter, TableMap};
use chatmill_model::{Conversation, Customs};

pub use chatml::Chatml;
pub use gemini_contents::GeminiContents;
pub use group_chat::GroupChat;
pub use gryag_db::GryagDb;
pub use hf_messages::HfMessages;
pub use jaibber_events::JaibberEvents;
pub use looks::{Look, is_known as is_known_look, look};
pub use mapped::{FieldMap, MapPath, Mapped, mapped};
pub use mistral_chat::MistralChat;
pub use openai_messages::OpenaiMessages;
pub use propose::{Proposal, propose};
pub use suna_rows::SunaRows;
pub use table_rows::TableRows;
pub use tzurot_requests::TzurotRequests;

/// An input format.
pub trait Source: Sync {
    /// Its id, for example `group-chat`.
    fn id(&self) -> &'static str;

    /// What it is, for lists and documentation.
    fn about(&self) -> &'static About;

    /// Recognises its own format by what the first records hold; `None` when nothing speaks for it.
    fn detect(&self, sketch: &Sketch) -> Option<Evidence>;

    /// Reads one frame. Scan notes of the document are the engine's business, not the source's.
    fn read(&self, frame: &FrameView<'_>, limits: &Limits) -> Reading;

    /// The JSON path of the message with this index in the record's own list. Nobody asks for it where the record itself is
    /// the list, as gathered rows are: it is `$[index]` then.
    fn message_path(&self, index: u32) -> String;

    /// What is doubtful about reading records like these, where the source was named.
    fn doubts(&self, _sketch: &Sketch) -> Vec<Finding> {
        Vec::new()
    }

    /// Maps of the tables whose rows this source reads; columns get the names that the source expects.
    fn tables(&self) -> Vec<TableMap> {
        Vec::new()
    }

    /// Whether a field map says where its records hold what; no record is recognised as its own then.
    fn needs_map(&self) -> bool {
        false
    }

    /// Whether conversations of an entry that begins like this are spread over several frames. Their rows are gathered
    /// before they are read. Rows of tables are gathered always.
    fn gathers(&self, _sketch: &Sketch) -> bool {
        false
    }

    /// Cuts a frame of an entry that gathers into rows; `None` when the frame is to be read on its own, for example because
    /// it cannot be cut. The rows of one conversation come back to [`Source::read`] as one frame: an array of them.
    fn rows(&self, _document: &Document<'_>) -> Option<Vec<Row>> {
        None
    }

    /// Whether, unless the request says otherwise, files of one input that hold the same conversation are one conversation.
    fn merges(&self) -> bool {
        false
    }

    /// Whether files that hold the same conversation can become one, where the request says so: their rows are gathered by
    /// the ids of conversations.
    fn can_merge(&self) -> bool {
        self.merges()
    }
}

/// One row of a frame, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Ids of the conversations that the row belongs to: mostly one. Empty text is *the* conversation of an entry that names
    /// none; without any id the row belongs to every conversation of the entry, and makes none.
    pub keys: Vec<String>,
    /// Its bytes in the frame.
    pub span: Range<usize>,
}

impl Row {
    /// A message of a bare list: it belongs to the conversation of its entry.
    fn of_list(message: Value<'_>) -> Self {
        Self {
            keys: vec![String::new()],
            span: message.span(),
        }
    }
}

/// What a source is.
#[derive(Debug)]
pub struct About {
    /// Name for people.
    pub title: &'static str,
    /// Where the format is described.
    pub specification: &'static str,
    /// The structures that are told apart, oldest first.
    pub shapes: &'static [&'static str],
    /// What a conversation of this source can hold, in one clause.
    pub carries: &'static str,
    /// What the format is like, as far as rules and dialects have to know.
    pub customs: Customs,
}

/// Why an input is taken for a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Id of the source.
    pub source: &'static str,
    /// From 1 (a guess) to 100 (nothing else looks like this).
    pub confidence: u8,
    /// What was seen, one clause each.
    pub why: Vec<String>,
}

/// One frame as a source sees it.
#[derive(Clone, Copy, Debug)]
pub struct FrameView<'f> {
    /// The scanned frame.
    pub document: &'f Document<'f>,
    /// The original bytes.
    pub bytes: &'f [u8],
    /// Place of the first byte in the decompressed entry.
    pub start: u64,
    /// The id under which rows were gathered; none for a frame that is a record of its own, or when no id was there.
    pub key: Option<&'f str>,
}

/// What became of a frame.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The conversation; `None` when the whole frame is rejected, and then `fault` says why. Gathered rows that make no
    /// conversation (presence in a room where nobody speaks) give neither.
    pub conversation: Option<Conversation>,
    /// Why the frame is rejected. It does not stand in `findings` as well.
    pub fault: Option<Finding>,
    /// What is odd about the conversation. Positions are those before linking.
    pub findings: Vec<Finding>,
    /// Rejected messages; their findings do not stand in `findings` as well.
    pub rejects: Vec<Reject>,
    /// Where the record's rows went.
    pub rows: RowLedger,
}

impl Reading {
    /// What came of a frame: its reading, or the fault for which it is rejected whole. What assistants thought is taken out
    /// of their texts, whatever the format.
    fn of(about: &About, read: Result<Self, Box<Finding>>) -> Self {
        let mut reading = Self::stored(about, read);
        let conversation = reading.conversation.iter_mut();
        conversation
            .flat_map(|conversation| &mut conversation.messages)
            .for_each(thoughts::take_out);
        reading
    }

    /// As [`Self::of`], of a system's own store: what its texts hold goes back into it as it is.
    fn stored(about: &About, read: Result<Self, Box<Finding>>) -> Self {
        let mut reading = read.unwrap_or_else(|fault| Self {
            fault: Some(*fault),
            ..Self::default()
        });
        if let Some(conversation) = &mut reading.conversation {
            conversation.customs = about.customs;
        }
        reading
    }
}

/// Every source, in the order of the documentation.
pub static SOURCES: &[&dyn Source] = &[
    &GroupChat,
    &SunaRows,
    &GryagDb,
    &GeminiContents,
    &JaibberEvents,
    &TzurotRequests,
    &OpenaiMessages,
    &anthropic_messages::SOURCE,
    &openai_responses::SOURCE,
    &bedrock_converse::SOURCE,
    &MistralChat,
    &HfMessages,
    &sharegpt::SOURCE,
    &Chatml,
    &TableRows,
    &MAPPED,
];

/// The source `mapped` with the default map.
static MAPPED: Mapped = Mapped::plain();

/// Finds a source by its id.
pub fn find(id: &str) -> Option<&'static dyn Source> {
    SOURCES.iter().copied().find(|source| source.id() == id)
}

/// Asks every source and gives the best evidence; the first source wins a tie.
///
/// Nothing speaks for any source where the records look more like a format that none of them reads.
pub fn detect(sketch: &Sketch) -> Option<Evidence> {
    let best = SOURCES
        .iter()
        .filter_map(|source| source.detect(sketch))
        .reduce(|best, other| {
            if other.confidence > best.confidence {
                other
            } else {
                best
            }
        })?;
    let look = looks::look_of_records(sketch);
    let is_another = look.is_some_and(|look| look.confidence > best.confidence);
    (!is_another).then_some(best)
}

//! Rows in a random order. Each row gets a number that follows from the seed and the key of the row; rows are buffered, on disk if there are many,
//! and written in ascending order of these numbers. A row that is left out or added later does not change the order of the others, and the order is
//! the same in every dialect.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_dataset::{DatasetError, Spill};
use serde::{Deserialize, Serialize};

use crate::error::ExportError;
use crate::fields;
use crate::writer::{Record, RowKey, WrittenRow};

/// The number of partitions of the order, one of which is in memory at a time.
const PARTITIONS: usize = 256;
/// The most bytes of buffered rows in memory.
const MEMORY_BYTES: u64 = 64 << 20;

/// Rows that wait to be written.
pub(crate) struct Shuffle {
    seed: u64,
    spill: Spill,
    rows: u64,
}

/// A buffered row.
#[derive(Serialize, Deserialize)]
struct Waiting<'w> {
    part: usize,
    #[serde(borrow)]
    conversation: Cow<'w, str>,
    #[serde(borrow)]
    perspective: Cow<'w, str>,
    ordinal: u64,
    is_first: bool,
    form: Form,
    #[serde(borrow)]
    text: Cow<'w, str>,
    spans: [Vec<Range<u64>>; 2],
    /// The added columns as an object.
    #[serde(borrow)]
    added: Cow<'w, str>,
}

/// The form of a buffered row's text.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Form {
    Object,
    Value,
    Text,
}

impl Shuffle {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            spill: Spill::new(Spill::temporary_folder(), PARTITIONS, MEMORY_BYTES),
            rows: 0,
        }
    }

    /// Buffers a row of a part.
    pub(crate) fn push(&mut self, part: usize, row: &WrittenRow<'_>) -> Result<(), DatasetError> {
        let key = &row.key;
        let none: [&[Range<u64>]; 2] = [&[], &[]];
        let (form, text, spans) = match &row.record {
            Record::Object { line, .. } => (Form::Object, Cow::Borrowed(*line), none),
            Record::Fields(fields) => (Form::Object, Cow::Owned(fields::object(fields)), none),
            Record::Value { json, spans } => (Form::Value, Cow::Borrowed(*json), *spans),
            Record::Text { text, spans } => (Form::Text, Cow::Borrowed(*text), *spans),
        };
        let waiting = Waiting {
            part,
            conversation: key.conversation.into(),
            perspective: key.perspective.into(),
            ordinal: key.ordinal,
            is_first: key.is_first,
            form,
            text,
            spans: spans.map(<[Range<u64>]>::to_vec),
            added: fields::object(&row.added).into(),
        };
        let number = self.number(key);
        // Rows with the same key keep their order.
        let head = [number.to_be_bytes(), self.rows.to_be_bytes()].concat();
        self.rows += 1;
        let body = serde_json::to_vec(&waiting).map_err(|error| unread(&error.to_string()))?;
        self.spill
            .push(usize::from(number.to_be_bytes()[0]), &head, &body)
    }

    /// Passes every row to `visit`, with its part, in the random order.
    pub(crate) fn write(
        mut self,
        visit: &mut dyn FnMut(usize, &WrittenRow<'_>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        for partition in 0..PARTITIONS {
            let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            self.spill.drain(partition, &mut |head, body| {
                rows.push((head.to_vec(), body.to_vec()));
                Ok(())
            })?;
            rows.sort_unstable();
            for (_, body) in &rows {
                let waiting: Waiting<'_> =
                    serde_json::from_slice(body).map_err(|error| unread(&error.to_string()))?;
                visit(waiting.part, &waiting.row()?)?;
            }
        }
        Ok(())
    }

    fn number(&self, key: &RowKey<'_>) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        for word in [key.conversation, key.perspective] {
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word.as_bytes());
        }
        hasher.update(&key.ordinal.to_le_bytes());
        let hash = hasher.finalize();
        let (words, _) = hash.as_bytes().as_chunks();
        u64::from_be_bytes(*chatmill_diag::cut::at(words, 0))
    }
}

/// The error for a buffered row that cannot be read back.
fn unread(reason: &str) -> DatasetError {
    DatasetError::Corrupt {
        path: Spill::temporary_folder(),
        reason: format!("a buffered row there cannot be read: {reason}"),
    }
}

impl Waiting<'_> {
    fn row(&self) -> Result<WrittenRow<'_>, DatasetError> {
        Ok(WrittenRow {
            key: RowKey {
                conversation: &self.conversation,
                perspective: &self.perspective,
                ordinal: self.ordinal,
                is_first: self.is_first,
            },
            record: self.record()?,
            added: fields::of(&self.added).ok_or_else(|| unread("its columns are not an object"))?,
        })
    }

    fn record(&self) -> Result<Record<'_>, DatasetError> {
        let [assistant, trained] = &self.spans;
        let spans = [assistant.as_slice(), trained.as_slice()];
        Ok(match self.form {
            Form::Object => Record::Object {
                line: &self.text,
                fields: fields::of(&self.text).ok_or_else(|| unread("it is no object"))?,
            },
            Form::Value => Record::Value {
                json: &self.text,
                spans,
            },
            Form::Text => Record::Text {
                text: &self.text,
                spans,
            },
        })
    }
}

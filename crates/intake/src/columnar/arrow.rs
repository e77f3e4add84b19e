//! The messages of an Arrow file or stream, which are the same in both: a schema, dictionaries, record batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Message, MessageHeader, root_as_message};
use arrow_schema::SchemaRef;
use chatmill_diag::Limits;

use super::Batches;
use super::stored::Stored;
use crate::stream::StreamError;

/// The maximum number of rows in a returned batch.
const ROWS: usize = 1024;

/// The length of the magic bytes at the beginning of a file.
const MAGIC_BYTES: usize = 6;

/// The number of bytes in which the first message is looked for.
const HEAD_BYTES: u64 = 256;

/// Reads the batches of a file, message by message.
pub(super) struct Messages {
    stored: Stored,
    at: u64,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The record batch that is being returned in parts, and the number of rows returned so far.
    batch: Option<(RecordBatch, usize)>,
    number: u64,
    is_over: bool,
    longest: u64,
}

/// A message: its metadata, and the place and length of its body.
struct Found {
    metadata: Vec<u8>,
    body: u64,
    length: u64,
}

impl Messages {
    /// Reads the schema, which is the first message; `start` bytes are in front of it.
    pub(super) fn open(stored: Stored, start: u64, limits: &Limits) -> Result<Self, StreamError> {
        let mut messages = Self {
            stored,
            at: start,
            schema: Arc::new(arrow_schema::Schema::empty()),
            dictionaries: HashMap::new(),
            batch: None,
            number: 0,
            is_over: false,
            longest: limits.document,
        };
        let Some(found) = messages.message()? else {
            return Err(StreamError::truncated("the Arrow file holds no schema"));
        };
        let message = root(&found.metadata)?;
        let schema = message.header_as_schema();
        let schema =
            schema.ok_or_else(|| StreamError::corrupt("the Arrow file does not begin with a schema"))?;
        let schema =
            try_fb_to_schema(schema).map_err(|_| StreamError::corrupt("the schema makes no sense"))?;
        messages.schema = Arc::new(schema);
        Ok(messages)
    }

    /// The next message; `None` at the end.
    fn message(&mut self) -> Result<Option<Found>, StreamError> {
        if self.at + 8 > self.stored.length() {
            return Ok(None);
        }
        let prefix = self.stored.bytes(self.at, 8)?;
        let word = |from: usize| {
            let bytes = prefix.get(from..).and_then(<[u8]>::first_chunk::<4>);
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        // Before version 0.15 there was no marker in front of the length.
        let (length, skipped) = if word(0) == u32::MAX {
            (word(4), 8)
        } else {
            (word(0), 4)
        };
        if length == 0 {
            return Ok(None);
        }
        let metadata = self.stored.bytes(self.at + skipped, u64::from(length))?;
        let body = self.at + skipped + u64::from(length);
        let length = u64::try_from(root(&metadata)?.bodyLength());
        let length = length.map_err(|_| StreamError::corrupt("a message has a negative length"))?;
        let Some(next) = body
            .checked_add(length)
            .filter(|end| *end <= self.stored.length())
        else {
            self.is_over = true;
            let text = "a message reaches beyond the end of the file";
            return Err(StreamError::truncated(text));
        };
        self.at = next;
        Ok(Some(Found {
            metadata,
            body,
            length,
        }))
    }

    /// The next record batch as a whole.
    fn whole(&mut self) -> Result<Option<RecordBatch>, StreamError> {
        loop {
            // After an invalid message the next one can still be read, unless the length of this one is unknown.
            let before = self.at;
            let found = match self.message() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(None),
                Err(broken) => {
                    self.is_over |= self.at == before;
                    return Err(broken);
                }
            };
            let message = root(&found.metadata)?;
            if found.length > self.longest {
                let text = format!(
                    "a batch has {} bytes, the limit is {}",
                    found.length, self.longest
                );
                return Err(StreamError::unbounded(text));
            }
            let version = message.version();
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let body = self.body(&found)?;
                    let batch = message.header_as_dictionary_batch();
                    let batch = batch.ok_or_else(|| StreamError::corrupt("a dictionary makes no sense"))?;
                    if batch.data().is_some_and(|data| data.compression().is_some()) {
                        return Err(compressed());
                    }
                    read_dictionary(&body, batch, &self.schema, &mut self.dictionaries, &version)
                        .map_err(|_| StreamError::corrupt("a dictionary makes no sense"))?;
                }
                MessageHeader::RecordBatch => {
                    self.number += 1;
                    let body = self.body(&found)?;
                    let batch = message.header_as_record_batch();
                    let batch = batch.ok_or_else(|| StreamError::corrupt("it makes no sense"))?;
                    if batch.compression().is_some() {
                        return Err(compressed());
                    }
                    let schema = Arc::clone(&self.schema);
                    let batch = read_record_batch(&body, batch, schema, &self.dictionaries, None, &version);
                    return batch
                        .map(Some)
                        .map_err(|_| StreamError::corrupt("it makes no sense"));
                }
                _ => {}
            }
        }
    }

    fn body(&self, found: &Found) -> Result<Buffer, StreamError> {
        self.stored.bytes(found.body, found.length).map(Buffer::from_vec)
    }
}

impl Batches for Messages {
    fn next(&mut self) -> Option<Result<RecordBatch, StreamError>> {
        loop {
            if let Some((batch, at)) = &mut self.batch {
                let rows = batch.num_rows().saturating_sub(*at).min(ROWS);
                if rows > 0 {
                    let piece = batch.slice(*at, rows);
                    *at += rows;
                    return Some(Ok(piece));
                }
                self.batch = None;
            }
            if self.is_over {
                return None;
            }
            match self.whole() {
                Ok(Some(batch)) => self.batch = Some((batch, 0)),
                Ok(None) => self.is_over = true,
                Err(broken) => {
                    return Some(Err(broken.about(format_args!("record batch {}", self.number))));
                }
            }
        }
    }

    fn taken(&self) -> u64 {
        self.at
    }
}

/// The offset of the first message: writers pad the magic bytes with any number of zeros.
pub(super) fn behind_padding(stored: &Stored) -> Result<u64, StreamError> {
    let head = stored.bytes_up_to(0, HEAD_BYTES)?;
    let padding = head
        .iter()
        .skip(MAGIC_BYTES)
        .take_while(|byte| **byte == 0)
        .count();
    Ok((MAGIC_BYTES + padding) as u64)
}

fn root(metadata: &[u8]) -> Result<Message<'_>, StreamError> {
    root_as_message(metadata).map_err(|_| StreamError::corrupt("a message makes no sense"))
}

fn compressed() -> StreamError {
    let text = "its buffers are compressed, which is not read: write the file without compression";
    StreamError::unsupported(text)
}

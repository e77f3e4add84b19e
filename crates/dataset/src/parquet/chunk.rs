//! A column while its row group is written: values go into the current page, and full pages are compressed and kept
//! until the row group ends.
//!
//! The bytes are equal to those that the column writer of the `parquet` crate writes, plain or with a dictionary, but
//! no arrays are built in between: with them, each text was copied three times and each id hashed in every row, which
//! took a sixth of a run. Only the values decide where a page ends, so equal rows give equal files for any number of
//! threads.
//!
//! Why: docs/decisions/2026-11-22-own-parquet-page-writer.md.

mod dictionary;
mod encoder;
mod hybrid;
mod pages;

use std::io::Write;

use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::ColumnDescPtr;

use crate::parquet::compression::Compression;
use crate::parquet::key::Keys;
use pages::{Compressor, PageCounts};

pub(crate) use encoder::{Bits, Bytes, Coded, CodedKind, Encoder, Fixed};
pub(crate) use pages::Pages;

/// The uncompressed length at which a page ends with its current row, in bytes. A dictionary of this length is full,
/// and its column continues without it.
pub(crate) const PAGE_BYTES: usize = 2 << 20;
/// The maximum number of rows in a page.
pub(crate) const PAGE_ROWS: u32 = 20_000;

/// The capacity that a buffer keeps for the next page, in bytes.
const KEPT_BYTES: usize = 2 * PAGE_BYTES;

/// Empties a buffer and frees the memory that a page of usual size does not need.
fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.shrink_to(KEPT_BYTES);
}

/// The settings that all columns of a set of files share.
pub struct Context {
    /// The texts of the keys in the rows.
    pub(crate) keys: Keys,
    compressor: Compressor,
    /// Buffers for the levels and for the current page, which are reused.
    levels: Vec<u8>,
    page: Vec<u8>,
}

impl Context {
    pub(crate) fn new(compression: Compression) -> Self {
        Self {
            keys: Keys::new(),
            compressor: Compressor::new(compression),
            levels: Vec::new(),
            page: Vec::new(),
        }
    }
}

/// The position of a value in nested columns: whether it continues a list (repetition), and how deep it is (definition).
#[derive(Clone, Copy, Debug, Default)]
pub struct Nesting {
    pub(crate) repetition: u8,
    pub(crate) definition: u8,
}

impl Nesting {
    /// The position one level deeper, where an optional value is present.
    pub(crate) fn deeper(self) -> Self {
        Self {
            definition: self.definition + 1,
            ..self
        }
    }

    /// The position of an element of a list at this position.
    pub(crate) fn element(self, index: usize) -> Self {
        self.element_in(0, index)
    }

    /// The position of an element of a list that is nested in `lists` other lists. The first element continues whatever
    /// the list itself continues.
    pub(crate) fn element_in(self, lists: u8, index: usize) -> Self {
        let repetition = if index > 0 { lists + 1 } else { self.repetition };
        Self {
            repetition,
            ..self.deeper()
        }
    }
}

/// A column of the file, that is, a leaf of the schema.
pub struct Leaf<E> {
    of: ColumnDescPtr,
    /// The largest repetition and definition level; 0 where there are no levels.
    most: Nesting,
    encoder: E,
    repetitions: Vec<u8>,
    definitions: Vec<u8>,
    /// The counts of the current page.
    counts: PageCounts,
    pages: Pages,
}

impl<E: Encoder> Leaf<E> {
    pub(crate) fn new(of: ColumnDescPtr, encoder: E) -> Self {
        let [repetition, definition] =
            [of.max_rep_level(), of.max_def_level()].map(|level| level.unsigned_abs() as u8);
        Self {
            of,
            most: Nesting {
                repetition,
                definition,
            },
            encoder,
            repetitions: Vec::new(),
            definitions: Vec::new(),
            counts: PageCounts::default(),
            pages: Pages::default(),
        }
    }

    fn level(&mut self, at: Nesting) {
        self.counts.values += 1;
        if self.most.repetition > 0 {
            self.repetitions.push(at.repetition);
        }
        if self.most.definition > 0 {
            self.definitions.push(at.definition);
        }
    }

    /// Records a value at this position and returns the encoder that writes it.
    pub(crate) fn value(&mut self, at: Nesting) -> &mut E {
        self.level(at);
        &mut self.encoder
    }

    /// Records a missing value at this position.
    pub(crate) fn missing(&mut self, at: Nesting) {
        self.level(at);
        self.counts.nulls += 1;
    }

    /// Ends a row, and with it the page if that is full.
    pub(crate) fn close_row(&mut self, context: &mut Context) -> Result<()> {
        self.counts.rows += 1;
        if self.counts.rows >= PAGE_ROWS || self.encoder.bytes() >= PAGE_BYTES || self.encoder.ends_page() {
            self.end_page(context)?;
        }
        Ok(())
    }

    fn end_page(&mut self, context: &mut Context) -> Result<()> {
        let Context {
            compressor,
            levels,
            page,
            ..
        } = context;
        levels.clear();
        for (values, most) in [
            (&mut self.repetitions, self.most.repetition),
            (&mut self.definitions, self.most.definition),
        ] {
            if most > 0 {
                let at = levels.len();
                levels.extend_from_slice(&[0; 4]);
                hybrid::encode(values, hybrid::width(most.into()), levels);
                let length = (levels.len() - at - 4) as u32;
                let place = levels.split_at_mut(at).1.split_at_mut(4).0;
                place.copy_from_slice(&length.to_le_bytes());
                values.clear();
            }
        }
        let counts = std::mem::take(&mut self.counts);
        let pages = &mut self.pages;
        let ended = self.encoder.end_page(levels, page, &mut |bytes, encoding| {
            pages.add(bytes, encoding, counts, compressor)
        });
        empty(page);
        ended
    }

    /// Ends the row group and resets the column to its state before the first row.
    fn close(&mut self, context: &mut Context) -> Result<(Pages, ColumnCloseResult)> {
        if self.counts.values > 0 {
            self.end_page(context)?;
        }
        let mut pages = std::mem::take(&mut self.pages);
        let statistics = self.encoder.statistics(pages.nulls());
        let dictionary = self.encoder.dictionary();
        let close = pages.close(&self.of, dictionary, statistics, &mut context.compressor)?;
        Ok((pages, close))
    }

    /// Ends the row group and appends the column to it.
    pub(crate) fn append_to<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        context: &mut Context,
    ) -> Result<()> {
        let (pages, close) = self.close(context)?;
        group.append_column(&pages, close)
    }
}

#[cfg(test)]
mod tests;

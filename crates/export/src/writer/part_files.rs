//! The files of one part of an export: one, or several shards if the part has more bytes than a file may have.
//!
//! Shards are named as on the Hub, `train-00000-of-00003.parquet`. Their number is known only at the end, so they are renamed then.

use std::collections::BTreeSet;

use chatmill_dataset::{DatasetError, FileMeasure, Folder};

use crate::error::ExportError;
use crate::format::Format;
use crate::summary::FileSummary;
use crate::writer::pages::INDEX;
use crate::writer::{FileLayout, Writer, WrittenRow};

/// The name of the only part if nothing is divided.
pub(crate) const WHOLE: &str = "data";

/// A part that is being written.
pub(crate) struct PartFiles<'l> {
    folder: &'l Folder,
    layout: &'l FileLayout<'l>,
    /// The conversation of the last row, in the order of the dataset.
    last: Option<String>,
    shards: Vec<FileSummary>,
    open: OpenShard<'l>,
}

struct OpenShard<'l> {
    /// The facts about its content; its bytes and its hash are known at the end.
    summary: FileSummary,
    writer: Writer<'l>,
    known: BTreeSet<String>,
}

impl<'l> PartFiles<'l> {
    pub(crate) fn create(
        folder: &'l Folder,
        layout: &'l FileLayout<'l>,
        part: &str,
        begins: Option<String>,
    ) -> Result<Self, DatasetError> {
        let summary = FileSummary {
            name: match (layout.format, part) {
                (Format::Markdown, WHOLE) => INDEX.to_owned(),
                (format, part) => format!("{part}.{}", format.suffix()),
            },
            part: part.to_owned(),
            begins,
            ..FileSummary::default()
        };
        Ok(Self {
            folder,
            layout,
            last: None,
            shards: Vec::new(),
            open: OpenShard::create(folder, layout, summary)?,
        })
    }

    /// Whether a row is the first of its conversation. Rows are passed in the order of the dataset, where the rows of a conversation are
    /// adjacent.
    pub(crate) fn is_first(&mut self, conversation: &str) -> bool {
        let is_first = self.last.as_deref() != Some(conversation);
        if is_first {
            self.last = Some(conversation.to_owned());
        }
        is_first
    }

    /// Writes a row into the open file, or into a new one if that is full.
    pub(crate) fn write(&mut self, row: &WrittenRow<'_>) -> Result<(), ExportError> {
        let is_empty = self.open.summary.rows == 0;
        let most = if is_empty {
            u64::MAX
        } else {
            self.layout.shard_bytes
        };
        if !self.open.writer.write(row, most)? {
            let (full, number) = (&self.open.summary, self.shards.len() + 1);
            let summary = FileSummary {
                // No name of a part contains `+`.
                name: format!("{}+{number}.{}", full.part, self.layout.format.suffix()),
                part: full.part.clone(),
                begins: full.begins.clone(),
                ..FileSummary::default()
            };
            let next = OpenShard::create(self.folder, self.layout, summary)?;
            let full = std::mem::replace(&mut self.open, next);
            self.shards.push(full.finish()?);
            self.open.writer.write(row, u64::MAX)?;
        }
        self.open.account(row);
        Ok(())
    }

    /// Closes the last file, and returns the summaries of all.
    pub(crate) fn finish(self) -> Result<Vec<FileSummary>, DatasetError> {
        let (mut shards, suffix) = (self.shards, self.layout.format.suffix());
        shards.push(self.open.finish()?);
        let count = shards.len();
        for (number, shard) in shards.iter_mut().enumerate().filter(|_| count > 1) {
            let name = format!("{}-{number:05}-of-{count:05}.{suffix}", shard.part);
            self.folder.rename(&shard.name, &name)?;
            shard.name = name;
        }
        Ok(shards)
    }
}

impl<'l> OpenShard<'l> {
    fn create(
        folder: &'l Folder,
        layout: &'l FileLayout<'l>,
        summary: FileSummary,
    ) -> Result<Self, DatasetError> {
        Ok(Self {
            writer: Writer::create(folder, &summary.name, layout)?,
            summary,
            known: BTreeSet::new(),
        })
    }

    fn account(&mut self, row: &WrittenRow<'_>) {
        let added = row.added.iter().map(|field| &*field.name);
        for key in row.record.keys().into_iter().map(|(key, _)| key).chain(added) {
            if is_new(&mut self.known, key) {
                self.summary.keys.push(key.to_owned());
            }
        }
        self.summary.conversations += u64::from(row.key.is_first);
        self.summary.rows += 1;
    }

    fn finish(mut self) -> Result<FileSummary, DatasetError> {
        let pages = self.writer.pages();
        let FileMeasure { bytes, hash } = self.writer.finish()?;
        Ok(FileSummary {
            bytes,
            hash,
            pages,
            ..self.summary
        })
    }
}

/// Adds a text to a set, and returns whether it is new. A known text is not copied.
pub(crate) fn is_new(known: &mut BTreeSet<String>, text: &str) -> bool {
    !known.contains(text) && known.insert(text.to_owned())
}

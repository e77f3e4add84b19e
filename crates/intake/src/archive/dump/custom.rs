//! The custom format: blocks of data after the table of contents, read in the order of the file.
//!
//! Each block names its entry in the table of contents and consists of chunks with their lengths in front; together
//! they are one compressed stream. A dump that was written through a shell redirection may end with a second copy of
//! its table of contents.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex};

use super::contents::{Contents, Format, Holds, entries};
use super::fields::{Fields, Layout};
use super::{Awaited, lone_contents};
use crate::archive::label::Labels;
use crate::archive::{Member, MemberBody};
use crate::stream::{Buffered, ReadBudget, StreamError, lock, within};
use crate::unpack::unpacked;

/// The kind of a block of rows.
const ROWS: u8 = 1;
/// The kind of a block of large objects.
const LARGE_OBJECTS: u8 = 3;
/// The first byte of a second table of contents: the sign of its number of entries.
const CONTENTS_AGAIN: u8 = 0;

/// The bytes of the archive, shared between the walk and the body of the current table.
struct Blocks {
    bytes: Buffered,
    layout: Layout,
    /// Unread bytes of the current chunk.
    left: u64,
    /// Whether the current block may have further chunks.
    is_open: bool,
    /// The message for bytes that end inside the current block.
    end: String,
    /// Whether an error occurred; nothing is read after it.
    has_failed: bool,
}

impl Blocks {
    /// Begins a block.
    fn open(&mut self, name: &str) {
        self.is_open = true;
        self.left = 0;
        self.end = format!("the dump ends inside the data of {name}");
    }

    /// Whether the current block has unread bytes; begins the next chunk if needed.
    fn has_more(&mut self) -> Result<bool, StreamError> {
        if self.is_open && self.left == 0 {
            self.left = Fields::new(&mut self.bytes, self.layout, &self.end).count()?;
            self.is_open = self.left > 0;
        }
        Ok(self.is_open)
    }

    fn take(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_failed || buffer.is_empty() || !self.has_more()? {
            return Ok(0);
        }
        let count = self.bytes.read(within(buffer, self.left))?;
        if count == 0 {
            // Reading one more byte gives the right error for the end.
            Fields::new(&mut self.bytes, self.layout, &self.end).byte()?;
        }
        self.left -= count as u64;
        Ok(count)
    }

    /// Skips the rest of the current block.
    fn finish(&mut self) -> Result<(), StreamError> {
        while self.has_more()? {
            Fields::new(&mut self.bytes, self.layout, &self.end).skip_bytes(self.left)?;
            self.left = 0;
        }
        Ok(())
    }

    /// The kind of the next block; `None` at the end of the archive.
    fn next_kind(&mut self) -> Result<Option<u8>, StreamError> {
        self.finish()?;
        let ready = self.bytes.fill_buf()?;
        Ok(ready.first().copied())
    }

    /// Skips the kind of a block and reads the id of its entry.
    fn id(&mut self) -> Result<u64, StreamError> {
        let mut fields = Fields::new(
            &mut self.bytes,
            self.layout,
            "the dump ends before a block of data",
        );
        fields.byte()?;
        fields.count()
    }

    /// Skips large objects: each has an id, then chunks; the id 0 ends them.
    fn skip_large_objects(&mut self) -> Result<(), StreamError> {
        self.open("the large objects");
        self.is_open = false;
        while Fields::new(&mut self.bytes, self.layout, &self.end).count()? > 0 {
            self.is_open = true;
            self.finish()?;
        }
        Ok(())
    }
}

/// The stored bytes of one table.
struct Body(Arc<Mutex<Blocks>>);

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut blocks = lock(&self.0);
        let read = blocks.take(buffer);
        blocks.has_failed |= read
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        read
    }
}

/// Reads the tables of an archive in the custom format, one after the other.
pub(crate) struct Custom {
    blocks: Arc<Mutex<Blocks>>,
    contents: Contents,
    /// The index of each part, by the id that blocks name.
    ids: BTreeMap<u64, usize>,
    awaited: Awaited,
    labels: Labels,
    gauge: Arc<ReadBudget>,
    is_over: bool,
}

impl Custom {
    /// Reads the table of contents.
    pub(crate) fn open(mut bytes: Buffered, gauge: Arc<ReadBudget>) -> Result<Self, StreamError> {
        let contents = Contents::read(&mut bytes, &gauge.limits)?;
        if contents.format != Format::Custom {
            return Err(lone_contents());
        }
        let blocks = Blocks {
            bytes,
            layout: contents.layout,
            left: 0,
            is_open: false,
            end: String::new(),
            has_failed: false,
        };
        Ok(Self {
            blocks: Arc::new(Mutex::new(blocks)),
            ids: (0..)
                .zip(&contents.parts)
                .map(|(at, part)| (part.id, at))
                .collect(),
            awaited: Awaited::all(&contents.parts),
            contents,
            labels: Labels::default(),
            gauge,
            is_over: false,
        })
    }

    /// The next table, and at the end the member that reports missing tables.
    pub(crate) fn next(&mut self) -> Option<Member> {
        while !self.is_over && !lock(&self.blocks).has_failed {
            match self.step() {
                Ok(Some(member)) => return Some(member),
                Ok(None) => {}
                Err(broken) => {
                    self.is_over = true;
                    return Some(Member::broken(broken));
                }
            }
        }
        self.awaited.missing(&self.contents.parts).map(Member::broken)
    }

    /// Reads the beginning of one block; `None` for a block that is skipped.
    fn step(&mut self) -> Result<Option<Member>, StreamError> {
        let mut blocks = lock(&self.blocks);
        let kind = match blocks.next_kind()? {
            None => {
                self.is_over = true;
                return Ok(None);
            }
            Some(CONTENTS_AGAIN) => {
                self.is_over = true;
                entries(
                    &mut blocks.bytes,
                    self.contents.layout,
                    Format::Custom,
                    &self.gauge.limits,
                )?;
                self.gauge.drain(&mut blocks.bytes, "end of the dump")?;
                return Ok(None);
            }
            Some(kind @ (ROWS | LARGE_OBJECTS)) => kind,
            Some(_) => {
                return Err(StreamError::corrupt(
                    "unexpected bytes between the dump's blocks of data",
                ));
            }
        };
        let id = blocks.id()?;
        let at = self.ids.get(&id).copied();
        if let Some(at) = at {
            self.awaited.came(at);
        }
        if kind == LARGE_OBJECTS {
            blocks.skip_large_objects()?;
            return Ok(None);
        }
        let Some(part) = at.and_then(|at| self.contents.parts.get(at)) else {
            blocks.open("an unknown table");
            return Ok(Some(Member::broken(StreamError::corrupt(
                "a block of data belongs to no entry of the dump's table of contents",
            ))));
        };
        blocks.open(part.name());
        let Holds::Table(table) = &part.holds else {
            return Ok(None);
        };
        drop(blocks);
        let heading = self.labels.label(table.name.as_bytes());
        let body = MemberBody::Table(self.body(), table.clone());
        Ok(Some(Member { heading, body }))
    }

    /// The text of the block that was just opened.
    fn body(&self) -> Buffered {
        let mut stored = Buffered::new(Box::new(Body(Arc::clone(&self.blocks))));
        // For a table without rows even the header of the compression may be missing.
        match self.contents.codec {
            Some(codec) if !stored.peek(1).is_empty() => unpacked(codec, stored, &self.gauge),
            _ => stored,
        }
    }
}

//! Dumps with files that are members of an archive: the tar format, and a folder that was packed afterwards.
//!
//! The tar format has its table of contents first; in a packed folder it is wherever the packing program put it. Files
//! that may be the rows of a table wait for it in one temporary file. `restore.sql`, a script that loads the files, and
//! the files of large objects have no rows and are skipped.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read as _;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::contents::{Contents, Holds, Part};
use super::folder::ENDINGS;
use super::{Awaited, CONTENTS};
use crate::access::InputFile;
use crate::archive::label::Heading;
use crate::archive::{Member, MemberBody};
use crate::database::Spool;
use crate::stream::{Buffered, Handle, ReadBudget, StreamError};
use crate::unpack::unpacked;

/// The dump that is being read from the members of an archive, and the files of dumps that may follow.
pub(crate) struct Archived {
    gauge: Arc<ReadBudget>,
    current: Option<Packed>,
    /// Files that may belong to a dump with a table of contents that has not arrived yet.
    early: Early,
    ready: VecDeque<Member>,
}

/// A dump with a table of contents that has been read.
struct Packed {
    /// The path of its folder in the archive, up to the last slash.
    folder: String,
    /// Empty if the table of contents is broken; without it no file can be read.
    parts: Vec<Part>,
    /// The index of each part, by the name of its file.
    files: BTreeMap<String, usize>,
    awaited: Awaited,
}

impl Archived {
    pub(crate) fn new(gauge: Arc<ReadBudget>) -> Self {
        Self {
            gauge,
            current: None,
            early: Early::default(),
            ready: VecDeque::new(),
        }
    }

    /// Whether the archive has a dump.
    pub(crate) fn has_dump(&self) -> bool {
        self.current.is_some()
    }

    /// The next table, or a member that belongs to no dump. Missing tables of a dump are reported after its last file.
    pub(crate) fn next(&mut self, next: &mut dyn FnMut() -> Option<Member>) -> Option<Member> {
        loop {
            if let Some(member) = self.ready.pop_front() {
                return Some(member);
            }
            match next() {
                Some(Member {
                    heading,
                    body: MemberBody::File(bytes),
                }) => self.take(heading, bytes),
                Some(member) => return Some(member),
                None => {
                    self.early.give(None, &self.gauge, &mut self.ready);
                    let current = self.current.as_mut();
                    self.ready.extend(current.and_then(Packed::missing));
                    return self.ready.pop_front();
                }
            }
        }
    }

    /// Skips a file, puts it aside, or makes it the next member.
    fn take(&mut self, mut heading: Heading, mut bytes: Buffered) {
        let label = heading.label.clone();
        let (folder, name) = split(&label);
        let is_current = |packed: &&mut Packed| packed.folder == folder;
        if name == CONTENTS && Contents::is_of_files(bytes.peek(Contents::HEADER_BYTES)) {
            let folder = folder.to_owned();
            self.begin(folder, heading, &mut bytes);
        } else if let Some(packed) = self.current.as_mut().filter(is_current) {
            let body = packed.body(name, bytes, &mut heading, &self.gauge);
            self.ready.extend(body.map(|body| Member { heading, body }));
        } else if is_data(name) {
            if let Err((heading, broken)) = self.early.add(heading, &mut bytes, &self.gauge) {
                let body = MemberBody::broken(broken);
                self.ready.push_back(Member { heading, body });
            }
        } else {
            let body = MemberBody::File(bytes);
            self.ready.push_back(Member { heading, body });
        }
    }

    /// Begins a dump with its table of contents and the files that came before it.
    fn begin(&mut self, folder: String, heading: Heading, bytes: &mut Buffered) {
        let before = self.current.take();
        self.ready.extend(before.and_then(|mut packed| packed.missing()));
        let parts = match Contents::read(bytes, &self.gauge.limits) {
            Ok(contents) => contents.parts,
            Err(broken) => {
                let label = folder.trim_end_matches('/').to_owned();
                self.ready.push_back(Member {
                    heading: Heading { label, ..heading },
                    body: MemberBody::broken(broken),
                });
                Vec::new()
            }
        };
        let mut packed = Packed::new(folder, parts);
        let mut files = VecDeque::new();
        self.early.give(Some(&packed.folder), &self.gauge, &mut files);
        for Member { mut heading, body } in files {
            let body = match body {
                MemberBody::File(bytes) => {
                    let label = heading.label.clone();
                    packed.body(split(&label).1, bytes, &mut heading, &self.gauge)
                }
                body => Some(body),
            };
            self.ready.extend(body.map(|body| Member { heading, body }));
        }
        self.current = Some(packed);
    }
}

impl Packed {
    fn new(folder: String, parts: Vec<Part>) -> Self {
        let numbered = (0..).zip(&parts);
        Self {
            folder,
            files: numbered
                .filter_map(|(at, part)| Some((part.file.clone()?, at)))
                .collect(),
            awaited: Awaited::tables(&parts),
            parts,
        }
    }

    /// The body of a file of the dump; `None` if the file is skipped.
    fn body(
        &mut self,
        name: &str,
        bytes: Buffered,
        heading: &mut Heading,
        gauge: &Arc<ReadBudget>,
    ) -> Option<MemberBody> {
        let found = ENDINGS.iter().find_map(|(ending, codec)| {
            let at = *self.files.get(name.strip_suffix(ending)?)?;
            Some((at, self.parts.get(at)?, *codec))
        });
        let Some((at, part, codec)) = found else {
            let is_passed_over = name == "restore.sql" || is_data(name);
            return (!is_passed_over).then_some(MemberBody::File(bytes));
        };
        self.awaited.came(at);
        let Holds::Table(table) = &part.holds else {
            return None;
        };
        heading.label = format!("{}{}", self.folder, table.name);
        let bytes = match codec {
            None => bytes,
            Some(codec) => unpacked(codec, bytes, gauge),
        };
        Some(MemberBody::Table(bytes, table.clone()))
    }

    /// The member that reports the missing tables.
    fn missing(&mut self) -> Option<Member> {
        let mut member = Member::broken(self.awaited.missing(&self.parts)?);
        self.folder
            .trim_end_matches('/')
            .clone_into(&mut member.heading.label);
        Some(member)
    }
}

/// Files that came before their table of contents, in one temporary file; `limits` bounds its length.
#[derive(Default)]
struct Early {
    spool: Option<Spool>,
    files: Vec<(Heading, Range<u64>)>,
}

impl Early {
    fn add(
        &mut self,
        heading: Heading,
        bytes: &mut Buffered,
        gauge: &ReadBudget,
    ) -> Result<(), (Heading, StreamError)> {
        let spool = match self.spool.take() {
            Some(spool) => Ok(spool),
            None => Spool::new(gauge),
        };
        let added = spool.and_then(|spool| self.spool.insert(spool).add(bytes, gauge));
        match added {
            Ok(range) => {
                self.files.push((heading, range));
                Ok(())
            }
            Err(broken) => Err((heading, broken)),
        }
    }

    /// Returns the files of a folder, or all files, in their order.
    fn give(&mut self, folder: Option<&str>, gauge: &ReadBudget, ready: &mut VecDeque<Member>) {
        let is_wanted = |(heading, _): &mut (Heading, Range<u64>)| {
            folder.is_none_or(|folder| split(&heading.label).0 == folder)
        };
        let wanted: Vec<_> = self.files.extract_if(.., is_wanted).collect();
        let Some(spool) = self.spool.as_ref().filter(|_| !wanted.is_empty()) else {
            return;
        };
        let file = InputFile::open(spool.path(), &gauge.first_failure);
        let file = file.map(|file| Arc::new(Mutex::new(file)));
        for (heading, range) in wanted {
            let body = match &file {
                Ok(file) => {
                    let bytes = Handle {
                        file: Arc::clone(file),
                        at: range.start,
                    };
                    MemberBody::File(Buffered::new(Box::new(bytes.take(range.end - range.start))))
                }
                Err(error) => MemberBody::broken(StreamError::of(error)),
            };
            ready.push_back(Member { heading, body });
        }
    }
}

/// Splits the label of a member into its folder, up to the last slash, and its name.
pub(crate) fn split(label: &str) -> (&str, &str) {
    label.split_at(label.rfind('/').map_or(0, |slash| slash + 1))
}

/// Whether a file may belong to a dump that is a folder: `3367.dat.gz`, `blob_16430.dat`, `blobs_16430.toc`.
fn is_data(name: &str) -> bool {
    let mut plain = ENDINGS.iter().filter_map(|(ending, _)| name.strip_suffix(ending));
    plain.any(|plain| match plain.rsplit_once('.') {
        Some((stem, "dat")) => is_number(stem.strip_prefix("blob_").unwrap_or(stem)),
        Some((stem, "toc")) => stem == "blobs" || stem.strip_prefix("blobs_").is_some_and(is_number),
        _ => false,
    })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

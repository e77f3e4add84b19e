//! Opens an input and finds its kind: a single stream, an archive, a dump, a database or a columnar file.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::codes::UNREADABLE_INPUT;
use chatmill_diag::{Finding, Limits};

use crate::access::{FirstFailure, InputFile};
use crate::archive::dump::{Archived, Custom, Folder};
use crate::archive::label::Heading;
use crate::archive::tar::Tar;
use crate::archive::zip::Zip;
use crate::archive::{Member, MemberBody};
use crate::database::DatabaseFile;
use crate::discover::{Input, InputKind};
use crate::memory::{MemoryForm, MemoryInput};
use crate::sniff::{Container, HEAD_BYTES, sniff};
use crate::stream::{Buffered, Bytes, Raw, ReadBudget, StreamError};
use crate::unpack::unpacked;

/// The maximum number of nested compressions that are opened; more of them are an attack.
const MAX_LAYERS: usize = 8;

/// The message for a dump without rows.
const NO_ROWS: &str = "the dump holds no rows of a table";

/// The rest of an input after the current entry.
pub(super) enum Walk {
    /// A single entry without a name.
    Single(Option<Box<Member>>),
    Tar(Box<Tar>, Box<Archived>),
    Zip(Box<Zip>, Box<Archived>),
    Dump(Box<Custom>),
    DumpFolder(Box<Folder>),
    Over,
}

impl Walk {
    fn single(body: MemberBody) -> Self {
        Self::Single(Some(Box::new(Member::unnamed(body))))
    }

    fn zip(file: InputFile, gauge: &Arc<ReadBudget>) -> Self {
        let dumps = Archived::new(Arc::clone(gauge));
        Self::Zip(Box::new(Zip::open(file, Arc::clone(gauge))), Box::new(dumps))
    }

    fn broken(broken: StreamError) -> Self {
        Self::single(MemberBody::broken(broken))
    }

    pub(super) fn next(&mut self) -> Option<Member> {
        match self {
            Self::Single(member) => member.take().map(|member| *member),
            Self::Tar(tar, dumps) => dumps.next(&mut || tar.next()),
            Self::Zip(zip, dumps) => dumps.next(&mut || zip.next()),
            Self::Dump(dump) => dump.next(),
            Self::DumpFolder(dump) => dump.next(),
            Self::Over => None,
        }
    }

    /// Whether a member with this file name may follow.
    pub(super) fn may_have_member(&self, name: &str) -> bool {
        match self {
            Self::Zip(zip, _) => zip.has_member(name),
            Self::Tar(..) => true,
            _ => false,
        }
    }

    /// The message for an input without entries.
    pub(super) fn nothing(&self) -> &'static str {
        match self {
            Self::Dump(_) | Self::DumpFolder(_) => NO_ROWS,
            Self::Tar(_, dumps) | Self::Zip(_, dumps) if dumps.has_dump() => NO_ROWS,
            _ => "the archive holds no file",
        }
    }
}

/// A dump that is a member of an archive.
pub(super) struct Inner {
    /// The name of the member, with its notes until its first table takes them.
    heading: Heading,
    dump: Box<Custom>,
    /// Whether anything of it was read.
    is_begun: bool,
}

impl Inner {
    pub(super) fn new(heading: Heading, dump: Custom) -> Self {
        Self {
            heading,
            dump: Box::new(dump),
            is_begun: false,
        }
    }

    /// The next table; a dump without tables is one member.
    pub(super) fn next(&mut self) -> Option<Member> {
        let member = self.dump.next();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let member = member.or_else(|| {
            let mut empty = Member::unnamed(MemberBody::Unread(None));
            let note = nothing(NO_ROWS);
            empty.heading.notes.push(note);
            is_first.then_some(empty)
        });
        let outer = Heading {
            label: self.heading.label.clone(),
            notes: std::mem::take(&mut self.heading.notes),
        };
        Some(member?.inside(outer))
    }
}

/// The note for an input with nothing to read.
pub(super) fn nothing(message: &str) -> Finding {
    Finding::new(&chatmill_diag::codes::EMPTY_INPUT, message)
}

/// An input that was opened.
pub(super) struct Opened {
    pub(super) gauge: Arc<ReadBudget>,
    /// The stored bytes; `None` for inputs that are not read in order, or that could not be opened.
    pub(super) raw: Option<Raw>,
    /// The path of a zip, database or folder, which is not read in order.
    pub(super) path: Option<PathBuf>,
    pub(super) walk: Walk,
    /// Whether the stored bytes are the bytes of the only entry.
    pub(super) is_plain: bool,
}

impl Opened {
    /// Opens an input. A refused input is a member that cannot be read; failures of the system are recorded in the gauge.
    pub(super) fn input(input: &Input, limits: &Limits) -> Self {
        let path = input.path();
        let first_failure = FirstFailure::new(&path);
        let gauge = |length| ReadBudget::new(limits.clone(), length, first_failure.clone());
        let unopened = |_| StreamError::new(&UNREADABLE_INPUT, "the input cannot be opened");
        let opened = match &input.kind {
            InputKind::Stdin => {
                let stream = InputFile::stream(Box::new(std::io::stdin()), &first_failure);
                Ok(Self::stream(Box::new(stream), gauge(None)))
            }
            InputKind::Pipe => InputFile::pipe(&path, &first_failure)
                .map(|stream| Self::stream(Box::new(stream), gauge(None)))
                .map_err(unopened),
            InputKind::Refused(finding) => Err(StreamError::new(finding.code, finding.message.clone())),
            InputKind::Failed(failure) => {
                first_failure.note((**failure).clone());
                Err(StreamError::new(&UNREADABLE_INPUT, failure.to_string()))
            }
            InputKind::Folder => Ok(Self::folder(path, gauge(Some(input.bytes)))),
            InputKind::Memory(memory) => Ok(Self::of_memory(memory, gauge(Some(memory.length())))),
            InputKind::File => InputFile::open(&path, &first_failure)
                .map(|file| {
                    let gauge = gauge(Some(file.length()));
                    Self::file(file, &path, gauge)
                })
                .map_err(unopened),
        };
        opened.unwrap_or_else(|broken| Self::by_seeking(gauge(Some(0)), None, Walk::broken(broken)))
    }

    /// The walk over an input that is not read in order, or not at all.
    fn by_seeking(gauge: Arc<ReadBudget>, path: Option<PathBuf>, walk: Walk) -> Self {
        Self {
            gauge,
            raw: None,
            path,
            walk,
            is_plain: false,
        }
    }

    /// Reads a stream.
    pub(super) fn stream(stream: Bytes, gauge: Arc<ReadBudget>) -> Self {
        let raw = Raw::new(stream, Arc::clone(&gauge));
        let mut stored = Buffered::new(Box::new(raw.clone()));
        let is_plain = sniff(stored.peek(HEAD_BYTES)) == Container::Plain;
        let (container, bytes) = uncover(stored, &gauge);
        let walk = match container {
            Container::Tar => {
                let dumps = Archived::new(Arc::clone(&gauge));
                Walk::Tar(Box::new(Tar::new(bytes, Arc::clone(&gauge))), Box::new(dumps))
            }
            Container::Dump => {
                let dump = Custom::open(bytes, Arc::clone(&gauge));
                dump.map_or_else(Walk::broken, |dump| Walk::Dump(Box::new(dump)))
            }
            Container::Plain | Container::Database | Container::Columnar(_) => {
                Walk::single(MemberBody::File(bytes))
            }
            Container::Zip => Walk::broken(StreamError::unsupported(
                "a zip archive is read from a file only, not from a pipe or a compressed stream",
            )),
            Container::Unsupported(name, way_out) => Walk::broken(unsupported(name, way_out)),
            Container::Compressed(_) => Walk::broken(too_many_layers()),
        };
        Self {
            gauge,
            raw: Some(raw),
            path: None,
            walk,
            is_plain,
        }
    }

    /// Reads a file, with seeking if its format needs that.
    fn file(mut file: InputFile, path: &Path, gauge: Arc<ReadBudget>) -> Self {
        let own = DatabaseFile::own(path, file.length());
        let walk = match kind(&mut file) {
            Container::Zip => Walk::zip(file, &gauge),
            Container::Database => Walk::single(MemberBody::Database(own)),
            Container::Columnar(kind) => Walk::single(MemberBody::Columns(own, kind)),
            _ => return Self::stream(Box::new(file), gauge),
        };
        Self::by_seeking(gauge, Some(path.to_owned()), walk)
    }

    /// Reads an input in memory. Formats that are read with seeking are copied to a file that is unlinked at once.
    fn of_memory(memory: &MemoryInput, gauge: Arc<ReadBudget>) -> Self {
        if memory.form() == MemoryForm::Lines {
            let raw = Raw::new(memory.open(), Arc::clone(&gauge));
            let walk = Walk::single(MemberBody::Lines(Buffered::new(Box::new(raw.clone()))));
            return Self {
                gauge,
                raw: Some(raw),
                path: None,
                is_plain: true,
                walk,
            };
        }
        let mut first = Vec::new();
        let looked = memory.open().take(HEAD_BYTES as u64).read_to_end(&mut first);
        if looked.is_err() || sniff(&first) != Container::Zip {
            return Self::stream(memory.open(), gauge);
        }
        let copied = DatabaseFile::copy(&mut *memory.open(), &gauge)
            .and_then(|copy| Ok(InputFile::open(copy.path(), &gauge.first_failure)?));
        let walk = copied.map_or_else(Walk::broken, |file| Walk::zip(file, &gauge));
        Self::by_seeking(gauge, None, walk)
    }

    /// Reads a dump that is a folder.
    fn folder(path: PathBuf, gauge: Arc<ReadBudget>) -> Self {
        let dump = Folder::open(&path, Arc::clone(&gauge));
        let walk = dump.map_or_else(Walk::broken, |dump| Walk::DumpFolder(Box::new(dump)));
        Self::by_seeking(gauge, Some(path), walk)
    }
}

pub(super) fn unsupported(name: &str, way_out: &str) -> StreamError {
    StreamError::unsupported(format!("a {name} is not read: {way_out}"))
}

pub(super) fn too_many_layers() -> StreamError {
    StreamError::unsupported(format!("more than {MAX_LAYERS} nested compressions"))
}

/// Removes layers of compression until another kind of content is found.
pub(super) fn uncover(mut bytes: Buffered, gauge: &Arc<ReadBudget>) -> (Container, Buffered) {
    for _ in 0..MAX_LAYERS {
        match sniff(bytes.peek(HEAD_BYTES)) {
            Container::Compressed(codec) => bytes = unpacked(codec, bytes, gauge),
            other => return (other, bytes),
        }
    }
    (sniff(bytes.peek(HEAD_BYTES)), bytes)
}

/// The container of a file, by its first bytes. The file is rewound afterwards.
fn kind(file: &mut InputFile) -> Container {
    let mut head = Vec::new();
    let read = file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
    let back = file.seek(SeekFrom::Start(0));
    if read.is_ok() && back.is_ok() {
        sniff(&head)
    } else {
        Container::Plain
    }
}

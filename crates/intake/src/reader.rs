//! Reads one input from its first byte to its last: containers opened, entries cut into frames.
//!
//! Strictly sequential, in bounded memory, and without a panic whatever the bytes are.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chatmill_diag::codes::{EMPTY_INPUT, NESTED_ARCHIVE, NOT_A_REGULAR_FILE, UNSUPPORTED_CONTAINER};
use chatmill_diag::{Code, Finding, Limits};

use crate::archive::Member;
use crate::archive::tar::Tar;
use crate::archive::zip::Zip;
use crate::discover::{Input, InputKind, content_hash};
use crate::event::{Damage, Event, Framing, Head};
use crate::frame::Framer;
use crate::sniff::{Container, WANTED, sniff};
use crate::stream::{Broken, Buffered, Bytes, Capped, Gauge, Raw};
use crate::table::TableMap;
use crate::unpack::Unpack;

/// Compressions around one another that are opened; more of them are an attack, not an archive.
const LAYERS: usize = 8;

/// Reads one input as a sequence of events.
pub struct Reader {
    gauge: Arc<Gauge>,
    /// The stored bytes; nothing for a zip, which is read by seeking, and for what could not be opened.
    raw: Option<Raw>,
    /// The file that a zip is read from.
    zip_path: Option<PathBuf>,
    walk: Walk,
    entry: Option<Framer>,
    /// Entries begun so far.
    entries: u64,
    /// The framer's memory between entries.
    memory: Vec<u8>,
    queue: VecDeque<Event>,
    tables: Arc<[TableMap]>,
}

/// What is read after the present entry.
enum Walk {
    /// One entry without a name.
    Single(Option<Box<Member>>),
    Tar(Box<Tar>),
    Zip(Box<Zip>),
    Over,
}

impl Reader {
    /// Opens an input. What goes wrong is reported as events.
    pub fn open(input: &Input, limits: &Limits) -> Self {
        let opened: Result<Bytes, Broken> = match &input.kind {
            InputKind::Stdin => Ok(Box::new(std::io::stdin())),
            InputKind::Pipe => open(&input.path).map(|file| Box::new(file) as Bytes),
            InputKind::Refused(finding) => Err(Broken::new(finding.code, finding.message.clone())),
            InputKind::File => match open_regular(&input.path) {
                Ok((file, length)) if is_zip(&file) => {
                    let gauge = Gauge::new(limits.clone(), Some(length));
                    let walk = Walk::Zip(Box::new(Zip::open(file, Arc::clone(&gauge))));
                    return Self::new(gauge, None, Some(input.path.clone()), walk);
                }
                Ok((file, length)) => return Self::of_stream(Box::new(file), Some(length), limits),
                Err(broken) => Err(broken),
            },
        };
        match opened {
            Ok(stream) => Self::of_stream(stream, None, limits),
            Err(broken) => {
                let walk = Walk::Single(Some(Box::new(Member::broken(broken))));
                Self::new(Gauge::new(limits.clone(), Some(0)), None, None, walk)
            }
        }
    }

    /// Reads a stream; `length` is its number of stored bytes, where that is known beforehand.
    fn of_stream(stream: Bytes, length: Option<u64>, limits: &Limits) -> Self {
        let gauge = Gauge::new(limits.clone(), length);
        let raw = Raw::new(stream, Arc::clone(&gauge));
        let (container, bytes) = uncover(Buffered::new(Box::new(raw.clone())), &gauge);
        let walk = match container {
            Container::Tar => Walk::Tar(Box::new(Tar::new(bytes, Arc::clone(&gauge)))),
            Container::Plain => Walk::single(bytes),
            Container::Zip => Walk::broken(Broken::new(
                &UNSUPPORTED_CONTAINER,
                "a zip archive is read from a file only, not from a pipe or a compressed stream",
            )),
            Container::Unsupported(name) => Walk::broken(unsupported(name)),
            Container::Compressed(_) => Walk::broken(too_many_layers()),
        };
        Self::new(gauge, Some(raw), None, walk)
    }

    fn new(gauge: Arc<Gauge>, raw: Option<Raw>, zip_path: Option<PathBuf>, walk: Walk) -> Self {
        Self {
            gauge,
            raw,
            zip_path,
            walk,
            entry: None,
            entries: 0,
            memory: Vec::new(),
            queue: VecDeque::new(),
            tables: Arc::default(),
        }
    }

    /// Reads the tables that these maps name, where the input is a database or a dump of one. Only before the first event.
    #[must_use]
    pub fn with_tables(mut self, tables: Arc<[TableMap]>) -> Self {
        self.tables = tables;
        self
    }

    /// The next event, or nothing at the end. The bytes of a frame are appended to `buffer`.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> Option<Event> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some(event);
            }
            if let Some(framer) = &mut self.entry {
                if let Some(event) = framer.next(buffer) {
                    return Some(event);
                }
                self.end_entry();
            } else if !self.begin_entry() {
                return None;
            }
        }
    }

    /// Makes the entry that just began one damage, since nobody can read it; an empty entry stays as it is.
    pub fn refuse_entry(&mut self, code: &'static Code, message: String) {
        if let Some(framer) = &mut self.entry {
            framer.refuse(code, message);
        }
    }

    /// Stored bytes read so far.
    pub fn raw_bytes_read(&self) -> u64 {
        self.gauge.raw_read()
    }

    /// BLAKE3 of the stored bytes in hexadecimal, complete after the last event of a file.
    ///
    /// A zip is hashed again from its file, since it is not read in order. Nothing when the input could not be opened.
    pub fn raw_hash(&self) -> Option<String> {
        match (&self.raw, &self.zip_path) {
            (Some(raw), _) => Some(raw.hash()),
            (None, Some(path)) => content_hash(path, &mut |_| true)
                .ok()
                .flatten()
                .map(|(_, hash)| hash),
            (None, None) => None,
        }
    }

    /// Queues the start of the next entry; whether there is one.
    fn begin_entry(&mut self) -> bool {
        match self.walk.next() {
            Some(Member::Body { label, notes, body }) => self.begin_body(label, notes, body),
            Some(Member::Unread { label, notes, broken }) => self.pass_unread(label, notes, broken),
            None => return self.end_input(),
        }
        self.entries += 1;
        true
    }

    /// Queues what can be said only at the end; whether there is anything.
    fn end_input(&mut self) -> bool {
        if matches!(self.walk, Walk::Over) {
            return false;
        }
        self.walk = Walk::Over;
        if self.gauge.knows_length()
            && let Some(raw) = &mut self.raw
        {
            raw.drain();
        }
        let mut notes = self.gauge.take_notes();
        if self.entries == 0 {
            notes.push(Finding::new(&EMPTY_INPUT, "the archive holds no file"));
        }
        if notes.is_empty() {
            return false;
        }
        self.pass_unread(String::new(), notes, None);
        true
    }

    fn begin_body(&mut self, label: String, notes: Vec<Finding>, body: Buffered) {
        let nested = |name| {
            Broken::new(
                &NESTED_ARCHIVE,
                format!("the entry is a {name} inside an archive"),
            )
        };
        // The layers of a whole input were taken off before.
        let (container, body) = if matches!(self.walk, Walk::Single(_)) {
            (Container::Plain, body)
        } else {
            uncover(body, &self.gauge)
        };
        let broken = match container {
            Container::Plain => {
                let memory = std::mem::take(&mut self.memory);
                let (framer, head) = Framer::new(Box::new(body), memory, &self.gauge.limits);
                self.queue.push_back(Event::EntryStart { entry: label, head });
                self.queue.extend(notes.into_iter().map(Event::Note));
                self.entry = Some(framer);
                return;
            }
            Container::Zip => nested("zip archive"),
            Container::Tar => nested("tar archive"),
            Container::Unsupported(name) => unsupported(name),
            Container::Compressed(_) => too_many_layers(),
        };
        self.pass_unread(label, notes, Some(broken));
    }

    /// Queues an entry of which nothing is read.
    fn pass_unread(&mut self, entry: String, notes: Vec<Finding>, broken: Option<Broken>) {
        let head = Head {
            framing: Framing::Empty,
            complete: true,
            bytes: Vec::new(),
        };
        self.queue.push_back(Event::EntryStart { entry, head });
        self.queue
            .extend(notes.into_iter().chain(self.gauge.take_notes()).map(Event::Note));
        if let Some(broken) = broken {
            self.queue.push_back(Event::Damage(Damage {
                record: 0,
                start: 0,
                end: 0,
                line: 1,
                column: 1,
                code: broken.code,
                hash: blake3::hash(b"").to_hex().to_string(),
                head: Vec::new(),
                message: broken.message,
            }));
        }
        self.queue.push_back(Event::EntryEnd { decoded_bytes: 0 });
    }

    fn end_entry(&mut self) {
        let Some(framer) = self.entry.take() else { return };
        self.queue
            .extend(self.gauge.take_notes().into_iter().map(Event::Note));
        self.queue.push_back(Event::EntryEnd {
            decoded_bytes: framer.decoded(),
        });
        self.memory = framer.into_memory();
    }
}

impl Walk {
    fn single(body: Buffered) -> Self {
        Self::Single(Some(Box::new(Member::Body {
            label: String::new(),
            notes: Vec::new(),
            body,
        })))
    }

    fn broken(broken: Broken) -> Self {
        Self::Single(Some(Box::new(Member::broken(broken))))
    }

    fn next(&mut self) -> Option<Member> {
        match self {
            Self::Single(member) => member.take().map(|member| *member),
            Self::Tar(tar) => tar.next(),
            Self::Zip(zip) => zip.next(),
            Self::Over => None,
        }
    }
}

fn unsupported(name: &str) -> Broken {
    Broken::new(&UNSUPPORTED_CONTAINER, format!("a {name} is not read"))
}

fn too_many_layers() -> Broken {
    Broken::new(
        &UNSUPPORTED_CONTAINER,
        format!("more than {LAYERS} compressions around one another"),
    )
}

/// Takes compressions off until something else comes to light.
fn uncover(mut bytes: Buffered, gauge: &Arc<Gauge>) -> (Container, Buffered) {
    for _ in 0..LAYERS {
        match sniff(bytes.peek(WANTED)) {
            Container::Compressed(codec) => {
                let unpack = Unpack::new(codec, bytes, Arc::clone(gauge));
                bytes = Buffered::new(Box::new(Capped::new(unpack, Arc::clone(gauge))));
            }
            other => return (other, bytes),
        }
    }
    (sniff(bytes.peek(WANTED)), bytes)
}

fn open(path: &Path) -> Result<File, Broken> {
    File::open(path).map_err(|error| Broken::of(&error))
}

/// Opens a file that must be a regular one, and says how long it is.
fn open_regular(path: &Path) -> Result<(File, u64), Broken> {
    let file = open(path)?;
    let metadata = file.metadata().map_err(|error| Broken::of(&error))?;
    if !metadata.is_file() {
        return Err(Broken::new(
            &NOT_A_REGULAR_FILE,
            "the input is no longer a regular file",
        ));
    }
    Ok((file, metadata.len()))
}

/// Whether a file starts as a zip archive. The file stands at its start afterwards.
fn is_zip(mut file: &File) -> bool {
    let mut head = [0; 4];
    let read = file.read_exact(&mut head);
    // Where going back fails, reading fails too and says so.
    let back = file.rewind();
    read.is_ok() && back.is_ok() && sniff(&head) == Container::Zip
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

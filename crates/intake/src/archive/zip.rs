//! Reads zip archives with seeking: the central directory lists the members, and their decoded bytes verify it.
//!
//! Declared uncompressed sizes are never trusted. A zip that lost its directory because it was cut is read from the
//! headers in front of its members, as far as they are valid, and reported as truncated.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::vec;

use chatmill_diag::codes::TRUNCATED_STREAM;
use chatmill_diag::cut;
use zip::CompressionMethod;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::dump;
use super::label::{Heading, Labels};
use super::{Member, MemberBody, entry_limit};
use crate::access::InputFile;
use crate::stream::{Buffered, Capped, Handle, ReadBudget, StreamError, lock, within};
use crate::unpack::{Codec, Unpack};

/// The length of the fixed part of a local header, in bytes.
const LOCAL_HEADER: usize = 30;

/// How the bytes of a member are stored.
#[derive(Clone, Copy)]
enum Stored {
    /// Without compression, or with one that is read.
    Read(Option<Codec>),
    Encrypted,
    Link,
    Unknown,
}

/// One member as the directory lists it.
struct Listed {
    heading: Heading,
    /// The offset of its bytes; `None` if there is no local header at the listed place.
    body: Option<u64>,
    stored: Stored,
    compressed: u64,
    /// The CRC-32 of the decompressed bytes; `None` if it is only in a descriptor after the bytes.
    checksum: Option<u32>,
}

/// The file; every reader moves its position.
type Shared = Arc<Mutex<InputFile>>;

/// Reads the members of a zip archive, one after the other.
pub(crate) struct Zip {
    file: Shared,
    members: vec::IntoIter<Listed>,
    /// The error of the archive as a whole, which is reported after its members.
    broken: Option<StreamError>,
    gauge: Arc<ReadBudget>,
}

impl Zip {
    pub(crate) fn open(file: InputFile, gauge: Arc<ReadBudget>) -> Self {
        let file = Arc::new(Mutex::new(file));
        let (mut members, mut ranges) = (Vec::new(), Vec::new());
        let mut broken = match list(&file, gauge.limits.archive_entries, &mut members, &mut ranges) {
            Err(StreamError { code, .. }) if *code == TRUNCATED_STREAM => {
                members.clear();
                let mut labels = Labels::default();
                // The error that ends the salvage is not needed: the truncation is reported anyway.
                let _ = salvage(&file, gauge.limits.archive_entries, &mut labels, &mut members);
                let message = "the zip archive has no directory: entries were read from their own headers";
                Some(StreamError::truncated(message))
            }
            other => other.err(),
        };
        if overlap(&mut ranges) {
            members.clear();
            let message = "entries of the zip archive overlap one another or its directory: none is read";
            broken = Some(StreamError::corrupt(message));
        }
        Self {
            file,
            members: contents_first(members).into_iter(),
            broken,
            gauge,
        }
    }

    /// The next member, and at the end the error of the archive.
    pub(crate) fn next(&mut self) -> Option<Member> {
        match self.members.next() {
            Some(listed) => Some(self.member(listed)),
            None => self.broken.take().map(Member::broken),
        }
    }

    /// Whether a member with this file name is still to come.
    pub(crate) fn has_member(&self, name: &str) -> bool {
        let mut members = self.members.as_slice().iter();
        members.any(|listed| listed.heading.label.rsplit('/').next() == Some(name))
    }

    fn member(&self, mut listed: Listed) -> Member {
        let unsupported = |message| MemberBody::broken(StreamError::unsupported(message));
        let body = match listed.stored {
            Stored::Link => {
                let message = "the entry is a link and was not followed";
                MemberBody::not_followed(&mut listed.heading, message)
            }
            Stored::Encrypted => unsupported("the entry is encrypted"),
            Stored::Unknown => unsupported("the entry is compressed in a way that is not read"),
            Stored::Read(codec) => match self.body(&listed, codec) {
                Ok(body) => MemberBody::File(body),
                Err(broken) => MemberBody::broken(broken),
            },
        };
        Member {
            heading: listed.heading,
            body,
        }
    }

    fn body(&self, listed: &Listed, codec: Option<Codec>) -> Result<Buffered, StreamError> {
        let start = listed
            .body
            .ok_or_else(|| StreamError::corrupt("the entry's header is not at its listed place"))?;
        lock(&self.file).seek(SeekFrom::Start(start))?;
        let stored = Window {
            file: Arc::clone(&self.file),
            left: listed.compressed,
            gauge: Arc::clone(&self.gauge),
        };
        let stored = Buffered::new(Box::new(stored));
        let decoded: Box<dyn Read + Send> = match codec {
            None => Box::new(stored),
            Some(codec) => Box::new(Unpack::new(codec, stored, Arc::clone(&self.gauge))),
        };
        let capped = Capped::new(decoded, Arc::clone(&self.gauge));
        Ok(Buffered::new(Box::new(Checked {
            stream: capped,
            sum: flate2::Crc::new(),
            expected: listed.checksum,
        })))
    }
}

/// Moves the table of contents of each dump in front of its files, which can only be read as rows of tables with it.
fn contents_first(members: Vec<Listed>) -> Vec<Listed> {
    let is_contents = |listed: &Listed| dump::split(&listed.heading.label).1 == dump::CONTENTS;
    let contents = members.iter().filter(|listed| is_contents(listed));
    let folders = contents.map(|listed| (dump::split(&listed.heading.label).0.to_owned(), None));
    let mut firsts: BTreeMap<String, Option<usize>> = folders.collect();
    if firsts.is_empty() {
        return members;
    }
    let in_order = (0..).zip(members).map(|(at, listed)| {
        let first = firsts.get_mut(dump::split(&listed.heading.label).0);
        let place = first.map_or(at, |first| *first.get_or_insert(at));
        ((place, !is_contents(&listed)), listed)
    });
    let mut in_order: Vec<_> = in_order.collect();
    in_order.sort_by_key(|(place, _)| *place);
    in_order.into_iter().map(|(_, listed)| listed).collect()
}

/// Whether any two ranges share a byte. In a valid archive none do; in a hostile one, many entries may point to the
/// same compressed bytes, which would be decompressed for each of them.
fn overlap(ranges: &mut [Range<u64>]) -> bool {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut pairs = ranges.windows(2);
    pairs.any(|pair| matches!(pair, [one, next] if one.end > next.start))
}

/// Lists at most `limit` members of the directory, and the byte ranges of the members and the directory.
fn list(
    file: &Shared,
    limit: u64,
    members: &mut Vec<Listed>,
    ranges: &mut Vec<Range<u64>>,
) -> Result<(), StreamError> {
    let reader = io::BufReader::new(Handle {
        file: Arc::clone(file),
        at: 0,
    });
    let mut archive =
        ZipIterable::try_new(reader, zip::read::Config::default()).map_err(|error| opening(&error))?;
    let mut labels = Labels::default();
    let entries = archive.files().map_err(|error| opening(&error))?;
    // The directory starts at the position from which the entries are read, and only the end record follows it.
    let directory = entries.reader_mut().stream_position();
    let directory = directory?;
    ranges.push(directory..u64::MAX);
    for (number, entry) in (1_u64..).zip(entries) {
        let entry = entry.map_err(|error| match error {
            ZipError::Io(error) if error.raw_os_error().is_some() => StreamError::of(&error),
            _ => StreamError::corrupt("the zip archive's directory is corrupt: later entries are unknown"),
        })?;
        if number > limit {
            return Err(entry_limit(limit));
        }
        // The library's test decodes the name; in the format, a slash at the end marks a folder.
        if entry.name_raw().ends_with(b"/") {
            continue;
        }
        let heading = labels.label(entry.name_raw());
        let stored = if entry.encrypted() {
            Stored::Encrypted
        } else if entry.is_symlink() {
            Stored::Link
        } else {
            stored(|_, method| method == entry.compression())
        };
        let at = entry.header_start();
        // If the header cannot be read, the member has no body.
        let header = LocalHeader::read(file, at).ok().flatten();
        let body = header.map(|header| at + header.length);
        ranges.extend(body.map(|body| at..body.saturating_add(entry.compressed_size())));
        members.push(Listed {
            heading,
            body,
            stored,
            compressed: entry.compressed_size(),
            checksum: Some(entry.crc32()),
        });
    }
    Ok(())
}

/// The error for a zip archive that cannot be opened.
fn opening(error: &ZipError) -> StreamError {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => StreamError::of(error),
        ZipError::UnsupportedArchive(_) => {
            StreamError::unsupported("zip archives in several volumes are not read")
        }
        _ => StreamError::truncated("the zip archive has no readable directory"),
    }
}

/// The compression of a member, by its number or by the library's name for it.
fn stored(is_it: impl Fn(u32, CompressionMethod) -> bool) -> Stored {
    let known = [
        (0, CompressionMethod::STORE, None),
        (8, CompressionMethod::DEFLATE, Some(Codec::Deflate)),
        (12, CompressionMethod::BZIP2, Some(Codec::Bzip2)),
        (93, CompressionMethod::ZSTD, Some(Codec::Zstd)),
        (95, CompressionMethod::XZ, Some(Codec::Xz)),
    ];
    let known = known
        .into_iter()
        .find(|(number, method, _)| is_it(*number, *method));
    known.map_or(Stored::Unknown, |(_, _, codec)| Stored::Read(codec))
}

/// Lists members by their local headers, from the start of the file to the first invalid one.
fn salvage(
    file: &Shared,
    limit: u64,
    labels: &mut Labels,
    members: &mut Vec<Listed>,
) -> Result<(), StreamError> {
    let length = lock(file).length();
    let mut at = 0;
    while let Some(header) = LocalHeader::read(file, at)? {
        if members.len() as u64 >= limit {
            return Err(entry_limit(limit));
        }
        let body = at + header.length;
        // If the size is only in a descriptor after the bytes, the end of the member is found by decompressing it.
        let compressed = header.compressed.unwrap_or(length.saturating_sub(body));
        let heading = labels.label(&header.name);
        let stored = match header.stored {
            _ if header.encrypted => Stored::Encrypted,
            Stored::Read(None) if header.compressed.is_none() => Stored::Unknown,
            stored => stored,
        };
        if !header.name.ends_with(b"/") {
            let checksum = header.compressed.and(Some(header.checksum));
            members.push(Listed {
                heading,
                body: Some(body),
                stored,
                compressed,
                checksum,
            });
        }
        match header.compressed.and_then(|size| body.checked_add(size)) {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(())
}

/// The header in front of a member's bytes.
struct LocalHeader {
    /// The length of the header with name and extra fields, in bytes.
    length: u64,
    name: Vec<u8>,
    encrypted: bool,
    stored: Stored,
    checksum: u32,
    /// The length of the member in bytes; `None` if it is in a descriptor after the member or in a zip64 field.
    compressed: Option<u64>,
}

impl LocalHeader {
    /// Reads the header at `at`; `None` if there is no complete one.
    fn read(file: &Shared, at: u64) -> Result<Option<Self>, StreamError> {
        let mut handle = Handle {
            file: Arc::clone(file),
            at,
        };
        let mut fixed = [0; LOCAL_HEADER];
        if !filled(handle.read_exact(&mut fixed))? || !fixed.starts_with(b"PK\x03\x04") {
            return Ok(None);
        }
        let number = |bytes| cut::slice(&fixed, bytes).iter().copied().rev().fold(0, widen);
        let (flags, name_length) = (number(6..8), number(26..28));
        let mut name = vec![0; name_length as usize];
        if !filled(handle.read_exact(&mut name))? {
            return Ok(None);
        }
        let sized = flags & 8 == 0 && number(18..22) != u32::MAX;
        Ok(Some(Self {
            length: LOCAL_HEADER as u64 + u64::from(name_length) + u64::from(number(28..30)),
            name,
            encrypted: flags & 1 != 0,
            stored: stored(|way, _| way == number(8..10)),
            checksum: number(14..18),
            compressed: sized.then(|| u64::from(number(18..22))),
        }))
    }
}

fn widen(sum: u32, byte: u8) -> u32 {
    sum << 8 | u32::from(byte)
}

/// Whether a read filled its buffer; the end of the file is not an error here.
fn filled(read: io::Result<()>) -> Result<bool, StreamError> {
    match read {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The stored bytes of one member. The walk is sequential, so no other reader moves the position in between.
struct Window {
    file: Shared,
    left: u64,
    gauge: Arc<ReadBudget>,
}

impl Read for Window {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let space = within(buffer, self.left);
        if space.is_empty() {
            return Ok(0);
        }
        let count = lock(&self.file).read(space)?;
        if count == 0 {
            return Err(StreamError::truncated("the zip archive ends inside the entry").into());
        }
        self.left -= count as u64;
        self.gauge.count_raw(count as u64);
        Ok(count)
    }
}

/// Compares the CRC-32 of the bytes that are read with the declared one.
struct Checked<R> {
    stream: R,
    sum: flate2::Crc,
    expected: Option<u32>,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.sum.update(buffer.split_at(count).0);
        if count == 0
            && !buffer.is_empty()
            && self.expected.is_some_and(|expected| expected != self.sum.sum())
        {
            return Err(StreamError::corrupt("the entry's checksum does not match its bytes").into());
        }
        Ok(count)
    }
}

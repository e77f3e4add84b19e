//! Reads tar archives as a stream: ustar, GNU long names, pax paths and sizes.
//!
//! Sparse members are refused, because their stored bytes are not their content. Links and devices get a note.

use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use tar::{EntryType, Header};

use super::label::Labels;
use super::{Member, MemberBody, entry_limit};
use crate::stream::{Buffered, ReadBudget, StreamError, lock, within};

/// The length of a header, in bytes; bodies are padded to a multiple of it.
const BLOCK_BYTES: usize = 512;

/// The maximum length of a long name or a pax header that is read, in bytes.
const MAX_META_BYTES: u64 = 1 << 20;

/// Whether `head` starts with a tar header, which must have the right checksum.
pub(crate) fn is_header(head: &[u8]) -> bool {
    head.first_chunk::<BLOCK_BYTES>()
        .is_some_and(|block| block.first() != Some(&0) && checks_out(block))
}

/// Whether the checksum of a header is right. The checksum field counts as eight spaces.
fn checks_out(block: &[u8; BLOCK_BYTES]) -> bool {
    let sum: u32 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| u32::from(if (148..156).contains(&at) { b' ' } else { *byte }))
        .sum();
    Header::from_byte_slice(block)
        .cksum()
        .is_ok_and(|declared| declared == sum)
}

/// The bytes of the archive, shared between the walk and the body of the current member.
struct Stream {
    bytes: Buffered,
    /// Unread bytes of the current member.
    left: u64,
    /// Whether an error occurred; nothing is read after it.
    failed: bool,
}

impl Stream {
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let space = within(buffer, self.left);
        if space.is_empty() || self.failed {
            return Ok(0);
        }
        let read = self.bytes.read(space);
        let read = match read {
            Ok(0) => Err(StreamError::truncated("the archive ends inside an entry").into()),
            other => other,
        };
        match &read {
            Ok(count) => self.left -= *count as u64,
            Err(_) => self.failed = true,
        }
        read
    }

    /// Skips the rest of the current member.
    fn skip(&mut self) -> io::Result<()> {
        if self.bytes.skip_bytes(std::mem::take(&mut self.left))? {
            return Ok(());
        }
        Err(StreamError::truncated("the archive ends inside an entry").into())
    }
}

/// The body of one member.
struct Body(Arc<Mutex<Stream>>);

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        lock(&self.0).take(buffer)
    }
}

/// The values in GNU and pax headers that apply to the next member.
#[derive(Default)]
struct Overrides {
    name: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

/// Reads the members of a tar archive, one after the other.
pub(crate) struct Tar {
    stream: Arc<Mutex<Stream>>,
    /// Bytes of padding after the current member.
    padding: u64,
    entries: u64,
    labels: Labels,
    gauge: Arc<ReadBudget>,
    over: bool,
}

impl Tar {
    pub(crate) fn new(bytes: Buffered, gauge: Arc<ReadBudget>) -> Self {
        let stream = Stream {
            bytes,
            left: 0,
            failed: false,
        };
        Self {
            stream: Arc::new(Mutex::new(stream)),
            padding: 0,
            entries: 0,
            labels: Labels::default(),
            gauge,
            over: false,
        }
    }

    /// The next member that is a file, a link or an error; directories are skipped.
    pub(crate) fn next(&mut self) -> Option<Member> {
        while !self.over && !lock(&self.stream).failed {
            match self.step() {
                Ok(Some(member)) => return Some(member),
                Ok(None) => {}
                Err(error) => {
                    self.over = true;
                    return Some(Member::broken(error.into()));
                }
            }
        }
        None
    }

    /// Reads one header with its extensions; `None` for a member that is skipped.
    fn step(&mut self) -> io::Result<Option<Member>> {
        let mut overrides = Overrides::default();
        loop {
            let Some(header) = self.header()? else {
                self.over = true;
                return Ok(None);
            };
            let size = header
                .entry_size()
                .map_err(|_| StreamError::corrupt("an entry's header has no readable size"))?;
            match header.entry_type() {
                EntryType::GNULongName => {
                    let mut name = self.meta(size)?;
                    while name.last() == Some(&0) {
                        name.pop();
                    }
                    overrides.name = Some(name);
                }
                EntryType::XHeader => pax(&self.meta(size)?, &mut overrides)?,
                EntryType::GNULongLink | EntryType::XGlobalHeader => self.skip_bytes(size)?,
                kind => return self.member(&header, kind, size, overrides),
            }
        }
    }

    /// The next header; `None` at the end of the archive.
    fn header(&mut self) -> io::Result<Option<Header>> {
        let mut stream = lock(&self.stream);
        stream.skip()?;
        stream.left = self.padding;
        self.padding = 0;
        stream.skip()?;
        let block = block(&mut stream.bytes, "the archive ends without its end mark")?;
        if block.iter().all(|byte| *byte == 0) {
            // Errors in the bytes after the end still count, and anything except zeros gets a note.
            stream.bytes.skip_zeros()?;
            self.gauge.drain(&mut stream.bytes, "end of the archive")?;
            return Ok(None);
        }
        if !checks_out(&block) {
            return Err(StreamError::corrupt("an entry's header has a wrong checksum").into());
        }
        Ok(Some(Header::from_byte_slice(&block).clone()))
    }

    /// Sets the length of the body that follows.
    fn skip_bytes(&mut self, size: u64) -> io::Result<()> {
        let block = BLOCK_BYTES as u64;
        if size > u64::MAX - block {
            return Err(StreamError::corrupt("an entry's size is impossible").into());
        }
        lock(&self.stream).left = size;
        self.padding = (block - size % block) % block;
        Ok(())
    }

    /// Reads a body that describes the next member.
    fn meta(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > MAX_META_BYTES {
            return Err(StreamError::corrupt("an entry's name is longer than 1 MiB").into());
        }
        self.skip_bytes(size)?;
        let mut bytes = Vec::new();
        Body(Arc::clone(&self.stream)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn member(
        &mut self,
        header: &Header,
        kind: EntryType,
        size: u64,
        overrides: Overrides,
    ) -> io::Result<Option<Member>> {
        self.skip_bytes(overrides.size.unwrap_or(size))?;
        self.entries += 1;
        if self.entries > self.gauge.limits.archive_entries {
            return Err(entry_limit(self.gauge.limits.archive_entries).into());
        }
        let name = overrides.name.unwrap_or_else(|| header.path_bytes().into_owned());
        // Archives older than ustar mark a directory only by a slash at the end of its name.
        if kind == EntryType::Directory || (kind == EntryType::Regular && name.ends_with(b"/")) {
            return Ok(None);
        }
        let mut heading = self.labels.label(&name);
        let sparse = overrides.sparse || kind == EntryType::GNUSparse;
        if kind == EntryType::GNUSparse {
            self.skip_sparse_map(header)?;
        }
        let unsupported = |message| MemberBody::broken(StreamError::unsupported(message));
        let body = match kind {
            _ if sparse => unsupported("sparse entries are not read"),
            EntryType::Regular | EntryType::Continuous => {
                MemberBody::File(Buffered::new(Box::new(Body(Arc::clone(&self.stream)))))
            }
            EntryType::Symlink | EntryType::Link | EntryType::Char | EntryType::Block | EntryType::Fifo => {
                let message = "the entry is a link or a device and was not followed";
                MemberBody::not_followed(&mut heading, message)
            }
            _ => unsupported("the entry's type is unknown"),
        };
        Ok(Some(Member { heading, body }))
    }

    /// Skips the blocks that continue a sparse map; they are between header and body and not included in the size.
    fn skip_sparse_map(&mut self, header: &Header) -> io::Result<()> {
        /// The offset of the byte that is not 0 where another such block follows.
        const CONTINUES: usize = 504;
        let mut continues = header.as_gnu().is_some_and(tar::GnuHeader::is_extended);
        let mut stream = lock(&self.stream);
        while continues {
            let block = block(&mut stream.bytes, "the archive ends inside a sparse map")?;
            continues = block.get(CONTINUES) == Some(&1);
        }
        Ok(())
    }
}

/// Reads one block.
fn block(bytes: &mut Buffered, message: &str) -> io::Result<[u8; BLOCK_BYTES]> {
    let mut block = [0; BLOCK_BYTES];
    bytes.read_exact(&mut block).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => StreamError::truncated(message).into(),
        _ => error,
    })?;
    Ok(block)
}

/// Reads path, size and sparseness from a pax header, which has records `LENGTH KEY=VALUE\n` with any bytes in the values.
fn pax(mut bytes: &[u8], overrides: &mut Overrides) -> io::Result<()> {
    while !bytes.is_empty() {
        let (key, value, rest) =
            pax_record(bytes).ok_or_else(|| StreamError::corrupt("a pax header is malformed"))?;
        match key {
            b"path" => overrides.name = Some(value.to_vec()),
            b"size" => {
                let size = std::str::from_utf8(value).ok().and_then(|size| size.parse().ok());
                overrides.size =
                    Some(size.ok_or_else(|| StreamError::corrupt("a pax header has no readable size"))?);
            }
            key => overrides.sparse |= key.starts_with(b"GNU.sparse."),
        }
        bytes = rest;
    }
    Ok(())
}

/// The key and the value of the first record, and the remaining records.
fn pax_record(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(bytes.get(..space)?).ok()?.parse().ok()?;
    let (record, rest) = bytes.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((record.get(..equals)?, record.get(equals + 1..)?, rest))
}

//! Decompression of inputs, archive members and dumps: gzip, zstd, bzip2, xz, lz4, the raw deflate of zip members and
//! the zlib streams of database dumps; and text in UTF-16 and UTF-32, which becomes UTF-8.
//!
//! The libraries decode one member, frame or stream at a time. This module decides, in the same way for all of them,
//! whether the bytes after it are another one, padding or garbage.

mod wide;

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::{DeflateDecoder, GzDecoder};
use flate2::{Decompress, FlushDecompress, Status};
use liblzma::bufread::XzDecoder;
use liblzma::stream::Stream;
use lz4_flex::frame::FrameDecoder;
use zstd::stream::raw::{self, DParameter, InBuffer, Operation, OutBuffer};

use self::wide::Wide;
use crate::stream::{Buffered, Capped, ReadBudget, StreamError};

/// The number of bytes requested from a decoder at once. A decoder that meets corruption drops the bytes decoded in the
/// same call, so this limits the loss before the corruption.
const STEP_BYTES: usize = 16 * 1024;

/// The memory that an xz decoder needs in addition to its dictionary, in bytes.
const XZ_OVERHEAD: u64 = 32 << 20;

/// A kind of compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Deflate without header or checksum, inside a zip archive.
    Deflate,
    /// Deflate with zlib's header and checksum, inside a database dump.
    Zlib,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    Lz4,
    /// Text in UTF-16 or UTF-32, which becomes UTF-8.
    Wide,
}

impl Codec {
    /// The codecs that are recognised by the first bytes of a stream.
    pub(crate) const ALL: [Self; 6] = [
        Self::Gzip,
        Self::Zstd,
        Self::Bzip2,
        Self::Xz,
        Self::Lz4,
        Self::Wide,
    ];

    /// The name of a codec, and the first bytes of its streams if they are fixed.
    const fn about(self) -> (&'static str, &'static [u8]) {
        match self {
            Self::Deflate => ("deflate", b""),
            Self::Zlib => ("zlib", b""),
            Self::Lz4 => ("lz4", b"\x04\x22\x4D\x18"),
            Self::Gzip => ("gzip", b"\x1F\x8B"),
            Self::Zstd => ("zstd", b"\x28\xB5\x2F\xFD"),
            Self::Bzip2 => ("bzip2", b"BZh"),
            Self::Xz => ("xz", b"\xFD7zXZ\0"),
            Self::Wide => ("UTF-16 or UTF-32", b""),
        }
    }

    const fn name(self) -> &'static str {
        self.about().0
    }

    /// Whether `head` begins a stream of this kind.
    pub(crate) fn starts(self, head: &[u8]) -> bool {
        match self {
            Self::Deflate | Self::Zlib => false,
            Self::Wide => wide::starts(head),
            // A skippable frame.
            Self::Zstd if matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]) => true,
            Self::Bzip2 if !matches!(head.get(3), Some(b'1'..=b'9')) => false,
            _ => head.starts_with(self.about().1),
        }
    }

    /// Whether `rest`, the last bytes of an input, can be the beginning of another stream that was cut.
    fn is_cut_start(self, rest: &[u8]) -> bool {
        !rest.is_empty() && self.about().1.starts_with(rest)
    }
}

/// The number of bytes by which the beginning of a stream is recognised, plus one to see that it continues.
const MAGIC_BYTES: usize = 7;

/// The decoder of one member.
enum Member {
    Deflate(DeflateDecoder<Buffered>),
    Zlib(Zlib),
    Lz4(Box<FrameDecoder<Endless>>),
    Gzip(Box<GzDecoder<Buffered>>),
    Zstd(Zstd),
    Bzip2(BzDecoder<Buffered>),
    Xz(XzDecoder<Buffered>),
    Wide(Wide),
}

impl Member {
    /// Begins a member; `spare` is the context of the previous frame.
    fn start(
        codec: Codec,
        stream: Buffered,
        gauge: &Arc<ReadBudget>,
        spare: Option<Context>,
    ) -> io::Result<Self> {
        let window_log = gauge.limits.zstd_window_log;
        Ok(match codec {
            Codec::Deflate => Self::Deflate(DeflateDecoder::new(stream)),
            Codec::Zlib => Self::Zlib(Zlib::new(stream)),
            Codec::Lz4 => Self::Lz4(Box::new(FrameDecoder::new(Endless(stream)))),
            Codec::Gzip => Self::Gzip(Box::new(GzDecoder::new(stream))),
            Codec::Zstd => Self::Zstd(Zstd::new(stream, window_log, spare)?),
            Codec::Bzip2 => Self::Bzip2(BzDecoder::new(stream)),
            Codec::Wide => {
                let wide = Wide::new(stream, Arc::clone(gauge));
                Self::Wide(wide.ok_or(io::ErrorKind::InvalidData)?)
            }
            Codec::Xz => {
                let memory = (1 << window_log.min(62)) + XZ_OVERHEAD;
                Self::Xz(XzDecoder::new_stream(
                    stream,
                    Stream::new_stream_decoder(memory, 0)?,
                ))
            }
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Deflate(decoder) => decoder.read(buffer),
            Self::Zlib(decoder) => decoder.read(buffer),
            Self::Lz4(decoder) => decoder.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
            Self::Bzip2(decoder) => decoder.read(buffer),
            Self::Xz(decoder) => decoder.read(buffer),
            Self::Wide(decoder) => decoder.read(buffer),
        }
    }

    /// The bytes after the member, and the context that the next member can reuse.
    fn into_rest(self) -> (Buffered, Option<Context>) {
        let rest = match self {
            Self::Zstd(decoder) => return (decoder.stream, Some(decoder.context)),
            Self::Deflate(decoder) => decoder.into_inner(),
            Self::Zlib(decoder) => decoder.stream,
            Self::Lz4(decoder) => decoder.into_inner().0,
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.into_inner(),
            Self::Wide(decoder) => decoder.stream,
        };
        (rest, None)
    }
}

/// Decodes one zlib stream. The library's reader cannot be used, because it takes the end of its input for the end of the stream.
struct Zlib {
    stream: Buffered,
    inflate: Decompress,
    has_ended: bool,
}

impl Zlib {
    fn new(stream: Buffered) -> Self {
        Self {
            stream,
            inflate: Decompress::new(true),
            has_ended: false,
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.has_ended {
            let input = self.stream.fill_buf()?;
            let is_over = input.is_empty();
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(input, buffer, FlushDecompress::None)?;
            let consumed = usize::try_from(self.inflate.total_in() - read).unwrap_or(usize::MAX);
            let produced = usize::try_from(self.inflate.total_out() - written).unwrap_or(usize::MAX);
            self.stream.consume(consumed);
            self.has_ended = status == Status::StreamEnd;
            if produced > 0 {
                return Ok(produced);
            }
            if consumed == 0 && !self.has_ended {
                let kind = if is_over {
                    io::ErrorKind::UnexpectedEof
                } else {
                    io::ErrorKind::InvalidData
                };
                return Err(kind.into());
            }
        }
        Ok(0)
    }
}

/// The memory that libzstd allocates for a frame. It is reused, because allocating it takes longer than decoding a small frame.
type Context = raw::Decoder<'static>;

/// Decodes one zstd frame.
struct Zstd {
    stream: Buffered,
    context: Context,
    has_ended: bool,
}

impl Zstd {
    fn new(stream: Buffered, window_log: u32, spare: Option<Context>) -> io::Result<Self> {
        let context = if let Some(mut context) = spare {
            context.reinit()?;
            context
        } else {
            let mut context = Context::new()?;
            context.set_parameter(DParameter::WindowLogMax(window_log))?;
            context
        };
        Ok(Self {
            stream,
            context,
            has_ended: false,
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.has_ended {
            let input = self.stream.fill_buf()?;
            let is_over = input.is_empty();
            let mut source = InBuffer::around(input);
            let mut target = OutBuffer::around(&mut *buffer);
            let wanted = self.context.run(&mut source, &mut target)?;
            let (consumed, produced) = (source.pos(), target.pos());
            self.stream.consume(consumed);
            self.has_ended = wanted == 0;
            if produced > 0 {
                return Ok(produced);
            }
            if is_over && !self.has_ended {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// Bytes with an end that is an error: the decoder of lz4 would take an end before its end mark for the end of the stream.
struct Endless(Buffered);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(ended_early(Codec::Lz4).into()),
            count => Ok(count),
        }
    }
}

/// The error for a stream that was cut.
fn ended_early(codec: Codec) -> StreamError {
    StreamError::truncated(format!("the {} stream ends before its end mark", codec.name()))
}

/// The state of the decoder.
enum State {
    Before(Buffered),
    Inside(Member),
    Over,
}

/// Decompresses a stream of one or more members.
pub(crate) struct Unpack {
    codec: Codec,
    state: State,
    /// The number of members that were read to their end.
    members: u64,
    spare: Option<Context>,
    gauge: Arc<ReadBudget>,
}

impl Unpack {
    pub(crate) fn new(codec: Codec, stream: Buffered, gauge: Arc<ReadBudget>) -> Self {
        Self {
            codec,
            state: State::Before(stream),
            members: 0,
            spare: None,
            gauge,
        }
    }

    /// Decides whether the bytes after a member are another one, padding, garbage or the end. Concatenated streams are
    /// valid, and zeros are padding. Garbage gets a note and is not read; the cut beginning of another member is an
    /// error.
    fn between(&mut self, mut rest: Buffered) -> io::Result<State> {
        if self.members > 0 {
            rest.skip_zeros()?;
            let head = rest.peek(MAGIC_BYTES);
            if self.codec.is_cut_start(head) {
                return Err(ended_early(self.codec).into());
            }
            if !self.codec.starts(head) {
                self.gauge
                    .drain(&mut rest, &format!("{} stream", self.codec.name()))?;
                return Ok(State::Over);
            }
        }
        // The library cannot reset a decoder, so every stream allocates megabytes, even for a few bytes.
        if self.codec == Codec::Bzip2 && self.members >= self.gauge.members() {
            let message = "more bzip2 streams in a row than the limit allows";
            return Err(StreamError::unbounded(message).into());
        }
        let member = Member::start(self.codec, rest, &self.gauge, self.spare.take());
        Ok(State::Inside(member.map_err(|error| self.classify(&error))?))
    }

    /// The stream error for a decoder's error.
    fn classify(&self, error: &io::Error) -> StreamError {
        let text = error.to_string();
        let is_ours = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<StreamError>())
            .is_some();
        if is_ours || error.raw_os_error().is_some() {
            StreamError::of(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            ended_early(self.codec)
        } else if text.contains("requires too much memory") || text.contains("memory limit reached") {
            // These are messages of libzstd and liblzma; a test for each keeps the wording.
            let message = format!(
                "the {} stream asks for a larger window than the limit allows",
                self.codec.name()
            );
            StreamError::unbounded(message)
        } else {
            StreamError::corrupt(format!("the {} stream is corrupt", self.codec.name()))
        }
    }
}

impl Read for Unpack {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let length = buffer.len().min(STEP_BYTES);
        let buffer = buffer.split_at_mut(length).0;
        loop {
            self.state = match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Before(rest) => self.between(rest)?,
                State::Inside(mut member) => match member.read(buffer) {
                    Ok(0) => {
                        self.members += 1;
                        let (rest, spare) = member.into_rest();
                        self.spare = spare;
                        State::Before(rest)
                    }
                    Ok(count) => {
                        self.state = State::Inside(member);
                        return Ok(count);
                    }
                    Err(error) => return Err(self.classify(&error).into()),
                },
            };
        }
    }
}

/// Decompresses stored bytes, within the limits.
pub(crate) fn unpacked(codec: Codec, stored: Buffered, gauge: &Arc<ReadBudget>) -> Buffered {
    let unpack = Unpack::new(codec, stored, Arc::clone(gauge));
    Buffered::new(Box::new(Capped::new(unpack, Arc::clone(gauge))))
}

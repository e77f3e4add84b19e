//! Tells containers apart by their first bytes, never by a name.

use crate::unpack::Codec;

/// Bytes that the recognition wants to see.
pub(crate) const WANTED: usize = 512;

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One compressed stream.
    Compressed(Codec),
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// Something that is recognised and not read; its name.
    Unsupported(&'static str),
    /// Anything else: taken for text.
    Plain,
}

/// Beginnings of formats that are not read.
const UNSUPPORTED: &[(&[u8], &str)] = &[
    (b"7z\xBC\xAF\x27\x1C", "7z archive"),
    (b"Rar!\x1A\x07", "RAR archive"),
    (b"\x04\x22\x4D\x18", "lz4 stream"),
    (b"LZIP\x01", "lzip stream"),
    (b"\x1F\x9D", "compress (.Z) stream"),
    (b"PK\x07\x08", "zip archive in several volumes"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"PAR1", "Parquet file"),
];

/// Recognises a container by `head`, the first [`WANTED`] bytes or all there are.
pub(crate) fn sniff(head: &[u8]) -> Container {
    if let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.starts(head)) {
        return Container::Compressed(codec);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Container::Zip;
    }
    if let Some((_, name)) = UNSUPPORTED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Container::Unsupported(name);
    }
    if crate::archive::tar::is_header(head) {
        Container::Tar
    } else {
        Container::Plain
    }
}

//! Tells containers apart by their first bytes, never by a name.

use crate::archive::dump::{self, DumpTar};
use crate::archive::tar;
use crate::columnar;
use crate::database;
use crate::unpack::Codec;

/// Bytes that the recognition wants to see: a tar header, and how its first member begins.
pub(crate) const HEAD_BYTES: usize = 512 + dump::MAGIC.len();

/// What a stream holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One compressed stream.
    Compressed(Codec),
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// A tar archive that is a dump of a PostgreSQL database.
    DumpTar,
    /// A custom format dump of a PostgreSQL database.
    Dump,
    /// A database file of SQLite.
    Database,
    /// Rows in columns: Parquet or Arrow.
    Columnar(columnar::Kind),
    /// Something that is recognised and not read; its name.
    Unsupported(&'static str),
    /// Anything else: taken for text.
    Plain,
}

/// Beginnings of formats that are not read.
const UNSUPPORTED: &[(&[u8], &str)] = &[
    (b"7z\xBC\xAF\x27\x1C", "7z archive"),
    (b"Rar!\x1A\x07", "RAR archive"),
    (b"LZIP\x01", "lzip stream"),
    (b"\x1F\x9D", "compress (.Z) stream"),
    (b"PK\x07\x08", "zip archive in several volumes"),
];

/// Recognises a container by `head`, the first [`HEAD_BYTES`] bytes or all there are.
pub(crate) fn sniff(head: &[u8]) -> Container {
    if let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.starts(head)) {
        return Container::Compressed(codec);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Container::Zip;
    }
    if head.starts_with(dump::MAGIC) {
        return Container::Dump;
    }
    if head.starts_with(database::MAGIC) {
        return Container::Database;
    }
    if let Some(kind) = columnar::kind(head) {
        return Container::Columnar(kind);
    }
    if let Some((_, name)) = UNSUPPORTED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Container::Unsupported(name);
    }
    if DumpTar::starts(head) && tar::is_header(head) {
        Container::DumpTar
    } else if tar::is_header(head) {
        Container::Tar
    } else {
        Container::Plain
    }
}

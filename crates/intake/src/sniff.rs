//! Tells containers apart by their first bytes, never by a name.

use crate::archive::dump::{self, DumpTar};
use crate::archive::tar;
use crate::columnar;
use crate::database;
use crate::unpack::Codec;

/// Bytes that the recognition wants to see: a tar header, and how its first member begins.
pub(crate) const HEAD_BYTES: usize = 512 + dump::MAGIC.len();

/// The container that a stream is.
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
    /// A known format that is not read; its name.
    Unsupported(&'static str),
    /// Anything else: taken for text.
    Plain,
}

/// Beginnings that tell a container.
const MAGICS: [(&[u8], Container); 12] = [
    (b"PK\x03\x04", Container::Zip),
    (b"PK\x05\x06", Container::Zip),
    (dump::MAGIC, Container::Dump),
    (database::MAGIC, Container::Database),
    (b"PAR1", Container::Columnar(columnar::Kind::Parquet)),
    (b"ARROW1\0\0", Container::Columnar(columnar::Kind::ArrowFile)),
    (
        b"\xFF\xFF\xFF\xFF",
        Container::Columnar(columnar::Kind::ArrowStream),
    ),
    (b"7z\xBC\xAF\x27\x1C", Container::Unsupported("7z archive")),
    (b"Rar!\x1A\x07", Container::Unsupported("RAR archive")),
    (b"LZIP\x01", Container::Unsupported("lzip stream")),
    (b"\x1F\x9D", Container::Unsupported("compress (.Z) stream")),
    (
        b"PK\x07\x08",
        Container::Unsupported("zip archive in several volumes"),
    ),
];

/// Recognises a container by `head`, the first [`HEAD_BYTES`] bytes or all there are.
pub(crate) fn sniff(head: &[u8]) -> Container {
    if let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.starts(head)) {
        return Container::Compressed(codec);
    }
    if let Some((_, container)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return *container;
    }
    if DumpTar::starts(head) && tar::is_header(head) {
        Container::DumpTar
    } else if tar::is_header(head) {
        Container::Tar
    } else {
        Container::Plain
    }
}

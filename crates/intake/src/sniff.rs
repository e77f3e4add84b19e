//! Recognises containers by their first bytes, never by a name.

use crate::archive::dump;
use crate::archive::tar;
use crate::columnar;
use crate::database;
use crate::unpack::Codec;

/// The number of bytes needed for recognition: a tar header.
pub(crate) const HEAD_BYTES: usize = 512;

/// The container in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// One compressed stream.
    Compressed(Codec),
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// A custom format dump of a PostgreSQL database.
    Dump,
    /// A database file of SQLite.
    Database,
    /// A columnar file: Parquet or Arrow.
    Columnar(columnar::Kind),
    /// A known format that is not read, with its name and a way to convert it.
    Unsupported(&'static str, &'static str),
    /// Anything else, which is read as text.
    Plain,
}

/// The first bytes of containers.
const MAGICS: [(&[u8], Container); 16] = [
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
    (
        b"7z\xBC\xAF\x27\x1C",
        Container::Unsupported("7z archive", UNPACK),
    ),
    (b"Rar!\x1A\x07", Container::Unsupported("RAR archive", UNPACK)),
    (b"LZIP\x01", Container::Unsupported("lzip stream", UNPACK)),
    (
        b"\x1F\x9D",
        Container::Unsupported("compress (.Z) stream", UNPACK),
    ),
    (
        b"PK\x07\x08",
        Container::Unsupported("zip archive in several volumes", UNPACK),
    ),
    (
        b"\x6D\xE2\x99\x81",
        Container::Unsupported("mongodump archive", BSON),
    ),
    (
        b"REDIS0",
        Container::Unsupported(
            "dump of Redis (RDB)",
            "a client writes the lists of messages as JSON lines",
        ),
    ),
    (
        b"TAPE\0\0",
        Container::Unsupported(
            "backup of SQL Server",
            "`bcp` or a query writes its tables as CSV",
        ),
    ),
    (
        b"\x03\x01\0EXPORT:V",
        Container::Unsupported(
            "dump of Oracle",
            "SQLcl or SQL Developer writes its tables as CSV or JSON",
        ),
    ),
];

const UNPACK: &str = "unpack it";
const BSON: &str = "`bsondump` or `mongoexport` writes JSON lines, which are read";
const DUCKDB: &str = "its `COPY messages TO 'messages.parquet'` writes a table that is read";

/// The maximum length of a document in `MongoDB`, in bytes.
const MAX_BSON_BYTES: u32 = (16 << 20) + (16 << 10);

/// Whether this is the beginning of BSON: the length of a document, then the kind and the name of its first field.
fn is_bson(head: &[u8]) -> bool {
    let Some(([length @ .., kind], rest)) = head.split_first_chunk::<5>() else {
        return false;
    };
    let length = length
        .iter()
        .rev()
        .fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
    let name = rest.split(|byte| *byte == 0).next().unwrap_or_default();
    (8..=MAX_BSON_BYTES).contains(&length)
        && matches!(kind, 1..=19)
        && (1..rest.len().min(64)).contains(&name.len())
        && name.iter().all(u8::is_ascii_graphic)
}

/// Recognises a container by `head`: its first [`HEAD_BYTES`] bytes, or all of a shorter one.
pub(crate) fn sniff(head: &[u8]) -> Container {
    if let Some(codec) = Codec::ALL.into_iter().find(|codec| codec.starts(head)) {
        return Container::Compressed(codec);
    }
    if let Some((_, container)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return *container;
    }
    if head.get(8..12) == Some(b"DUCK") {
        Container::Unsupported("database of DuckDB", DUCKDB)
    } else if is_bson(head) {
        Container::Unsupported("dump of MongoDB (BSON)", BSON)
    } else if tar::is_header(head) {
        Container::Tar
    } else {
        Container::Plain
    }
}

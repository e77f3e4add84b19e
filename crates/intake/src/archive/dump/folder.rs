//! The folder format: a table of contents and one file per table, which may be compressed.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec;

use super::contents::{Contents, Holds, Part};
use super::{CONTENTS, DumpTable, MAGIC};
use crate::access::{self, InputFile};
use crate::archive::label::Labels;
use crate::archive::{Member, MemberBody};
use crate::stream::{Buffered, ReadBudget, StreamError};
use crate::unpack::{Codec, unpacked};

/// The suffixes that may follow the file name in the table of contents.
pub(super) const ENDINGS: [(&str, Option<Codec>); 4] = [
    ("", None),
    (".gz", Some(Codec::Gzip)),
    (".lz4", Some(Codec::Lz4)),
    (".zst", Some(Codec::Zstd)),
];

/// Whether a folder is a dump, that is, contains a table of contents.
pub(crate) fn is_folder(path: &Path) -> io::Result<bool> {
    let contents = path.join(CONTENTS);
    let head = match access::symlink_metadata(&contents) {
        Ok(metadata) if metadata.is_file() => access::head(&contents, MAGIC.len() as u64),
        Ok(_) => return Ok(false),
        Err(error) => Err(error),
    };
    match head {
        Ok(head) => Ok(head == MAGIC),
        Err(error) if access::is_of_the_system(&error) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Reads the tables of a dump that is a folder, in the order of its table of contents.
pub(crate) struct Folder {
    path: PathBuf,
    parts: vec::IntoIter<Part>,
    labels: Labels,
    gauge: Arc<ReadBudget>,
}

impl Folder {
    /// Reads the table of contents.
    pub(crate) fn open(path: &Path, gauge: Arc<ReadBudget>) -> Result<Self, StreamError> {
        let mut bytes = open(&path.join(CONTENTS), &gauge)?;
        let contents = Contents::read(&mut bytes, &gauge.limits)?;
        Ok(Self {
            path: path.to_owned(),
            parts: contents.parts.into_iter(),
            labels: Labels::default(),
            gauge,
        })
    }

    /// The next table.
    pub(crate) fn next(&mut self) -> Option<Member> {
        self.parts
            .by_ref()
            .find_map(|part| match part.holds {
                Holds::Table(table) => Some((table, part.file.unwrap_or_default())),
                Holds::Other(_) => None,
            })
            .map(|(table, file)| self.member(table, &file))
    }

    fn member(&mut self, table: DumpTable, name: &str) -> Member {
        let mut heading = self.labels.label(table.name.as_bytes());
        let body = match self.find(name) {
            Ok(Found::File(body)) => MemberBody::Table(body, table),
            Ok(Found::Link) => {
                let message = "the file with the table's rows is a link and was not followed";
                MemberBody::not_followed(&mut heading, message)
            }
            Err(broken) => MemberBody::broken(broken),
        };
        Member { heading, body }
    }

    /// Opens the file with the rows of a table. Its name comes from the dump and must not lead out of the folder.
    fn find(&self, name: &str) -> Result<Found, StreamError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if name.is_empty() || name.starts_with('.') || !name.bytes().all(is_plain) {
            return Err(StreamError::corrupt(
                "the dump's table of contents names a file outside the dump",
            ));
        }
        for (ending, codec) in ENDINGS {
            let path = self.path.join(format!("{name}{ending}"));
            match access::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    self.gauge.first_failure.at("look at", &path, &error);
                    return Err(error.into());
                }
                Ok(metadata) if !metadata.is_file() => return Ok(Found::Link),
                Ok(_) => {
                    let stored = open(&path, &self.gauge)?;
                    return Ok(Found::File(match codec {
                        None => stored,
                        Some(codec) => unpacked(codec, stored, &self.gauge),
                    }));
                }
            }
        }
        Err(StreamError::incomplete(format!(
            "the dump has no file {name} with the table's rows"
        )))
    }
}

/// What was found at the path of a table's rows.
enum Found {
    File(Buffered),
    /// A link, a folder or a device.
    Link,
}

fn open(path: &Path, gauge: &Arc<ReadBudget>) -> Result<Buffered, StreamError> {
    let file = InputFile::open(path, &gauge.first_failure)?;
    Ok(Buffered::new(Box::new(Counted {
        file,
        gauge: Arc::clone(gauge),
    })))
}

/// A reader that counts the stored bytes.
struct Counted {
    file: InputFile,
    gauge: Arc<ReadBudget>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.gauge.count_raw(count as u64);
        Ok(count)
    }
}

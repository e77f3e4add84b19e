//! What the conversations of unfinished work are compared by, and what came of it: files that end with their own hash.
//!
//! The hash is keyed with the work's fingerprint and covers the file's name, so that a file which is cut, changed or of other work
//! counts as one that is not there. What stands in the files, whoever writes them knows.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};

use crate::disk::Hashed;
use crate::disk::{self, Dir};
use crate::error::DatasetError;
use crate::publish::work::staging::Staging;
use crate::publish::work::workplace::{CLUSTERS, FAILED, LIKENESSES, LOTS, outcome_name};

/// Writes the body of a file.
pub type WriteBody<'w> = &'w mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

const HASH_BYTES: u64 = blake3::OUT_LEN as u64;

pub(crate) fn has_likenesses(root: &Dir, lot: u32) -> Result<bool, DatasetError> {
    Ok(match root.find(LOTS)? {
        Some(lots) => lots.look(outcome_name(lot, LIKENESSES))?.is_some(),
        None => false,
    })
}

impl Staging {
    /// Keeps what the conversations of a lot are compared by; that an attempt at it failed before is forgotten.
    pub fn keep_likenesses(&self, lot: u32, write: WriteBody<'_>) -> Result<(), DatasetError> {
        let lots = self.root.make(LOTS, disk::PRIVATE_FOLDER)?;
        self.keep_hashed(&lots, &outcome_name(lot, LIKENESSES), write)?;
        lots.remove_file(outcome_name(lot, FAILED))
    }

    /// Whether somebody has put down what the conversations of a lot are compared by.
    pub fn has_likenesses(&self, lot: u32) -> Result<bool, DatasetError> {
        has_likenesses(&self.root, lot)
    }

    /// Reads what the conversations of a lot are compared by; nothing where it is not there or damaged, which also removes it.
    pub fn likenesses<T>(
        &self,
        lot: u32,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<Option<T>, DatasetError> {
        match self.root.find(LOTS)? {
            Some(lots) => self.read_hashed(&lots, &outcome_name(lot, LIKENESSES), read),
            None => Ok(None),
        }
    }

    /// Keeps where each conversation stands among all.
    pub fn keep_clusters(&self, write: WriteBody<'_>) -> Result<(), DatasetError> {
        self.keep_hashed(&self.root, CLUSTERS, write)
    }

    /// Reads where each conversation stands among all; nothing where it is not there or damaged, which also removes it.
    pub fn clusters<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<Option<T>, DatasetError> {
        self.read_hashed(&self.root, CLUSTERS, read)
    }

    fn keep_hashed(&self, dir: &Dir, name: &str, write: WriteBody<'_>) -> Result<(), DatasetError> {
        dir.replace_with(name, &self.temp, &mut |file| {
            let inner = BufWriter::new(file);
            let hasher = self.hasher(name);
            let mut file = Hashed { inner, hasher };
            write(&mut file)?;
            file.inner.write_all(file.hasher.finalize().as_bytes())?;
            file.flush()
        })
    }

    fn read_hashed<T>(
        &self,
        dir: &Dir,
        name: &str,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<Option<T>, DatasetError> {
        let Some(file) = dir.read_file(name)? else {
            return Ok(None);
        };
        let body = file.length().saturating_sub(HASH_BYTES);
        let mut file = BufReader::new(file);
        let inner = (&mut file).take(body);
        let hasher = self.hasher(name);
        let mut passing = Hashed { inner, hasher };
        let found = read(&mut passing);
        let is_all = passing.inner.limit() == 0;
        let hash = passing.hasher.finalize();
        let mut written = [0; blake3::OUT_LEN];
        let found = found.and_then(|found| {
            file.read_exact(&mut written)?;
            Ok((is_all && hash == written).then_some(found))
        });
        let found = match found {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => None,
            Err(source) => return Err(DatasetError::io("read", &dir.at(name), source)),
        };
        if found.is_none() {
            dir.remove_file(name)?;
        }
        Ok(found)
    }

    fn hasher(&self, name: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_derive_key("chatmill, what conversations are compared by");
        hasher.update(self.fingerprint.as_bytes()).update(b"/");
        hasher.update(name.as_bytes()).update(b"\n");
        hasher
    }
}

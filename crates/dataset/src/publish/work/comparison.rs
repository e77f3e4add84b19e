//! The files of unfinished work for deduplication: the likenesses of conversations, and the clusters made from them.
//!
//! Each file ends with its hash, which is keyed with the fingerprint of the work and covers the file's name: a file
//! that was cut or changed, or belongs to other work, counts as missing. The caller defines the content.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};

use crate::disk::Hashed;
use crate::disk::{self, Dir};
use crate::error::DatasetError;
use crate::publish::work::names::{CLUSTERS, FAILED, LIKENESSES, OUTCOMES, outcome_name};
use crate::publish::work::staging::Staging;

/// Writes the body of a file.
pub type WriteBody<'w> = &'w mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

const HASH_BYTES: u64 = blake3::OUT_LEN as u64;

pub(crate) fn has_likenesses(root: &Dir, shard: u32) -> Result<bool, DatasetError> {
    Ok(match root.find(OUTCOMES)? {
        Some(shards) => shards.stat(outcome_name(shard, LIKENESSES))?.is_some(),
        None => false,
    })
}

impl Staging {
    /// Writes the likenesses of a shard's conversations, and removes the record of a failed attempt.
    pub fn keep_likenesses(&self, shard: u32, write: WriteBody<'_>) -> Result<(), DatasetError> {
        let shards = self.root.make(OUTCOMES, disk::PRIVATE_FOLDER)?;
        self.keep_hashed(&shards, &outcome_name(shard, LIKENESSES), write)?;
        shards.remove_file(outcome_name(shard, FAILED))
    }

    /// Whether the likenesses of a shard's conversations have been written.
    pub fn has_likenesses(&self, shard: u32) -> Result<bool, DatasetError> {
        has_likenesses(&self.root, shard)
    }

    /// Reads the likenesses of a shard's conversations; `None` where the file is missing or corrupt. A corrupt file is removed.
    pub fn likenesses<T>(
        &self,
        shard: u32,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<Option<T>, DatasetError> {
        match self.root.find(OUTCOMES)? {
            Some(shards) => self.read_hashed(&shards, &outcome_name(shard, LIKENESSES), read),
            None => Ok(None),
        }
    }

    /// Writes the cluster of each conversation.
    pub fn keep_clusters(&self, write: WriteBody<'_>) -> Result<(), DatasetError> {
        self.keep_hashed(&self.root, CLUSTERS, write)
    }

    /// Reads the cluster of each conversation; `None` where the file is missing or corrupt. A corrupt file is removed.
    pub fn clusters<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
    ) -> Result<Option<T>, DatasetError> {
        self.read_hashed(&self.root, CLUSTERS, read)
    }

    fn keep_hashed(&self, dir: &Dir, name: &str, write: WriteBody<'_>) -> Result<(), DatasetError> {
        dir.replace_with(name, (&self.temp, name), &mut |file| {
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

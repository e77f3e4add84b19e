//! Shard manifests: the part files of a shard, one line of JSON each, in the order of slices and tables.
//!
//! The manifest lists the shard manifests with their hashes. It therefore stays small, and the list of all files is
//! never in memory: every reader in this program takes the files from here, one by one.
//!
//! Why: docs/decisions/2026-11-23-manifest-part-lists.md.

use std::io::{BufRead, BufReader, Read, Take};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::disk::{Dir, DiskFile};
use crate::error::{DatasetError, each_or_error};
use crate::tables::REGISTRY;
use crate::tables::part_file::{self, PartFile};
use crate::tables::slice_id::SliceId;

/// The folder of the shard manifests below the root of the dataset.
pub(crate) const SHARD_MANIFESTS: &str = "lots";
const EXTENSION: &str = ".jsonl";
/// The maximum length of a line, in bytes: a path, a hash and three numbers take about 300.
const LINE_BYTES: u64 = 64 << 10;

/// A shard in the manifest. The last one has no slices; it lists the file of the totals and the empty file of each
/// table without rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardEntry {
    /// Path of the shard manifest below the root of the dataset.
    pub path: String,
    /// The number of slices.
    pub slices: u32,
    /// The number of part files in the shard manifest.
    pub files: u64,
    /// Length of the shard manifest in bytes.
    pub bytes: u64,
    /// BLAKE3 of the shard manifest, in hexadecimal.
    pub hash: String,
}

/// The two forms of a shard in the manifest.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredShard {
    /// The number of slices, in formats before 7.
    Slices(u32),
    Whole(ShardEntry),
}

/// Reads the shards of a manifest of any format.
pub(crate) fn read_shards<'de, D: Deserializer<'de>>(manifest: D) -> Result<Vec<ShardEntry>, D::Error> {
    let forms = Vec::deserialize(manifest)?.into_iter();
    let shards = forms.map(|form| match form {
        StoredShard::Whole(shard) => shard,
        StoredShard::Slices(slices) => ShardEntry {
            slices,
            ..ShardEntry::default()
        },
    });
    Ok(shards.collect())
}

/// The name of a shard's manifest in its folder.
pub(crate) fn shard_file_name(shard: u32) -> String {
    format!("{shard:05}{EXTENSION}")
}

/// The path of a shard's manifest below the dataset's root.
pub(crate) fn shard_path(shard: u32) -> String {
    format!("{SHARD_MANIFESTS}/{}", shard_file_name(shard))
}

/// The shard to which a manifest with this name belongs.
pub(crate) fn shard_of(name: &str) -> Option<u32> {
    let shard = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (shard_file_name(shard) == name).then_some(shard)
}

/// The sort key of the lines in a shard manifest, unique for each file.
type Order = (SliceId, usize, usize, String);

/// The position of a file in its shard manifest; `None` for a file that no run writes.
pub(crate) fn order(file: &PartFile) -> Option<Order> {
    let (folder, _) = file.path.rsplit_once('/')?;
    let slice = part_file::slice_of_part(&file.path)?;
    let table = REGISTRY.iter().position(|table| table.name == file.table)?;
    part_file::is_part_of(&file.table, &file.path).then(|| (slice, table, folder.len(), folder.to_owned()))
}

/// The files of one shard, read from its manifest one by one. The iteration ends after an error.
struct ShardFiles {
    path: PathBuf,
    lines: BufReader<Take<DiskFile>>,
    hasher: blake3::Hasher,
    hash: String,
    shard: SliceId,
    is_last: bool,
    slices: u32,
    /// The number of listed files that are still to be read.
    left: u64,
    before: Option<Order>,
    is_over: bool,
}

impl ShardFiles {
    /// Opens the manifest of a shard.
    fn open(folder: &Dir, shards: &[ShardEntry], shard: u32) -> Result<Self, DatasetError> {
        let path = shard_path(shard);
        let whole = folder.at(&path);
        let Some(entry) = shards.get(shard as usize).filter(|entry| entry.path == path) else {
            return Err(DatasetError::corrupt(
                &whole,
                "the manifest has no shard of this number",
            ));
        };
        let file = folder.read_part(&path, entry.bytes)?;
        Ok(Self {
            path: whole,
            lines: BufReader::new(file.take(entry.bytes)),
            hasher: blake3::Hasher::new(),
            hash: entry.hash.clone(),
            shard: SliceId { shard, slice: 0 },
            is_last: shard as usize + 1 == shards.len(),
            slices: entry.slices,
            left: entry.files,
            before: None,
            is_over: false,
        })
    }

    fn read(&mut self) -> Result<Option<PartFile>, DatasetError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.lines).take(LINE_BYTES);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|source| DatasetError::io("read", &self.path, source))?;
        self.hasher.update(&line);
        if line.is_empty() {
            return match (self.left, self.hasher.finalize().to_hex()) {
                (0, hash) if hash.as_str() == self.hash => Ok(None),
                _ => Err(self.corrupt("its hash differs from the one in the manifest")),
            };
        }
        let file: PartFile = match serde_json::from_slice(&line) {
            Ok(file) if line.ends_with(b"\n") => file,
            _ => return Err(self.corrupt("a line does not describe a file")),
        };
        let Some(order) = order(&file) else {
            let reason = format!("it lists {} as a file of {}", file.path, file.table);
            return Err(self.corrupt(&reason));
        };
        if !self.belongs_to_shard(order.0, &file) {
            let reason = format!(
                "it lists {}, which cannot be a part of {} in a shard of {} slices",
                file.path, file.table, self.slices
            );
            return Err(self.corrupt(&reason));
        }
        if self.before.as_ref().is_some_and(|before| *before >= order) || self.left == 0 {
            let reason = format!("it lists {} twice or out of order", file.path);
            return Err(self.corrupt(&reason));
        }
        self.before = Some(order);
        self.left -= 1;
        Ok(Some(file))
    }

    /// Whether a file of this slice can be in this shard. The last shard also has the empty files, which have the slice number 0.
    fn belongs_to_shard(&self, slice: SliceId, file: &PartFile) -> bool {
        if self.is_last {
            slice == self.shard || slice == SliceId::default() && file.rows == 0
        } else {
            slice.shard == self.shard.shard && slice.slice < self.slices
        }
    }

    fn corrupt(&self, reason: &str) -> DatasetError {
        DatasetError::corrupt(&self.path, reason)
    }
}

impl Iterator for ShardFiles {
    type Item = Result<PartFile, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = self.read();
        self.is_over = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// The files of all shards, one by one. For a shard that cannot be opened there is one error, and the other shards follow.
pub(crate) fn all_files<'m>(
    folder: &'m Dir,
    shards: &'m [ShardEntry],
) -> impl Iterator<Item = Result<PartFile, DatasetError>> + 'm {
    (0..)
        .zip(shards)
        .flat_map(move |(shard, _)| each_or_error(ShardFiles::open(folder, shards, shard)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_manifest_names_parse_only_in_their_canonical_form() {
        for shard in [0, 7, 12_345, 123_456] {
            assert_eq!(shard_of(&shard_file_name(shard)), Some(shard));
        }
        for name in [
            "0.jsonl",
            "000000.jsonl",
            "+0000.jsonl",
            "00000.json",
            ".jsonl",
            "00000",
        ] {
            assert_eq!(shard_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_shard_of_an_older_format_has_only_its_slice_count() {
        let read = |json: &str| read_shards(&mut serde_json::Deserializer::from_str(json)).unwrap();
        let shards = read("[3, 0]");
        let slices: Vec<u32> = shards.iter().map(|shard| shard.slices).collect();
        assert_eq!(slices, [3, 0]);
        let whole = serde_json::to_string(&shards).unwrap();
        assert_eq!(read(&whole), shards);
    }
}

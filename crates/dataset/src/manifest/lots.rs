//! Lot manifests: which part files a lot has, a line of JSON for each, in the order of slices and tables.
//!
//! The manifest names them with their hashes; so it stays small, and nobody need hold the list of all files. Every reader of
//! ours gets its files from here, one after the other, whatever their number.
//!
//! Why: docs/decisions/2026-11-23-manifests-of-lots.md.

use std::io::{BufRead, BufReader, Read, Take};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::disk::{Dir, DiskFile};
use crate::error::{DatasetError, each_or_error};
use crate::tables::REGISTRY;
use crate::tables::part_file::{self, PartFile};
use crate::tables::slice_id::SliceId;

/// The folder of the lot manifests below the dataset's root.
pub(crate) const LOT_MANIFESTS: &str = "lots";
const EXTENSION: &str = ".jsonl";
/// Bytes of a line at most: a path, a hash and three numbers are some 300.
const LINE_BYTES: u64 = 64 << 10;

/// A lot in the manifest. The last one has no slices: it holds the totals, and the empty file of each table without rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotEntry {
    /// Path of its manifest below the dataset's root.
    pub path: String,
    /// How many slices it was cut into.
    pub slices: u32,
    /// How many part files its manifest lists.
    pub files: u64,
    /// Length of its manifest in bytes.
    pub bytes: u64,
    /// BLAKE3 of its manifest, in hexadecimal.
    pub hash: String,
}

/// What stands in a manifest for a lot.
#[derive(Deserialize)]
#[serde(untagged)]
enum LotForm {
    /// Before format 7, how many slices it has.
    Slices(u32),
    Whole(LotEntry),
}

/// Reads the lots of a manifest of any format.
pub(crate) fn read_lots<'de, D: Deserializer<'de>>(manifest: D) -> Result<Vec<LotEntry>, D::Error> {
    let forms = Vec::deserialize(manifest)?.into_iter();
    let lots = forms.map(|form| match form {
        LotForm::Whole(lot) => lot,
        LotForm::Slices(slices) => LotEntry {
            slices,
            ..LotEntry::default()
        },
    });
    Ok(lots.collect())
}

/// The name of a lot's manifest in its folder.
pub(crate) fn lot_file_name(lot: u32) -> String {
    format!("{lot:05}{EXTENSION}")
}

/// The path of a lot's manifest below the dataset's root.
pub(crate) fn lot_path(lot: u32) -> String {
    format!("{LOT_MANIFESTS}/{}", lot_file_name(lot))
}

/// The lot whose manifest has this name.
pub(crate) fn lot_of(name: &str) -> Option<u32> {
    let lot = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (lot_file_name(lot) == name).then_some(lot)
}

/// What the lines of a lot manifest are sorted by. No two files have the same.
type Order = (SliceId, usize, usize, String);

/// Where a file stands in its lot manifest; none of one that no run makes.
pub(crate) fn order(file: &PartFile) -> Option<Order> {
    let (folder, _) = file.path.rsplit_once('/')?;
    let slice = part_file::slice_of_part(&file.path)?;
    let table = REGISTRY.iter().position(|table| table.name == file.table)?;
    part_file::is_part_of(&file.table, &file.path).then(|| (slice, table, folder.len(), folder.to_owned()))
}

/// The files of one lot, read from its manifest one after the other. Nothing comes after an error.
struct LotFiles {
    path: PathBuf,
    lines: BufReader<Take<DiskFile>>,
    hasher: blake3::Hasher,
    hash: String,
    lot: SliceId,
    is_last: bool,
    slices: u32,
    /// Files that the manifest says are still to come.
    left: u64,
    before: Option<Order>,
    is_over: bool,
}

impl LotFiles {
    /// Opens the manifest of a lot.
    fn open(folder: &Dir, lots: &[LotEntry], lot: u32) -> Result<Self, DatasetError> {
        let path = lot_path(lot);
        let whole = folder.at(&path);
        let Some(entry) = lots.get(lot as usize).filter(|entry| entry.path == path) else {
            return Err(DatasetError::corrupt(
                &whole,
                "the manifest has no lot of this number",
            ));
        };
        let file = folder.read_part(&path, entry.bytes)?;
        Ok(Self {
            path: whole,
            lines: BufReader::new(file.take(entry.bytes)),
            hasher: blake3::Hasher::new(),
            hash: entry.hash.clone(),
            lot: SliceId { lot, slice: 0 },
            is_last: lot as usize + 1 == lots.len(),
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
                _ => Err(self.fault("it has another hash than the manifest says")),
            };
        }
        let file: PartFile = match serde_json::from_slice(&line) {
            Ok(file) if line.ends_with(b"\n") => file,
            _ => return Err(self.fault("a line of it is not that of a file")),
        };
        let Some(order) = order(&file) else {
            let reason = format!("it lists {} as a file of {}", file.path, file.table);
            return Err(self.fault(&reason));
        };
        if !self.is_of_lot(order.0, &file) {
            let reason = format!(
                "it lists {}, which cannot be a part of {} in a lot of {} slices",
                file.path, file.table, self.slices
            );
            return Err(self.fault(&reason));
        }
        if self.before.as_ref().is_some_and(|before| *before >= order) || self.left == 0 {
            let reason = format!("it lists {} twice or out of order", file.path);
            return Err(self.fault(&reason));
        }
        self.before = Some(order);
        self.left -= 1;
        Ok(Some(file))
    }

    /// Whether a file of this slice can be in this lot: the last one has the empty files, too, whose number is 0.
    fn is_of_lot(&self, slice: SliceId, file: &PartFile) -> bool {
        if self.is_last {
            slice == self.lot || slice == SliceId::default() && file.rows == 0
        } else {
            slice.lot == self.lot.lot && slice.slice < self.slices
        }
    }

    fn fault(&self, reason: &str) -> DatasetError {
        DatasetError::corrupt(&self.path, reason)
    }
}

impl Iterator for LotFiles {
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

/// The files of all lots, one after the other. A lot that cannot be opened is an error, and the others follow.
pub(crate) fn all_files<'m>(
    folder: &'m Dir,
    lots: &'m [LotEntry],
) -> impl Iterator<Item = Result<PartFile, DatasetError>> + 'm {
    (0..)
        .zip(lots)
        .flat_map(move |(lot, _)| each_or_error(LotFiles::open(folder, lots, lot)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_lot_manifest_is_read_only_as_it_is_written() {
        for lot in [0, 7, 12_345, 123_456] {
            assert_eq!(lot_of(&lot_file_name(lot)), Some(lot));
        }
        for name in [
            "0.jsonl",
            "000000.jsonl",
            "+0000.jsonl",
            "00000.json",
            ".jsonl",
            "00000",
        ] {
            assert_eq!(lot_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_lot_of_an_older_format_says_only_its_slices() {
        let read = |json: &str| read_lots(&mut serde_json::Deserializer::from_str(json)).unwrap();
        let lots = read("[3, 0]");
        let slices: Vec<u32> = lots.iter().map(|lot| lot.slices).collect();
        assert_eq!(slices, [3, 0]);
        let whole = serde_json::to_string(&lots).unwrap();
        assert_eq!(read(&whole), lots);
    }
}

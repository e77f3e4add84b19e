//! Rows that wait for the rest of their conversation, partitioned by conversation: in memory, and on disk once there are many.
//!
//! Files on disk have no name: each is removed right after it was opened, so no other run can find it and it does not
//! outlive this process, however that ends. Nothing here is certified or synced, because a resumed run makes its spill
//! again from the inputs.

use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{self, Dir, DiskFile};
use crate::error::DatasetError;

/// The name of a spill file between its creation and its removal.
const NAME: &str = "chatmill-spill";

/// The folder for spilled rows: either created when the first rows are written, or already open, so that a changed path
/// does not redirect them.
#[derive(Clone, Debug)]
pub struct SpillFolder {
    path: PathBuf,
    open: Option<Arc<Dir>>,
}

impl From<PathBuf> for SpillFolder {
    fn from(path: PathBuf) -> Self {
        Self { path, open: None }
    }
}

impl SpillFolder {
    pub(crate) fn of(open: &Arc<Dir>) -> Self {
        Self {
            path: open.path().to_owned(),
            open: Some(Arc::clone(open)),
        }
    }

    /// Opens the folder. It is opened for each flush, so that no handle is held between two of them.
    fn open(&self) -> Result<Arc<Dir>, DatasetError> {
        if let Some(open) = &self.open {
            return Ok(Arc::clone(open));
        }
        disk::create_folders(&self.path, &|_| Ok(()))?;
        Dir::open(&disk::resolve(&self.path)?).map(Arc::new)
    }
}

/// Records spread over partitions; the records of a partition are returned in the order in which they were added.
///
/// At most `budget` bytes are in memory, plus the record that exceeds them.
#[derive(Debug)]
pub struct Spill {
    folder: SpillFolder,
    partitions: Vec<Partition>,
    budget: u64,
    in_memory: u64,
}

#[derive(Debug, Default)]
struct Partition {
    memory: Vec<u8>,
    file: Option<DiskFile>,
    bytes: u64,
}

/// The visitor of a record's two parts.
type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<(), DatasetError> + 'v;

/// The length of the prefix of a record: the lengths of its two parts, eight bytes each.
const PREFIX: usize = 16;

impl Spill {
    /// An empty spill. `folder` is created when it is needed and missing; files that exist in it are not touched.
    pub fn new(folder: impl Into<SpillFolder>, partitions: usize, budget: u64) -> Self {
        Self {
            folder: folder.into(),
            partitions: (0..partitions.max(1)).map(|_| Partition::default()).collect(),
            budget,
            in_memory: 0,
        }
    }

    /// The folder for a spill that belongs to no run: the temporary folder of the system.
    pub fn temporary_folder() -> PathBuf {
        std::env::temp_dir()
    }

    /// The number of partitions.
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// The bytes in a partition.
    #[expect(
        clippy::indexing_slicing,
        reason = "rows of a missing partition would be lost"
    )]
    pub fn bytes(&self, partition: usize) -> u64 {
        self.partitions[partition].bytes
    }

    /// Appends a record of two parts to a partition.
    #[expect(
        clippy::indexing_slicing,
        reason = "rows of a missing partition would be lost"
    )]
    pub fn push(&mut self, partition: usize, head: &[u8], body: &[u8]) -> Result<(), DatasetError> {
        let place = &mut self.partitions[partition];
        let before = place.memory.len();
        place.memory.extend_from_slice(&(head.len() as u64).to_le_bytes());
        place.memory.extend_from_slice(&(body.len() as u64).to_le_bytes());
        place.memory.extend_from_slice(head);
        place.memory.extend_from_slice(body);
        let added = (place.memory.len() - before) as u64;
        place.bytes += added;
        self.in_memory += added;
        if self.in_memory > self.budget {
            self.flush()?;
        }
        Ok(())
    }

    /// Passes every record of a partition to `visit`, in order, and drops them.
    #[expect(
        clippy::indexing_slicing,
        reason = "rows of a missing partition would be lost"
    )]
    pub fn drain(&mut self, partition: usize, visit: &mut Visit<'_>) -> Result<(), DatasetError> {
        let place = std::mem::take(&mut self.partitions[partition]);
        self.in_memory -= place.memory.len() as u64;
        if let Some(mut file) = place.file {
            file.rewind()
                .map_err(|error| DatasetError::io("read", &self.folder.path, error))?;
            each(&self.folder.path, BufReader::with_capacity(1 << 16, file), visit)?;
        }
        each(&self.folder.path, place.memory.as_slice(), visit)
    }

    /// Moves the records in memory to disk.
    fn flush(&mut self) -> Result<(), DatasetError> {
        let folder = self.folder.open()?;
        for place in &mut self.partitions {
            if place.memory.is_empty() {
                continue;
            }
            let file = match &mut place.file {
                Some(file) => file,
                none => none.insert(nameless(&folder)?),
            };
            file.write_all(&place.memory)
                .map_err(|error| DatasetError::io("write rows that wait to", &self.folder.path, error))?;
            place.memory = Vec::new();
        }
        self.in_memory = 0;
        Ok(())
    }
}

/// A new file without a name, which only its owner may read.
fn nameless(folder: &Dir) -> Result<DiskFile, DatasetError> {
    let (name, file) = folder.create_temp(NAME, disk::PRIVATE_FILE)?;
    folder
        .remove_file(&name)
        .inspect_err(|_| folder.clear_away(&name))?;
    Ok(file)
}

/// Reads records to the end of `bytes`.
fn each(path: &Path, mut bytes: impl Read, visit: &mut Visit<'_>) -> Result<(), DatasetError> {
    let failed = |error| DatasetError::io("read", path, error);
    let (mut head, mut body) = (Vec::new(), Vec::new());
    loop {
        let mut prefix = Vec::with_capacity(PREFIX);
        take(&mut bytes, PREFIX as u64, &mut prefix).map_err(failed)?;
        let (Some(head_length), Some(body_length)) = (length(&prefix, 0), length(&prefix, 8)) else {
            return if prefix.is_empty() {
                Ok(())
            } else {
                Err(DatasetError::corrupt(path, "it ends inside a record"))
            };
        };
        take(&mut bytes, head_length, &mut head).map_err(failed)?;
        take(&mut bytes, body_length, &mut body).map_err(failed)?;
        if head.len() as u64 != head_length || body.len() as u64 != body_length {
            return Err(DatasetError::corrupt(path, "it ends inside a record"));
        }
        visit(&head, &body)?;
    }
}

/// Replaces `into` with the next `count` bytes, or with fewer at the end of the input.
fn take(bytes: &mut impl Read, count: u64, into: &mut Vec<u8>) -> std::io::Result<()> {
    into.clear();
    bytes.by_ref().take(count).read_to_end(into).map(|_| ())
}

fn length(prefix: &[u8], at: usize) -> Option<u64> {
    let bytes = prefix.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn filled(budget: u64) -> (tempfile::TempDir, Spill) {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path().join("deep/spill"), 3, budget);
        for number in 0..100_usize {
            let body = "x".repeat(number % 7 * 10);
            spill
                .push(number % 3, number.to_string().as_bytes(), body.as_bytes())
                .unwrap();
        }
        (folder, spill)
    }

    fn numbers(spill: &mut Spill, partition: usize) -> Vec<usize> {
        let mut seen = Vec::new();
        spill
            .drain(partition, &mut |head, body| {
                let number: usize = std::str::from_utf8(head).unwrap().parse().unwrap();
                assert_eq!(body.len(), number % 7 * 10);
                seen.push(number);
                Ok(())
            })
            .unwrap();
        seen
    }

    #[test]
    fn records_come_back_in_order_from_memory_and_from_disk() {
        for budget in [0, 100, 1_000, 1 << 20] {
            let (_folder, mut spill) = filled(budget);
            for partition in 0..3 {
                let expected: Vec<usize> = (partition..100).step_by(3).collect();
                assert!(spill.bytes(partition) > 0);
                assert_eq!(numbers(&mut spill, partition), expected, "{budget}");
                assert_eq!(spill.bytes(partition), 0);
            }
        }
    }

    #[test]
    fn spilled_records_lie_in_files_without_a_name() {
        let (folder, spill) = filled(1 << 20);
        assert!(!folder.path().join("deep").exists(), "nothing had to be written");
        drop(spill);
        let (folder, spill) = filled(100);
        assert!(spill.partitions.iter().all(|partition| partition.file.is_some()));
        let names = || fs::read_dir(folder.path().join("deep/spill")).unwrap().count();
        assert_eq!(names(), 0);
        drop(spill);
        assert_eq!(names(), 0);
    }

    #[test]
    fn two_spills_in_one_folder_are_independent_of_each_other_and_of_other_files() {
        let (folder, mut one) = filled(0);
        let place = folder.path().join("deep/spill");
        fs::write(place.join("partition-00000"), "mine").unwrap();
        let mut other = Spill::new(place.clone(), 3, 0);
        other.push(0, b"7", b"").unwrap();
        assert_eq!(numbers(&mut one, 0).len(), 34);
        drop(one);
        assert_eq!(numbers(&mut other, 0), [7]);
        drop(other);
        assert_eq!(fs::read(place.join("partition-00000")).unwrap(), b"mine");
    }

    #[test]
    fn an_open_folder_is_the_same_after_its_name_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("spill");
        fs::create_dir(&place).unwrap();
        let mut spill = Spill::new(SpillFolder::of(&Arc::new(Dir::open(&place).unwrap())), 1, 0);
        fs::rename(&place, folder.path().join("moved")).unwrap();
        std::os::unix::fs::symlink("nowhere", &place).unwrap();
        spill.push(0, b"7", b"").unwrap();
        assert_eq!(numbers(&mut spill, 0), [7]);
    }

    #[test]
    fn a_read_only_folder_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("spill");
        fs::write(&place, "a file").unwrap();
        let mut spill = Spill::new(place.clone(), 1, 0);
        let error = spill.push(0, b"1", b"").unwrap_err();
        assert!(error.to_string().contains("spill"), "{error}");
        fs::remove_file(&place).unwrap();
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o500)).unwrap();
        // The super-user may write into any folder.
        if fs::write(place.join("probe"), "").is_err() {
            assert!(spill.push(0, b"1", b"").is_err());
        }
    }

    #[test]
    fn a_cut_file_is_an_error_and_not_a_shorter_partition() {
        let (_folder, mut spill) = filled(0);
        spill.partitions[1].file.as_ref().unwrap().cut(1);
        let result = spill.drain(1, &mut |_, _| Ok(()));
        assert!(matches!(result, Err(DatasetError::Corrupt { .. })));
    }
}

//! Rows on their way to the conversation they belong to: partitions in memory, and on disk once they are many.
//!
//! Nothing here is certified or synced. A spill is made again from the inputs when a run goes on after an interruption.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::DatasetError;

/// Records spread over partitions; what a partition holds comes back in the order in which it was put there.
///
/// Holds `budget` bytes in memory at most, beside one record; its folder exists only while something lies on disk.
#[derive(Debug)]
pub struct Spill {
    folder: PathBuf,
    partitions: Vec<Partition>,
    budget: u64,
    held: u64,
}

#[derive(Debug, Default)]
struct Partition {
    memory: Vec<u8>,
    file: Option<File>,
    bytes: u64,
}

/// What is done with a record's two parts.
type Visit<'v> = dyn FnMut(&[u8], &[u8]) -> Result<(), DatasetError> + 'v;

/// Lengths of a record's two parts, in front of it.
const PREFIX: usize = 16;

impl Spill {
    /// An empty spill. `folder` must not exist yet; folders above it may.
    pub fn new(folder: PathBuf, partitions: usize, budget: u64) -> Self {
        Self {
            folder,
            partitions: (0..partitions.max(1)).map(|_| Partition::default()).collect(),
            budget,
            held: 0,
        }
    }

    /// A folder name for a spill that belongs to no run: below the system's folder for temporary files.
    pub fn temporary_folder() -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        std::env::temp_dir().join(format!("chatmill-spill-{}-{number}", std::process::id()))
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }

    /// Bytes of a partition.
    pub fn bytes(&self, partition: usize) -> u64 {
        self.partitions.get(partition).map_or(0, |found| found.bytes)
    }

    /// Appends a record of two parts to a partition.
    pub fn push(&mut self, partition: usize, head: &[u8], body: &[u8]) -> Result<(), DatasetError> {
        let Some(place) = self.partitions.get_mut(partition) else {
            return Ok(());
        };
        let before = place.memory.len();
        place.memory.extend_from_slice(&(head.len() as u64).to_le_bytes());
        place.memory.extend_from_slice(&(body.len() as u64).to_le_bytes());
        place.memory.extend_from_slice(head);
        place.memory.extend_from_slice(body);
        let added = (place.memory.len() - before) as u64;
        place.bytes += added;
        self.held += added;
        if self.held > self.budget {
            self.flush()?;
        }
        Ok(())
    }

    /// Gives every record of a partition to `visit`, in order, and forgets them.
    pub fn drain(&mut self, partition: usize, visit: &mut Visit<'_>) -> Result<(), DatasetError> {
        let path = self.path(partition);
        let Some(place) = self.partitions.get_mut(partition) else {
            return Ok(());
        };
        let place = std::mem::take(place);
        self.held -= place.memory.len() as u64;
        if let Some(mut file) = place.file {
            file.rewind()
                .map_err(|error| DatasetError::io("read", &path, error))?;
            each(&path, BufReader::with_capacity(1 << 16, file), visit)?;
            fs::remove_file(&path).map_err(|error| DatasetError::io("remove", &path, error))?;
        }
        each(&path, place.memory.as_slice(), visit)
    }

    /// Moves what is held in memory to disk.
    fn flush(&mut self) -> Result<(), DatasetError> {
        if !self.folder.exists() {
            fs::create_dir_all(&self.folder)
                .map_err(|error| DatasetError::io("create", &self.folder, error))?;
        }
        for index in 0..self.partitions.len() {
            let path = self.path(index);
            let Some(place) = self.partitions.get_mut(index) else {
                continue;
            };
            if place.memory.is_empty() {
                continue;
            }
            let file = match &mut place.file {
                Some(file) => file,
                none => none.insert(open(&path)?),
            };
            file.write_all(&place.memory)
                .map_err(|error| DatasetError::io("write", &path, error))?;
            place.memory = Vec::new();
        }
        self.held = 0;
        Ok(())
    }

    fn path(&self, partition: usize) -> PathBuf {
        self.folder.join(format!("partition-{partition:05}"))
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // What cannot be removed is a left-over in a temporary folder; the next run of the same plan clears its own.
        drop(fs::remove_dir_all(&self.folder));
    }
}

fn open(path: &Path) -> Result<File, DatasetError> {
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| DatasetError::io("create", path, error))
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

/// Replaces `into` by the next `count` bytes, or by those that are left.
fn take(bytes: &mut impl Read, count: u64, into: &mut Vec<u8>) -> std::io::Result<()> {
    into.clear();
    bytes.by_ref().take(count).read_to_end(into).map(|_| ())
}

fn length(prefix: &[u8], at: usize) -> Option<u64> {
    let bytes = prefix.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
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
    fn a_folder_exists_only_while_the_budget_is_exceeded() {
        let (folder, spill) = filled(1 << 20);
        assert!(!folder.path().join("deep/spill").exists());
        drop(spill);
        let (folder, spill) = filled(100);
        assert!(folder.path().join("deep/spill").exists());
        drop(spill);
        assert!(!folder.path().join("deep/spill").exists());
    }

    #[test]
    fn a_cut_file_is_an_error_and_not_a_shorter_partition() {
        let (folder, mut spill) = filled(0);
        let path = folder.path().join("deep/spill/partition-00001");
        let length = fs::metadata(&path).unwrap().len();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(length - 1)
            .unwrap();
        let result = spill.drain(1, &mut |_, _| Ok(()));
        assert!(matches!(result, Err(DatasetError::Corrupt { .. })));
    }
}

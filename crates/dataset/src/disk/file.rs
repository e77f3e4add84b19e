//! An open regular file.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use bytes::Bytes;
use chatmill_diag::faults::Call;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::reader::{ChunkReader, Length};

use super::call::call;
use crate::error::DatasetError;

/// A file that [`Dir`](super::Dir) opened. Clones share the file and the position in it.
#[derive(Clone, Debug)]
pub(crate) struct DiskFile {
    file: Arc<File>,
    /// The length when the file was opened.
    length: u64,
    /// The number of the last system error while reading. The errors of the Parquet library do not always keep it, and
    /// without it a failing disk would be reported as a corrupt dataset.
    failed: Arc<AtomicI32>,
}

/// The length and the hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMeasure {
    /// Length in bytes.
    pub bytes: u64,
    /// BLAKE3 of the bytes, in hexadecimal.
    pub hash: String,
}

impl FileMeasure {
    /// The measure of all bytes that were passed to a hasher.
    pub(crate) fn of(hasher: &blake3::Hasher) -> Self {
        Self {
            bytes: hasher.count(),
            hash: hasher.finalize().to_hex().to_string(),
        }
    }
}

impl DiskFile {
    pub(super) fn of(handle: OwnedFd, length: u64) -> Self {
        Self {
            file: Arc::new(File::from(handle)),
            length,
            failed: Arc::default(),
        }
    }

    /// The length when the file was opened.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Syncs the file, so that its contents survive a crash.
    pub(crate) fn sync(&self) -> io::Result<()> {
        call(Call::Sync, || self.file.sync_all())
    }

    /// Reads the file from its beginning and measures it.
    pub(crate) fn measure(&self, path: &Path) -> Result<FileMeasure, DatasetError> {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update_reader(self.from(0))
            .map_err(|source| DatasetError::io("read", path, source))?;
        Ok(FileMeasure::of(&hasher))
    }

    /// Reads the number of rows from the footer of a Parquet file.
    pub(crate) fn footer_rows(&self, path: &Path) -> Result<u64, DatasetError> {
        let footer = ParquetMetaDataReader::new()
            .parse_and_finish(self)
            .map_err(|error| self.unreadable(path, error))?;
        u64::try_from(footer.file_metadata().num_rows())
            .map_err(|_| DatasetError::corrupt(path, "its footer names a negative number of rows"))
    }

    /// Opens the file as Parquet.
    pub(crate) fn batches(&self, path: &Path) -> Result<ParquetRecordBatchReaderBuilder<Self>, DatasetError> {
        ParquetRecordBatchReaderBuilder::try_new(self.clone()).map_err(|error| self.unreadable(path, error))
    }

    /// The error for a file that could not be read as Parquet. An error of the system is never reported as corruption.
    pub(crate) fn unreadable(&self, path: &Path, error: ParquetError) -> DatasetError {
        match self.failed.load(Ordering::Relaxed) {
            0 => DatasetError::parquet("read", path, error),
            number => DatasetError::io("read", path, io::Error::from_raw_os_error(number)),
        }
    }

    fn from(&self, at: u64) -> FileRest {
        FileRest {
            file: self.clone(),
            at,
        }
    }

    #[cfg(test)]
    pub(crate) fn cut(&self, bytes: u64) {
        let length = self.file.metadata().unwrap().len();
        self.file.set_len(length - bytes).unwrap();
    }
}

impl Read for DiskFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        call(Call::Read, || (&*self.file).read(into))
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        call(Call::Write, || (&*self.file).write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for DiskFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        call(Call::Seek, || (&*self.file).seek(to))
    }
}

/// The bytes of a file from an offset on, read without moving the position that clones share.
pub(crate) struct FileRest {
    file: DiskFile,
    at: u64,
}

impl Read for FileRest {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = call(Call::Read, || self.file.file.read_at(into, self.at)).inspect_err(|error| {
            let number = error.raw_os_error().unwrap_or_default();
            self.file.failed.store(number, Ordering::Relaxed);
        })?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for DiskFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for DiskFile {
    type T = BufReader<FileRest>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(self.from(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A footer may name any length, so no more is allocated than the file has.
        let most = usize::try_from(self.length.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(length.min(most));
        let read = self.from(start).take(length as u64).read_to_end(&mut bytes)?;
        if read < length {
            return Err(ParquetError::EOF(format!("{length} bytes wanted, {read} there")));
        }
        Ok(bytes.into())
    }
}

//! A file that a decoder reads with seeking, through the module that opens all files.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::access::InputFile;
use crate::stream::{Handle, ReadBudget, StreamError, lock};

/// A file and its length.
#[derive(Clone)]
pub(super) struct Stored {
    file: Arc<Mutex<InputFile>>,
    length: u64,
}

impl Stored {
    pub(super) fn open(path: &Path, gauge: &ReadBudget) -> Result<Self, StreamError> {
        let opened = InputFile::open(path, &gauge.first_failure);
        let file = opened?;
        let length = file.length();
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            length,
        })
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Exactly the bytes of this range.
    pub(super) fn bytes(&self, start: u64, length: u64) -> Result<Vec<u8>, StreamError> {
        let cut = || StreamError::truncated("the file ends before the data that it lists");
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(cut());
        }
        let mut file = lock(&self.file);
        let mut bytes = Vec::new();
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| file.by_ref().take(length).read_to_end(&mut bytes));
        read?;
        if bytes.len() as u64 != length {
            return Err(cut());
        }
        Ok(bytes)
    }

    /// The bytes of this range, cut at the end of the file.
    pub(super) fn bytes_up_to(&self, start: u64, length: u64) -> Result<Vec<u8>, StreamError> {
        self.bytes(start, length.min(self.length.saturating_sub(start)))
    }
}

impl Length for Stored {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Stored {
    type T = io::BufReader<Handle>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let file = Arc::clone(&self.file);
        Ok(io::BufReader::new(Handle { file, at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let bytes = self.bytes(start, length as u64);
        bytes
            .map(Bytes::from)
            .map_err(|broken| ParquetError::External(Box::new(broken)))
    }
}

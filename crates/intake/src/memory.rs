//! Inputs that are not files: bytes in memory, or a source that can be read more than once.
//!
//! Such inputs are recognised, limited and accounted for like all others. Formats that are read with seeking are copied
//! to a temporary file first, as members of archives are.

use std::fmt;
use std::io::{Cursor, Read};
use std::sync::Arc;

use bytes::Bytes;

/// Bytes that can be read from their beginning more than once.
pub trait MemoryBytes: Send + Sync {
    /// Reads the bytes from their beginning.
    fn open(&self) -> Box<dyn Read + Send>;

    /// The number of bytes.
    fn length(&self) -> u64;
}

impl MemoryBytes for Bytes {
    fn open(&self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.clone()))
    }

    fn length(&self) -> u64 {
        self.len() as u64
    }
}

/// An input in memory.
#[derive(Clone)]
pub struct MemoryInput {
    bytes: Arc<dyn MemoryBytes>,
    form: MemoryForm,
}

/// The form of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryForm {
    /// The content of a file: text, an archive, a database.
    File,
    /// One record per line, whatever the lines look like.
    Lines,
}

impl MemoryInput {
    /// An input with these bytes in this form.
    pub fn new(bytes: Arc<dyn MemoryBytes>, form: MemoryForm) -> Self {
        Self { bytes, form }
    }

    /// The form of the bytes.
    pub fn form(&self) -> MemoryForm {
        self.form
    }

    /// The number of bytes.
    pub fn length(&self) -> u64 {
        self.bytes.length()
    }

    pub(crate) fn open(&self) -> Box<dyn Read + Send> {
        self.bytes.open()
    }
}

impl fmt::Debug for MemoryInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MemoryInput({:?}, {} bytes)", self.form, self.length())
    }
}

/// Two inputs are equal if they share their bytes, and not if their bytes are merely equal.
impl PartialEq for MemoryInput {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form && Arc::ptr_eq(&self.bytes, &other.bytes)
    }
}

impl Eq for MemoryInput {}

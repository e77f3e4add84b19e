//! Inputs that are no files: what somebody holds in memory, or can give as often as it is asked for.
//!
//! They go the way of all inputs: recognised, bounded and accounted for alike. What is read by seeking is copied to a temporary
//! file first, as out of an archive.

use std::fmt;
use std::io::{Cursor, Read};
use std::sync::Arc;

use bytes::Bytes;

/// Bytes that can be read from their beginning more than once.
pub trait HeldBytes: Send + Sync {
    /// Reads them from their beginning.
    fn open(&self) -> Box<dyn Read + Send>;

    /// How many there are.
    fn length(&self) -> u64;
}

impl HeldBytes for Bytes {
    fn open(&self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.clone()))
    }

    fn length(&self) -> u64 {
        self.len() as u64
    }
}

/// What is in memory.
#[derive(Clone)]
pub struct Held {
    bytes: Arc<dyn HeldBytes>,
    form: HeldForm,
}

/// What bytes in memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldForm {
    /// What a file could hold: text, an archive, a database.
    File,
    /// One record a line, whatever the lines look like.
    Lines,
}

impl Held {
    /// Bytes of a form.
    pub fn new(bytes: Arc<dyn HeldBytes>, form: HeldForm) -> Self {
        Self { bytes, form }
    }

    /// What they are.
    pub fn form(&self) -> HeldForm {
        self.form
    }

    /// How many there are.
    pub fn length(&self) -> u64 {
        self.bytes.length()
    }

    pub(crate) fn open(&self) -> Box<dyn Read + Send> {
        self.bytes.open()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Held({:?}, {} bytes)", self.form, self.length())
    }
}

/// What is held is the same where it is one thing, not where its bytes are equal.
impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form && Arc::ptr_eq(&self.bytes, &other.bytes)
    }
}

impl Eq for Held {}

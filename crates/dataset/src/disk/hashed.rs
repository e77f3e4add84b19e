//! A reader or writer that hashes what passes through it.

use std::io::{self, Read, Write};

/// A reader or writer that hashes the bytes that pass through it.
#[derive(Debug)]
pub(crate) struct Hashed<I> {
    pub(crate) inner: I,
    pub(crate) hasher: blake3::Hasher,
}

impl<I> Hashed<I> {
    pub(crate) fn new(inner: I) -> Self {
        let hasher = blake3::Hasher::new();
        Self { inner, hasher }
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.hasher.update(into.split_at(read).0);
        Ok(read)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(bytes.split_at(written).0);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

//! Reads and writes numbers and JSON in the bytes of a survey.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) fn count(length: usize) -> io::Result<[u8; 4]> {
    let count = u32::try_from(length).map_err(io::Error::other)?;
    Ok(count.to_le_bytes())
}

pub(super) fn number(from: &mut dyn Read) -> io::Result<u32> {
    read(from).map(u32::from_le_bytes)
}

pub(super) fn read<const N: usize>(from: &mut dyn Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Writes whether there is a value, then the value.
pub(super) fn write_option<T>(
    value: Option<&T>,
    into: &mut dyn Write,
    write: impl FnOnce(&T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    into.write_all(&[u8::from(value.is_some())])?;
    value.map_or(Ok(()), |value| write(value, into))
}

/// Reads bytes written by [`write_option`].
pub(super) fn read_option<T>(
    from: &mut dyn Read,
    value: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> io::Result<Option<T>> {
    match read(from)? {
        [0] => Ok(None),
        [1] => value(from).map(Some),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Writes a value as JSON, after its length.
pub(super) fn write_json(value: &impl Serialize, into: &mut dyn Write) -> io::Result<()> {
    write_text(&serde_json::to_string(value)?, into)
}

/// Reads bytes written by [`write_json`].
pub(super) fn read_json<T: DeserializeOwned>(from: &mut dyn Read) -> io::Result<T> {
    serde_json::from_str(&read_text(from)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

pub(super) fn write_text(text: &str, into: &mut dyn Write) -> io::Result<()> {
    into.write_all(&count(text.len())?)?;
    into.write_all(text.as_bytes())
}

pub(super) fn read_text(from: &mut dyn Read) -> io::Result<String> {
    let length = u64::from(number(from)?);
    let mut text = String::new();
    // `take` allocates only what is there, so a corrupt length reserves no memory.
    from.take(length).read_to_string(&mut text)?;
    if text.len() as u64 == length {
        Ok(text)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

//! Frames, scanned and read as the engine does it.

use chatmill_diag::Limits;
use chatmill_intake::json;

use crate::{FrameView, ReadOptions, Reading, Source};

/// Scans and reads a frame at byte 0.
pub(crate) fn read(source: &dyn Source, bytes: &[u8], limits: &Limits) -> Reading {
    read_at(source, bytes, 0, None, limits)
}

/// Scans and reads a frame at a byte, with the rows of a conversation.
pub(crate) fn read_at(
    source: &dyn Source,
    bytes: &[u8],
    start: u64,
    key: Option<&str>,
    limits: &Limits,
) -> Reading {
    let document = json::scan(bytes, limits.depth).expect("the fixture is JSON");
    let frame = FrameView {
        document: &document,
        bytes,
        start,
        key,
        options: ReadOptions::default(),
    };
    source.read(&frame, limits)
}

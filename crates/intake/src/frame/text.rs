//! A transcript: a file that is not JSON, with turns between control tokens or lines that begin with a time. The file
//! is one record.
//!
//! The later stages know only JSON, so the text becomes the only field of an object. The reader of the source finds the turns.

use chatmill_diag::codes::DOCUMENT_TOO_LARGE;

use super::{Framer, dated, is_space};
use crate::event::Form;
use crate::json::{Places, unescape_lossy};
use crate::stream::StreamError;
use crate::table::row::push_escaped;

/// The control token that opens a turn; a transcript of turns starts with it.
const OPENING: &[u8] = b"<|im_start|>";

/// The bytes before the text in the object.
const BEFORE: &[u8] = b"{\"text\":\"";

/// The bytes after the text.
const AFTER: &[u8] = b"\"}";

/// Whether bytes begin a transcript, leading white space ignored.
pub(super) fn begins(head: &[u8]) -> bool {
    let start = head.iter().position(|byte| !is_space(*byte));
    let head = start.and_then(|start| head.get(start..)).unwrap_or_default();
    head.starts_with(OPENING) || dated::begins(head)
}

impl Framer {
    /// Cuts everything up to the end of the entry into one record.
    pub(super) fn next_transcript(&mut self, buffer: &mut Vec<u8>) {
        if self.skip_separators(is_space).is_none() {
            self.finish(None, buffer);
            return;
        }
        let Some(mut unit) = self.unit(self.document_limit, &DOCUMENT_TOO_LARGE, buffer) else {
            return;
        };
        while self.window.ready() {
            let count = self.window.rest().len();
            self.take(&mut unit, count, buffer);
        }
        if self.window.is_broken() {
            let cut = StreamError::truncated("the entry ends inside a transcript");
            self.finish_inside(unit, cut, buffer);
            return;
        }
        if let Some(text) = unit.bytes(buffer).map(<[u8]>::to_vec) {
            buffer.truncate(unit.buffer_start());
            buffer.extend_from_slice(BEFORE);
            // The scan will find bytes that are not UTF-8.
            push_escaped(&text, buffer);
            buffer.extend_from_slice(AFTER);
        }
        self.accept(unit, Form::Text, buffer);
    }
}

/// Maps a frame of [`Form::Text`], which is written as an object, back to its text.
#[derive(Clone, Copy, Debug)]
pub struct FramedText<'f> {
    inside: &'f [u8],
}

impl<'f> FramedText<'f> {
    /// The transcript in the bytes of a frame.
    pub fn new(bytes: &'f [u8]) -> Self {
        let inside = bytes
            .strip_prefix(BEFORE)
            .and_then(|rest| rest.strip_suffix(AFTER));
        Self {
            inside: inside.unwrap_or_default(),
        }
    }

    /// The bytes of the text in the entry.
    pub fn text(&self) -> Vec<u8> {
        unescape_lossy(self.inside)
    }

    /// Maps ascending offsets in the frame's bytes to offsets in the text; those outside the text become its start or end.
    pub fn offsets(&self) -> impl FnMut(u64) -> u64 + use<'f> {
        let mut places = Places::new(self.inside);
        let length = self.inside.len();
        move |at| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            places.decoded(at.saturating_sub(BEFORE.len()).min(length)) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_to_the_text() {
        let text = "a\n\"б\"\u{1}\tz".as_bytes();
        let mut json = BEFORE.to_vec();
        push_escaped(text, &mut json);
        json.extend_from_slice(AFTER);
        let transcript = FramedText::new(&json);
        assert_eq!(transcript.text(), text);
        let mut offset = transcript.offsets();
        for (at, byte) in text.iter().enumerate() {
            let mut written = BEFORE.to_vec();
            push_escaped(&text[..at], &mut written);
            assert_eq!(offset(written.len() as u64), at as u64, "{byte}");
        }
        assert_eq!(offset(json.len() as u64), text.len() as u64);
        assert_eq!(offset(u64::MAX), text.len() as u64);
    }

    #[test]
    fn bytes_that_are_no_text_stay_for_the_scan() {
        let mut json = BEFORE.to_vec();
        push_escaped(b"a\xffb\n", &mut json);
        json.extend_from_slice(AFTER);
        assert_eq!(FramedText::new(&json).text(), b"a\xffb\n");
    }
}

//! A page of text, into which whoever makes the text may write it: what is not kept is cut off again.

use parquet::basic::Encoding;
use parquet::errors::{ParquetError, Result};

use super::encoder::{Encoder, Finish};
use super::{KEPT_BYTES, empty};

/// Room for levels in front of the texts. Levels of a page that need more are put together with it elsewhere.
const ROOM: usize = 8 << 10;
/// Bytes in front of each text, for its length.
const LENGTH: usize = size_of::<u32>();

/// The page at hand of a column of texts. It is a string all the time: lengths are entered when the page ends.
#[derive(Default)]
pub struct TextPage {
    page: String,
    /// Where the room for the length of each text begins.
    starts: Vec<usize>,
    is_lent: bool,
}

impl TextPage {
    /// Opens a text, of which only the room for its length stands there.
    fn open(&mut self) {
        if self.page.is_empty() {
            self.page.extend(std::iter::repeat_n('\0', ROOM));
        }
        self.starts.push(self.page.len());
        self.page.push_str("\0\0\0\0");
    }

    pub(crate) fn push(&mut self, text: &str) -> Result<()> {
        self.check()?;
        self.open();
        self.page.push_str(text);
        Ok(())
    }

    /// Lends the page, for a text to be written at its end.
    pub(crate) fn lend(&mut self) -> Result<Draft> {
        self.check()?;
        self.open();
        self.is_lent = true;
        let page = std::mem::take(&mut self.page);
        let start = page.len();
        Ok(Draft { page, start })
    }

    /// Takes a page back that was lent, with or without its last text; or copies the text of another one.
    pub(crate) fn take_back(&mut self, draft: Draft, is_kept: bool) -> Result<()> {
        let is_own = self.is_lent
            && self
                .starts
                .last()
                .is_some_and(|start| start + LENGTH == draft.start);
        if !is_own {
            return if is_kept { self.push(draft.text()) } else { Ok(()) };
        }
        self.page = draft.page;
        self.is_lent = false;
        if !is_kept {
            self.page.truncate(draft.start.saturating_sub(LENGTH));
            self.starts.pop();
            self.give_back();
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        if self.is_lent {
            return Err(ParquetError::General(
                "the page of a draft was not given back".to_owned(),
            ));
        }
        Ok(())
    }

    /// Gives memory back that a page of usual size does not need.
    fn give_back(&mut self) {
        self.page.shrink_to(KEPT_BYTES);
    }
}

impl Encoder for TextPage {
    fn bytes(&self) -> usize {
        self.page.len().saturating_sub(ROOM)
    }

    fn end_page(&mut self, levels: &[u8], page: &mut Vec<u8>, finish: &mut Finish<'_>) -> Result<()> {
        self.check()?;
        let mut texts = std::mem::take(&mut self.page).into_bytes();
        let ends = self.starts.iter().skip(1).copied().chain([texts.len()]);
        for (start, end) in self.starts.iter().zip(ends) {
            let length = u32::try_from(end - start - LENGTH);
            let length =
                length.map_err(|_| ParquetError::General("a text has more than 4 GiB".to_owned()))?;
            if let Some(place) = texts.get_mut(*start..start + LENGTH) {
                place.copy_from_slice(&length.to_le_bytes());
            }
        }
        self.starts.clear();
        let before = ROOM.checked_sub(levels.len());
        let in_front = before.and_then(|before| texts.get_mut(before..ROOM));
        if let (Some(place), Some(before)) = (in_front, before) {
            place.copy_from_slice(levels);
            finish(texts.get(before..).unwrap_or_default(), Encoding::PLAIN)?;
        } else {
            page.clear();
            page.extend_from_slice(levels);
            page.extend_from_slice(texts.get(ROOM..).unwrap_or_default());
            finish(page, Encoding::PLAIN)?;
        }
        empty(&mut texts);
        // An empty string may lie in what held the page: nothing is left that could be no text.
        self.page = String::from_utf8(texts).unwrap_or_default();
        Ok(())
    }
}

/// A text while it is written: at the end of the page that it comes into, so that it is never copied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    page: String,
    start: usize,
}

impl Draft {
    /// A draft at the end of a string that belongs to no column.
    pub(crate) fn in_spare(mut page: String) -> Self {
        page.clear();
        Self { page, start: 0 }
    }

    /// The string that it is written in.
    pub(crate) fn into_page(self) -> String {
        self.page
    }

    /// Appends to it. What stands there before it must stay; its first byte is at the place that is given.
    pub fn write(&mut self, append: impl FnOnce(&mut String, usize)) {
        append(&mut self.page, self.start);
    }

    /// What is written.
    pub fn text(&self) -> &str {
        self.page.get(self.start..).unwrap_or_default()
    }

    /// Takes back what is written.
    pub fn clear(&mut self) {
        self.page.truncate(self.start);
    }
}

/// What becomes of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// It is the value of its row.
    Kept(Draft),
    /// Its row has no value.
    Withdrawn(Draft),
}

impl Content {
    /// Its text, where it is kept.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Kept(draft) => Some(draft.text()),
            Self::Withdrawn(_) => None,
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Withdrawn(Draft::default())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Kept(Draft {
            page: text.to_owned(),
            start: 0,
        })
    }
}

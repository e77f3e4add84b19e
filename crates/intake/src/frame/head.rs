//! Decides from its head how an entry is cut.

use memchr::{memchr, memmem};

use super::balance::Balance;
use super::{is_space, sql, text};
use crate::event::Framing;
use crate::json;
use crate::table::csv::Layout;
use crate::table::sql::Dialect;
use crate::table::{TableMap, copy};

/// The number of non-empty lines that are inspected.
const LINES: usize = 16;

/// The framing of an entry, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Empty,
    Lines,
    /// Lines with the escapes of `COPY`.
    EscapedLines,
    Array,
    Documents,
    Sql(Dialect),
    Csv(Layout),
    /// One transcript.
    Text,
}

impl Cut {
    pub(super) const fn framing(&self) -> Framing {
        match self {
            Self::Empty => Framing::Empty,
            Self::Lines | Self::EscapedLines => Framing::Lines,
            Self::Array => Framing::Array,
            Self::Documents => Framing::Documents,
            Self::Sql(_) | Self::Csv(_) => Framing::Tables,
            Self::Text => Framing::Text,
        }
    }
}

/// Decides by `head`, the first bytes without a byte order mark; `complete` means that they are the whole entry.
///
/// Text that starts with `[` is an array, unless its first line is a complete array and the next line starts another:
/// then each line is a record. Other text is lines if any of the first non-empty lines is by itself a balanced object
/// that starts in column 1, so that one broken line costs only one record. A small text that is a single valid document
/// over several lines is that document, even if it contains such a line. Text that is not JSON may be a transcript, a
/// dump or a table; if its first line is one JSON string, it is lines.
pub(super) fn decide(head: &[u8], complete: bool, maps: &[TableMap]) -> Cut {
    match head.iter().find(|byte| !is_space(**byte)) {
        None if complete => return Cut::Empty,
        None => return Cut::Documents,
        Some(b'[') if text::begins(head) => return Cut::Text,
        Some(b'[') if are_arrays(head, complete) => return Cut::Lines,
        Some(b'[') => return Cut::Array,
        Some(b'{') => {
            if are_escaped(head, complete) {
                return Cut::EscapedLines;
            }
        }
        Some(_) if text::begins(head) => return Cut::Text,
        Some(_) => {
            if let Some(dialect) = sql::detect(head) {
                return Cut::Sql(dialect);
            }
            if let Some(layout) = Layout::of(head, complete, maps) {
                return Cut::Csv(layout);
            }
            if lines(head, complete).next().is_some_and(is_string) {
                return Cut::Lines;
            }
        }
    }
    match (0..LINES)
        .zip(lines(head, complete))
        .find(|(_, line)| is_balanced(line, b'{'))
    {
        None => Cut::Documents,
        Some((0, _)) => Cut::Lines,
        // The depth does not matter for the framing.
        Some(_) if complete && json::scan(head, u32::MAX).is_ok() => Cut::Documents,
        Some(_) => Cut::Lines,
    }
}

/// Whether each line seems to be an array: the first is a complete one, and the next begins with one.
fn are_arrays(head: &[u8], complete: bool) -> bool {
    // The second line may be cut, because only its beginning counts.
    let mut all = lines(head, true);
    let first = all.next().unwrap_or_default();
    let is_whole = complete || first.len() < head.len();
    is_whole && is_balanced(first, b'[') && all.next().is_some_and(|line| line.starts_with(b"["))
}

/// Whether lines of JSON have the escapes of `COPY`: some are valid only without them, and none only with them.
fn are_escaped(head: &[u8], complete: bool) -> bool {
    if memmem::find(head, b"\\\\").is_none() {
        return false;
    }
    let mut is_escaped = false;
    for line in lines(head, complete).filter(|line| line.first() == Some(&b'{') && line.contains(&b'\\')) {
        let as_it_is = json::scan(line, u32::MAX).is_ok();
        let without = json::scan(&copy::unescape(line), u32::MAX).is_ok();
        if as_it_is && !without {
            return false;
        }
        is_escaped |= without && !as_it_is;
    }
    is_escaped
}

/// The non-empty lines of the head; the last one only if its end is in the head.
fn lines(head: &[u8], complete: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = head;
    std::iter::from_fn(move || {
        let (line, after) = match memchr(b'\n', rest) {
            Some(end) => (rest.get(..end)?, rest.get(end + 1..)?),
            None if complete && !rest.is_empty() => (rest, &[][..]),
            None => return None,
        };
        rest = after;
        Some(line)
    })
    .filter(|line| line.iter().any(|byte| !is_space(*byte)))
}

/// Whether a line is a single JSON string from column 1 on.
fn is_string(line: &[u8]) -> bool {
    line.first() == Some(&b'"') && json::scan(line, 0).is_ok()
}

/// Whether a line is a single balanced value that begins with a bracket in column 1.
fn is_balanced(line: &[u8], bracket: u8) -> bool {
    line.first() == Some(&bracket)
        && Balance::default()
            .run(line)
            .and_then(|end| line.get(end..))
            .is_some_and(|after| after.iter().all(|byte| is_space(*byte)))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::cases;

    #[test]
    fn framings_of_heads_match_the_case_file() {
        cases("heads", |words, head| {
            let cut = super::decide(head.as_bytes(), words != "cut", &[]);
            format!("{:?}, {cut:?}", cut.framing())
        });
    }
}

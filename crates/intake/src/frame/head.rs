//! Decides from the head how an entry is cut.

use memchr::memchr;

use super::balance::Balance;
use super::is_space;
use crate::event::Framing;
use crate::json;

/// Non-empty lines that are looked at.
const LINES: usize = 16;

/// Decides by `head`, the first bytes without a byte order mark; `complete` when they are all.
///
/// Text that starts with `[` is an array. Other text is lines when any of the first non-empty lines alone is a
/// balanced object that starts in column 1, so that one broken line costs one record. A small text that is one valid
/// document over several lines is that document, even when such a line stands inside it.
pub(super) fn decide(head: &[u8], complete: bool) -> Framing {
    match head.iter().find(|byte| !is_space(**byte)) {
        None if complete => return Framing::Empty,
        None => return Framing::Documents,
        Some(b'[') => return Framing::Array,
        Some(_) => {}
    }
    match (0..LINES)
        .zip(lines(head, complete))
        .find(|(_, line)| is_object(line))
    {
        None => Framing::Documents,
        Some((0, _)) => Framing::Lines,
        // Depth does not matter for the shape.
        Some(_) if complete && json::scan(head, u32::MAX).is_ok() => Framing::Documents,
        Some(_) => Framing::Lines,
    }
}

/// The non-empty lines of the head; the last one only when its end was seen.
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

/// Whether a line is one balanced object from column 1 on.
fn is_object(line: &[u8]) -> bool {
    line.first() == Some(&b'{')
        && Balance::default()
            .run(line)
            .and_then(|end| line.get(end..))
            .is_some_and(|after| after.iter().all(|byte| is_space(*byte)))
}

#[cfg(test)]
mod tests {
    use super::decide;
    use crate::event::Framing::{self, Array, Documents, Empty, Lines};

    #[test]
    fn the_head_decides() {
        let table: &[(&str, Framing)] = &[
            ("", Empty),
            (" \r\n\t\n", Empty),
            ("[]", Array),
            (" \n [1", Array),
            ("{}", Lines),
            ("{\"a\":1}\n{\"a\":2}\n", Lines),
            ("{\"a\":1}\r\n{\"a\":2}", Lines),
            ("\n\n{\"a\":1}\n", Lines),
            ("broken\n{\"a\":1}\n", Lines),
            ("{\"a\":[\n{\"a\":1}\n{\"a\":2}\n", Lines),
            ("{\"a\":1}{\"a\":2}\n", Documents),
            ("{\"a\":1}\r{\"a\":2}\r", Documents),
            ("{\n\"a\":1\n}\n{\n\"a\":2\n}\n", Documents),
            (" {\"a\":1}\n", Documents),
            ("{\"a\":[\n{\"b\":1}\n]}\n", Documents),
            ("hello\n", Documents),
            ("42", Documents),
        ];
        for (head, framing) in table {
            assert_eq!(decide(head.as_bytes(), true), *framing, "{head:?}");
        }
    }

    #[test]
    fn a_line_that_is_cut_does_not_count() {
        assert_eq!(decide(b"{\"a\":1}", false), Documents);
        assert_eq!(decide(b"{\"a\":1}\n", false), Lines);
        assert_eq!(decide(b"   ", false), Documents);
    }

    #[test]
    fn only_the_first_sixteen_lines_are_looked_at() {
        let broken = "x\n\n".repeat(15);
        assert_eq!(decide(format!("{broken}{{}}\n").as_bytes(), true), Lines);
        assert_eq!(decide(format!("{broken}x\n{{}}\n").as_bytes(), true), Documents);
    }
}

//! Finds and counts bytes of a kind, in blocks that the compiler turns into vector instructions.

/// The number of bytes that are compared at once.
const BLOCK_BYTES: usize = 16;

/// The offset of the first byte of a kind.
///
/// Whole blocks are asked first, and no block is left early: that is work for vector instructions, and most texts have no such byte. The
/// compiler uses them only if `is_wanted` does not branch, so it needs `|` and not `||`.
#[inline]
pub fn position(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let has_wanted =
        |block: &[u8; BLOCK_BYTES]| block.iter().fold(false, |found, byte| found | is_wanted(*byte));
    let (blocks, rest) = bytes.as_chunks::<BLOCK_BYTES>();
    let place = |start: usize, bytes: &[u8]| {
        let at = bytes.iter().position(|byte| is_wanted(*byte))?;
        Some(start + at)
    };
    match blocks.iter().enumerate().find(|(_, block)| has_wanted(block)) {
        Some((number, block)) => place(number * BLOCK_BYTES, block),
        None => place(bytes.len() - rest.len(), rest),
    }
}

/// Whether there is a byte of a kind.
#[inline]
pub fn any(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    position(bytes, is_wanted).is_some()
}

/// The number of bytes of a kind.
#[inline]
pub fn count(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> u64 {
    // Sums in a byte are work for vector instructions, too.
    let of_block = |block: &[u8]| block.iter().fold(0, |sum, byte| sum + u8::from(is_wanted(*byte)));
    let blocks = bytes.chunks(usize::from(u8::MAX));
    blocks.map(|block| u64::from(of_block(block))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_gives_the_first_byte_that_matches_at_any_length() {
        for length in 0..100 {
            assert_eq!(position(&vec![b'x'; length], |byte| byte == b'y'), None);
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = b'y';
                bytes[length - 1] = b'y';
                assert_eq!(position(&bytes, |byte| byte == b'y'), Some(at), "{length}");
                assert!(any(&bytes, |byte| byte == b'y'));
            }
        }
    }

    #[test]
    fn count_gives_the_number_of_bytes_that_match_at_any_length() {
        for length in [0, 1, 254, 255, 256, 1000] {
            let bytes = vec![b'x'; length];
            assert_eq!(count(&bytes, |byte| byte == b'x'), length as u64);
            assert_eq!(count(&bytes, |byte| byte == b'y'), 0);
        }
    }
}

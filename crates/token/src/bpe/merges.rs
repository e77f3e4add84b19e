//! The vocabularies of the registry as merges: for each token, in the order of ranks, the two tokens that become it.
//!
//! tiktoken-rs embeds its vocabularies as text and makes two maps of byte strings from them. Looking up every token there and merging it
//! took half a second at every start. These files contain the result instead, in six bytes per token. A test writes them from tiktoken-rs,
//! and compares them.

use crate::bpe::vocabulary::Vocabulary;

/// Bytes of an entry: the ids of the left and the right part, three bytes each, the lowest first.
type Entry = [u8; 6];

/// The right part of a token of one byte; its left part is the byte.
const BYTE: u32 = 0xff_ffff;

/// Reads `tokens` entries; `None` if there are fewer, or if one refers to a later token.
pub(crate) fn read(merges: &[u8], tokens: usize) -> Option<Vocabulary> {
    let mut vocabulary = Vocabulary::for_tokens(tokens);
    each(merges, tokens, |bytes, id, parts| {
        vocabulary.add(bytes, id, Some(parts));
    })?;
    Some(vocabulary)
}

/// Calls `token` with the bytes of each token, its id and its two parts; nothing where [`read`] returns nothing.
pub(crate) fn each(
    merges: &[u8],
    tokens: usize,
    mut token: impl FnMut(&[u8], u32, (u32, u32)),
) -> Option<()> {
    let (entries, _) = merges.as_chunks::<{ size_of::<Entry>() }>();
    let entries = entries.get(..tokens)?;
    // The bytes of the tokens, one after the other, and the first and last byte of each.
    let mut said: Vec<u8> = Vec::with_capacity(tokens * 8);
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(tokens);
    for (id, [a, b, c, d, e, f]) in (0..).zip(entries) {
        let left = u32::from_le_bytes([*a, *b, *c, 0]);
        let right = u32::from_le_bytes([*d, *e, *f, 0]);
        let start = said.len();
        if right == BYTE {
            said.push(*a);
        } else {
            for part in [left, right] {
                let (start, end) = *places.get(part as usize)?;
                said.extend_from_within(start..end);
            }
        }
        places.push((start, said.len()));
        token(said.get(start..)?, id, (left, right));
    }
    Some(())
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "on request, the test writes the files that it checks"
)]
mod tests;

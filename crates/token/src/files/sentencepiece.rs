//! `SentencePiece` files (`.model`) that merge pairs: a protocol buffers message with pieces, their scores and their kinds.
//!
//! Two neighbouring pieces are merged if both together are a piece, highest score first. As a [model](crate::bpe::model), a piece becomes
//! one merge for each of its divisions into two pieces, ranked by its score. Pieces that the author added are text, as in a
//! `tokenizer.json`. Unigram models, tables of characters and the removal of white space are refused.
//!
//! Specified in `sentencepiece_model.proto` of the project.

use rustc_hash::FxHashMap;

use crate::bpe::model::Model;
use crate::bpe::reached::Alphabet;
use crate::bpe::symbols::Others;
use crate::error::EncodingError;
use crate::files::tokenizer_json::{CountingPlan, TokenizerFile};
use crate::split::finder::Finder;
use crate::split::prefix::Prefix;
use crate::split::sync::BLANK;
use crate::steps::Steps;
use crate::steps::normalizer::Normalizer;

/// The fields of a message, by number, in order.
struct Message<'b>(Vec<(u64, FieldValue<'b>)>);

#[derive(Clone, Copy)]
enum FieldValue<'b> {
    /// A varint, or the bits of a float.
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Message<'b> {
    /// Reads the fields; `None` if the bytes are no message.
    fn read(mut bytes: &'b [u8]) -> Option<Self> {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let length = match tag & 7 {
                0 => {
                    fields.push((tag >> 3, FieldValue::Number(varint(&mut bytes)?)));
                    continue;
                }
                1 => 8,
                2 => usize::try_from(varint(&mut bytes)?).ok()?,
                5 => 4,
                _ => return None,
            };
            let (value, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            fields.push((
                tag >> 3,
                match (tag & 7, value.first_chunk()) {
                    (5, Some(bits)) => FieldValue::Number(u32::from_le_bytes(*bits).into()),
                    _ => FieldValue::Bytes(value),
                },
            ));
        }
        Some(Self(fields))
    }

    /// The last number in a field.
    fn number(&self, field: u64) -> Option<u64> {
        self.0.iter().rev().find_map(|(number, value)| match value {
            FieldValue::Number(value) if *number == field => Some(*value),
            _ => None,
        })
    }

    /// All values of a field that are bytes.
    fn bytes(&self, field: u64) -> impl Iterator<Item = &'b [u8]> {
        self.0.iter().filter_map(move |(number, value)| match value {
            FieldValue::Bytes(value) if *number == field => Some(*value),
            _ => None,
        })
    }

    /// The message in a field, which may be split over several values.
    fn message(&self, field: u64) -> Option<Self> {
        let mut parts = Vec::new();
        for part in self.bytes(field) {
            parts.extend(Self::read(part)?.0);
        }
        Some(Self(parts))
    }
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// A piece: its text, its score and its kind.
struct VocabularyPiece<'b>(&'b str, f32, u64);

const ORDINARY: u64 = 1;
const UNKNOWN: u64 = 2;
const ADDED: u64 = 4;
const UNUSED: u64 = 5;
const BYTE: u64 = 6;

impl<'b> VocabularyPiece<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        let piece = Message::read(bytes)?;
        let text = std::str::from_utf8(piece.bytes(1).last()?).ok()?;
        let score = f32::from_bits(piece.number(2).unwrap_or(0) as u32);
        Some(Self(text, score, piece.number(3).unwrap_or(ORDINARY)))
    }
}

/// The parts of a file that matter for counting.
struct PieceModel<'b> {
    pieces: Vec<VocabularyPiece<'b>>,
    trainer: Message<'b>,
    normalizer: Message<'b>,
}

impl<'b> PieceModel<'b> {
    fn read(bytes: &'b [u8]) -> Option<Self> {
        let file = Message::read(bytes)?;
        let pieces: Vec<_> = file.bytes(1).map(VocabularyPiece::read).collect::<Option<_>>()?;
        (!pieces.is_empty()).then_some(())?;
        Some(Self {
            pieces,
            trainer: file.message(2)?,
            normalizer: file.message(3)?,
        })
    }

    /// The reason why the file cannot be counted with, if there is one.
    fn refusal(&self) -> Option<&'static str> {
        let (trainer, normalizer) = (&self.trainer, &self.normalizer);
        let has_table = normalizer.bytes(2).any(|table| !table.is_empty());
        let is_divided = self.pieces.iter().any(|piece| piece.2 == UNUSED);
        let reasons = [
            (trainer.number(3) != Some(2), "its model does not merge pairs"),
            (has_table, "it normalises texts by a table"),
            (
                normalizer.number(4) != Some(0),
                "it removes white space next to other white space",
            ),
            (
                trainer.number(24) == Some(1) || normalizer.number(5) == Some(0),
                "its sign for a space does not precede words",
            ),
            (is_divided, "it has pieces that are merged and then divided again"),
        ];
        reasons
            .iter()
            .find_map(|(holds, reason)| holds.then_some(*reason))
    }

    /// The ids of the pieces of a kind.
    fn of_kind(&self, kind: u64) -> Vec<u32> {
        let pieces = self.pieces.iter().zip(0..);
        pieces
            .filter_map(|(piece, id)| (piece.2 == kind).then_some(id))
            .collect()
    }
}

/// Reads a file of `SentencePiece`.
pub(crate) fn read(bytes: &[u8]) -> Result<TokenizerFile, EncodingError> {
    let refused = |reason: &str| EncodingError::Vocabulary(reason.to_owned());
    let file = PieceModel::read(bytes)
        .ok_or_else(|| refused("it is neither a tokenizer file in JSON nor a SentencePiece model"))?;
    if let Some(reason) = file.refusal() {
        return Err(refused(&format!(
            "{reason}; give the `tokenizer.json` of the model"
        )));
    }
    let bytes = file.of_kind(BYTE);
    let falls_back = file.trainer.number(35) == Some(1);
    let others = match file.of_kind(UNKNOWN).first() {
        _ if falls_back && bytes.len() == 256 => Others::Bytes(bytes),
        Some(id) if !falls_back => Others::Unknown { id: *id, fuse: true },
        _ => return Err(refused("it has no piece for unknown characters")),
    };
    let mut pieces: Vec<_> = file.pieces.iter().zip(0..).collect();
    pieces.retain(|(piece, _)| matches!(piece.2, ORDINARY | ADDED));
    let tokens: FxHashMap<String, u32> = pieces
        .iter()
        .map(|(piece, id)| (piece.0.to_owned(), *id))
        .collect();
    if tokens.len() < pieces.len() {
        return Err(refused(
            "it has a duplicate piece; take the file that belongs to the model",
        ));
    }
    pieces.sort_by(|(one, _), (other, _)| other.1.total_cmp(&one.1));
    let merges = merges(&pieces);
    let model = Model::new(tokens, merges, others, false)
        .filter(Model::has_blanks)
        .ok_or_else(|| refused("it has no piece for a space"))?;
    let sign = BLANK.to_string();
    let prefix = if file.normalizer.number(3) == Some(0) {
        Prefix::None
    } else {
        Prefix::Always
    };
    let spaces = Normalizer::Replace(Finder::Text(" ".to_owned()), sign.clone());
    let prepended = (prefix == Prefix::Always).then_some(Normalizer::Prepend(sign));
    let steps = Steps {
        normalizers: std::iter::once(spaces).chain(prepended).collect(),
        pre_tokenizers: Vec::new(),
    };
    Ok(TokenizerFile {
        model,
        steps,
        plan: CountingPlan::whole(Alphabet::Blanks, "not cut", prefix),
    })
}

/// Every division of a piece into two, with the rank of its score. A file may contain pieces of any length, so a division is not sought at
/// every character, but where a piece that is a prefix meets one that is a suffix.
fn merges(by_score: &[(&VocabularyPiece<'_>, u32)]) -> FxHashMap<(u32, u32), (u32, u32)> {
    let texts = by_score.iter().map(|(piece, id)| (piece.0.bytes(), *id));
    let lefts = beginnings(texts.clone().map(|(text, id)| (text.collect(), id)));
    let rights = beginnings(texts.map(|(text, id)| (text.rev().collect(), id)));
    let mut merges = FxHashMap::default();
    for (rank, (piece, id)) in (0..).zip(by_score) {
        let mut rights = rights.get(id).into_iter().flatten().rev().peekable();
        for (length, left) in lefts.get(id).into_iter().flatten() {
            let rest = piece.0.len() - length;
            while rights.next_if(|(length, _)| *length > rest).is_some() {}
            if let Some((_, right)) = rights.next_if(|(length, _)| *length == rest) {
                merges.insert((*left, *right), (rank, *id));
            }
        }
    }
    merges
}

/// For each piece, all others that it begins with: their lengths and ids, the shortest first. A piece has at most as many as it has bytes,
/// so the time is in proportion to the bytes of all pieces, times the logarithm of their number.
fn beginnings(pieces: impl Iterator<Item = (Vec<u8>, u32)>) -> FxHashMap<u32, Vec<(usize, u32)>> {
    let mut pieces: Vec<(Vec<u8>, u32)> = pieces.collect();
    // In byte order, the prefixes of a piece precede it, and only pieces with the same prefix are between the two.
    pieces.sort_unstable();
    let mut open: Vec<(&[u8], u32)> = Vec::new();
    let mut found = FxHashMap::default();
    for (piece, id) in &pieces {
        while open.pop_if(|(other, _)| !piece.starts_with(other)).is_some() {}
        let others = open.iter().map(|(other, id)| (other.len(), *id));
        found.insert(*id, others.collect());
        open.push((piece, *id));
    }
    found
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Encoding;

    fn sample() -> Vec<u8> {
        let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/tokenizers");
        std::fs::read(samples.join("pieces.model")).unwrap()
    }

    fn refusal(bytes: &[u8]) -> String {
        read(bytes).err().unwrap().to_string()
    }

    #[test]
    fn a_model_that_is_cut_short_or_changed_is_refused_or_read_and_nothing_else() {
        let whole = sample();
        assert!(read(&whole).is_ok());
        for end in (0..whole.len()).step_by(7) {
            let _ = read(&whole[..end]);
            let mut changed = whole.clone();
            changed[end] ^= 0x85;
            let _ = read(&changed);
        }
        for bytes in [
            &b""[..],
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\x0a",
            b"\xff",
        ] {
            assert!(refusal(bytes).starts_with("it is neither"), "{bytes:?}");
        }
    }

    /// A field of a message with these bytes as its value.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut field = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length > 0x7f {
            field.push(length as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        [field.as_slice(), bytes].concat()
    }

    /// Such pieces would take hours if every character were tried.
    #[test]
    fn a_model_with_pieces_of_a_megabyte_is_read() {
        let longest = "a".repeat(1 << 20);
        let shorter = (3..800).map(|length| "a".repeat(length));
        let texts = shorter.chain([longest.clone(), format!("{longest}b")]);
        let more = texts.flat_map(|text| field(1, &field(1, text.as_bytes())));
        let file: Vec<u8> = sample().into_iter().chain(more).collect();
        let encoding = Encoding::from_tokenizer("acme", &file).unwrap();
        let count = |text: &str| encoding.counter().count(text);
        assert_eq!(Some(count("baaaab")), encoding.reference().count("baaaab"));
        // The first two letters absorb one letter after the other, until there is no longer piece.
        assert_eq!(count(&longest), 1 + (1_u64 << 20).div_ceil(799));
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(256))]

        #[test]
        fn divisions_are_those_at_every_character(texts in prop::collection::btree_set("[aéb]{1,6}", 1..40)) {
            let tokens: FxHashMap<String, u32> = texts.iter().cloned().zip(0..).collect();
            let pieces: Vec<_> = texts.iter().map(|text| VocabularyPiece(text, 0.0, ORDINARY)).collect();
            let by_score: Vec<_> = pieces.iter().zip(0..).collect();
            let mut plain = FxHashMap::default();
            for (rank, (piece, id)) in (0..).zip(&by_score) {
                for (middle, _) in piece.0.char_indices().skip(1) {
                    let (left, right) = piece.0.split_at(middle);
                    if let (Some(left), Some(right)) = (tokens.get(left), tokens.get(right)) {
                        plain.insert((*left, *right), (rank, *id));
                    }
                }
            }
            prop_assert_eq!(merges(&by_score), plain);
        }
    }

    #[test]
    fn a_model_with_a_piece_twice_is_refused() {
        let file = [sample(), field(1, &field(1, b"aa"))].concat();
        assert!(refusal(&file).starts_with("it has a duplicate piece"));
    }

    #[test]
    fn what_cannot_be_counted_is_named() {
        // A second trainer message overrides the first: the kind of the model, white space after words; so does a normalizer: a table,
        // white space.
        for (more, expected) in [
            (
                &b"\x12\x02\x18\x01"[..],
                "its model does not merge pairs; give the",
            ),
            (
                b"\x12\x03\xc0\x01\x01",
                "its sign for a space does not precede words",
            ),
            (b"\x1a\x03\x12\x01x", "it normalises texts by a table"),
            (b"\x1a\x02\x20\x01", "it removes white space"),
            (b"\x1a\x02\x28\x00", "its sign for a space"),
            (
                b"\x0a\x05\x0a\x01x\x18\x05",
                "it has pieces that are merged and then",
            ),
        ] {
            let file = [sample().as_slice(), more].concat();
            assert!(refusal(&file).starts_with(expected), "{}", refusal(&file));
        }
    }
}

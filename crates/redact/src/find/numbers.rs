//! The scan over the words of a text. At the start of each word, and at each sign that numbers begin with, the detectors of numbers,
//! accounts and credentials examine the following text.

use chatmill_diag::cut;

use super::characters::{before, continues};
use super::{Found, KindSet, address, bank, card, phone, secret};
use crate::kind::PersonalKind;

pub(super) fn find(text: &str, kinds: KindSet, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut last = b' ';
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1);
        let begins = match byte {
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => !last.is_ascii_alphanumeric() && last != b'_',
            b'+' => matches!(next, Some(b'0'..=b'9' | b'(')),
            b'(' => matches!(next, Some(b'0'..=b'9')),
            b':' => next == Some(&b':'),
            _ => false,
        };
        let is_boundary = begins && (last < 0x80 || !continues(before(text, at)));
        let value = if is_boundary {
            value_at(text, at, byte, kinds)
        } else {
            None
        };
        if let Some(value) = value {
            at = value.range.end.max(at + 1);
            last = *cut::at(bytes, at - 1);
            found.push(value);
        } else {
            last = byte;
            at += 1;
        }
    }
}

/// A detector: the value that begins at a place, if there is one.
type Detector = fn(&str, usize) -> Option<Found>;

fn value_at(text: &str, at: usize, byte: u8, kinds: KindSet) -> Option<Found> {
    let detectors: &[(PersonalKind, Detector)] = match byte {
        b'0'..=b'9' => &[
            (PersonalKind::Secret, secret::bot_token),
            (PersonalKind::Card, card::find),
            (PersonalKind::Ip, address::version_4),
            (PersonalKind::Ip, address::version_6),
            (PersonalKind::Phone, phone::national),
        ],
        b'+' => &[(PersonalKind::Phone, phone::international)],
        b'(' => &[(PersonalKind::Phone, phone::national)],
        b':' => &[(PersonalKind::Ip, address::version_6)],
        _ => &[
            (PersonalKind::Secret, secret::key_shape),
            (PersonalKind::Secret, secret::bot_address),
            (PersonalKind::Secret, secret::discord_token),
            (PersonalKind::Iban, bank::iban),
            (PersonalKind::Ip, address::version_6),
        ],
    };
    detectors
        .iter()
        .filter(|(kind, _)| kinds.has(*kind))
        .find_map(|(_, detector)| detector(text, at))
}

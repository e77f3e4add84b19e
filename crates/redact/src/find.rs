//! The detectors, and the merge of their matches into one list without overlaps.
//!
//! `redactor` passes a folded text and the wanted kinds, and gets matches with ranges in that text. Each detector is linear: it reads the
//! text once, and a bounded range from each place where a match may begin.

mod address;
mod bank;
mod card;
mod characters;
mod email;
mod numbers;
mod phone;
mod secret;

use std::cmp::Reverse;
use std::ops::Range;

use crate::kind::PersonalKind;

pub(crate) use characters::{is_unspaced, is_word};

/// One match in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The kind of data.
    pub(crate) kind: PersonalKind,
    /// The range of the match.
    pub(crate) range: Range<usize>,
    /// The normal form of the value, which all its spellings share.
    pub(crate) value: String,
}

/// The kinds to search for: one bit for each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindSet(u8);

impl KindSet {
    pub(crate) fn new(kinds: &[PersonalKind]) -> Self {
        Self(kinds.iter().fold(0, |set, kind| set | 1 << *kind as u8))
    }

    pub(crate) fn has(self, kind: PersonalKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }
}

/// All matches except names, in order of place; overlapping matches are merged.
pub(crate) fn find(text: &str, kinds: KindSet) -> Vec<Found> {
    // No value of any kind is shorter.
    if text.len() < 5 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if kinds.has(PersonalKind::Secret) {
        secret::in_urls(text, &mut found);
        secret::private_keys(text, &mut found);
    }
    numbers::find(text, kinds, &mut found);
    if kinds.has(PersonalKind::Email) {
        email::find(text, &mut found);
    }
    merge_overlaps(found)
}

/// Sorts the matches, and merges overlapping ones into one with the kind of highest rank, so that no byte of them is left.
pub(crate) fn merge_overlaps(mut found: Vec<Found>) -> Vec<Found> {
    if found.len() < 2 {
        return found;
    }
    found.sort_by_key(|found| (found.range.start, Reverse(found.range.end)));
    let mut merged: Vec<Found> = Vec::with_capacity(found.len());
    for next in found {
        match merged.pop() {
            Some(last) if next.range.start < last.range.end => merged.push(joined(last, next)),
            last => merged.extend(last.into_iter().chain([next])),
        }
    }
    merged
}

fn joined(first: Found, second: Found) -> Found {
    // The password in a URL ends at the `@` that looks like part of an e-mail address.
    if first.kind == PersonalKind::Secret && second.kind == PersonalKind::Email {
        return first;
    }
    let range = first.range.start..first.range.end.max(second.range.end);
    let leading = if rank(second.kind) < rank(first.kind) {
        second
    } else {
        first
    };
    Found { range, ..leading }
}

/// Secrets come first, since they contain text that looks like addresses; names come last, since they are parts of addresses.
const fn rank(kind: PersonalKind) -> u8 {
    match kind {
        PersonalKind::Secret => 0,
        PersonalKind::Email => 1,
        PersonalKind::Iban => 2,
        PersonalKind::Card => 3,
        PersonalKind::Ip => 4,
        PersonalKind::Phone => 5,
        PersonalKind::Name => 6,
    }
}

#[cfg(test)]
mod tests;

//! E-mail addresses: searched from each at sign to both sides.
//!
//! The top-level domain begins with at least two letters. Quoted local parts and domains without a dot are no match, and neither are
//! `git@host:path` and file names like `icon@2x.png`.

use memchr::memchr_iter;

use super::Found;
use super::characters::{is_unspaced, is_word};
use crate::kind::PersonalKind;

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let mut free = 0;
    for at in memchr_iter(b'@', text.as_bytes()) {
        let (Some(head), Some(tail)) = (text.get(free..at), text.get(at + 1..)) else {
            continue;
        };
        let local = local_part(head);
        let domain = domain(tail);
        if local.is_empty() || domain.is_empty() || is_no_address(local, domain, tail) {
            continue;
        }
        let range = at - local.len()..at + 1 + domain.len();
        free = range.end;
        found.push(Found {
            kind: PersonalKind::Email,
            range,
            value: format!("{local}@{domain}").to_lowercase(),
        });
    }
}

/// The end of `head` that can be the local part of an address.
fn local_part(head: &str) -> &str {
    let unspaced = head.chars().next_back().is_some_and(is_unspaced);
    let belongs = |character: char| {
        (is_word(character) && (unspaced || !is_unspaced(character)))
            || matches!(character, '.' | '_' | '+' | '-' | '\'')
    };
    let part = match head
        .char_indices()
        .rev()
        .find(|(_, character)| !belongs(*character))
    {
        None => head,
        Some((at, character)) => head.split_at(at + character.len_utf8()).1,
    };
    part.trim_start_matches(['.', '\'', '-', '+'])
}

/// The beginning of `tail` that is a domain.
fn domain(tail: &str) -> &str {
    let mut end = 0;
    let mut at = 0;
    let mut labels = 0;
    while let Some(rest) = tail.get(at..) {
        let unspaced = rest.chars().next().is_some_and(is_unspaced);
        let length: usize = rest
            .chars()
            .take_while(|character| {
                (is_word(*character) && unspaced == is_unspaced(*character))
                    || *character == '-'
                    || *character == '_'
            })
            .map(char::len_utf8)
            .sum();
        let Some(label) = rest.get(..length).map(|label| label.trim_end_matches(['-', '_'])) else {
            break;
        };
        if label.is_empty() || label.starts_with('-') {
            break;
        }
        labels += 1;
        let mut characters = label.chars();
        let is_top = [characters.next(), characters.next()]
            .iter()
            .all(|character| character.is_some_and(char::is_alphabetic));
        if labels > 1 && is_top {
            end = at + label.len();
        }
        if label.len() < length || !rest.get(length..).is_some_and(|rest| rest.starts_with('.')) {
            break;
        }
        at += length + 1;
    }
    tail.split_at(end).0
}

fn is_no_address(local: &str, domain: &str, tail: &str) -> bool {
    let is_remote = local == "git" && tail.get(domain.len()..).is_some_and(|rest| rest.starts_with(':'));
    let is_scaled_picture = domain.split_once('.').is_some_and(|(scale, kind)| {
        let digits = scale.strip_suffix('x').unwrap_or_default();
        !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(kind, "png" | "jpg" | "jpeg" | "webp" | "gif" | "svg" | "avif")
    });
    is_remote || is_scaled_picture
}

//! Payment card numbers: 13 to 19 digits in an issuer's range, of its length and with the right check digit.
//!
//! Digits may be consecutive or in the groups that cards show (4-4-4-4, 4-6-5, 4-6-4). A number that is part of something longer is no
//! match. One in ten numbers with the right beginning and length passes the check by chance.

use super::Found;
use super::characters::{after, before, continues, two_after, two_before};
use crate::kind::PersonalKind;

const GROUPINGS: [&[usize]; 5] = [
    &[4, 4, 4, 4, 3],
    &[4, 4, 4, 4],
    &[4, 6, 5],
    &[4, 6, 4],
    &[4, 4, 4, 1],
];

pub(super) fn find(text: &str, at: usize) -> Option<Found> {
    if is_inside(text, at) {
        return None;
    }
    let (digits, end) = together(text, at).or_else(|| grouped(text, at))?;
    if is_followed(text, end) || !has_issuer(&digits) || !has_check_digit(&digits) {
        return None;
    }
    Some(Found {
        kind: PersonalKind::Card,
        range: at..end,
        value: digits,
    })
}

/// Whether a number continues to the left: a fraction, or an id with hyphens.
fn is_inside(text: &str, at: usize) -> bool {
    match two_before(text, at) {
        (Some('.' | ','), second) => second.is_some_and(|character| character.is_ascii_digit()),
        (Some('-'), second) => second.is_some_and(char::is_alphanumeric),
        (first, _) => continues(first) || first == Some('+'),
    }
}

fn is_followed(text: &str, end: usize) -> bool {
    match two_after(text, end) {
        (Some('.' | ',' | '-'), second) => second.is_some_and(|character| character.is_ascii_digit()),
        (first, _) => continues(first),
    }
}

fn together(text: &str, at: usize) -> Option<(String, usize)> {
    let length = super::characters::run(text, at, |byte| byte.is_ascii_digit());
    let digits = text
        .get(at..at + length)
        .filter(|_| (13..=19).contains(&length))?;
    Some((digits.to_owned(), at + length))
}

fn grouped(text: &str, at: usize) -> Option<(String, usize)> {
    GROUPINGS.into_iter().find_map(|grouping| {
        let mut digits = String::new();
        let mut end = at;
        let mut separator = None;
        for (index, size) in grouping.iter().enumerate() {
            if index > 0 {
                let character = after(text, end).filter(|character| matches!(character, ' ' | '-'))?;
                if *separator.get_or_insert(character) != character {
                    return None;
                }
                end += 1;
            }
            let group = text
                .get(end..end + size)
                .filter(|group| group.bytes().all(|byte| byte.is_ascii_digit()))?;
            digits.push_str(group);
            end += size;
        }
        let ends = !after(text, end).is_some_and(|character| character.is_ascii_digit());
        (ends && !before(text, at).is_some_and(|character| character.is_ascii_digit()))
            .then_some((digits, end))
    })
}

/// Whether a number has the beginning and the length of an issuer's numbers.
fn has_issuer(digits: &str) -> bool {
    let length = digits.len();
    let first = |count: usize| {
        let places = digits.bytes().take(count);
        places.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let (two, three, four) = (first(2), first(3), first(4));
    match two {
        40..=49 => matches!(length, 13 | 16 | 19),
        51..=55 | 22..=27 => length == 16 && (two > 50 || (2221..=2720).contains(&four)),
        34 | 37 => length == 15,
        30 => (300..=305).contains(&three) && length == 14,
        36 | 38 | 39 => length == 14,
        35 => (3528..=3589).contains(&four) && (16..=19).contains(&length),
        60 => four == 6011 && (16..=19).contains(&length),
        62 | 65 => (16..=19).contains(&length),
        64 => three >= 644 && (16..=19).contains(&length),
        _ => false,
    }
}

/// The Luhn check: from the right, every second digit counts twice.
fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte - b'0');
            match (place % 2, digit) {
                (0, _) => digit,
                (_, 0..=4) => digit * 2,
                _ => digit * 2 - 9,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

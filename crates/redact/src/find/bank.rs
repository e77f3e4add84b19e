//! International bank account numbers: as long as the country's are, with the right remainder.

use super::Found;
use super::signs::{after, continues};
use crate::kind::Kind;

/// Country and length, in order of country (the registry of the IBAN standard, release 99).
pub(super) const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

pub(super) fn iban(text: &str, at: usize) -> Option<Found> {
    let rest = text.as_bytes().get(at..)?;
    let [first, second, third, fourth] = *rest.first_chunk::<4>()?;
    let begins = first.is_ascii_alphabetic()
        && second.is_ascii_alphabetic()
        && third.is_ascii_digit()
        && fourth.is_ascii_digit();
    if !begins {
        return None;
    }
    let country = [first.to_ascii_uppercase(), second.to_ascii_uppercase()];
    let place = LENGTHS
        .binary_search_by(|(code, _)| code.as_bytes().cmp(&country))
        .ok()?;
    let length = LENGTHS.get(place).map(|(_, length)| *length)?;
    let mut value = String::with_capacity(length);
    let mut end = at;
    while value.len() < length {
        let sign = after(text, end)?;
        if sign.is_ascii_alphanumeric() {
            value.push(sign.to_ascii_uppercase());
        } else if !matches!(sign, ' ' | '-') || !after(text, end + 1)?.is_ascii_alphanumeric() {
            return None;
        }
        end += 1;
    }
    if continues(after(text, end)) || remainder(&value) != 1 {
        return None;
    }
    Some(Found {
        kind: Kind::Iban,
        range: at..end,
        value,
    })
}

/// The remainder by 97 of the number that the account, its first four signs behind it, stands for; letters count 10 to 35.
fn remainder(value: &str) -> u32 {
    let (head, tail) = value.split_at_checked(4).unwrap_or_default();
    tail.chars()
        .chain(head.chars())
        .fold(0, |sum, sign| match sign.to_digit(36) {
            Some(digit) if digit < 10 => (sum * 10 + digit) % 97,
            Some(letter) => (sum * 100 + letter) % 97,
            None => sum,
        })
}

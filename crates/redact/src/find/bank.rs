//! International bank account numbers: digits and letters where the country has them, with the right remainder.

use super::Found;
use super::characters::{after, continues};
use crate::kind::PersonalKind;

/// Alphabet of the longest account.
const MAX_IBAN_CHARACTERS: usize = 34;

/// Country and what follows its two check digits, in order of country (the registry of the IBAN standard, release 99): how many
/// characters, and whether they are digits (`n`), capital letters (`a`) or either (`c`).
pub(super) const ACCOUNTS: &[(&str, &str)] = &[
    ("AD", "4n4n12c"),
    ("AE", "19n"),
    ("AL", "8n16c"),
    ("AT", "16n"),
    ("AZ", "4a20c"),
    ("BA", "16n"),
    ("BE", "12n"),
    ("BG", "4a6n8c"),
    ("BH", "4a14c"),
    ("BI", "23n"),
    ("BR", "23n1a1c"),
    ("BY", "4c4n16c"),
    ("CH", "5n12c"),
    ("CR", "18n"),
    ("CY", "8n16c"),
    ("CZ", "20n"),
    ("DE", "18n"),
    ("DJ", "23n"),
    ("DK", "14n"),
    ("DO", "4c20n"),
    ("EE", "16n"),
    ("EG", "25n"),
    ("ES", "20n"),
    ("FI", "14n"),
    ("FK", "2a12n"),
    ("FO", "14n"),
    ("FR", "10n11c2n"),
    ("GB", "4a14n"),
    ("GE", "2a16n"),
    ("GI", "4a15c"),
    ("GL", "14n"),
    ("GR", "7n16c"),
    ("GT", "4c20c"),
    ("HN", "4a20n"),
    ("HR", "17n"),
    ("HU", "24n"),
    ("IE", "4a14n"),
    ("IL", "19n"),
    ("IQ", "4a15n"),
    ("IS", "22n"),
    ("IT", "1a10n12c"),
    ("JO", "4a4n18c"),
    ("KW", "4a22c"),
    ("KZ", "3n13c"),
    ("LB", "4n20c"),
    ("LC", "4a24c"),
    ("LI", "5n12c"),
    ("LT", "16n"),
    ("LU", "3n13c"),
    ("LV", "4a13c"),
    ("LY", "21n"),
    ("MC", "10n11c2n"),
    ("MD", "2c18c"),
    ("ME", "18n"),
    ("MK", "3n10c2n"),
    ("MN", "16n"),
    ("MR", "23n"),
    ("MT", "4a5n18c"),
    ("MU", "4a19n3a"),
    ("NI", "4a20n"),
    ("NL", "4a10n"),
    ("NO", "11n"),
    ("OM", "3n16c"),
    ("PK", "4a16c"),
    ("PL", "24n"),
    ("PS", "4a21c"),
    ("PT", "21n"),
    ("QA", "4a21c"),
    ("RO", "4a16c"),
    ("RS", "18n"),
    ("RU", "14n15c"),
    ("SA", "2n18c"),
    ("SC", "4a20n3a"),
    ("SD", "14n"),
    ("SE", "20n"),
    ("SI", "15n"),
    ("SK", "20n"),
    ("SM", "1a10n12c"),
    ("SO", "19n"),
    ("ST", "21n"),
    ("SV", "4a20n"),
    ("TL", "19n"),
    ("TN", "20n"),
    ("TR", "6n16c"),
    ("UA", "6n19c"),
    ("VA", "18n"),
    ("VG", "4a16n"),
    ("XK", "16n"),
    ("YE", "4a4n18c"),
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
    let place = ACCOUNTS
        .binary_search_by(|(code, _)| code.as_bytes().cmp(&country))
        .ok()?;
    let (_, account) = ACCOUNTS.get(place)?;
    let mut value = String::with_capacity(MAX_IBAN_CHARACTERS);
    let mut end = at;
    for belongs in "2a2n".chars().chain(account.chars()).scan(0, stretch).flatten() {
        let sign = loop {
            let sign = after(text, end)?;
            end += 1;
            if sign.is_ascii_alphanumeric() {
                break sign;
            }
            if !matches!(sign, ' ' | '-') || !after(text, end)?.is_ascii_alphanumeric() {
                return None;
            }
        };
        if !belongs(sign) {
            return None;
        }
        value.push(sign.to_ascii_uppercase());
    }
    if continues(after(text, end)) || remainder(&value) != 1 {
        return None;
    }
    Some(Found {
        kind: PersonalKind::Iban,
        range: at..end,
        value,
    })
}

/// Whether a character may stand at a place of an account.
type Belongs = fn(char) -> bool;

/// Reads the digits of a count, then gives so many times what its letter allows.
#[expect(clippy::unnecessary_wraps, reason = "`scan` ends at none")]
fn stretch(count: &mut usize, sign: char) -> Option<std::iter::RepeatN<Belongs>> {
    let (times, belongs): (usize, Belongs) = match sign {
        'n' => (std::mem::take(count), |sign| sign.is_ascii_digit()),
        'a' => (std::mem::take(count), |sign| sign.is_ascii_alphabetic()),
        'c' => (std::mem::take(count), |sign| sign.is_ascii_alphanumeric()),
        digit => {
            *count = *count * 10 + digit.to_digit(10).unwrap_or_default() as usize;
            (0, |_| false)
        }
    };
    Some(std::iter::repeat_n(belongs, times))
}

/// The remainder by 97 of the number that the account, its first four characters after it, stands for; letters count 10 to 35.
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

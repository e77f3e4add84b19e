//! International bank account numbers: the digits and letters that the country requires, with the right remainder.

use std::sync::LazyLock;

use super::Found;
use super::characters::{after, continues};
use crate::kind::PersonalKind;

/// The number of characters of the longest account.
const MAX_IBAN_CHARACTERS: usize = 34;

/// Countries and the form of the characters after the two check digits, sorted by country (the registry of the IBAN standard, release 99):
/// a count for each group, with `n` for digits, `a` for capital letters and `c` for either.
pub(super) static ACCOUNTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    include_str!("accounts.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect()
});

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
    for belongs in "2a2n".chars().chain(account.chars()).scan(0, repeat).flatten() {
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

/// Whether a character is allowed at a place of an account.
type Belongs = fn(char) -> bool;

/// Reads the digits of a count, then repeats the character class of its letter that many times.
#[expect(clippy::unnecessary_wraps, reason = "`scan` ends at none")]
fn repeat(count: &mut usize, sign: char) -> Option<std::iter::RepeatN<Belongs>> {
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

/// The remainder by 97 of the account as a number, with its first four characters moved to the end; letters count 10 to 35.
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

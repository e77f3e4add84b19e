//! Credentials: in URLs, of well-known shapes, and private keys.
//!
//! In a URL, credentials are the user and password before the host, and the values of certain parameters, the latter also if only the path
//! and the query of the URL are left. A password in a sentence has no shape and is not found.

use std::ops::Range;
use std::sync::LazyLock;

use chatmill_diag::cut;
use memchr::memmem;

use super::Found;
use super::characters::{after, before, run, short_run};
use crate::kind::PersonalKind;

/// Parameters of URLs with credentials as values, in lower case and sorted.
pub(super) static PARAMETERS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("parameters.txt").lines().collect());

/// A well-known shape: the prefix of a credential, the alphabet after it, the least number of characters, and the allowed numbers of parts
/// with dots between them.
pub(super) struct Shape {
    prefix: &'static str,
    characters: Alphabet,
    least: usize,
    parts: Vec<usize>,
}

/// The shapes, one per line with fields separated by spaces.
pub(super) static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let shape = |line: &'static str| {
        let mut fields = line.split(' ');
        Some(Shape {
            prefix: fields.next()?,
            characters: match fields.next()? {
                "letters" => Alphabet::Letters,
                "capitals" => Alphabet::Capitals,
                "words" => Alphabet::Words,
                _ => return None,
            },
            least: fields.next()?.parse().ok()?,
            parts: fields.filter_map(|count| count.parse().ok()).collect(),
        })
    };
    include_str!("secrets.txt").lines().filter_map(shape).collect()
});

/// The alphabet of a credential.
#[derive(Clone, Copy)]
enum Alphabet {
    /// Letters and digits.
    Letters,
    /// Capital letters and digits.
    Capitals,
    /// Letters, digits, hyphens and underscores.
    Words,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Words => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        }
    }
}

/// A credential of a well-known shape, or after `Bearer`.
pub(super) fn key_shape(text: &str, at: usize) -> Option<Found> {
    if before(text, at) == Some('-') {
        return None;
    }
    let rest = text.get(at..)?;
    if let Some(prefix) = rest
        .get(..7)
        .filter(|prefix| prefix.eq_ignore_ascii_case("bearer "))
    {
        let start = at + prefix.len();
        let length = run(text, start, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
        });
        let token = text.get(start..start + length)?;
        let is_token = length >= 16 && token.bytes().any(|byte| byte.is_ascii_digit());
        return is_token.then(|| secret(text, start, length));
    }
    let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix))?;
    let start = at + shape.prefix.len();
    let (end, count) = in_parts(text, start, shape.characters, *shape.parts.last()?);
    let tail = text.get(start..end)?.trim_end_matches('-');
    let is_shaped = shape.parts.contains(&count) && is_random(tail);
    (is_shaped && tail.len() >= shape.least).then(|| secret(text, at, shape.prefix.len() + tail.len()))
}

/// Whether characters look random and not written: words with hyphens have neither digits nor capitals next to small letters.
fn is_random(characters: &str) -> bool {
    characters.bytes().any(|byte| byte.is_ascii_digit())
        || !characters.contains('-')
            && characters.bytes().any(|byte| byte.is_ascii_uppercase())
            && characters.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// The end of at most `most` parts with dots between them, and the number of parts.
fn in_parts(text: &str, at: usize, characters: Alphabet, most: usize) -> (usize, usize) {
    let mut end = at;
    for count in 1..=most {
        let start = match after(text, end) {
            _ if count == 1 => at,
            Some('.') => end + 1,
            _ => return (end, count - 1),
        };
        let length = run(text, start, |byte| characters.has(byte));
        if length == 0 {
            return (end, count - 1);
        }
        end = start + length;
    }
    (end, most)
}

/// The token of a Discord bot: its number in Base64, the time, and a signature.
pub(super) fn discord_token(text: &str, at: usize) -> Option<Found> {
    let part = |from, least, most| {
        let characters = short_run(text, from, most, |byte| Alphabet::Words.has(byte))?;
        (characters.len() >= least).then_some(characters.len())
    };
    let number = part(at, 23, 28)?;
    let time_at = at + number + 1;
    let time = part(time_at, 6, 7)?;
    let signature_at = time_at + time + 1;
    let signature = part(signature_at, 27, 40)?;
    let is_joined = [time_at, signature_at]
        .iter()
        .all(|at| before(text, *at) == Some('.'));
    let is_number = text
        .as_bytes()
        .get(at..at + number)?
        .chunks(4)
        .all(encodes_digits);
    (is_joined && is_number).then(|| secret(text, at, signature_at + signature - at))
}

/// Whether up to four characters of Base64 encode only digits.
fn encodes_digits(characters: &[u8]) -> bool {
    let value = |character: &u8| match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        _ => None,
    };
    let Some(bits) = characters.iter().try_fold(0_u32, |bits, character| {
        Some(bits << 6 | u32::from(value(character)?))
    }) else {
        return false;
    };
    let bits = bits << (6 * (4 - characters.len()));
    let bytes = bits.to_be_bytes();
    bytes
        .iter()
        .skip(1)
        .take(characters.len() - 1)
        .all(u8::is_ascii_digit)
}

/// The token of a Telegram bot as part of a request's address.
pub(super) fn bot_address(text: &str, at: usize) -> Option<Found> {
    let digits = at + "bot".len();
    text.get(at..digits)
        .filter(|prefix| *prefix == "bot")
        .and_then(|_| bot_token(text, digits))
}

/// The token of a Telegram bot: its number, a colon, 35 characters.
pub(super) fn bot_token(text: &str, at: usize) -> Option<Found> {
    let digits = run(text, at, |byte| byte.is_ascii_digit());
    if !(8..=10).contains(&digits) || after(text, at + digits) != Some(':') {
        return None;
    }
    let length = run(text, at + digits + 1, |byte| Alphabet::Words.has(byte));
    (length == 35).then(|| secret(text, at, digits + 1 + length))
}

/// Users with passwords, and values of parameters, in URLs; the latter also in relative URLs, or the ends of URLs.
pub(super) fn in_urls(text: &str, found: &mut Vec<Found>) {
    let mut free = 0;
    let mut places = memmem::find_iter(text.as_bytes(), "://").peekable();
    while let Some(at) = places.next() {
        let start = at + 3;
        // A URL inside a URL is checked separately, so that no range is read twice.
        let end = places.peek().copied().unwrap_or(text.len()).max(start);
        let rest = cut::text(text, start..end);
        let url = rest.split(ends_url).next().unwrap_or_default();
        in_queries(text, free..at, found);
        free = start + url.len();
        let host_end = url.find(['/', '?', '#']).unwrap_or(url.len());
        if let Some(user) = url
            .get(..host_end)
            .and_then(|host| host.rsplit_once('@'))
            .map(|(user, _)| user)
            && user
                .split_once(':')
                .is_some_and(|(_, password)| !password.is_empty())
        {
            found.push(secret(text, start, user.len()));
        }
        parameters(text, start + host_end, start + url.len(), found);
    }
    in_queries(text, free..text.len(), found);
}

/// Values of parameters after a question mark, in a range without whole URLs.
fn in_queries(text: &str, range: Range<usize>, found: &mut Vec<Found>) {
    let mut at = range.start;
    while let Some(mark) = text.get(at..range.end).and_then(|rest| rest.find('?')) {
        let start = at + mark;
        let rest = cut::text(text, start..range.end);
        let end = start + rest.find(ends_url).unwrap_or(rest.len());
        parameters(text, start, end, found);
        at = end;
    }
}

fn ends_url(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '<' | '>' | '`' | '\\' | '|' | '{' | '}')
}

fn parameters(text: &str, start: usize, end: usize, found: &mut Vec<Found>) {
    let query = cut::text(text, start..end);
    let Some(begin) = query.find(['?', '#', ';']) else {
        return;
    };
    let mut at = start + begin;
    for piece in query.split_at(begin).1.split_inclusive(['?', '#', '&', ';']) {
        let pair = piece.trim_end_matches(['?', '#', '&', ';']);
        if let Some((name, value)) = pair.split_once('=') {
            let value = value.trim_end_matches([')', ']', ',', '.', '\'', '*']);
            let is_credential = PARAMETERS
                .binary_search(&name.to_ascii_lowercase().as_str())
                .is_ok();
            if is_credential && !value.is_empty() {
                found.push(secret(text, at + name.len() + 1, value.len()));
            }
        }
        at += piece.len();
    }
}

/// Private keys in their armour; one without an end reaches to the end of the text.
pub(super) fn private_keys(text: &str, found: &mut Vec<Found>) {
    const END: &str = "-----END ";
    let mut free = 0;
    for at in memmem::find_iter(text.as_bytes(), "-----BEGIN ") {
        let name = cut::slice(text.as_bytes(), at + 11..text.len().min(at + 51));
        let is_key = memmem::find(name, b"-----")
            .is_some_and(|end| name.get(..end).is_some_and(|name| name.ends_with(b"PRIVATE KEY")));
        if at < free || !is_key {
            continue;
        }
        let rest = text.split_at(at).1;
        let length = rest.find(END).map_or(rest.len(), |end| {
            let tail = rest.split_at(end + END.len()).1;
            let name = tail.find("-----").map_or(0, |name| name + 5);
            end + END.len() + name
        });
        free = at + length;
        found.push(secret(text, at, length));
    }
}

fn secret(text: &str, at: usize, length: usize) -> Found {
    Found {
        kind: PersonalKind::Secret,
        range: at..at + length,
        value: cut::text(text, at..at + length).to_owned(),
    }
}

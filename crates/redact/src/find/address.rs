//! IP addresses.
//!
//! Four numbers after a word for a version, or after `Name/` as programs identify themselves, are a version and not an address. The
//! addresses of the machine itself, masks and the empty address reveal nothing and are kept.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Found;
use super::characters::{after, continues, short_run, small_before, two_after, two_before};
use crate::kind::PersonalKind;

const VERSIONS: [&str; 6] = ["version", "ver", "release", "build", "v", "rev"];

pub(super) fn version_4(text: &str, at: usize) -> Option<Found> {
    let written = short_run(text, at, 16, |byte| byte.is_ascii_digit() || byte == b'.')?;
    let written = written.trim_end_matches('.');
    let end = at + written.len();
    let address: Ipv4Addr = written.parse().ok()?;
    let is_dull = address.is_loopback()
        || address
            .octets()
            .first()
            .is_none_or(|first| *first == 0 || *first == 255);
    if is_dull || is_version(text, at) || goes_on(text, end) {
        return None;
    }
    Some(Found {
        kind: PersonalKind::Ip,
        range: at..end,
        value: address.to_string(),
    })
}

fn goes_on(text: &str, end: usize) -> bool {
    match two_after(text, end) {
        (Some('-' | '+'), second) => second.is_some_and(char::is_alphanumeric),
        (first, _) => continues(first),
    }
}

fn is_version(text: &str, at: usize) -> bool {
    match two_before(text, at) {
        (Some('/'), Some(second)) if second.is_alphabetic() => return true,
        (Some('.'), Some(second)) if second.is_ascii_digit() => return true,
        (Some('-' | '^' | '~'), Some(second)) if second.is_alphanumeric() => return true,
        (Some('^' | '~' | '='), Some('"' | '=' | '>' | '<')) => return true,
        _ => {}
    }
    let head = small_before(text, at, 12);
    let head = head.trim_ascii_end();
    let head = head
        .strip_suffix(b":")
        .or(head.strip_suffix(b"="))
        .unwrap_or(head);
    VERSIONS.iter().any(|word| {
        head.strip_suffix(word.as_bytes())
            .is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric))
    })
}

/// Whether the last word of a text is a number; a name that ends with digits is not.
fn ends_with_number(text: &str) -> bool {
    let before = text.trim_end_matches(|character: char| character.is_ascii_digit());
    before.len() < text.len() && !before.ends_with(char::is_alphabetic)
}

pub(super) fn version_6(text: &str, at: usize) -> Option<Found> {
    let is_inside = match two_before(text, at) {
        (Some('.'), _) => ends_with_number(text.split_at(at - 1).0),
        (first, _) => continues(first) || first == Some(':'),
    };
    if is_inside {
        return None;
    }
    let written = short_run(text, at, 48, |byte| {
        byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
    })?;
    let written = written.trim_end_matches('.');
    let whole = if written.ends_with("::") {
        written
    } else {
        written.trim_end_matches(':')
    };
    let end = at + whole.len();
    if memchr::memchr_iter(b':', whole.as_bytes()).count() < 2 || continues(after(text, end)) {
        return None;
    }
    let address: Ipv6Addr = whole.parse().ok()?;
    let digits = whole.bytes().filter(u8::is_ascii_hexdigit).count();
    let has_digit = whole.bytes().any(|byte| byte.is_ascii_digit());
    // `a::b` is a path in some programming languages.
    if address.is_loopback() || address.is_unspecified() || digits < 5 || !has_digit {
        return None;
    }
    Some(Found {
        kind: PersonalKind::Ip,
        range: at..end,
        value: address.to_string(),
    })
}

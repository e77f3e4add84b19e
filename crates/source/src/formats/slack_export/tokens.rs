//! Access tokens in addresses (`…?t=xoxe-…`): an export adds one to the address of each file, and its holder
//! can open the files of the workspace. They are removed from all stored data of a message.

use std::ops::Range;

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};
use chatmill_model::{MediaSource, Message, Part};

use crate::base::Site;

/// The prefix of a token in an address.
const BEGINS: &str = "t=xox";

/// Removes the tokens of a row from its message, and reports them.
pub(super) fn cut(row: Value<'_>, message: &mut Message, site: &mut Site<'_>) {
    let count = tokens(row.written()).count() as u64;
    if count == 0 {
        return;
    }
    // Fields that no other code reads are cleaned as well.
    let mut inside = vec![row];
    while let Some(value) = inside.pop() {
        if value.kind() == Kind::String && tokens(value.written()).next().is_some() {
            value.as_str();
        }
        inside.extend(value.items().chain(value.fields().map(|(_, field)| field)));
    }
    for part in &mut message.parts {
        match part {
            Part::Text(text) | Part::Notice(text) => without(text),
            Part::Media(media) => {
                if let MediaSource::Url(url) = &mut media.source {
                    without(url);
                }
            }
            _ => {}
        }
    }
    for (_, raw) in &mut message.extra.0 {
        without(&mut raw.0);
    }
    let text = "addresses of files hold an access token, which is cut out";
    let mut finding = Finding::new(&codes::TOKEN_IN_ADDRESS, text);
    finding.count = count;
    site.push(finding, "", row);
}

/// Removes the tokens from a text, which may be JSON.
fn without(text: &mut String) {
    let mut left = String::new();
    let mut copied = 0;
    for token in tokens(text) {
        let (before, behind) = (text.get(..token.start), text.get(token.end..));
        // The `?` or `&` before the token is removed too, unless it joins the following text.
        let begins = before.is_some_and(|before| before.ends_with('?'));
        let (start, end) = if begins && behind.is_some_and(|behind| behind.starts_with('&')) {
            (token.start, token.end + 1)
        } else if begins || before.is_some_and(|before| before.ends_with('&')) {
            (token.start - 1, token.end)
        } else {
            (token.start, token.end)
        };
        left.extend(text.get(copied..start));
        copied = end;
    }
    if copied > 0 {
        left.extend(text.get(copied..));
        *text = left;
    }
}

/// The ranges of tokens in a text, with their `t=`.
fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(BEGINS).filter_map(move |(start, _)| {
        let (before, token) = text.split_at_checked(start)?;
        let kind = token.get(BEGINS.len()..)?;
        let is_token =
            kind.starts_with(|sign: char| sign.is_ascii_lowercase()) && kind.get(1..)?.starts_with('-');
        // The last form is an ampersand that JSON or markup escapes.
        let is_joined =
            before.ends_with(['?', '&']) || ["\\u0026", "&amp;"].iter().any(|join| before.ends_with(join));
        // The character before a token is never part of a token, so that each character is examined once.
        (is_token && is_joined).then(|| {
            let signs = |sign: char| sign.is_ascii_alphanumeric() || "=-_%.".contains(sign);
            start..start + token.len() - token.trim_start_matches(signs).len()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_and_the_rest_of_the_address_stays() {
        for (text, left) in [
            ("https://f.example/a.png?t=xoxe-1-aB", "https://f.example/a.png"),
            (
                "https://f.example/a?t=xoxe-1&x=1 and ?y=2&t=xoxb-2, too",
                "https://f.example/a?x=1 and ?y=2, too",
            ),
            (r#"{"u":"f.example\/a?t=xoxe-1"}"#, r#"{"u":"f.example\/a"}"#),
            (r"a?b=1\u0026t=xoxe-1", r"a?b=1\u0026"),
            ("a?t=1 content=xoxo a?t=xoxo", "a?t=1 content=xoxo a?t=xoxo"),
        ] {
            let mut own = text.to_owned();
            without(&mut own);
            assert_eq!(own, left);
        }
    }
}

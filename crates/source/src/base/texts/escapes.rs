//! Escaping by U+200B: inserted after the first character of a text that would otherwise be read as a tag, a control token or
//! a line of ids.

/// The inserted character.
pub(crate) const ESCAPE: char = '\u{200b}';

/// Removes the escapes after `<`. `begins` is true if the text after an escape continues like a tag or control token.
pub(crate) fn unescaped(text: &str, begins: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<\u{200b}") {
        let (before, from) = rest.split_at(at + 1);
        out.push_str(before);
        rest = from;
        let bare = from.trim_start_matches(ESCAPE);
        if begins(bare)
            && let Some(fewer) = from.strip_prefix(ESCAPE)
        {
            let length = fewer.len() - bare.len();
            out.push_str(fewer.get(..length).unwrap_or_default());
            rest = bare;
        }
    }
    out.push_str(rest);
    out
}

/// Whether text after a `<` continues like an opening or closing tag of one of these names.
pub(crate) fn is_tag(text: &str, names: &[&str]) -> bool {
    let inside = text.strip_prefix('/').unwrap_or(text);
    let mut rests = names.iter().filter_map(|name| inside.strip_prefix(name));
    rests.any(|rest| rest.starts_with('>'))
}

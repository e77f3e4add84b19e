//! The command that shows a conversation, for pages that print it.

use chatmill_diag::visible::is_hidden;

/// The shell command that shows a conversation of an input or a dataset; `None` if it cannot be typed, because the input is stdin, or the
/// id was shortened or has hidden characters.
pub(crate) fn show_command(input: &str, id: &str) -> Option<String> {
    let is_typed = |text: &str| !text.contains(|sign| is_hidden(sign) || sign == '…');
    let is_there = input != "-" && is_typed(input) && is_typed(id);
    is_there.then(|| format!("chatmill show {} --conversation={}", word(input), word(id)))
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_./:@%+=,".contains(sign);
    let begins = text.starts_with(|sign: char| sign != '-');
    if begins && text.chars().all(|sign| is_plain(sign) || sign == '-') {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_one_word_of_the_shell() {
        let shown = |input, id| show_command(input, id);
        let plain = "chatmill show in/a.jsonl --conversation=conv-1";
        assert_eq!(shown("in/a.jsonl", "conv-1").as_deref(), Some(plain));
        let quoted = r"chatmill show 'a b/$(x).json' --conversation='it'\\''s; rm -rf'";
        assert_eq!(
            shown("a b/$(x).json", "it's; rm -rf").unwrap(),
            quoted.replace("\\\\", "\\")
        );
        assert_eq!(shown(".", "-v").unwrap(), "chatmill show . --conversation='-v'");
        for (input, id) in [
            ("-", "a"),
            ("a", "b\n"),
            ("a\u{1b}", "b"),
            ("a", "long…"),
            ("a", "\u{202e}b"),
        ] {
            assert_eq!(shown(input, id), None, "{input} {id}");
        }
    }
}

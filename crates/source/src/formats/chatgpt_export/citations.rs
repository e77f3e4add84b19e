//! Marks of citations in answers, for example `\u{e200}cite\u{e202}turn0search3\u{e201}`, in the place of which `ChatGPT` shows a link.
//!
//! `content_references` in the metadata of a message lists marks (`matched_text`), each with the text that is shown instead (`alt`); older
//! answers have marks such as `【12†source】`. A mark
//! of the kind `entity`, such as `\u{e200}entity\u{e202}["people","Ann",0]\u{e201}`, contains the name to show. All other marks are
//! removed, because they refer to data that is not in the export.

use std::borrow::Cow;
use std::collections::HashMap;

use chatmill_intake::json::{self, Value};

use crate::base::{present, text};

const BEGIN: char = '\u{e200}';
const END: char = '\u{e201}';
const BETWEEN: char = '\u{e202}';

/// The signs of marks in older answers, for example `【12†source】`. In texts of people they may be punctuation, so only listed marks count.
const OLD_BEGIN: char = '【';
const OLD_END: char = '】';
const OLD_SIGN: char = '†';

/// The largest number of characters in such a mark.
const MOST_OLD: usize = 256;

/// Whether a character is one of the private-use characters that delimit marks; other text does not contain them.
fn is_sign(sign: char) -> bool {
    ('\u{e200}'..='\u{e206}').contains(&sign)
}

/// The texts that are shown instead of marks, by mark: one for each place of the mark, as far as they are known.
pub(super) struct References(HashMap<String, Vec<Option<String>>>);

impl References {
    /// Collects the references in the metadata of a message.
    pub(super) fn of(metadata: Option<Value<'_>>) -> Self {
        let list = metadata.and_then(|metadata| present(metadata, "content_references"));
        let mut shown: HashMap<String, Vec<Option<String>>> = HashMap::new();
        for reference in list.into_iter().flat_map(Value::items) {
            let is_mark = |mark: &String| {
                mark.starts_with(BEGIN) || mark.starts_with(OLD_BEGIN) && mark.contains(OLD_SIGN)
            };
            if let Some(mark) = text(reference.get("matched_text")).filter(is_mark) {
                let alt = text(reference.get("alt")).filter(|shown| !shown.is_empty());
                shown.entry(mark).or_default().push(alt);
            }
        }
        Self(shown)
    }

    /// Returns the text with each mark replaced by the text that is shown instead, or removed if that is unknown; `None` if the text
    /// has no marks.
    pub(super) fn resolved(&self, text: &str) -> Option<String> {
        if !text.contains(is_sign) && (self.0.is_empty() || !text.contains(OLD_BEGIN)) {
            return None;
        }
        let mut resolved = String::with_capacity(text.len());
        // Many marks may refer to the same long text, so the growth of a hostile message is bounded: a text that would exceed the
        // bound is left out.
        let most = (text.len() + 1024).saturating_mul(16);
        let mut rest = text;
        let mut times: HashMap<&str, usize> = HashMap::new();
        while let Some((before, behind)) = rest.find([BEGIN, OLD_BEGIN]).map(|at| rest.split_at(at)) {
            resolved.extend(before.chars().filter(|sign| !is_sign(*sign)));
            let (mark, after) = cut_mark(behind);
            rest = after;
            let known = self.0.get_key_value(&*mark);
            if known.is_none() && mark.starts_with(OLD_BEGIN) {
                resolved.push_str(&mark);
                continue;
            }
            let listed = known.and_then(|(mark, places)| {
                let time = times.entry(mark).or_default();
                *time += 1;
                places.get(*time - 1).or(places.last())?.as_deref()
            });
            let shown = listed.map(Cow::from).or_else(|| name(&mark).map(Cow::Owned));
            match shown.filter(|shown| resolved.len() + shown.len() <= most) {
                Some(shown) => resolved.push_str(&shown),
                None if !after.starts_with(|sign: char| sign.is_alphanumeric())
                    && resolved.ends_with(' ') =>
                {
                    resolved.pop();
                }
                None => {}
            }
        }
        resolved.extend(rest.chars().filter(|sign| !is_sign(*sign)));
        (resolved != text).then_some(resolved)
    }
}

/// Returns the mark at the beginning of a text, with its end, and the text after it.
fn cut_mark(text: &str) -> (Cow<'_, str>, &str) {
    let Some(behind) = text.strip_prefix(BEGIN) else {
        let mut inside = text.char_indices().skip(1).take(MOST_OLD);
        let end = inside.find(|(_, sign)| matches!(*sign, OLD_BEGIN | OLD_END));
        let end = end.map_or(OLD_BEGIN.len_utf8(), |(at, sign)| match sign {
            OLD_END => at + sign.len_utf8(),
            _ => at,
        });
        let (mark, after) = text.split_at(end);
        return (mark.into(), after);
    };
    // A mark that was cut off has no end: it extends to the next white space or mark.
    let end = behind
        .find([BEGIN, END])
        .filter(|end| behind.split_at(*end).1.starts_with(END));
    let cut_off = || {
        behind
            .find(|sign: char| sign.is_whitespace() || sign == BEGIN)
            .unwrap_or(behind.len())
    };
    let (inside, after) = behind.split_at(end.unwrap_or_else(cut_off));
    let after = after.strip_prefix(END).unwrap_or(after);
    (format!("{BEGIN}{inside}{END}").into(), after)
}

/// Returns the name in a mark of the kind `entity`.
fn name(mark: &str) -> Option<String> {
    let inside = mark.trim_matches([BEGIN, END]);
    let list = inside.strip_prefix("entity")?.strip_prefix(BETWEEN)?;
    let document = json::scan(list.as_bytes(), 8).ok()?;
    text(document.root().items().nth(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(references: &str, text: &str) -> Option<String> {
        let metadata = format!("{{\"content_references\":{references}}}");
        let document = json::scan(metadata.as_bytes(), 16).unwrap();
        References::of(Some(document.root())).resolved(text)
    }

    #[test]
    fn marks_are_replaced_or_left_out() {
        let references = r#"[{"matched_text":"\ue200cite\ue202turn0search1\ue201","alt":"([Tin](https://tin.example))"},
            {"matched_text":"\ue200cite\ue202turn0search2\ue201","alt":""},{"matched_text":" ","alt":"x"},7]"#;
        for (text, expected) in [
            (
                "Tin. \u{e200}cite\u{e202}turn0search1\u{e201}",
                "Tin. ([Tin](https://tin.example))",
            ),
            (
                "Tin. \u{e200}cite\u{e202}turn0search2\u{e201}\nIt melts.",
                "Tin.\nIt melts.",
            ),
            ("Tin \u{e200}cite\u{e202}turn9\u{e201}, lead", "Tin, lead"),
            (
                "By \u{e200}entity\u{e202}[\"people\",\"A. \u{fc}\",0]\u{e201} now",
                "By A. \u{fc} now",
            ),
            ("By \u{e200}entity\u{e202}[7]\u{e201} now", "By now"),
            (
                "\u{e203}Tin\u{e204} melts \u{e200}cite\u{e202}turn0se",
                "Tin melts",
            ),
            ("a \u{e200}cut off \u{e200}cite\u{e202}x\u{e201}b", "a off b"),
        ] {
            assert_eq!(resolved(references, text).as_deref(), Some(expected), "{text}");
        }
        let long = format!(
            r#"[{{"matched_text":"\ue200a\ue201","alt":"{}"}}]"#,
            "x".repeat(10_000)
        );
        let many = resolved(&long, &"\u{e200}a\u{e201}".repeat(100)).unwrap();
        assert_eq!(many.len(), 20_000, "what is shown is bounded by the text");
        assert_eq!(resolved("[]", "no marks, \u{e300}"), None);
    }

    #[test]
    fn listed_marks_of_the_older_form_are_replaced_and_brackets_of_people_stay() {
        let references = r#"[{"matched_text":"【12†source】","alt":"([W](https://w.example))"},
            {"matched_text":"【4:0†a.pdf】","alt":null},{"matched_text":"【注】","alt":"x"}]"#;
        assert_eq!(
            resolved(references, "【It【12†source】 rains 【4:0†a.pdf】. 【注】【3†b】").as_deref(),
            Some("【It([W](https://w.example)) rains. 【注】【3†b】")
        );
        assert_eq!(resolved("[]", "It rains【12†source】"), None);
        assert_eq!(resolved(references, "【注】"), None);
        let many = "【".repeat(100_000);
        assert_eq!(resolved(references, &many), None);
    }

    #[test]
    fn equal_marks_have_their_references_in_order() {
        let references =
            r#"[{"matched_text":"\ue200a\ue201","alt":"1"},{"matched_text":"\ue200a\ue201","alt":"2"}]"#;
        let text = "\u{e200}a\u{e201} \u{e200}a\u{e201} \u{e200}a\u{e201}";
        assert_eq!(resolved(references, text).as_deref(), Some("1 2 2"));
    }
}

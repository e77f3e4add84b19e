//! Calls that an assistant wrote into its text as XML, as Suna had them until November 2025.
//!
//! ```text
//! Let me look.
//! <function_calls>
//! <invoke name="web_search">
//! <parameter name="query">kilns</parameter>
//! </invoke>
//! </function_calls>
//! ```
//!
//! The format is not real XML: tags are matched in any case and with `name` as their only attribute, and
//! entities are not decoded. A block without its end is text, and so is one with a U+200B after the `<` of
//! its first tag, which is removed. A value is JSON if it starts like an object or a list and is valid,
//! `true` and `false` are booleans, numbers have Python's syntax (`007`, `1_000`, `1.`), and everything else
//! is text.

use std::collections::HashMap;

use chatmill_intake::json;
use chatmill_model::json::{push_compact, push_string};

use crate::base::{quoted, texts::escapes};

const OPEN: &str = "<function_calls>";
const CLOSE: &str = "</function_calls>";

/// A piece of a text with calls in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// The text around the blocks, without the white space next to them.
    Text(&'t str),
    /// A call.
    Call(Call<'t>),
}

/// A call as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call<'t> {
    /// Name of the tool.
    pub name: &'t str,
    /// The parameters as a JSON object; for a repeated one the last value.
    pub arguments: String,
    /// Whether a parameter was repeated.
    pub repeats: bool,
}

/// A text cut at its calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut<'t> {
    /// Texts and calls in order; a single text if there is no call.
    pub pieces: Vec<Piece<'t>>,
    /// The number of blocks with other content than readable calls.
    pub unread: u64,
    /// Whether a block begins and does not end.
    pub is_open: bool,
}

/// Cuts a text at its blocks of calls. A block without any call stays text.
pub(super) fn cut(text: &str, depth: u32) -> Cut<'_> {
    let mut cut = Cut::default();
    let mut from = 0;
    let mut rest_from = 0;
    while let Some(start) = find(text, OPEN, from) {
        let inside_from = start + OPEN.len();
        let Some(inside_to) = find(text, CLOSE, inside_from) else {
            cut.is_open = true;
            break;
        };
        from = inside_to + CLOSE.len();
        let (calls, has_rest) = calls(text.get(inside_from..inside_to).unwrap_or_default(), depth);
        cut.unread += u64::from(has_rest || calls.is_empty());
        if !calls.is_empty() {
            cut.push_text(text.get(rest_from..start));
            cut.pieces.extend(calls.into_iter().map(Piece::Call));
            rest_from = from;
        }
    }
    if rest_from == 0 {
        cut.pieces = vec![Piece::Text(text)];
    } else {
        cut.push_text(text.get(rest_from..));
    }
    cut
}

/// A text with its escaped tags restored.
pub(super) fn unescaped(text: &str) -> String {
    let tag = OPEN.get(1..).unwrap_or_default();
    escapes::unescaped(text, |text| {
        text.get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag))
    })
}

impl<'t> Cut<'t> {
    fn push_text(&mut self, text: Option<&'t str>) {
        let text = text.unwrap_or_default().trim();
        if !text.is_empty() {
            self.pieces.push(Piece::Text(text));
        }
    }
}

/// The calls of a block, and whether it has other content.
fn calls(block: &str, depth: u32) -> (Vec<Call<'_>>, bool) {
    let mut has_rest = false;
    let mut elements = Elements::new(block, "invoke");
    let read = |Element { name, inside }| {
        let mut parameters = Elements::new(inside, "parameter");
        let (arguments, repeats) = arguments(&mut parameters, depth);
        has_rest |= parameters.has_rest();
        Call {
            name,
            arguments,
            repeats,
        }
    };
    let calls = elements.by_ref().map(read).collect();
    has_rest |= elements.has_rest();
    (calls, has_rest)
}

fn arguments(parameters: &mut Elements<'_>, depth: u32) -> (String, bool) {
    let mut repeats = false;
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut fields: Vec<(&str, String)> = Vec::new();
    for element in parameters {
        let value = value(element.inside, depth);
        let place = *places.entry(element.name).or_insert(fields.len());
        match fields.get_mut(place) {
            Some((_, known)) => {
                repeats = true;
                *known = value;
            }
            None => fields.push((element.name, value)),
        }
    }
    let mut out = String::from("{");
    for (index, (name, value)) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, name);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    (out, repeats)
}

/// A parameter's value as JSON.
fn value(text: &str, depth: u32) -> String {
    let text = text.trim();
    if text.starts_with(['{', '['])
        && let Ok(document) = json::scan(text.as_bytes(), depth)
    {
        let mut compact = String::new();
        push_compact(&mut compact, document.text());
        return compact;
    }
    for word in ["true", "false"] {
        if text.eq_ignore_ascii_case(word) {
            return word.to_owned();
        }
    }
    let number = if text.contains('.') {
        decimal(text)
    } else {
        integer(text)
    };
    number.unwrap_or_else(|| quoted(text).0)
}

/// A whole number: a sign, leading zeros and single underscores between digits are allowed.
fn integer(text: &str) -> Option<String> {
    let (sign, digits) = sign(text);
    let digits = plain_digits(digits)?;
    let digits = digits.trim_start_matches('0');
    Some(match digits {
        "" => "0".to_owned(),
        digits => format!("{sign}{digits}"),
    })
}

/// A number with a point: as written if that is JSON, else its value.
fn decimal(text: &str) -> Option<String> {
    let is_json =
        json::scan(text.as_bytes(), 1).is_ok_and(|document| document.root().number_text().is_some());
    if is_json {
        let is_finite = text.parse().is_ok_and(f64::is_finite);
        return is_finite.then(|| text.to_owned());
    }
    let (sign, rest) = sign(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        None => (rest, None),
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let none = |digits: &str| digits.is_empty().then(String::new);
    let part = |digits: &str| none(digits).or_else(|| plain_digits(digits));
    let mut number = format!("{sign}{}.{}", part(whole)?, part(fraction)?);
    if let Some(exponent) = exponent {
        let (sign, digits) = self::sign(exponent);
        number.push('e');
        number.push_str(sign);
        number.push_str(&plain_digits(digits)?);
    }
    let number: f64 = number.parse().ok()?;
    number.is_finite().then(|| format!("{number:?}"))
}

fn sign(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

/// Digits without the single underscores between them; `None` if there is anything else.
fn plain_digits(text: &str) -> Option<String> {
    let is_plain = |run: &str| !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_digit());
    text.split('_').all(is_plain).then(|| text.replace('_', ""))
}

/// An element with a name.
struct Element<'t> {
    name: &'t str,
    inside: &'t str,
}

/// The elements of one kind in a text, one after another.
struct Elements<'t> {
    text: &'t str,
    tag: &'static str,
    at: usize,
    /// Whether anything but white space was between the elements so far.
    has_rest: bool,
}

impl<'t> Elements<'t> {
    fn new(text: &'t str, tag: &'static str) -> Self {
        Self {
            text,
            tag,
            at: 0,
            has_rest: false,
        }
    }

    /// Whether anything but white space is outside the elements; valid after the last element.
    fn has_rest(&self) -> bool {
        let after = self.text.get(self.at..).unwrap_or_default();
        self.has_rest || !after.trim().is_empty()
    }
}

impl<'t> Iterator for Elements<'t> {
    type Item = Element<'t>;

    fn next(&mut self) -> Option<Element<'t>> {
        let opening = format!("<{}", self.tag);
        let closing = format!("</{}>", self.tag);
        let mut from = self.at;
        loop {
            let start = find(self.text, &opening, from)?;
            from = start + opening.len();
            let Some((name, length)) = self.text.get(from..).and_then(name) else {
                continue;
            };
            let inside_from = from + length;
            // If this element has no end, no later one has an end either.
            let inside_to = find(self.text, &closing, inside_from)?;
            let before = self.text.get(self.at..start).unwrap_or_default();
            self.has_rest |= !before.trim().is_empty();
            self.at = inside_to + closing.len();
            let inside = self.text.get(inside_from..inside_to).unwrap_or_default();
            return Some(Element { name, inside });
        }
    }
}

/// Reads ` name="…">` at the start of a text; returns the name and the length of the whole.
fn name(text: &str) -> Option<(&str, usize)> {
    let rest = text.trim_start();
    if rest.len() == text.len() {
        return None;
    }
    let (key, rest) = rest.split_at_checked("name=".len())?;
    if !key.eq_ignore_ascii_case("name=") {
        return None;
    }
    let rest = rest.strip_prefix(['"', '\''])?;
    let end = rest.find(['"', '\''])?;
    let name = rest.get(..end).filter(|name| !name.is_empty())?;
    let after = rest.get(end + 1..)?.strip_prefix('>')?;
    Some((name, text.len() - after.len()))
}

/// The position of the first tag from `from` on, in any case of its letters.
fn find(text: &str, tag: &str, from: usize) -> Option<usize> {
    let starts = text.get(from..)?.match_indices('<');
    let mut places = starts.map(|(at, _)| from + at);
    places.find(|at| {
        let found = text.get(*at..*at + tag.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(tag))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Call<'_> {
        let cut = cut(text, 64);
        match cut.pieces.as_slice() {
            [Piece::Call(call)] => call.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn typed(value: &str) -> String {
        let text = format!(
            "<function_calls><invoke name=\"f\"><parameter name=\"p\">{value}</parameter></invoke></function_calls>"
        );
        let arguments = call(&text).arguments;
        arguments
            .strip_prefix("{\"p\":")
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap()
            .to_owned()
    }

    #[test]
    fn values_get_the_types_that_python_gives_them() {
        for (text, expected) in [
            (" kilns ", "\"kilns\""),
            ("TRUE", "true"),
            ("False", "false"),
            ("null", "\"null\""),
            ("", "\"\""),
            ("007", "7"),
            ("1_000", "1000"),
            ("1__0", "\"1__0\""),
            ("+5", "5"),
            ("-0", "0"),
            ("-12345678901234567890123", "-12345678901234567890123"),
            ("1e5", "\"1e5\""),
            ("1.50", "1.50"),
            ("1.e5", "100000.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            (".", "\".\""),
            ("1.2.3", "\"1.2.3\""),
            ("v1.2", "\"v1.2\""),
            ("1.0e999", "\"1.0e999\""),
            ("1.e999", "\"1.e999\""),
            ("{\"x\": [1, 2]}", "{\"x\":[1,2]}"),
            ("[bad", "\"[bad\""),
            ("&lt;b&gt; \"q\"", "\"&lt;b&gt; \\\"q\\\"\""),
        ] {
            assert_eq!(typed(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_and_calls_keep_their_order() {
        let text = "one <function_calls>\n<invoke name=\"a\"><parameter name='p'>1</parameter></invoke>\n\
                    <invoke name='b'></invoke></FUNCTION_CALLS> two <function_calls><INVOKE NAME=\"c\"></invoke>\
                    </function_calls>";
        let cut = cut(text, 64);
        let names: Vec<&str> = cut
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => *text,
                Piece::Call(call) => call.name,
            })
            .collect();
        assert_eq!(names, ["one", "a", "b", "two", "c"]);
        assert_eq!((cut.unread, cut.is_open), (0, false));
    }

    #[test]
    fn a_block_that_does_not_end_or_holds_no_call_is_text() {
        for (text, unread, is_open) in [
            ("a <function_calls><invoke name=\"x\"></invoke>", 0, true),
            ("a <function_calls></function_calls> b", 1, false),
            (
                "<function_calls><invoke name=\"x\" id=\"1\"></invoke></function_calls>",
                1,
                false,
            ),
            (
                "<function_calls><invoke name=\"\"></invoke></function_calls>",
                1,
                false,
            ),
            (
                "<function_calls><invokename=\"x\"></invoke></function_calls>",
                1,
                false,
            ),
            ("<invoke name=\"x\"></invoke>", 0, false),
            ("< function_calls", 0, false),
        ] {
            let cut = cut(text, 64);
            assert_eq!(cut.pieces, [Piece::Text(text)], "{text}");
            assert_eq!((cut.unread, cut.is_open), (unread, is_open), "{text}");
        }
    }

    #[test]
    fn text_beside_the_calls_of_a_block_is_reported() {
        let block = |inside: &str| format!("<function_calls>{inside}</function_calls>");
        let invoke = "<invoke name=\"x\"></invoke>";
        for inside in [
            format!("x {invoke}"),
            format!("{invoke} x"),
            format!("{invoke}<invoke name=\"y\" id=\"1\"></invoke>"),
            format!("<invoke name=\"y\">{invoke}</invoke>"),
            "<invoke name=\"x\">words</invoke>".to_owned(),
        ] {
            assert_eq!(cut(&block(&inside), 64).unread, 1, "{inside}");
        }
        assert_eq!(cut(&block(&format!(" {invoke}\n{invoke} ")), 64).unread, 0);
    }

    #[test]
    fn a_repeated_parameter_has_its_last_value_in_the_first_place() {
        let text = "<function_calls><invoke name=\"x\"><parameter name=\"p\">a</parameter>\
                    <parameter name=\"q\">1</parameter><parameter name=\"p\">b</parameter></invoke></function_calls>";
        let call = call(text);
        assert_eq!(
            (call.arguments.as_str(), call.repeats),
            ("{\"p\":\"b\",\"q\":1}", true)
        );
    }

    #[test]
    fn thousands_of_openings_without_an_end_take_no_long_time() {
        let many = "<invoke name=\"x\">".repeat(20_000);
        let text = format!("<function_calls>{many}</function_calls>");
        assert_eq!(cut(&text, 64).unread, 1);
        let opens = "<function_calls>".repeat(20_000);
        assert!(cut(&opens, 64).is_open);
        let parameters = "<parameter name=\"p\">".repeat(20_000);
        let text = format!("<function_calls><invoke name=\"x\">{parameters}</invoke></function_calls>");
        assert_eq!(cut(&text, 64).pieces.len(), 1);
        // Unquoted attributes must not be searched to the end of the text each time.
        let names = "<invoke name=\"".repeat(20_000);
        cut(&format!("<function_calls>{names}</function_calls>"), 64);
    }

    #[test]
    fn a_block_whose_tag_was_escaped_is_text() {
        let text = "<\u{200b}Function_Calls><invoke name=\"a\"></invoke></function_calls>";
        assert_eq!(cut(text, 8).pieces, [Piece::Text(text)]);
        assert_eq!(unescaped(text), text.replace('\u{200b}', ""));
    }
}

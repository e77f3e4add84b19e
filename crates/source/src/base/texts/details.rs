//! Thoughts and calls that Open `WebUI` writes into the text of an answer, as `<details>` of HTML.
//!
//! ```text
//! <details type="reasoning" done="true" duration="2">
//! <summary>Thought for 2 seconds</summary>
//! &gt; It may rain.
//! </details>
//! <details type="tool_calls" done="true" id="c1" name="sky" arguments="&quot;{}&quot;" result="&quot;grey&quot;">
//! <summary>Tool Executed</summary>
//! </details>
//! <details type="code_interpreter" done="true" output="{&quot;stdout&quot;: &quot;2&quot;}">
//! <summary>Analyzed</summary>
//! ~~~python
//! print(1 + 1)
//! ~~~
//! </details>
//! Take a coat.
//! ```
//!
//! The fence around code is of backticks. Details of other kinds, tags that are cut off, and what an answer quotes as code are plain
//! text.

use crate::base::quoted;

const OPENING: &str = "<details ";
const CLOSING: &str = "</details>";

/// A piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DetailsPiece {
    Words(String),
    Thought(String),
    Call(DetailsCall),
}

/// A call with its result. Arguments and result are JSON.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DetailsCall {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) arguments: String,
    pub(crate) result: Option<String>,
}

/// The pieces of an answer; `None` if it is plain text.
pub(crate) fn pieces(text: &str) -> Option<Vec<DetailsPiece>> {
    let mut pieces = Vec::new();
    let (mut words, mut from, mut close) = (0, 0, 0);
    let mut quotes = Quotes::default();
    while let Some(at) = text.get(from..)?.find(OPENING).map(|at| from + at) {
        // One closing tag serves all openings before it: without this memory, each of them would search the whole rest.
        if close <= at {
            let Some(next) = text.get(at..)?.find(CLOSING) else {
                break;
            };
            close = at + next;
        }
        let inside = text.get(at + OPENING.len()..close)?;
        let is_quoted = quotes.hold(text, at);
        let Some(piece) = Some(inside).filter(|_| !is_quoted).and_then(piece) else {
            from = at + OPENING.len();
            continue;
        };
        add_words(&mut pieces, text.get(words..at)?);
        pieces.push(piece);
        from = close + CLOSING.len();
        words = from;
        quotes.read = from;
    }
    if pieces.is_empty() {
        return None;
    }
    add_words(&mut pieces, text.get(words..)?);
    Some(pieces)
}

/// The code that an answer quotes, in a fence or between backticks.
#[derive(Default)]
struct Quotes<'t> {
    /// The number of bytes that were read.
    read: usize,
    /// The fence that is open.
    fence: Option<&'t str>,
}

impl<'t> Quotes<'t> {
    /// Whether the code holds this place.
    fn hold(&mut self, text: &'t str, at: usize) -> bool {
        let before = text.get(self.read..at).unwrap_or_default();
        self.read = at;
        for line in before.lines() {
            let line = line.trim();
            let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'));
            let Some(sign) = sign else { continue };
            let rest = line.trim_start_matches(sign);
            let own = line.strip_suffix(rest).unwrap_or_default();
            match self.fence {
                Some(fence) if own.starts_with(fence) && rest.is_empty() => self.fence = None,
                None if own.len() >= 3 && !rest.contains('`') => self.fence = Some(own),
                _ => {}
            }
        }
        self.fence.is_some() || before.ends_with('`')
    }
}

/// Adds text, without the line breaks between it and the tags.
fn add_words(pieces: &mut Vec<DetailsPiece>, words: &str) {
    let words = words.trim_matches('\n');
    if !words.trim().is_empty() {
        pieces.push(DetailsPiece::Words(words.to_owned()));
    }
}

/// Reads details: attributes, then a summary and a text.
fn piece(inside: &str) -> Option<DetailsPiece> {
    let (mut kind, mut call) = (None, DetailsCall::default());
    let mut rest = inside.trim_start();
    let body = loop {
        if let Some(body) = rest.strip_prefix('>') {
            break body;
        }
        let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-');
        let behind_name = rest.trim_start_matches(is_of_name);
        let name = rest.strip_suffix(behind_name)?;
        let (value, behind) = behind_name.strip_prefix("=\"")?.split_once('"')?;
        let value = || unescaped(value);
        match name {
            "type" => kind = Some(value()),
            "id" => call.id = Some(value()).filter(|id| !id.is_empty()),
            "name" => call.name = Some(value()).filter(|name| !name.is_empty()),
            "arguments" => call.arguments = value(),
            "result" | "output" => call.result = Some(value()),
            _ => {}
        }
        rest = behind.trim_start();
    };
    match kind?.as_str() {
        "reasoning" => Some(DetailsPiece::Thought(thought(body))),
        "tool_calls" => Some(DetailsPiece::Call(call)),
        "code_interpreter" => Some(DetailsPiece::Call(DetailsCall {
            name: Some("code_interpreter".to_owned()),
            arguments: code(body)?,
            ..call
        })),
        _ => None,
    }
}

/// The text after the summary.
fn behind_summary(body: &str) -> &str {
    let body = body.trim_matches('\n');
    let behind = body
        .strip_prefix("<summary>")
        .and_then(|rest| rest.split_once("</summary>"));
    behind.map_or(body, |(_, text)| text).trim_matches('\n')
}

/// The arguments of the interpreter: the code in the fence after the summary, and its language.
fn code(body: &str) -> Option<String> {
    let fenced = behind_summary(body).strip_prefix("```")?.strip_suffix("```")?;
    let (language, code) = fenced.split_once('\n')?;
    let code = quoted(code.strip_suffix('\n').unwrap_or(code));
    let language = quoted(language.trim());
    Some(format!(
        r#"{{"lang":{},"code":{}}}"#,
        language.as_str(),
        code.as_str()
    ))
}

/// The thought after the summary, without the quotation marks of its lines.
fn thought(body: &str) -> String {
    let text = unescaped(behind_summary(body));
    let unquoted = |line: &str| {
        let line = line.strip_prefix('>').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    text.split('\n').map(unquoted).collect::<Vec<String>>().join("\n")
}

/// Text without the escapes of HTML.
fn unescaped(text: &str) -> String {
    let escapes = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let replace = |text: String, (escape, sign): &(&str, &str)| text.replace(escape, sign);
    escapes.iter().fold(text.to_owned(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use DetailsPiece::{Call, Thought, Words};

    #[test]
    fn thoughts_and_calls_are_taken_out_of_an_answer_in_their_order() {
        let text = "Well.\n<details type=\"reasoning\" done=\"true\" duration=\"2\">\n<summary>Thought</summary>\n&gt; a &lt; b\n&gt; \n&gt;  c\n</details>\n\
            <details type=\"tool_calls\" done=\"true\" id=\"c1\" name=\"sky\" arguments=\"&quot;{\\&quot;at\\&quot;:1}&quot;\" result=\"&quot;gr&amp;lt;ey&quot;\" files=\"\">\n\
            <summary>Tool Executed</summary>\n</details>\nTake a coat.\n";
        let call = DetailsCall {
            id: Some("c1".to_owned()),
            name: Some("sky".to_owned()),
            arguments: "\"{\\\"at\\\":1}\"".to_owned(),
            result: Some("\"gr&lt;ey\"".to_owned()),
        };
        assert_eq!(
            pieces(text),
            Some(vec![
                Words("Well.".to_owned()),
                Thought("a < b\n\n c".to_owned()),
                Call(call),
                Words("Take a coat.".to_owned()),
            ])
        );
    }

    #[test]
    fn code_of_the_interpreter_is_a_call_and_its_output_the_result() {
        let text = "<details type=\"code_interpreter\" done=\"true\" output=\"{&quot;stdout&quot;: &quot;2&quot;}\">\n<summary>Analyzed</summary>\n\
            ```python\nprint(\"```\")\n```\n</details>\nIt is 2.";
        let call = DetailsCall {
            id: None,
            name: Some("code_interpreter".to_owned()),
            arguments: r#"{"lang":"python","code":"print(\"```\")"}"#.to_owned(),
            result: Some(r#"{"stdout": "2"}"#.to_owned()),
        };
        assert_eq!(pieces(text), Some(vec![Call(call), Words("It is 2.".to_owned())]));
    }

    #[test]
    fn details_after_a_fence_that_is_closed_are_no_words() {
        let text =
            "```\n<details type=\"reasoning\">a</details>\n```\n<details type=\"reasoning\">b</details>";
        let words = "```\n<details type=\"reasoning\">a</details>\n```".to_owned();
        assert_eq!(pieces(text), Some(vec![Words(words), Thought("b".to_owned())]));
    }

    #[test]
    fn other_details_and_tags_that_are_cut_off_stay_words() {
        for text in [
            "a <details> b </details>",
            "<details type=\"code_interpreter\" output=\"1\">x</details>",
            "<details type=\"code_interpreter\">\n```python\nprint('</details>')\n```\n</details>",
            "```html\n<details type=\"reasoning\">x</details>\n```",
            "~~~~\n```\n~~~\n<details type=\"reasoning\">x</details>",
            "Write `<details type=\"reasoning\">x</details>`.",
            "<details type=\"reasoning\" done=\"false\">\n&gt; cut",
            "<details type=\"reasoning>x</details>",
            "no details",
            "",
        ] {
            assert_eq!(pieces(text), None, "{text}");
        }
        let both = "<details class=\"x\">a</details><details type=\"reasoning\">b</details>";
        let words = "<details class=\"x\">a</details>".to_owned();
        assert_eq!(pieces(both), Some(vec![Words(words), Thought("b".to_owned())]));
    }
}

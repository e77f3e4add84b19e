//! The messages of a Markdown page: escapes are removed, and the title of a folded block decides whether it is a
//! thought, a call or a result.

use chatmill_model::{ArgumentForm, Arguments, Component, Part, RawJson, Sink, ToolCall, ToolResult};

/// The parts of each message, in order.
pub(super) fn messages(sink: &Sink<'_>) -> Vec<Vec<Part>> {
    let mut messages = Vec::new();
    let mut starts = sink.turn_starts().iter().peekable();
    let mut position = None;
    let mut title: Option<&str> = None;
    let mut at = 0;
    for (text, span) in sink.pushes() {
        while let Some((_, next)) = starts.next_if(|(start, _)| *start <= at) {
            if next.is_some() && *next != position {
                position = *next;
                messages.push(Vec::new());
            }
        }
        at += text.len();
        let part = match (span.component, title) {
            (Component::Tools, None) => {
                title = Some(text);
                continue;
            }
            (Component::Tools | Component::Content, Some(folded)) => folded_part(folded, text),
            (Component::Content, None) => Part::Text(words(text)),
            _ => continue,
        };
        title = None;
        if let Some(parts) = messages.last_mut() {
            parts.push(part);
        }
    }
    messages
}

fn folded_part(title: &str, text: &str) -> Part {
    let name = |rest: &str| Some(references(rest)).filter(|name| !name.is_empty());
    if let Some(rest) = title.strip_prefix("Call of ") {
        let arguments = fenced(text);
        let arguments = match serde_json::from_str::<serde_json::Value>(&arguments) {
            Ok(serde_json::Value::Object(_)) => Arguments::Object(RawJson(arguments)),
            Ok(_) => Arguments::NotObject(RawJson(arguments)),
            Err(_) => Arguments::Malformed(arguments),
        };
        let known = name(rest).filter(|name| name != "a tool without a name");
        return Part::ToolCall(ToolCall::new(None, known, (arguments, ArgumentForm::Text)));
    }
    if let Some(rest) = title.strip_prefix("Result") {
        let is_error = rest.ends_with(", failed");
        let rest = rest.strip_suffix(", failed").unwrap_or(rest);
        return Part::ToolResult(ToolResult {
            name: rest.strip_prefix(" of ").and_then(name),
            content: fenced(text),
            is_error,
            ..ToolResult::default()
        });
    }
    Part::Reasoning(words(text))
}

/// The text between two fences.
fn fenced(text: &str) -> String {
    let inside = text.trim_start_matches('`');
    let fence = "`".repeat(text.len() - inside.len());
    let inside = inside.strip_suffix(&fence).unwrap_or(inside);
    let inside = inside.split_once('\n').map_or("", |(_, inside)| inside);
    shown(inside.strip_suffix('\n').unwrap_or(inside))
}

/// A text without its escapes.
fn words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => {
                let escaped = signs.next_if(|next| next.is_ascii_punctuation() || *next == '\n');
                plain.push(escaped.unwrap_or(sign));
            }
            sign => plain.push(sign),
        }
    }
    for (reference, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
        plain = plain.replace(reference, sign);
    }
    shown(&plain)
}

/// A text with the characters that escapes such as `\u{202e}` denote.
fn shown(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let escaped = piece.split_once('}');
        let sign = escaped
            .and_then(|(digits, rest)| Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, rest)));
        match sign {
            Some((sign, rest)) => plain.extend([&*sign.to_string(), rest]),
            None => plain.extend(["\\u{", piece]),
        }
    }
    plain
}

/// A name with the characters that its references denote.
fn references(text: &str) -> String {
    let mut pieces = text.split("&#");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (digits, rest) = piece.split_once(';').unwrap_or_default();
        plain.extend(digits.parse().ok().and_then(char::from_u32));
        plain.push_str(rest);
    }
    shown(&plain)
}

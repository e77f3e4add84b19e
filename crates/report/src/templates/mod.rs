//! Fills in the templates of `crates/report/templates` for pages, supplier reports, notes and cards. The layout is in the templates; all
//! content is data.
//!
//! Text cannot inject markup. Every value that a template prints is escaped, for HTML or for Markdown depending on the extension of the
//! template, and invisible characters are written as escapes. Only the output of other templates, and text from the pages of codes, is not
//! escaped.

pub(crate) mod command;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use chatmill_diag::visible::is_hidden;
use chatmill_diag::{Class, Classed, codes, markdown};
use chatmill_model::target_name;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde::Serialize;
use serde_json::Value as Json;

use self::command::show_command;
use crate::cells::token_table::heading;
use crate::numbers::{bytes, count, counted, duration, money, quotient, value};

macro_rules! templates {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../templates/", $name)))),*]
    };
}

static TEMPLATES: &[(&str, &str)] = &templates![
    "card.md"
    "check.html"
    "found.css"
    "found.js"
    "found/file.html"
    "found/findings.html"
    "found/severities.html"
    "supplier_report.html"
    "supplier_report.md"
    "night.md"
    "nights.html"
    "page.html"
    "parts.html"
    "report.html"
    "report/balance.html"
    "report/calls.html"
    "report/chats.html"
    "report/comparison.html"
    "report/findings.html"
    "report/inputs.html"
    "report/largest.html"
    "report/lengths.html"
    "report/losses.html"
    "report/money.html"
    "report/people.html"
    "report/personal.html"
    "report/repeats.html"
    "report/run.html"
    "report/served.html"
    "report/tokens.html"
    "report/turns.html"
    "script.js"
    "show.css"
    "show.html"
    "show.js"
    "style.css"
    "trend.css"
];

static ENVIRONMENT: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(environment);

/// A template that does not match its data, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error("the template {name} does not match its data")]
pub struct TemplateError {
    name: &'static str,
    source: Error,
}

impl Classed for TemplateError {
    fn class(&self) -> Class {
        Class::Bug
    }
}

/// The output of a template, which can be included in another one without escaping.
#[derive(Debug, Default)]
pub(crate) struct Fragment(String);

impl Fragment {
    /// Appends another output.
    pub(crate) fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// The text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Fills in a template. Its variables are the fields of `data`, and `fragments`.
pub(crate) fn fill<const N: usize>(
    name: &'static str,
    data: &impl Serialize,
    fragments: [(&str, Fragment); N],
) -> Result<Fragment, TemplateError> {
    let filled = || -> Result<String, Error> {
        let environment = ENVIRONMENT
            .as_ref()
            .map_err(|error| Error::new(error.kind(), error.to_string()))?;
        let data = serde_json::to_value(data)
            .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
        let Json::Object(fields) = data else {
            return Err(Error::new(ErrorKind::InvalidOperation, "data without fields"));
        };
        let mut variables = object(fields);
        for (name, Fragment(text)) in fragments {
            variables.insert(name.to_owned(), Value::from_safe_string(text));
        }
        environment.get_template(name)?.render(Value::from(variables))
    };
    filled()
        .map(Fragment)
        .map_err(|source| TemplateError { name, source })
}

fn object(fields: serde_json::Map<String, Json>) -> BTreeMap<String, Value> {
    fields
        .into_iter()
        .map(|(name, value)| (name, of_json(value)))
        .collect()
}

fn of_json(json: Json) -> Value {
    match json {
        Json::Null => Value::from(()),
        Json::Bool(is_true) => Value::from(is_true),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => number.as_f64().map_or_else(|| Value::from(()), Value::from),
        },
        Json::String(text) => Value::from(text),
        Json::Array(entries) => entries.into_iter().map(of_json).collect(),
        Json::Object(fields) => Value::from(object(fields)),
    }
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|name| match name.rsplit_once('.') {
        Some((_, "md")) => AutoEscape::Custom("markdown".into()),
        _ => AutoEscape::Html,
    });
    environment.set_formatter(|out, state, value| {
        if value.is_none() {
            return Err(Error::new(ErrorKind::InvalidOperation, "nothing is printed"));
        }
        let text = value
            .as_str()
            .map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        let escaped = match state.auto_escape() {
            _ if value.is_safe() => text,
            AutoEscape::Custom(_) => Cow::Owned(markdown::plain(&text)),
            _ => html(&text),
        };
        out.write_str(&escaped).map_err(Error::from)
    });
    environment.add_filter("bytes", bytes);
    environment.add_filter("clause", |text: &str| {
        Value::from_safe_string(markdown::clause(text))
    });
    environment.add_filter("code", |text: &str| Value::from_safe_string(markdown::code(text)));
    environment.add_filter("count", count);
    environment.add_filter("counted", counted);
    environment.add_filter("day", day);
    environment.add_filter("duration", duration);
    environment.add_filter("fixed", |number: f64, decimals: usize| {
        format!("{number:.decimals$}")
    });
    environment.add_filter("money", money);
    environment.add_filter("heading", |coverage: &str| heading(coverage).to_owned());
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose(text)));
    environment.add_filter("scalar", scalar);
    environment.add_filter("value", value);
    environment.add_filter("why", |code: &str| {
        codes::find(code).map_or("", |code| code.page.why)
    });
    environment.add_function("quotient", quotient);
    environment.add_function(
        "share",
        |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 },
    );
    environment.add_function("show", |id: &str| show_command(".", id).unwrap_or_default());
    environment.add_function("target", target);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// A text that is escaped for both element content and quoted attributes.
fn html(text: &str) -> Cow<'_, str> {
    let is_plain = |character| !matches!(character, '&' | '<' | '>' | '"' | '\'') && !is_hidden(character);
    if text
        .chars()
        .all(|character| character == '\n' || is_plain(character))
    {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push('\n'),
            hidden if is_hidden(hidden) => escaped.extend(hidden.escape_default()),
            plain => escaped.push(plain),
        }
    }
    Cow::Owned(escaped)
}

/// Text of the page of a code, with code spans; the shown paragraphs use nothing else of Markdown.
fn prose(text: &str) -> String {
    // Every second piece was between backticks.
    let pieces = text.split('`').zip([false, true].into_iter().cycle());
    let shown = pieces.map(|(piece, is_code)| match html(piece) {
        code if is_code => Cow::Owned(format!("<code>{code}</code>")),
        words => words,
    });
    shown.collect()
}

/// The day of a time in RFC 3339, or of the name of a night.
fn day(time: &str) -> String {
    time.split_once('T').map_or(time, |(day, _)| day).to_owned()
}

/// The dialect of an object, with its profile if that is not the default.
fn target(of: &Value) -> Result<String, Error> {
    let field = |name| {
        let field = of.get_attr(name)?;
        let text = field.as_str().map(str::to_owned);
        text.ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "no dialect and profile"))
    };
    Ok(target_name(&field("dialect")?, &field("profile")?))
}

/// A scalar of YAML; `is_word` leaves out the quotation marks.
fn scalar(text: &str, is_word: Option<bool>) -> Value {
    let is_word = is_word.unwrap_or(false);
    Value::from_safe_string(if is_word {
        text.to_owned()
    } else {
        markdown::scalar(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            html("</td><script>alert('x')</script>\" onload=\"y & \u{202e}z\0"),
            "&lt;/td&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; onload=&quot;y &amp; \\u{202e}z\\u{0}"
        );
    }

    #[test]
    fn code_spans_of_pages_become_code() {
        assert_eq!(prose("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
    }

    #[test]
    fn only_the_pages_of_codes_are_not_escaped_in_a_template() {
        for (name, text) in TEMPLATES {
            for unescaped in text.split("|safe").skip(1) {
                assert!(
                    ["supplier_report.md", "card.md"].contains(name),
                    "{name}: {unescaped}"
                );
            }
            assert!(!text.contains("{% autoescape"), "{name}");
        }
    }

    #[test]
    fn a_template_with_missing_values_is_an_error() {
        let error = fill("found/file.html", &BTreeMap::from([("path", "x")]), []).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the template found/file.html does not match its data"
        );
    }
}

//! The environment in which a template runs: Jinja as transformers sets it up, without files, clock or endless loops.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::{marks, methods, python, tags};

/// Instructions that one rendering may take: some seconds.
const FUEL: u64 = 50_000_000;

/// Macros inside macros; templates print nested JSON that way.
const RECURSION: usize = 150;

/// Why there is no rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The template says so, in these words.
    Refused(String),
    /// The template does what Jinja does not allow.
    Failed(String),
    /// The output is longer than allowed; this is its beginning.
    TooLong(String),
}

/// What a template calls with `raise_exception`.
#[derive(Debug)]
struct Raised(String);

impl fmt::Display for Raised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

/// A compiled template, once as it is and once with marks.
pub(super) struct Engine {
    plain: Environment<'static>,
    marking: Environment<'static>,
}

impl Engine {
    /// Compiles a template.
    pub(super) fn new(source: &str, now: Option<DateTime>) -> Result<Self, String> {
        let source = tags::rewrite(source)?;
        Ok(Self {
            plain: environment(&source, now, false)?,
            marking: environment(&source, now, true)?,
        })
    }

    /// Renders, at most so many bytes.
    pub(super) fn render(&self, context: Value, most: u64) -> Result<String, Stop> {
        run(&self.plain, context, most)
    }

    /// Renders with marks around dumped JSON and generated text; `context` holds marked pieces.
    pub(super) fn render_marked(&self, context: Value, most: u64) -> Result<String, Stop> {
        run(&self.marking, context, most.saturating_mul(4))
    }
}

fn environment(
    source: &str,
    now: Option<DateTime>,
    is_marking: bool,
) -> Result<Environment<'static>, String> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| explain(&error))?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(RECURSION);
    environment.set_formatter(|out, _, value| {
        match value.as_str() {
            Some(text) => out.write_str(text),
            None => out.write_str(&python::text(value)?),
        }
        .map_err(|_| Error::new(ErrorKind::WriteFailure, "the output is too long"))
    });
    methods::teach(&mut environment);
    environment.add_filter("tojson", move |value: &Value, options: Kwargs| {
        let json = python::tojson(value, &options)?;
        let is_container = is_marking && json.starts_with(['{', '[']);
        Ok::<_, Error>(if is_container {
            marks::around_json(&json)
        } else {
            json
        })
    });
    environment.add_function("raise_exception", |message: &Value| {
        let message = python::text(message)?;
        let refusal = Error::new(ErrorKind::InvalidOperation, message.clone());
        Err::<Value, Error>(refusal.with_source(Raised(message)))
    });
    environment.add_filter(tags::FILTER, move |said: &Value| {
        let text = python::text(said)?;
        Ok::<_, Error>(if is_marking {
            marks::around_generation(&text)
        } else {
            text
        })
    });
    if let Some(now) = now {
        environment.add_function("strftime_now", move |format: &str| {
            strtime::format(format, now)
                .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
    }
    environment
        .add_template_owned(NAME, source.to_owned())
        .map_err(|error| explain(&error))?;
    Ok(environment)
}

const NAME: &str = "template";

fn run(environment: &Environment<'static>, context: Value, most: u64) -> Result<String, Stop> {
    let mut output = Capped {
        bytes: Vec::new(),
        most,
        is_full: false,
    };
    // The template is somebody else's and its engine too: a fault of theirs costs one rendering.
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let template = environment.get_template(NAME)?;
        template.render_captured_to(context, &mut output).map(|_| ())
    }));
    let text = String::from_utf8_lossy(&output.bytes).into_owned();
    match ended {
        _ if output.is_full => Err(Stop::TooLong(text)),
        Ok(Ok(())) => Ok(text),
        Ok(Err(error)) => Err(match raised(&error) {
            Some(message) => Stop::Refused(message),
            None => Stop::Failed(explain(&error)),
        }),
        Err(_) => Err(Stop::Failed("the template engine failed".to_owned())),
    }
}

/// The message of `raise_exception`, where that is what ended the rendering.
fn raised(error: &Error) -> Option<String> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(raised) = cause.downcast_ref::<Raised>() {
            return Some(raised.0.clone());
        }
        next = cause.source();
    }
    None
}

/// What is wrong, and the line.
fn explain(error: &Error) -> String {
    let what = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    match error.line() {
        Some(line) => format!("{what} (line {line} of the template)"),
        None => what,
    }
}

/// An output that takes so many bytes and one more.
struct Capped {
    bytes: Vec<u8>,
    most: u64,
    is_full: bool,
}

impl io::Write for Capped {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let room = self
            .most
            .saturating_add(1)
            .saturating_sub(self.bytes.len() as u64);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        self.bytes.extend_from_slice(text.get(..room).unwrap_or(text));
        if self.bytes.len() as u64 > self.most {
            self.is_full = true;
            return Err(io::Error::other("the output is too long"));
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str) -> Result<String, Stop> {
        let now = "2024-07-26T10:05:00".parse().unwrap();
        let engine = Engine::new(source, Some(now)).map_err(Stop::Failed)?;
        engine.render(Value::from_pairs([("x", "y")]), 1 << 20)
    }

    #[test]
    fn a_template_prints_what_python_prints() {
        for (source, expected) in [
            (
                "{{ true }} {{ none }} {{ 1e-7 }} {{ [1, 'a'] }} {{ nothing }}",
                "True None 1e-07 [1, 'a'] ",
            ),
            (
                "{% if true %}\n  {# a #}\n  {% if x %}\na{% endif %}\n{% endif %}\n",
                "a",
            ),
            (
                "{% for i in range(9) %}{% if i == 3 %}{% break %}{% endif %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
                "02",
            ),
            (
                "{% for i in 'abc' %}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}",
                "b ac b ",
            ),
            (
                "{% set n = namespace(a=1) %}{% for i in [1] %}{% set n.a = 2 %}{% endfor %}{{ n.a }}",
                "2",
            ),
            (
                "{% macro m(a, b='-') %}{{ a }}{{ b }}{% endmacro %}{{ m('x') }}",
                "x-",
            ),
            ("{{ strftime_now('%d %b %Y %H:%M') }}", "26 Jul 2024 10:05"),
            (
                "{{ 'abcd'[-2:] }}{{ 'abcd'[::-1] }}{{ [1, 2, 3][-1] }}",
                "cddcba3",
            ),
            (
                "{{ {'b': '<&>', 'a': 'é'}|tojson }}",
                "{\"b\": \"<&>\", \"a\": \"é\"}",
            ),
            (
                "{% set a = 1 %}{% generation %}{% set a = 2 %}{{ a }}{% endgeneration %}{{ a }}",
                "21",
            ),
            (
                "{% set n = namespace(a=1) %}{% generation %}{% set n.a = 2 %}{% endgeneration %}{{ n.a }}",
                "2",
            ),
            (
                "{% for i in [1] %}\n{% generation %}\n {{ loop.index }}\n{% endgeneration %}\n{% endfor %}",
                " 1\n",
            ),
        ] {
            assert_eq!(rendered(source), Ok(expected.to_owned()), "{source}");
        }
    }

    #[test]
    fn a_refusal_keeps_the_words_of_the_template() {
        let refused = Err(Stop::Refused("no y here".to_owned()));
        assert_eq!(rendered("{{ raise_exception('no ' ~ x ~ ' here') }}"), refused);
        let source = "{% macro m() %}{{ raise_exception('no y here') }}{% endmacro %}{% generation %}{{ m() }}{% endgeneration %}";
        assert_eq!(rendered(source), refused);
        assert!(matches!(rendered("{{ nothing.at.all }}"), Err(Stop::Failed(_))));
    }

    #[test]
    fn no_template_names_another_file() {
        for source in [
            "{% include 'a' %}",
            "{% import 'a' as a %}",
            "{% extends 'a' %}",
            "{% from 'a' import b %}",
        ] {
            assert!(matches!(rendered(source), Err(Stop::Failed(_))), "{source}");
        }
    }

    #[test]
    fn hostile_templates_end() {
        let deep = format!("{}1{}", "(".repeat(5000), ")".repeat(5000));
        for source in [
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "{% macro m() %}{% generation %}{{ m() }}{% endgeneration %}{% endmacro %}{{ m() }}",
            "{{ range(99999999999) }}",
            "{{ 'a' * 999999999 }}",
            "{{ [1, 2, 3][0:2:-1] }}",
            "{{ 1 // 0 }}",
            "{{ 'a'.center(99999999999) }}",
            "{% for i in range(99999) %}{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }}{% endfor %}",
            &format!("{{{{ {deep} }}}}"),
            "{% endif %}",
            "{{",
        ] {
            if let Ok(text) = rendered(source) {
                assert!(text.len() < 100, "{source}");
            }
        }
    }

    #[test]
    fn an_output_is_cut_one_byte_behind_the_limit() {
        let engine = Engine::new("{{ x }}{{ x }}", None).unwrap();
        let render = |most| engine.render(Value::from_pairs([("x", "abc")]), most);
        assert_eq!(render(6), Ok("abcabc".to_owned()));
        assert_eq!(render(5), Err(Stop::TooLong("abcabc".to_owned())));
        assert_eq!(render(3), Err(Stop::TooLong("abca".to_owned())));
    }
}

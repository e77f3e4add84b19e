//! The environment in which a template runs: Jinja as transformers configures it, without files, clock or endless loops.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use chatmill_diag::Limits;
use chatmill_diag::limits::TEMPLATE_RECURSION;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Kwargs;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value, machinery};

use super::meter::{self, Allowance, Exhausted};
use super::program::Program;
use super::{costs, guards, marks, measured, methods, python, source, tags};

/// More instructions than any rendering may take: minijinja only counts them here, and the meter limits them.
const FUEL: u64 = u64::MAX >> 1;

/// Why there is no rendering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The template refuses the conversation with this message.
    Refused(String),
    /// The template failed with this error.
    Failed(String),
    /// The output is longer than allowed; this is its beginning.
    TooLong(String),
}

/// The message of a call of `raise_exception`.
#[derive(Debug)]
struct Raised(String);

impl fmt::Display for Raised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}

/// A compiled template.
pub(super) struct Engine {
    environment: Environment<'static>,
    limits: Limits,
}

impl Engine {
    /// Compiles a template.
    pub(super) fn new(source: &str, now: Option<DateTime>, limits: &Limits) -> Result<Self, String> {
        if source.len() as u64 > limits.template {
            return Err(format!("the template has more than {} bytes", limits.template));
        }
        let source = tags::rewrite(source)?;
        Ok(Self {
            environment: environment(&source, now)?,
            limits: limits.clone(),
        })
    }

    /// Returns the allowance of a rendering with this context.
    pub(super) fn allowance(&self, context: &Value) -> Allowance {
        let given = measured::measure(context).unwrap_or_default();
        Allowance::new(&self.limits, given.bytes)
    }

    /// Renders the template within the limits.
    pub(super) fn render(&self, context: Value, allowance: &mut Allowance) -> Result<String, Stop> {
        self.run(context, allowance, false)
    }

    /// Renders the template with marks around dumped JSON and generated text; the pieces in `context` are marked.
    pub(super) fn render_marked(&self, context: Value, allowance: &mut Allowance) -> Result<String, Stop> {
        self.run(context, allowance, true)
    }

    fn run(&self, context: Value, allowance: &mut Allowance, is_marking: bool) -> Result<String, Stop> {
        let mut text = String::new();
        let mut output = machinery::make_string_output(&mut text);
        // Template and engine are foreign code: a panic there must cost only this rendering.
        let ended = meter::within(allowance, is_marking, || {
            catch_unwind(AssertUnwindSafe(|| {
                let template = self.environment.get_template(NAME)?;
                let program = Program::new(machinery::get_compiled_template(&template));
                let (main, blocks) = (&program.main, &program.blocks);
                let out = &mut output;
                machinery::eval(&self.environment, main, context, blocks, out, AutoEscape::None).map(drop)
            }))
        });
        let most = self
            .limits
            .rendering
            .saturating_mul(if is_marking { 4 } else { 1 });
        if text.len() as u64 > most {
            let mut cut = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1);
            while !text.is_char_boundary(cut) {
                cut += 1;
            }
            text.truncate(cut);
            return Err(Stop::TooLong(text));
        }
        match ended {
            Ok(Ok(())) => Ok(text),
            Ok(Err(error)) => Err(match (cause::<Raised>(&error), cause::<Exhausted>(&error)) {
                (Some(raised), _) => Stop::Refused(raised.0.clone()),
                (None, Some(spent)) => Stop::Failed(at_line(spent.to_string(), &error)),
                (None, None) => Stop::Failed(explain(&error)),
            }),
            Err(_) => Err(Stop::Failed("the template engine failed".to_owned())),
        }
    }
}

fn environment(source: &str, now: Option<DateTime>) -> Result<Environment<'static>, String> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .map_err(|error| explain(&error))?;
    let source = source::checked(source, &syntax)?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(TEMPLATE_RECURSION);
    environment.set_formatter(|out, _, value| {
        let printed;
        let text = if let Some(text) = value.as_str() {
            text
        } else {
            printed = python::text(value)?;
            &printed
        };
        meter::makes(text.len() as u64)?;
        out.write_str(text).map_err(Error::from)
    });
    guards::register(&mut environment);
    methods::register(&mut environment);
    let tojson = |value: &Value, options: Kwargs| {
        let json = python::tojson(value, &options)?;
        let is_container = meter::is_marking() && json.starts_with(['{', '[']);
        Ok::<_, Error>(if is_container {
            marks::around_json(&json)
        } else {
            json
        })
    };
    costs::add_filter(&mut environment, "tojson", Value::from_function(tojson));
    environment.add_function("raise_exception", |message: &Value| {
        let message = python::text(message)?;
        let refusal = Error::new(ErrorKind::InvalidOperation, message.clone());
        Err::<Value, Error>(refusal.with_source(Raised(message)))
    });
    let generated = |text: &Value| {
        let text = python::text(text)?;
        Ok::<_, Error>(if meter::is_marking() {
            marks::around_generation(&text)
        } else {
            text
        })
    };
    costs::add_filter(&mut environment, tags::FILTER, Value::from_function(generated));
    environment.add_global(source::ONE, 1);
    if let Some(now) = now {
        environment.add_function("strftime_now", move |format: &str| {
            strtime::format(format, now)
                .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
    }
    environment
        .add_template_owned(NAME, source)
        .map_err(|error| explain(&error))?;
    Ok(environment)
}

const NAME: &str = "template";

/// Finds the error with which the template or the meter ended the rendering.
fn cause<T: std::error::Error + 'static>(error: &Error) -> Option<&T> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(found) = cause.downcast_ref::<T>() {
            return Some(found);
        }
        next = cause.source();
    }
    None
}

/// Returns the error in words, with the line of the template.
fn explain(error: &Error) -> String {
    let what = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    at_line(what, error)
}

fn at_line(what: String, error: &Error) -> String {
    match error.line() {
        Some(line) => format!("{what} (line {line} of the template)"),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(source: &str) -> Result<String, Stop> {
        let now = "2024-07-26T10:05:00".parse().unwrap();
        let limits = Limits::default();
        let engine = Engine::new(source, Some(now), &limits).map_err(Stop::Failed)?;
        let context = Value::from_pairs([("x", "y")]);
        engine.render(context.clone(), &mut engine.allowance(&context))
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
            (
                "{% set tiny, huge = 1e-7, 1e16 %}{{ tiny ~ [none] ~ huge }}",
                "1e-07[None]1e+16",
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
    fn a_loop_over_a_text_knows_where_it_ends() {
        for (source, expected) in [
            (
                "{% for c in 'äb' %}{{ c }}{% if not loop.last %},{% endif %}{% endfor %}",
                "ä,b",
            ),
            (
                "{% for c in 'ab' %}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %}",
                "221 210 ",
            ),
            (
                "{% for c in ['ab'] recursive %}{{ c }}{{ loop.last }} {% if loop.depth == 1 %}{{ loop(c) }}{% endif %}{% endfor %}",
                "abTrue aFalse bTrue ",
            ),
            ("{% for c in '' %}{{ c }}{% else %}none{% endfor %}", "none"),
        ] {
            assert_eq!(rendered(source), Ok(expected.to_owned()), "{source}");
        }
    }

    #[test]
    fn a_method_that_is_not_called_is_a_value() {
        for (source, expected) in [
            (
                "{{ {'items': 1}.items }} {{ {'items': 1}['items'] }} {{ {}['keys'] is defined }}",
                "<built-in method items of dict object> 1 True",
            ),
            (
                "{% set d = {'items': {'type': 'string'}} %}{{ d.items is mapping }}{{ d.items.type is defined }}{{ d.items is callable }}",
                "FalseFalseTrue",
            ),
            (
                "{% set k = 'get' %}{% set f = {'a': 1}[k] %}{{ f('a') }}{{ f('b', 2) }}",
                "12",
            ),
            (
                "{{ 'y' if x.split else 'n' }}{{ 'y' if [].count else 'n' }}",
                "yy",
            ),
            (
                "{{ 'y' if {}.pop else 'n' }}{{ [].append is defined }}{{ x.text is defined }}",
                "nFalseFalse",
            ),
            (
                "{{ {'a': 1}|attr('a') }}{% set f = x|attr('upper') %}{{ f() }}",
                "Y",
            ),
            (
                "{% set n = namespace(items=1) %}{{ n.items }}{% for c in [1] %}{{ loop.index }}{% endfor %}",
                "11",
            ),
        ] {
            assert_eq!(rendered(source), Ok(expected.to_owned()), "{source}");
        }
        for source in [
            "{{ {'items': 1}.items|tojson }}",
            "{% for one in {'items': [1]}.items %}{% endfor %}",
            "{{ {'items': [1]}.items|length }}",
            "{% set n = namespace(x=[]) %}{% for i in range(999) %}{% set n.x = [n.x.copy] %}{% endfor %}",
        ] {
            assert!(matches!(rendered(source), Err(Stop::Failed(_))), "{source}");
        }
    }

    #[test]
    fn a_slice_with_a_negative_step_runs_between_its_bounds() {
        for (source, expected) in [
            (
                "{{ 'abcd'[3:0:-1] }}{{ 'abcd'[:-3:-1] }}{{ 'abcd'[0:2:-1] }}",
                "dcbdc",
            ),
            (
                "{{ [1, 2, 3][-9::-1] }}{{ [][::-1] }}{{ x[:0][::-1] }}{{ (1, 2, 3)[9:0:-2] }}",
                "[][](3,)",
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
    fn an_output_is_cut_one_byte_behind_the_limit() {
        let render = |rendering| {
            let limits = Limits {
                rendering,
                ..Limits::default()
            };
            let engine = Engine::new("{{ x }}{{ x }}", None, &limits).unwrap();
            let context = Value::from_pairs([("x", "abc")]);
            engine.render(context.clone(), &mut engine.allowance(&context))
        };
        assert_eq!(render(6), Ok("abcabc".to_owned()));
        assert_eq!(render(5), Err(Stop::TooLong("abcabc".to_owned())));
        assert_eq!(render(3), Err(Stop::TooLong("abca".to_owned())));
    }
}

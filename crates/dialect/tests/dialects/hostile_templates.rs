//! Templates that would use all memory, endless time or the whole stack: each ends soon, with a reason.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use chatmill_diag::Limits;
use chatmill_diag::limits::{MIB, TEMPLATE_DEPTH, TEMPLATE_WORDS};
use chatmill_dialect::template::Blueprint;
use chatmill_dialect::{Policy, TemplateDialect};

use crate::chat::TestChat;
use crate::templates::{blueprint, render};

/// The beginning of the outcome if the template is rendered.
const PRINTS: &str = "prints";
const STEPS: &str = "template_steps";
const MEMORY: &str = "template_memory";
const DEEP: &str = "nested too deeply";
const WORDS: &str = "words";
const HOLDS: &str = "cannot be put into another value";
const RECURSES: &str = "recursion";
const METHOD: &str = "has no method";

/// Ten times the time of the slowest in an optimised build: tests are not optimised, and share the machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The name of a template, the template, and how it ends.
type Hostile = (&'static str, String, &'static str);

const TEXT: &str = "{% set t = 'abcdefghij' * 100000 %}";
const LIST: &str = "{% set l = range(100000)|list %}";
const DAG: &str = "{% set ns = namespace(s=['a'], t=['a']) %}{% for i in range(150) %}{% set ns.s = [ns.s, ns.s] %}{% set ns.t = [ns.t, ns.t] %}{% endfor %}";

fn doubles(what: &str, times: usize) -> String {
    format!(
        "{{% set ns = namespace(s='ab', l=['ab']) %}}{{% for i in range({times}) %}}{what}{{% endfor %}}{{{{ ns.s|length }}}}"
    )
}

fn with(setting: &str, template: &str) -> String {
    format!("{setting}{template}")
}

fn tag(inside: &str) -> String {
    format!("{{{{ {inside} }}}}")
}

fn hostile() -> Vec<Hostile> {
    [of_the_source(), of_values(), of_itself(), of_memory(), of_time()].concat()
}

/// Templates that would use the whole stack because of their source.
fn of_the_source() -> Vec<Hostile> {
    vec![
        ("not", tag(&("not ".repeat(20_000) + "a")), WORDS),
        ("attributes", tag(&("a".to_owned() + &".a".repeat(60_000))), WORDS),
        ("joins", tag(&("'1'".to_owned() + &"~'1'".repeat(30_000))), WORDS),
        ("sums", tag(&("1".to_owned() + &"+1".repeat(50_000))), WORDS),
        ("signs", tag(&("-".repeat(100_000) + "1")), WORDS),
        ("filters", tag(&("a".to_owned() + &"|e".repeat(50_000))), WORDS),
        ("indices", tag(&("a".to_owned() + &"[0]".repeat(40_000))), WORDS),
        ("calls", tag(&("a".to_owned() + &"()".repeat(40_000))), WORDS),
        (
            "comparisons",
            tag(&("1".to_owned() + &"<2".repeat(50_000))),
            WORDS,
        ),
        ("conditions", tag(&("1 if 1 else ".repeat(10_000) + "1")), WORDS),
        (
            "brackets",
            tag(&("(".repeat(400) + "1" + &")".repeat(400))),
            RECURSES,
        ),
        (
            "branches",
            format!("{{% if a %}}{}{{% endif %}}", "{% elif b %}".repeat(5000)),
            "elif",
        ),
        (
            "blocks",
            "{% if a %}".repeat(3000) + &"{% endif %}".repeat(3000),
            RECURSES,
        ),
        (
            "chain as long as allowed",
            tag(&("not ".repeat(TEMPLATE_WORDS - 1) + "a")),
            PRINTS,
        ),
        (
            "a source of a mebibyte",
            "a".repeat(MIB as usize),
            "more than 131072 bytes",
        ),
    ]
}

/// Templates that would use the whole stack because of their values.
fn of_values() -> Vec<Hostile> {
    vec![
        (
            "a list in a list",
            doubles("{% set ns.l = [ns.l] %}", 10_000),
            DEEP,
        ),
        (
            "a list in a list, one of which is compared",
            with(
                &doubles("{% set ns.l = [ns.l] %}", TEMPLATE_DEPTH - 2),
                "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(190) %}{% set ns.s = [ns.s] %}{% set ns.t = [ns.t] %}{% endfor %}{{ ns.s == ns.t }}",
            ),
            PRINTS,
        ),
        (
            "a map in a map",
            doubles("{% set ns.l = {'a': ns.l} %}", 10_000),
            DEEP,
        ),
        (
            "a map by a function",
            doubles("{% set ns.l = dict(a=ns.l) %}", 10_000),
            DEEP,
        ),
        (
            "a tuple in a tuple",
            doubles("{% set ns.l = (ns.l, 1) %}", 10_000),
            DEEP,
        ),
        (
            "batches",
            doubles("{% set ns.l = [ns.l]|batch(1) %}", 10_000),
            DEEP,
        ),
        (
            "groups",
            doubles("{% set ns.l = [{'a': 1, 'b': ns.l}]|groupby('a') %}", 10_000),
            DEEP,
        ),
        (
            "arguments that are kept",
            doubles("{% set ns.l = nothing|default(a=ns.l) %}", 10_000),
            "too many arguments",
        ),
        (
            "slices of slices",
            doubles("{% set ns.l = ns.l[0:] %}", 10_000),
            PRINTS,
        ),
        (
            "sums of lists",
            doubles("{% set ns.l = ns.l + [] %}", 10_000),
            PRINTS,
        ),
        (
            "methods in lists",
            doubles("{% set ns.l = [ns.l.copy] %}", 10_000),
            DEEP,
        ),
    ]
}

/// Templates with a value that contains or calls itself.
fn of_itself() -> Vec<Hostile> {
    vec![
        (
            "a namespace in itself",
            "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}".to_owned(),
            HOLDS,
        ),
        (
            "a namespace in a list",
            "{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}".to_owned(),
            HOLDS,
        ),
        (
            "a namespace in a namespace",
            "{% set ns = namespace() %}{% set x = namespace(a=ns) %}".to_owned(),
            HOLDS,
        ),
        (
            "a loop that remembers itself",
            "{% for i in [1, 2] %}{{ loop.changed(loop) }}{% endfor %}".to_owned(),
            HOLDS,
        ),
        (
            "macros",
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".to_owned(),
            RECURSES,
        ),
        (
            "macros in generation",
            "{% macro m() %}{% generation %}{{ m() }}{% endgeneration %}{% endmacro %}{{ m() }}".to_owned(),
            RECURSES,
        ),
        (
            "two macros",
            "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}"
                .to_owned(),
            "",
        ),
        (
            "blocks of themselves",
            "{% block b %}{{ self.b() }}{% endblock %}".to_owned(),
            "",
        ),
        (
            "recursive loops",
            "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}".to_owned(),
            RECURSES,
        ),
    ]
}

/// Templates that would use all memory.
fn of_memory() -> Vec<Hostile> {
    vec![
        ("doubling by ~", doubles("{% set ns.s = ns.s ~ ns.s %}", 60), MEMORY),
        ("doubling by +", doubles("{% set ns.s = ns.s + ns.s %}", 60), MEMORY),
        ("doubling by *", doubles("{% set ns.s = ns.s * 2 %}", 60), MEMORY),
        ("doubling lists", doubles("{% set ns.l = ns.l + ns.l %}", 60), MEMORY),
        ("doubling lists by *", doubles("{% set ns.l = ns.l * 2 %}", 60), MEMORY),
        ("doubling by a block", doubles("{% set x %}{{ ns.s }}{{ ns.s }}{% endset %}{% set ns.s = x %}", 60), MEMORY),
        ("doubling by arguments", "{% macro m(x, n) %}{% if n %}{{ m(x ~ x, n - 1) }}{% endif %}{% endmacro %}{% for i in range(9) %}{{ m('abcdefgh' * 10000, 30) }}{% endfor %}".to_owned(), ""),
        ("doubling by replace", doubles("{% set ns.s = ns.s|replace('', ns.s) %}", 20), MEMORY),
        ("doubling by a method", doubles("{% set ns.s = ns.s.replace('a', ns.s) %}", 60), MEMORY),
        ("doubling by join", doubles("{% set ns.s = [ns.s, ns.s, ns.s]|join(ns.s) %}", 40), MEMORY),
        ("doubling by a joining text", doubles("{% set ns.s = ns.s.join([ns.s, ns.s, ns.s]) %}", 40), MEMORY),
        ("doubling by format", doubles("{% set ns.s = '%s%s'|format(ns.s, ns.s) %}", 60), MEMORY),
        ("doubling by a format method", doubles("{% set ns.s = '{0}{0}'.format(ns.s) %}", 60), MEMORY),
        ("doubling by indent", doubles("{% set ns.s = ns.s|indent(1000000, true) %}", 60), MEMORY),
        ("repetition", "{{ 'a' * 99999999 }}".to_owned(), MEMORY),
        ("constants", format!("{{{{ ({}'a')|length }}}}", "'a' * 99999999 ~ ".repeat(100)), MEMORY),
        ("a list repeated", "{{ [1] * 99999999 }}".to_owned(), MEMORY),
        ("lists of constants compared", "{{ [1] * 99999999 == [1] * 99999999 }}".to_owned(), MEMORY),
        ("batch", "{{ [1]|batch(1000000000, 'x')|list|length }}".to_owned(), MEMORY),
        ("slice", "{{ [1]|slice(1000000000)|list|length }}".to_owned(), MEMORY),
        ("a width in a format", "{{ '%1000000000d'|format(1) }}".to_owned(), MEMORY),
        ("a precision in a format", "{{ '%.1000000000f'|format(1) }}".to_owned(), MEMORY),
        ("a width as an argument", "{{ '%*d'|format(1000000000, 1) }}".to_owned(), MEMORY),
        ("a width in a format method", "{{ '{:1000000000}'.format(1) }}".to_owned(), MEMORY),
        ("a nested width", "{{ '{:{}}'.format(1, 1000000000) }}".to_owned(), ""),
        ("indent", "{{ 'a\\nb'|indent(1000000000) }}".to_owned(), MEMORY),
        ("indented JSON", "{{ [[[1]]]|tojson(indent=1000000000) }}".to_owned(), PRINTS),
        ("JSON indented by a text", with(TEXT, "{{ ([[[1]]] * 1000)|tojson(indent=t) }}"), MEMORY),
        ("separators of JSON", with(TEXT, "{{ ([1] * 1000)|tojson(separators=[t, t]) }}"), MEMORY),
        ("a list of signs", with(TEXT, "{{ (t * 10)|list|length }}"), MEMORY),
        ("split", "{{ ('a' * 50000000).split('a')|length }}".to_owned(), MEMORY),
        ("split at every sign", with(TEXT, "{% for i in range(20) %}{{ (t * 2).split('a')|length }}{% endfor %}"), MEMORY),
        ("ranges", "{% set ns = namespace(l=[]) %}{% for i in range(1000) %}{% set ns.l = ns.l + [range(100000)|list] %}{% endfor %}".to_owned(), STEPS),
        ("a captured loop", format!("{{% set x %}}{{% for i in range(100000) %}}{}{{% endfor %}}{{% endset %}}", "a".repeat(400)), MEMORY),
        ("a printed text that shares its parts", with(DAG, "{{ ns.s }}"), MEMORY),
        ("JSON that shares its parts", with(DAG, "{{ ns.s|tojson }}"), MEMORY),
        ("an escaped text that shares its parts", with(DAG, "{{ ns.s|e }}"), MEMORY),
        ("indent by a text", with(TEXT, "{{ ('\\n' * 100000)|indent(t) }}"), MEMORY),
        ("a joined text that shares its parts", with(DAG, "{{ 'a' ~ ns.s }}"), MEMORY),
        ("center", "{{ 'a'.center(1000000000) }}".to_owned(), METHOD),
        ("ljust", "{{ 'a'.ljust(1000000000) }}".to_owned(), METHOD),
        ("zfill", "{{ 'a'.zfill(1000000000) }}".to_owned(), MEMORY),
        ("powers", "{{ 9 ** 999999999 }}".to_owned(), "unable to calculate"),
        ("a range of everything", "{{ range(99999999999) }}".to_owned(), "range"),
        ("macros without end", "{% for i in range(100000) %}{% macro m() %}{{ i }}{% endmacro %}{% endfor %}".to_owned(), MEMORY),
        ("pieces of a text", with(TEXT, "{% set ns = namespace(l=[]) %}{% for i in range(100) %}{% set ns.l = ns.l + [t.partition('b')] %}{% endfor %}"), MEMORY),
    ]
}

/// Templates that would run endlessly.
fn of_time() -> Vec<Hostile> {
    vec![
        ("loops in loops", "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}".to_owned(), STEPS),
        ("branching macros", "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(20) }}".to_owned(), STEPS),
        ("upper", with(TEXT, "{% for i in range(100000) %}{% set x = t|upper|length %}{% endfor %}"), ""),
        ("length", with(TEXT, "{% for i in range(100000) %}{% set x = t|length %}{% endfor %}"), STEPS),
        ("count", with(TEXT, "{% for i in range(100000) %}{% set x = t.count('b') %}{% endfor %}"), STEPS),
        ("find", with(TEXT, "{% for i in range(100000) %}{% set x = t.find('x') %}{% endfor %}"), STEPS),
        ("in a text", with(TEXT, "{% for i in range(100000) %}{% if 'x' in t %}{% endif %}{% endfor %}"), STEPS),
        ("in a list", with(LIST, "{% for i in range(100000) %}{% if 'x' in l %}{% endif %}{% endfor %}"), STEPS),
        ("equal texts", with(TEXT, "{% set u = t ~ '' %}{% for i in range(100000) %}{% if t == u %}{% endif %}{% endfor %}"), STEPS),
        ("equal lists", with(LIST, "{% set u = l + [] %}{% for i in range(100000) %}{% if l == u %}{% endif %}{% endfor %}"), STEPS),
        ("equal lists that share their parts", with(DAG, "{{ ns.s == ns.t }}"), STEPS),
        ("the order of lists that share their parts", with(DAG, "{{ [ns.s, ns.t]|sort|length }}"), STEPS),
        ("unique lists that share their parts", with(DAG, "{{ [ns.s, ns.t]|unique|length }}"), STEPS),
        ("a chain of comparisons", with(DAG, "{{ ns.s < ns.t < ns.s }}"), STEPS),
        ("a key that shares its parts", with(DAG, "{{ {ns.s: 1}|length }}"), STEPS),
        ("a test that compares", with(DAG, "{{ ns.s is eq(ns.t) }}"), STEPS),
        ("selection that compares", with(DAG, "{{ [ns.s]|select('eq', ns.t)|list|length }}"), STEPS),
        ("a sign of a long text", with(TEXT, "{% for i in range(100000) %}{% set x = t[999999] %}{% endfor %}"), STEPS),
        ("a slice of a long text", with(TEXT, "{% for i in range(100000) %}{% set x = t[:-999999] %}{% endfor %}"), STEPS),
        ("sorting", with(LIST, "{% for i in range(1000) %}{% set x = l|sort|length %}{% endfor %}"), ""),
        ("reversing", with(LIST, "{% for i in range(1000) %}{% set x = l|reverse|first %}{% endfor %}"), ""),
        ("mapping", with(LIST, "{% for i in range(1000) %}{% set x = l|map('string')|list|length %}{% endfor %}"), ""),
        ("unpacked lists", with(LIST, "{% for i in range(1000) %}{% set x = dict(*l) %}{% endfor %}"), "too many arguments"),
        ("a sum of lists", with(LIST, "{{ ([[1]] * 100000)|sum(start=[])|length }}"), ""),
        ("a long path of attributes", with(LIST, "{{ l|map(attribute='a.a.a.a.a.a' * 10000)|list|length }}"), ""),
        ("text that a template repeats", "{{ messages[0].content * 100000 }}".to_owned(), PRINTS),
        ("half a text that a template repeats", "{{ messages[0].content[:3] * 300000 }}".to_owned(), PRINTS),
        ("marks without an end", "{% set a = messages[0].content[0] %}{{ (a ~ messages[1].content[0]) * 300000 }}".to_owned(), PRINTS),
        ("the characters of a text", with(TEXT, "{% for i in range(1000) %}{% for c in t %}{% break %}{% endfor %}{% endfor %}"), MEMORY),
        ("a text backwards", with(TEXT, "{% for i in range(100000) %}{% set x = t[::-1]|length %}{% endfor %}"), ""),
    ]
}

fn chat() -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Is pier 4 free?");
    chat.write(bot, "It is.");
    chat
}

/// Returns the outcome of a template: why it is refused, or how many bytes it prints.
fn outcome(source: &str, limits: &Limits) -> String {
    let blueprint = Blueprint {
        limits: limits.clone(),
        ..blueprint(source)
    };
    match TemplateDialect::new(blueprint) {
        Err(error) => error.to_string(),
        Ok(dialect) => render(
            &chat(),
            &dialect.into(),
            &Policy::default(),
            |sink, rendering| match rendering.violations.first() {
                Some(violation) => violation.rule.clone(),
                None => format!("{PRINTS} {} bytes", sink.text().len()),
            },
        ),
    }
}

/// Returns the templates that do not end as expected, or not within `patience`.
fn wrong(hostile: &[(&str, String, &str)], patience: Option<Duration>) -> String {
    let mut wrong = String::new();
    for (name, source, expected) in hostile {
        let started = Instant::now();
        let outcome = outcome(source, &Limits::default());
        let taken = started.elapsed();
        let is_late = patience.is_some_and(|patience| taken > patience);
        if !outcome.contains(expected) || is_late {
            let milliseconds = taken.as_millis();
            writeln!(wrong, "{name}: {milliseconds} ms, {outcome}, not {expected}").unwrap();
        }
    }
    wrong
}

/// Tries only some of them, because many use all allowed steps; `just laws` and `just in-time` try all.
#[test]
fn every_hostile_template_ends_with_a_reason() {
    let hostile = hostile();
    let some = chatmill_drawn::some_of(0..hostile.len(), 25).map(|at| hostile[at].clone());
    assert_eq!(wrong(&some.collect::<Vec<_>>(), None), "");
}

#[test]
#[ignore = "by the clock, on a machine that does nothing else: `just in-time`"]
fn every_hostile_template_ends_in_time() {
    let only = std::env::var("ONLY").ok();
    let mut hostile = hostile();
    hostile.retain(|(name, ..)| only.as_ref().is_none_or(|only| only == name));
    assert_eq!(wrong(&hostile, Some(PATIENCE)), "");
}

#[test]
fn rendering_stops_at_the_limits_of_steps_and_memory() {
    let source = "{% for i in range(10000) %}{{ 'abcdefgh' ~ i }}{% endfor %}";
    let prints = |steps, memory| {
        let limits = Limits {
            template_steps: steps,
            template_memory: memory,
            ..Limits::default()
        };
        outcome(source, &limits)
    };
    assert!(prints(1_000_000, MIB).starts_with(PRINTS));
    assert!(prints(1000, MIB).contains(STEPS));
    assert!(prints(1_000_000, 100).contains(MEMORY));
    let small = |template| {
        let limits = Limits {
            template,
            ..Limits::default()
        };
        outcome("twelve bytes", &limits)
    };
    assert!(small(12).starts_with(PRINTS));
    assert!(small(11).contains("more than 11 bytes"));
}

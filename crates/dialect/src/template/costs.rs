//! Costs of filters, tests, functions and methods, taken before they run: those of minijinja have no limits.

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, State, filters, functions, tests};

use super::{guards, measured, meter, python};

/// Registers minijinja's filters, tests and functions, each with its cost. Those that differ in Python are registered later and replace
/// these.
pub(super) fn register(environment: &mut Environment<'_>) {
    let all: [(&'static str, Value); 30] = [
        ("safe", Value::from_function(filters::safe)),
        ("lower", Value::from_function(filters::lower)),
        ("upper", Value::from_function(filters::upper)),
        ("title", Value::from_function(filters::title)),
        ("capitalize", Value::from_function(filters::capitalize)),
        ("dictsort", Value::from_function(filters::dictsort)),
        ("replace", Value::from_function(filters::replace)),
        ("int", Value::from_function(filters::int)),
        ("float", Value::from_function(filters::float)),
        ("reverse", Value::from_function(filters::reverse)),
        ("join", Value::from_function(filters::join)),
        ("round", Value::from_function(filters::round)),
        ("abs", Value::from_function(filters::abs)),
        ("first", Value::from_function(filters::first)),
        ("last", Value::from_function(filters::last)),
        ("min", Value::from_function(filters::min)),
        ("max", Value::from_function(filters::max)),
        ("sort", Value::from_function(filters::sort)),
        ("list", Value::from_function(filters::list)),
        ("batch", Value::from_function(filters::batch)),
        ("slice", Value::from_function(filters::slice)),
        ("sum", Value::from_function(filters::sum)),
        ("select", Value::from_function(filters::select)),
        ("reject", Value::from_function(filters::reject)),
        ("selectattr", Value::from_function(filters::selectattr)),
        ("rejectattr", Value::from_function(filters::rejectattr)),
        ("map", Value::from_function(filters::map)),
        ("groupby", Value::from_function(filters::groupby)),
        ("unique", Value::from_function(filters::unique)),
        ("format", Value::from_function(filters::format)),
    ];
    for (name, filter) in all {
        add_filter(environment, name, filter);
    }
    // Python's Jinja does not have these, or prints something else.
    for name in ["split", "lines", "bool", "chain", "zip", "pprint"] {
        environment.remove_filter(name);
    }
    for (names, test) in [
        (&["eq", "equalto", "=="][..], Value::from_function(tests::is_eq)),
        (&["ne", "!="], Value::from_function(tests::is_ne)),
        (&["lt", "lessthan", "<"], Value::from_function(tests::is_lt)),
        (&["le", "<="], Value::from_function(tests::is_le)),
        (&["gt", "greaterthan", ">"], Value::from_function(tests::is_gt)),
        (&["ge", ">="], Value::from_function(tests::is_ge)),
        (&["in"], Value::from_function(tests::is_in)),
        (&["startingwith"], Value::from_function(tests::is_startingwith)),
        (&["endingwith"], Value::from_function(tests::is_endingwith)),
        (&["lower"], Value::from_function(tests::is_lower)),
        (&["upper"], Value::from_function(tests::is_upper)),
    ] {
        for name in names {
            add_test(environment, name, test.clone());
        }
    }
    // It prints the whole context, and Python's Jinja does not have it.
    environment.remove_global("debug");
    for (name, function) in [
        ("range", Value::from_function(functions::range)),
        ("dict", Value::from_function(functions::dict)),
        ("namespace", Value::from_function(functions::namespace)),
    ] {
        environment.add_function(
            name,
            move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
                let arguments = arguments.into_values();
                for argument in &arguments {
                    measured::plain(argument)?;
                    guards::walks(argument)?;
                }
                let result = function.call(state, &arguments)?;
                match name {
                    "range" => Ok(measured::keep_lazy(result)),
                    _ => measured::keep(result),
                }
            },
        );
    }
}

/// Adds a filter, and takes its cost before it runs and the cost of its result afterwards.
pub(super) fn add_filter(environment: &mut Environment<'_>, name: &'static str, filter: Value) {
    environment.add_filter(
        name,
        move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            take(name, &arguments)?;
            measured::keep(filter.call(state, &arguments)?)
        },
    );
}

fn add_test(environment: &mut Environment<'_>, name: &'static str, test: Value) {
    environment.add_test(
        name,
        move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            match (name, arguments.as_slice()) {
                ("in", [member, container]) => guards::contains(container, member)?,
                (_, [left, right]) if left.as_str().is_none() => guards::compare(left, right)?,
                (_, all) => all.iter().try_for_each(guards::walks)?,
            }
            Ok::<_, Error>(test.call(state, &arguments)?.is_true())
        },
    );
}

/// Takes the cost of a filter or method before it runs; the first of `arguments` is its subject.
pub(super) fn take(name: &str, arguments: &[Value]) -> Result<(), Error> {
    let Some((subject, others)) = arguments.split_first() else {
        return Ok(());
    };
    let members = subject.len().unwrap_or_default() as u64;
    match name {
        "default" | "d" => {}
        "length" | "count" if others.is_empty() && subject.as_str().is_none() => {}
        "split" | "rsplit" | "partition" | "rpartition" | "splitlines" | "list" => {
            pieces(subject, others)?;
        }
        "upper" | "lower" | "title" | "capitalize" | "escape" | "e" => {
            output_and_steps(printed(subject)?.saturating_mul(6))?;
        }
        "attr" | "get" => others.iter().try_for_each(|key| guards::get(subject, key))?,
        "sort" | "dictsort" | "unique" | "groupby" | "min" | "max" => {
            let rounds = u64::from(members.max(1).ilog2()) * 2 + 1;
            meter::steps(measured::measure(subject)?.values().saturating_mul(rounds))?;
            each(members, others)?;
        }
        "sum" => {
            let numbers = subject.try_iter()?.all(|member| member.is_number());
            let rounds = if numbers && others.is_empty() { 1 } else { members };
            meter::steps(measured::measure(subject)?.values().saturating_mul(rounds))?;
            each(members, others)?;
        }
        "map" | "select" | "reject" | "selectattr" | "rejectattr" => each(members, others)?,
        "batch" | "slice" => {
            let count = largest(others);
            meter::can_hold(members.saturating_add(count).saturating_mul(96))?;
            guards::walks(subject)?;
        }
        "indent" => {
            let lines = match subject.as_str() {
                Some(text) => text.matches(python::breaks_line).count() as u64 + 1,
                None => measured::measure(subject)?.printed(),
            };
            let texts = others.iter().map(longest).max().unwrap_or_default();
            let width = largest(others).max(texts);
            output_and_steps(
                printed(subject)?
                    .saturating_add(lines.saturating_mul(width))
                    .saturating_add(width),
            )?;
        }
        "zfill" => output_and_steps(printed(subject)?.saturating_add(largest(others)))?,
        "replace" => replace(subject, others)?,
        "join" => {
            let separator = others.iter().map(longest).max().unwrap_or_default();
            // As a method, `join` is called on the separator.
            let (list, separator) = match (subject.as_str(), others) {
                (Some(text), [list]) if list.as_str().is_none() => (list, text.len() as u64),
                _ => (subject, separator),
            };
            let members = list.len().unwrap_or_default() as u64;
            let size = measured::measure(list)?;
            output_and_steps(size.spread(0).saturating_add(members.saturating_mul(separator)))?;
            each(members, others)?;
        }
        "format" => format(subject, others)?,
        "tojson" | "string" => output_and_steps(printed(subject)?)?,
        _ => {
            guards::walks(subject)?;
            if subject.as_str().is_none() && !others.is_empty() {
                guards::reads(subject)?;
            }
        }
    }
    others.iter().try_for_each(guards::reads)
}

fn output_and_steps(bytes: u64) -> Result<(), Error> {
    meter::can_hold(bytes)?;
    meter::handles(bytes)
}

/// Returns the maximum number of bytes that a value takes when it is printed.
pub(super) fn printed(value: &Value) -> Result<u64, Error> {
    match value.as_str() {
        Some(text) => Ok(text.len() as u64),
        None => Ok(measured::measure(value)?.printed()),
    }
}

/// Takes the cost of arguments that are read for each member, such as paths of attributes.
fn each(members: u64, arguments: &[Value]) -> Result<(), Error> {
    let longest = arguments.iter().map(longest).max().unwrap_or_default();
    meter::steps(members.saturating_mul(1 + longest / 8))
}

/// Returns the values of an argument; the last argument may contain all named ones.
fn values(argument: &Value) -> Vec<Value> {
    match Kwargs::try_from(argument.clone()) {
        Ok(named) if argument.is_kwargs() => {
            let values = named.args().filter_map(|name| named.peek::<Value>(name).ok());
            values.collect()
        }
        _ => vec![argument.clone()],
    }
}

/// Returns the number of bytes of the longest text in an argument.
fn longest(argument: &Value) -> u64 {
    let lengths = values(argument).into_iter();
    let lengths = lengths.map(|value| value.as_str().map_or(0, str::len) as u64);
    lengths.max().unwrap_or_default()
}

/// Returns the largest number among the arguments.
fn largest(arguments: &[Value]) -> u64 {
    let numbers = arguments.iter().flat_map(values);
    let numbers = numbers.filter_map(|value| Some(value.as_usize()? as u64));
    numbers.max().unwrap_or_default()
}

/// Takes the cost of splitting a text into values.
fn pieces(subject: &Value, others: &[Value]) -> Result<(), Error> {
    let Some(text) = subject.as_str() else {
        return guards::walks(subject);
    };
    meter::makes(text.len() as u64)?;
    let separators = others.iter().flat_map(values);
    let separator = separators
        .into_iter()
        .find(|value| value.as_str().is_some_and(|text| !text.is_empty()));
    let count = match separator.as_ref().and_then(Value::as_str) {
        Some(separator) => text.matches(separator).count(),
        None => text.len(),
    };
    meter::can_hold((count as u64).saturating_mul(32))
}

fn replace(subject: &Value, others: &[Value]) -> Result<(), Error> {
    let text_length = printed(subject)?;
    let [old, new, ..] = others else { return Ok(()) };
    meter::handles(text_length)?;
    let times = match (subject.as_str(), old.as_str()) {
        (Some(text), Some(old)) => text.matches(old).count() as u64,
        _ => text_length.saturating_add(1),
    };
    output_and_steps(text_length.saturating_add(times.saturating_mul(printed(new)?)))
}

/// Takes the cost of formatting. Widths and precisions are digits in the pattern, or arguments.
fn format(pattern: &Value, arguments: &[Value]) -> Result<(), Error> {
    let Some(pattern) = pattern.as_str() else {
        return Ok(());
    };
    let widths = pattern.split(|character: char| !character.is_ascii_digit());
    let widths = widths
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse::<u64>().unwrap_or(u64::MAX))
        .fold(0, u64::saturating_add);
    let fields = pattern.matches(['%', '{']).count() as u64;
    let mut widest = largest(arguments).saturating_mul(u64::from(pattern.contains(['*', '{'])));
    for argument in arguments {
        widest = widest.max(printed(argument)?);
    }
    let bytes = fields.saturating_mul(widest).saturating_add(widths);
    output_and_steps(bytes.saturating_mul(4).saturating_add(pattern.len() as u64))
}

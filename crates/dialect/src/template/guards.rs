//! Guards: filters that are inserted between the instructions of a template and take the costs of its operators.

use minijinja::value::{Rest, Tuple, Value, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, filters};

use super::{attributes, measured, meter, python};

/// Bytes of memory that are taken for a macro, or for a variable that it encloses.
const MACRO: u64 = 512;

// Names that a template cannot write.
pub(super) const COUNT: &str = "(count)";
pub(super) const KEEP: &str = "(keep)";
pub(super) const DECLARE: &str = "(declare)";
pub(super) const LIST: &str = "(list)";
pub(super) const PLAIN: &str = "(plain)";
pub(super) const PLAIN_ALL: &str = "(plain-all)";
pub(super) const REFUSE: &str = "(refuse)";
pub(super) const EACH: &str = "(each)";
pub(super) const ATTRIBUTE: &str = "(attribute)";
pub(super) const GET: &str = "(get)";
pub(super) const SLICE: &str = "(slice)";
pub(super) const REPEAT: &str = "(repeat)";
pub(super) const JOIN: &str = "(join)";
pub(super) const COMPARE: &str = "(compare)";
pub(super) const COMPARE_ANY: &str = "(compare-any)";
pub(super) const CONTAINS: &str = "(contains)";
pub(super) const KEYS: &str = "(keys)";
pub(super) const WALK: &str = "(walk)";

/// Registers the guards.
pub(super) fn register(environment: &mut Environment<'_>) {
    environment.add_filter(COUNT, |state: &State<'_, '_>, value: ValueOrKwargs| {
        let (ran, _) = state.fuel_levels().unwrap_or_default();
        meter::ran(ran).map(|()| value.into_value())
    });
    environment.add_filter(KEEP, |value: ValueOrKwargs| measured::keep(value.into_value()));
    environment.add_filter(DECLARE, |value: ValueOrKwargs| {
        meter::makes(MACRO).map(|()| value.into_value())
    });
    environment.add_filter(LIST, |value: ValueOrKwargs| {
        measured::keep_as_list(value.into_value())
    });
    environment.add_filter(PLAIN, |value: ValueOrKwargs| {
        let value = value.into_value();
        measured::plain(&value).map(|()| value)
    });
    environment.add_filter(REFUSE, |_: Rest<ValueOrKwargs>| {
        let message = "`loop.changed` takes its values one by one, not unpacked from a list";
        Err::<Value, _>(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_filter(JOIN, |left: &Value, right: &Value| {
        let mut text = python::text(left)?;
        meter::can_hold(text.len() as u64)?;
        text.push_str(&python::text(right)?);
        measured::keep(text.into())
    });
    add_guard(environment, PLAIN_ALL, |operands| {
        operands.iter().skip(1).try_for_each(|operand| {
            measured::plain(operand)?;
            reads(operand)
        })
    });
    environment.add_filter(EACH, |value: ValueOrKwargs| {
        let value = value.into_value();
        let Some(text) = value.as_str() else {
            return Ok(value);
        };
        // A loop over a text has no known end, so a list of its characters is looped over.
        meter::can_hold((text.len() as u64).saturating_mul(measured::VALUE))?;
        measured::keep_as_list(text.chars().map(Value::from).collect())
    });
    environment.add_filter(ATTRIBUTE, |container: ValueOrKwargs, name: &str| {
        attributes::attribute(&container.into_value(), name)
    });
    environment.add_filter(GET, |container: ValueOrKwargs, key: ValueOrKwargs| {
        let (container, key) = (container.into_value(), key.into_value());
        get(&container, &key)?;
        attributes::item(&container, &key)
    });
    add_guard(environment, SLICE, |operands| match operands {
        [container, start, end, step] => {
            walks(container)?;
            forwards(container, [start, end, step])
        }
        _ => Ok(()),
    });
    add_binary_guard(environment, REPEAT, repeat);
    add_binary_guard(environment, COMPARE, compare);
    add_binary_guard(environment, COMPARE_ANY, |left, right| {
        compare(left, right)?;
        contains(right, left)
    });
    add_binary_guard(environment, CONTAINS, |member, container| {
        contains(container, member)
    });
    add_guard(environment, KEYS, |operands| {
        operands.iter().step_by(2).try_for_each(reads)
    });
    add_guard(environment, WALK, |operands| operands.iter().try_for_each(walks));
}

/// Registers a guard that checks operands and returns them with the last one first, in the order for unpacking a list.
fn add_guard(
    environment: &mut Environment<'_>,
    name: &'static str,
    check: impl Fn(&mut [Value]) -> Result<(), Error> + Send + Sync + 'static,
) {
    environment.add_filter(name, move |operands: Rest<ValueOrKwargs>| {
        let mut operands = operands.into_values();
        check(&mut operands)?;
        operands.reverse();
        Ok::<_, Error>(Value::from(operands))
    });
}

/// The same for a guard of two operands.
fn add_binary_guard(
    environment: &mut Environment<'_>,
    name: &'static str,
    check: fn(&Value, &Value) -> Result<(), Error>,
) {
    add_guard(environment, name, move |operands| match operands {
        [left, right] => check(left, right),
        _ => Ok(()),
    });
}

/// Replaces a slice backwards by a slice forwards of the reversed container, because minijinja's slices backwards go too far or fail.
fn forwards(container: &mut Value, [start, end, step]: [&mut Value; 3]) -> Result<(), Error> {
    let length = container.len().filter(|_| container.kind() != ValueKind::Map);
    if let (Some(length), Some(stride)) = (length, step.as_i64().filter(|step| *step < 0)) {
        let last = i64::try_from(length).unwrap_or(i64::MAX) - 1;
        for bound in [start, end] {
            if let Some(at) = bound.as_i64() {
                *bound = if at < 0 { !at } else { (last - at).max(0) }.into();
            }
        }
        *step = stride.saturating_neg().into();
        let reversed = filters::reverse(container)?;
        *container = if container.is_tuple() {
            Tuple::new(reversed.try_iter()?.collect()).into()
        } else {
            reversed
        };
    }
    Ok(())
}

/// Takes the cost of going once over the characters of a text or the members of a container.
pub(super) fn walks(value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => meter::handles(text.len() as u64),
        None => meter::steps(value.len().unwrap_or_default() as u64),
    }
}

/// Takes the cost of reading a text or a container with everything in it.
pub(super) fn reads(value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => meter::handles(text.len() as u64),
        None => meter::steps(measured::measure(value)?.values()),
    }
}

/// Takes the cost of `container[key]`.
pub(super) fn get(container: &Value, key: &Value) -> Result<(), Error> {
    if key.as_object().is_some() {
        reads(key)?;
    }
    match container.as_str() {
        Some(text) => meter::handles(text.len() as u64),
        None => Ok(()),
    }
}

/// Takes the cost of `left == right` and other comparisons.
pub(super) fn compare(left: &Value, right: &Value) -> Result<(), Error> {
    if left.as_str().is_some() || right.as_str().is_some() {
        let length = |value: &Value| value.as_str().map_or(0, str::len) as u64;
        return meter::handles(length(left).min(length(right)));
    }
    if left.as_object().is_none() || right.as_object().is_none() {
        return Ok(());
    }
    let (left, right) = (measured::measure(left)?, measured::measure(right)?);
    meter::steps(left.values().min(right.values()))
}

/// Takes the cost of `member in container`.
pub(super) fn contains(container: &Value, member: &Value) -> Result<(), Error> {
    if container.as_str().is_some() {
        if member.as_str().is_none() {
            meter::can_hold(measured::measure(member)?.printed())?;
        }
        walks(container)?;
    } else if container.kind() != ValueKind::Map {
        reads(container)?;
    }
    reads(member)
}

/// Takes the cost of `text * count` and `list * count`.
fn repeat(left: &Value, right: &Value) -> Result<(), Error> {
    for (subject, count) in [(left, right), (right, left)] {
        let Some(count) = count.as_usize() else { continue };
        let bytes = match subject.as_str() {
            Some(text) => text.len() as u64,
            None if subject.as_object().is_some() => 32 * subject.len().unwrap_or_default() as u64,
            None => 0,
        };
        let bytes = bytes.saturating_mul(count as u64);
        meter::can_hold(bytes)?;
        meter::handles(bytes)?;
    }
    Ok(())
}

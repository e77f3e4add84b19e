//! Containers of a template that know how deep and how large they are.
//!
//! Values of a template are shared: a list that contains another list twice, which contains a third one twice, and so on, is tiny in memory
//! and takes exponential time to walk. Dropping, comparing or printing a deep container recurses on the stack of the thread. So every
//! container that a template makes is wrapped in an object with its depth and the size of everything that can be reached through it. A
//! container that is too deep is never made, and one that is too large is refused before it is walked.

use std::fmt;
use std::sync::Arc;

use chatmill_diag::limits::TEMPLATE_DEPTH;
use minijinja::value::{DynObject, Enumerator, Object, ObjectRepr};
use minijinja::{Error, ErrorKind, State, Value};

use super::attributes::{Method, has_state};
use super::meter;

/// Bytes that a value takes, without its text.
pub(super) const VALUE: u64 = 32;

/// Bytes that a pair of a map takes.
const PAIR: u64 = 3 * VALUE;

/// Maximum number of printed bytes for each byte of a value: JSON and Python's `repr` write escapes of up to six bytes, and a number has up
/// to 330 digits.
const PRINTED: u64 = 12;

/// The depth of a value, and its size if everything in it is walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    depth: usize,
    /// Bytes.
    pub(super) bytes: u64,
}

impl Size {
    const SCALAR: Self = Self {
        depth: 0,
        bytes: VALUE,
    };

    /// Returns the size as a number of values; long texts count as several.
    pub(super) fn values(self) -> u64 {
        self.bytes / VALUE
    }

    /// Returns the maximum number of bytes when the value is printed.
    pub(super) fn printed(self) -> u64 {
        self.bytes.saturating_mul(PRINTED)
    }

    /// Returns the maximum number of bytes when the value is printed with `around` further bytes for each value in it.
    pub(super) fn spread(self, around: u64) -> u64 {
        self.printed()
            .saturating_add(self.values().saturating_mul(around))
    }

    fn hold(&mut self, member: Self) -> Result<(), Error> {
        self.depth = self.depth.max(member.depth + 1);
        self.bytes = self.bytes.saturating_add(member.bytes);
        if self.depth > TEMPLATE_DEPTH {
            return Err(refused("a value is nested too deeply"));
        }
        Ok(())
    }
}

fn refused(why: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, why)
}

/// A container with its size.
struct Measured {
    inner: DynObject,
    repr: ObjectRepr,
    size: Size,
}

impl fmt::Debug for Measured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.inner, out)
    }
}

impl Object for Measured {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        self.repr
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.inner.get_value(key)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.inner.get_value_by_str(key)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.inner.enumerate()
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        self.inner.enumerator_len()
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.inner.is_true()
    }

    fn call_method(
        self: &Arc<Self>,
        state: &mut State<'_, '_>,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Error> {
        self.inner.call_method(state, method, arguments)
    }

    fn render(self: &Arc<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.render(out)
    }
}

fn measured(inner: Value, repr: ObjectRepr, size: Size) -> Value {
    match inner.as_object() {
        Some(object) => Value::from_object(Measured {
            inner: object.clone(),
            repr,
            size,
        }),
        None => inner,
    }
}

/// Creates a list in the context of a template, which is never deeper than the JSON that it was read from.
pub(super) fn list(members: Vec<Value>) -> Value {
    let size = given(members.iter());
    measured(members.into(), ObjectRepr::Seq, size)
}

/// Creates a map in the context of a template.
pub(super) fn map(pairs: impl IntoIterator<Item = (String, Value)>) -> Value {
    let pairs: Vec<(Value, Value)> = pairs
        .into_iter()
        .map(|(key, value)| (Value::from(key), value))
        .collect();
    let size = given(pairs.iter().flat_map(|(key, value)| [key, value]));
    measured(Value::from_pairs(pairs), ObjectRepr::Map, size)
}

fn given<'v>(members: impl Iterator<Item = &'v Value>) -> Size {
    let mut size = Size::SCALAR;
    for member in members {
        let member = measure(member).unwrap_or_default();
        size.depth = size.depth.max(member.depth + 1);
        size.bytes = size.bytes.saturating_add(member.bytes);
    }
    size
}

/// Returns the size of a value. A value that is not measured yet is walked, and the steps for that are taken.
pub(super) fn measure(value: &Value) -> Result<Size, Error> {
    walk(value, 0)
}

fn walk(value: &Value, level: usize) -> Result<Size, Error> {
    let mut size = Size::SCALAR;
    if let Some(text) = value.as_str() {
        size.bytes += text.len() as u64;
        return Ok(size);
    }
    let Some(object) = value.as_object() else {
        return Ok(size);
    };
    if let Some(known) = object.downcast_ref::<Measured>() {
        return Ok(known.size);
    }
    if level > TEMPLATE_DEPTH {
        return Err(refused("a value is nested too deeply"));
    }
    if level > 0 && has_state(object) {
        return Err(refused("a namespace or a loop cannot be put into another value"));
    }
    if let Some(method) = object.downcast_ref::<Method>() {
        size.hold(walk(&method.subject, level + 1)?)?;
    } else if object.repr() == ObjectRepr::Map {
        for (key, member) in object.try_iter_pairs().into_iter().flatten() {
            meter::steps(1)?;
            size.hold(walk(&key, level + 1)?)?;
            size.hold(walk(&member, level + 1)?)?;
        }
    } else {
        for member in object.try_iter().into_iter().flatten() {
            meter::steps(1)?;
            size.hold(walk(&member, level + 1)?)?;
        }
    }
    Ok(size)
}

/// Refuses values that must not be kept in a namespace or a loop: another namespace or loop, or a value that is too deep.
pub(super) fn plain(value: &Value) -> Result<(), Error> {
    walk(value, 1).map(drop)
}

/// Takes the cost of a value that an operator, a filter, a method or a function has made, and measures it if it is a container.
pub(super) fn keep(value: Value) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        meter::makes(text.len() as u64)?;
        return Ok(value);
    }
    let Some(object) = value.as_object() else {
        return Ok(value);
    };
    if object.downcast_ref::<Measured>().is_some() || has_state(object) {
        return Ok(value);
    }
    if value.is_tuple() {
        measure(&value)?;
        meter::makes(VALUE.saturating_mul(object.enumerator_len().unwrap_or(1) as u64))?;
        return Ok(value);
    }
    match object.repr() {
        ObjectRepr::Map => keep_map(object),
        // A group of `groupby` also has names for its two members, which a plain list would lose.
        ObjectRepr::Seq if object.type_name().ends_with("::GroupTuple") => {
            let size = measure(&value)?;
            meter::makes(4 * VALUE)?;
            Ok(measured(value, ObjectRepr::Seq, size))
        }
        repr @ (ObjectRepr::Seq | ObjectRepr::Iterable) => keep_list(&value, repr),
        _ => Ok(value),
    }
}

/// The same for a value that is a list in Python, although it may be an iterator here.
pub(super) fn keep_as_list(value: Value) -> Result<Value, Error> {
    match value.as_object() {
        Some(object)
            if !value.is_tuple()
                && matches!(object.repr(), ObjectRepr::Seq | ObjectRepr::Iterable)
                && object.downcast_ref::<Measured>().is_none() =>
        {
            keep_list(&value, ObjectRepr::Seq)
        }
        _ => keep(value),
    }
}

/// Measures a range, which makes its numbers while it is iterated and stores none of them.
pub(super) fn keep_lazy(value: Value) -> Value {
    let count = value.len().unwrap_or_default() as u64;
    let bytes = VALUE.saturating_add(VALUE.saturating_mul(count));
    measured(value, ObjectRepr::Iterable, Size { depth: 1, bytes })
}

fn keep_list(value: &Value, repr: ObjectRepr) -> Result<Value, Error> {
    let mut size = Size::SCALAR;
    let mut members = Vec::new();
    for member in value.try_iter()?.checked() {
        let member = member?;
        meter::steps(1)?;
        meter::makes(VALUE)?;
        size.hold(walk(&member, 1)?)?;
        members.push(member);
    }
    Ok(measured(members.into(), repr, size))
}

fn keep_map(object: &DynObject) -> Result<Value, Error> {
    let mut size = Size::SCALAR;
    let mut pairs = Vec::new();
    for (key, member) in object.try_iter_pairs().into_iter().flatten() {
        meter::steps(1)?;
        meter::makes(PAIR)?;
        let key_size = walk(&key, 1)?;
        meter::handles(key_size.bytes)?;
        size.hold(key_size)?;
        size.hold(walk(&member, 1)?)?;
        pairs.push((key, member));
    }
    Ok(measured(Value::from_pairs(pairs), ObjectRepr::Map, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> Result<Value, Error> {
        let mut value = Value::from(1);
        for _ in 0..levels {
            value = keep(Value::from(vec![value]))?;
        }
        Ok(value)
    }

    #[test]
    fn values_are_as_deep_as_allowed_and_not_deeper() {
        assert!(nested(TEMPLATE_DEPTH).is_ok());
        assert!(nested(TEMPLATE_DEPTH + 1).is_err());
    }

    #[test]
    fn shared_messages_count_once_for_each_path() {
        let mut value = list(vec!["a".into()]);
        for _ in 0..80 {
            value = keep(Value::from(vec![value.clone(), value])).unwrap();
        }
        assert_eq!(measure(&value).unwrap().bytes, u64::MAX);
        assert_eq!(
            measure(&list(vec!["abc".into(), 1.into()])).unwrap().bytes,
            3 * VALUE + 3
        );
    }

    #[test]
    fn a_metered_map_or_list_equals_and_prints_like_the_original() {
        let map = keep(Value::from_pairs([("a", 1), ("b", 2)])).unwrap();
        assert_eq!(map.get_attr("b").unwrap(), Value::from(2));
        assert_eq!(map.to_string(), "{'a': 1, 'b': 2}");
        assert_eq!(map, Value::from_pairs([("b", 2), ("a", 1)]));
        let listed = keep(Value::from(vec![1, 2])).unwrap();
        assert_eq!(listed, Value::from(vec![1, 2]));
        assert_eq!((listed.len(), listed.to_string()), (Some(2), "[1, 2]".to_owned()));
        assert_eq!(listed.get_item_by_index(1).unwrap(), Value::from(2));
    }
}

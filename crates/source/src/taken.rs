//! Fields as text: absent, null, a string, a number as written, or something else.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Value};

/// A field as text, where it is one.
pub enum Taken<'d> {
    /// There is no such field.
    Absent,
    /// `null`.
    Null,
    /// A string.
    Text(Cow<'d, str>),
    /// A number, as written.
    Number(&'d str),
    /// A boolean, an array or an object.
    Other,
}

/// Takes a field as text.
pub fn taken(value: Option<Value<'_>>) -> Taken<'_> {
    let Some(value) = value else { return Taken::Absent };
    match value.kind() {
        Kind::Null => Taken::Null,
        Kind::String => value.as_str().map_or(Taken::Other, Taken::Text),
        Kind::Number => Taken::Number(value.raw()),
        _ => Taken::Other,
    }
}

/// The text of a string field; `None` for anything else.
pub fn text(value: Option<Value<'_>>) -> Option<String> {
    value.and_then(Value::as_str).map(Cow::into_owned)
}

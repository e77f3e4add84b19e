//! Fields of objects: known ones found in one walk, and their values as text.

use std::borrow::Cow;

use chatmill_intake::json::{Kind, Value};

use crate::base::notes::Site;

/// An object with known fields that are found in one walk over the tape. [`wire!`] declares one.
pub(crate) trait Wire<'d>: Sized {
    /// Finds the fields, or returns the name of a known one that occurs twice.
    fn read(object: Value<'d>) -> Result<Self, Cow<'d, str>>;

    /// The same with null fields as absent ones.
    fn without_nulls(self) -> Self;
}

/// Declares the wire form of an object: a field of the struct for each known field, by its name in the format, and `others`
/// with everything else in input order.
macro_rules! wire {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $key:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'d> {
            $(#[doc = concat!("`", $key, "`.")] pub(crate) $field: Option<Value<'d>>,)+
            /// All other fields, in input order.
            pub(crate) others: Vec<(std::borrow::Cow<'d, str>, Value<'d>)>,
        }

        impl<'d> crate::base::fields::Wire<'d> for $name<'d> {
            fn read(object: Value<'d>) -> Result<Self, std::borrow::Cow<'d, str>> {
                let mut wire = Self::default();
                for (key, value) in object.fields() {
                    let slot = match &*key {
                        $($key => &mut wire.$field,)+
                        _ => {
                            wire.others.push((key, value));
                            continue;
                        }
                    };
                    if slot.replace(value).is_some() {
                        return Err(key);
                    }
                }
                Ok(wire)
            }

            fn without_nulls(self) -> Self {
                Self {
                    $($field: self.$field.filter(|value| !value.is_null()),)+
                    others: self.others,
                }
            }
        }
    };
}
pub(crate) use wire;

/// An array of names of fields, or of other words: `words!(id role text)` is `["id", "role", "text"]`.
macro_rules! words {
    ($($word:ident)+) => {
        [$(stringify!($word)),+]
    };
}
pub(crate) use words;

/// A field as text, if it is one.
pub(crate) enum FieldText<'d> {
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
pub(crate) fn field_text(value: Option<Value<'_>>) -> FieldText<'_> {
    let Some(value) = value else {
        return FieldText::Absent;
    };
    match value.kind() {
        Kind::Null => FieldText::Null,
        Kind::String => value.as_str().map_or(FieldText::Other, FieldText::Text),
        Kind::Number => FieldText::Number(value.raw()),
        _ => FieldText::Other,
    }
}

/// A field that is present and not null.
pub(crate) fn present<'d>(object: Value<'d>, key: &str) -> Option<Value<'d>> {
    object.get(key).filter(|value| !value.is_null())
}

/// The first of these fields that is present and not null.
pub(crate) fn first_present<'d>(object: Value<'d>, keys: &[&str]) -> Option<Value<'d>> {
    keys.iter().find_map(|key| present(object, key))
}

/// The elements of the list in a field.
pub(crate) fn items<'d>(object: Value<'d>, key: &str) -> impl Iterator<Item = Value<'d>> + use<'d> {
    present(object, key).into_iter().flat_map(Value::items)
}

/// The text of a string field; `None` for anything else.
pub(crate) fn text(value: Option<Value<'_>>) -> Option<String> {
    value.and_then(Value::as_str).map(Cow::into_owned)
}

/// The text of the first of these fields that is a string.
pub(crate) fn first_text(object: Value<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text(object.get(key)))
}

/// The text of a string field that is not empty.
pub(crate) fn filled(value: Option<Value<'_>>) -> Option<String> {
    text(value).filter(|text| !text.is_empty())
}

/// An id: a string that is not empty, or a number as written.
pub(crate) fn id(value: Value<'_>) -> Option<String> {
    let id = value
        .as_str()
        .or_else(|| value.number_text().map(Cow::Borrowed))?;
    (!id.is_empty()).then(|| id.into_owned())
}

/// An id or a name, as [`id`] reads it; anything but a string is reported at `suffix`.
pub(crate) fn word(value: Option<Value<'_>>, suffix: &str, site: &mut Site<'_>) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    match value.kind() {
        Kind::String => {}
        Kind::Number => site.warn(suffix, "a number is in the place of a string", value),
        _ => site.warn(suffix, "the value is not a string and is left out", value),
    }
    id(value)
}

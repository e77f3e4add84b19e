//! Attributes of Python's values in addition to their keys: `schema.items` is the method of the dictionary, whatever keys it has.
//!
//! A method that is not called is a value: it is true, prints as in Python but without its address in memory, and can be called later.
//! Methods that change a value are undefined, as in the sandbox of transformers.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::value::{DynObject, Object, ObjectRepr, ValueKind};
use minijinja::{Error, State, Value};

/// A type of Python: its name, its methods, and the methods that change a value, as `dir` lists them.
type Type = [&'static str; 3];

const STR: Type = [
    "str",
    "capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii \
     isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans \
     partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith \
     strip swapcase title translate upper zfill",
    "",
];
const DICT: Type = [
    "dict",
    "copy fromkeys get items keys values",
    "clear pop popitem setdefault update",
];
const LIST: Type = [
    "list",
    "copy count index",
    "append clear extend insert pop remove reverse sort",
];
const TUPLE: Type = ["tuple", "count index", ""];

fn type_of(value: &Value) -> Option<Type> {
    match value.kind() {
        ValueKind::String => Some(STR),
        ValueKind::Map if !value.as_object().is_some_and(has_state) => Some(DICT),
        ValueKind::Seq => Some(if value.is_tuple() { TUPLE } else { LIST }),
        _ => None,
    }
}

/// Whether an object can be changed after it was made, and thus could be made to contain itself.
pub(super) fn has_state(object: &DynObject) -> bool {
    let name = object.type_name();
    name.ends_with("::Namespace") || name.ends_with("::Loop")
}

fn lists(names: &str, name: &str) -> bool {
    names.split(' ').any(|listed| listed == name)
}

/// The names of all attributes, as a set, because each instruction of a program is compared with them.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let types = [STR, DICT, LIST].into_iter();
    let names = types.flat_map(|[_, methods, changing]| methods.split(' ').chain(changing.split(' ')));
    names.filter(|name| !name.is_empty()).collect()
});

/// Whether any type has an attribute of this name.
pub(super) fn is_one(name: &str) -> bool {
    NAMES.contains(name)
}

/// Returns the attribute of a value; `None` if its type has none of this name.
fn find(value: &Value, name: &str) -> Option<Value> {
    let [of, methods, changing] = type_of(value)?;
    if lists(changing, name) {
        return Some(Value::UNDEFINED);
    }
    let name = methods.split(' ').find(|method| *method == name)?;
    let subject = value.clone();
    Some(Value::from_object(Method { subject, of, name }))
}

/// Returns `value.name`: an attribute, otherwise a key.
pub(super) fn attribute(value: &Value, name: &str) -> Result<Value, Error> {
    find(value, name).map_or_else(|| value.get_attr(name), Ok)
}

/// Returns `value[key]`: a key, otherwise an attribute.
pub(super) fn item(value: &Value, key: &Value) -> Result<Value, Error> {
    let found = value.get_item(key)?;
    let name = key.as_str().filter(|_| found.is_undefined());
    Ok(name.and_then(|name| find(value, name)).unwrap_or(found))
}

/// Implements the filter `attr`: an attribute, never a key.
pub(super) fn attr(value: &Value, name: &str) -> Result<Value, Error> {
    match type_of(value) {
        Some(_) => Ok(find(value, name).unwrap_or_default()),
        None => value.get_attr(name),
    }
}

/// A method of a value that is not called yet.
#[derive(Debug)]
pub(super) struct Method {
    /// The value that the method belongs to.
    pub(super) subject: Value,
    of: &'static str,
    name: &'static str,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, arguments: &[Value]) -> Result<Value, Error> {
        self.subject.call_method(state, self.name, arguments)
    }

    fn render(self: &Arc<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "<built-in method {} of {} object>", self.name, self.of)
    }
}

//! A JSON value that grows while the events of a stream are read. Numbers stay as they are written.

use chatmill_intake::json::{self, Kind, Value};
use chatmill_model::json::push_string;
use indexmap::IndexMap;

/// Fields of which the first value is the whole value, also if later pieces repeat it.
const WHOLE: [&str; 6] = ["role", "id", "type", "name", "object", "format"];

/// Objects of which each field may grow, and the lists of such.
const GROWING: [&str; 2] = ["message", "tool_calls"];

/// The kind of a value that may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TreeForm {
    /// Nothing yet.
    #[default]
    Null,
    /// JSON that is written as it is.
    Raw,
    Text,
    List,
    Object,
}

/// A value of which more may follow.
#[derive(Debug, Default)]
pub(super) struct Tree {
    form: TreeForm,
    /// The text, or the JSON that is written as it is.
    text: String,
    /// The fields of an object; or the elements of a list, by the index that pieces name, or by `#` and their number.
    inside: IndexMap<String, Self>,
}

impl Tree {
    /// A value as it is. Objects and lists are opened when more follows.
    pub(super) fn of(value: Value<'_>) -> Self {
        match value.kind() {
            Kind::Null => Self::default(),
            Kind::String => Self::words(value.string().unwrap_or_default().into_owned()),
            _ => Self::raw(value.written().to_owned()),
        }
    }

    /// Opens an object or a list that is there as JSON.
    fn open(&mut self) {
        if self.form != TreeForm::Raw || !self.text.starts_with(['{', '[']) {
            return;
        }
        let Ok(document) = json::scan(self.text.as_bytes(), u32::MAX) else {
            return;
        };
        let root = document.root();
        let elements = root
            .items()
            .enumerate()
            .map(|(at, item)| (at.to_string(), Self::of(item)));
        let fields = root
            .fields()
            .map(|(key, field)| (key.into_owned(), Self::of(field)));
        *self = Self {
            form: if root.kind() == Kind::Array {
                TreeForm::List
            } else {
                TreeForm::Object
            },
            inside: elements.chain(fields).collect(),
            ..Self::default()
        };
    }

    /// A text.
    pub(super) fn words(text: String) -> Self {
        let form = TreeForm::Text;
        Self {
            form,
            text,
            ..Self::default()
        }
    }

    /// JSON that is written as it is.
    pub(super) fn raw(text: String) -> Self {
        let form = TreeForm::Raw;
        Self {
            form,
            text,
            ..Self::default()
        }
    }

    /// A block with a text.
    fn block(text: String) -> Self {
        let mut block = Self::default();
        *block.field("type") = Self::words("text".to_owned());
        *block.field("text") = Self::words(text);
        block
    }

    /// Whether nothing was put here, or `null`.
    pub(super) fn is_null(&self) -> bool {
        self.form == TreeForm::Null
    }

    /// Whether an object or a list has nothing inside, or nothing was put here.
    pub(super) fn is_empty(&self) -> bool {
        self.inside.is_empty() && self.text.is_empty()
    }

    /// The value of a field, if this is an object that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.inside.get(key).filter(|_| self.form == TreeForm::Object)
    }

    /// The text in a field, if it has one.
    pub(super) fn text_in(&self, key: &str) -> Option<&str> {
        self.get(key)
            .and_then(Self::as_text)
            .filter(|text| !text.is_empty())
    }

    /// The text, if this is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        (self.form == TreeForm::Text).then_some(self.text.as_str())
    }

    /// The JSON that is written as it is, if this is some.
    pub(super) fn as_raw(&self) -> Option<&str> {
        (self.form == TreeForm::Raw).then_some(self.text.as_str())
    }

    /// A field that is there.
    pub(super) fn known(&mut self, key: &str) -> Option<&mut Self> {
        self.open();
        self.inside.get_mut(key).filter(|_| self.form == TreeForm::Object)
    }

    /// The place of a field. A value that is no object becomes a field of one.
    pub(super) fn field(&mut self, key: &str) -> &mut Self {
        self.open();
        if self.form != TreeForm::Object {
            let known = std::mem::take(self);
            self.form = TreeForm::Object;
            if !known.is_empty() {
                self.inside.insert("value".to_owned(), known);
            }
        }
        self.inside.entry(key.to_owned()).or_default()
    }

    /// The elements of a list. A value that is no list becomes an element of one, and a text a block.
    pub(super) fn list(&mut self) -> &mut IndexMap<String, Self> {
        self.open();
        if self.form != TreeForm::List {
            let known = std::mem::take(self);
            self.form = TreeForm::List;
            if !known.is_empty() {
                let first = match known.form {
                    TreeForm::Text => Self::block(known.text),
                    _ => known,
                };
                self.inside.insert("#0".to_owned(), first);
            }
        }
        &mut self.inside
    }

    /// The place of the element with this index.
    pub(super) fn element(&mut self, index: &str) -> &mut Self {
        self.list().entry(index.to_owned()).or_default()
    }

    /// The place of a new element.
    pub(super) fn next(&mut self) -> &mut Self {
        let key = format!("#{}", self.list().len());
        self.element(&key)
    }

    /// The last element of a list.
    pub(super) fn last(&mut self) -> Option<&mut Self> {
        self.list().last_mut().map(|(_, last)| last)
    }

    /// Takes a field out.
    pub(super) fn take(&mut self, key: &str) -> Option<Self> {
        self.open();
        self.inside.shift_remove(key)
    }

    /// All values inside.
    pub(super) fn inside(&mut self) -> impl Iterator<Item = &mut Self> {
        self.inside.values_mut()
    }

    /// Sets the value if there is none.
    pub(super) fn or_words(&mut self, text: &str) {
        if self.is_null() {
            *self = Self::words(text.to_owned());
        }
    }

    /// Replaces the value by a later one, field by field. `null` and a count of zero replace nothing, because later counts include earlier ones.
    pub(super) fn replace(&mut self, value: Value<'_>) {
        let is_zero = value.kind() == Kind::Number && value.written() == "0";
        match value.kind() {
            Kind::Null => {}
            Kind::Object if self.is_object() => {
                for (key, field) in value.fields() {
                    self.field(&key).replace(field);
                }
            }
            _ if is_zero && self.form == TreeForm::Raw => {}
            _ => *self = Self::of(value),
        }
    }

    /// Whether this is an object, opened or not.
    fn is_object(&self) -> bool {
        self.form == TreeForm::Object || self.form == TreeForm::Raw && self.text.starts_with('{')
    }

    /// Adds a piece of a field's value: texts become longer, lists have more elements.
    pub(super) fn grow(&mut self, key: &str, piece: Value<'_>) {
        match (self.form, piece.kind()) {
            (_, Kind::Null) => {}
            (TreeForm::Text, Kind::String) if WHOLE.contains(&key) && !self.text.is_empty() => {}
            (TreeForm::Text, Kind::String) => self.text.push_str(&piece.string().unwrap_or_default()),
            (TreeForm::List, Kind::String) => {
                let text = piece.string().unwrap_or_default();
                match self.last().filter(|last| last.text_in("type") == Some("text")) {
                    Some(last) => last.field("text").text.push_str(&text),
                    None => *self.next() = Self::block(text.into_owned()),
                }
            }
            (form, Kind::Object) if self.is_object() || form == TreeForm::Null && GROWING.contains(&key) => {
                // An index orders the pieces, and is no part of a call.
                let fields = piece
                    .fields()
                    .filter(|(name, _)| name != "index" || key != "tool_calls");
                for (name, field) in fields {
                    self.field(&name).grow(&name, field);
                }
            }
            (_, Kind::Array) => {
                self.list();
                for item in piece.items() {
                    self.place_of(item).grow(key, item);
                }
            }
            _ => *self = Self::of(piece),
        }
    }

    /// The element of a list that a piece belongs to.
    fn place_of(&mut self, piece: Value<'_>) -> &mut Self {
        let known = self.list();
        let next = format!("#{}", known.len());
        let is_more = known.last_mut().is_some_and(|(_, last)| goes_on(last, piece));
        let index = piece.get("index").filter(|index| index.kind() == Kind::Number);
        let key = match (index, known.last()) {
            // Some gateways give all parallel calls one index.
            (Some(index), last) => {
                let index = index.written();
                let last = last.filter(|(key, _)| key.split('#').next() == Some(index));
                let key = last.map_or(index, |(key, _)| key.as_str());
                match known.get(key).filter(|known| begins_another(known, piece)) {
                    Some(_) => index.to_owned() + &next,
                    None => key.to_owned(),
                }
            }
            (None, Some((key, _))) if is_more => key.clone(),
            _ => next,
        };
        self.element(&key)
    }

    /// Writes the value as JSON.
    pub(super) fn write(&self, out: &mut String) {
        let (open, close) = match self.form {
            TreeForm::Null => return out.push_str("null"),
            TreeForm::Raw => return out.push_str(&self.text),
            TreeForm::Text => return push_string(out, &self.text),
            TreeForm::List => ('[', ']'),
            TreeForm::Object => ('{', '}'),
        };
        out.push(open);
        for (number, (key, value)) in self.inside.iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            if self.form == TreeForm::Object {
                push_string(out, key);
                out.push(':');
            }
            value.write(out);
        }
        out.push(close);
    }
}

/// The name of the tool in a piece of a call.
fn name_in(piece: Value<'_>) -> Option<Value<'_>> {
    let called = ["function", "custom"].iter().find_map(|key| piece.get(key));
    called
        .and_then(|called| called.get("name"))
        .filter(|name| name.written().len() > 2 && !name.is_null())
}

/// Whether a piece begins another call than the known one, which has the same index.
fn begins_another(known: &Tree, piece: Value<'_>) -> bool {
    let id = piece.get("id").and_then(Value::string);
    let is_other = id
        .zip(known.text_in("id"))
        .is_some_and(|(id, known)| !id.is_empty() && id != known);
    is_other && name_in(piece).is_some()
}

/// Whether a piece without an index continues the last element.
fn goes_on(last: &mut Tree, piece: Value<'_>) -> bool {
    let kind = piece.get("type").and_then(Value::string);
    let is_new = piece.get("id").is_some_and(|id| !id.is_null());
    match kind.as_deref() {
        _ if is_new => false,
        Some(kind @ ("text" | "thinking")) => {
            last.open();
            last.text_in("type") == Some(kind) && last.text_in("signature").is_none()
        }
        None | Some("function" | "custom") => {
            ["function", "custom"].iter().any(|key| piece.get(key).is_some()) && name_in(piece).is_none()
        }
        Some(_) => false,
    }
}

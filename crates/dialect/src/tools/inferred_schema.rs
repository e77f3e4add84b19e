//! Parameters of an undefined tool, inferred from its calls.
//!
//! A field has the types of its values, and objects and lists are inspected; it is required if every call has it. Calls show only a part of
//! what a tool accepts, so other fields are not forbidden. Values deeper or wider than the limits may be anything.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Maximum number of nested objects and lists that are inspected.
const MAX_DEPTH: usize = 8;
/// Maximum number of fields of an object that are recorded.
const MAX_FIELDS: usize = 128;

/// The values that were seen in one place. The JSON of this type has short keys, because there may be one for each conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Whether an object was seen.
    #[serde(rename = "o", default, skip_serializing_if = "is_false")]
    has_objects: bool,
    /// Whether a list was seen.
    #[serde(rename = "l", default, skip_serializing_if = "is_false")]
    has_lists: bool,
    /// Other types, without duplicates, in the order of their first value.
    #[serde(rename = "t", default, skip_serializing_if = "Vec::is_empty")]
    types: Vec<Scalar>,
    /// Fields of objects in the order of their first occurrence, and whether every object has them.
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<(String, Seen, bool)>,
    /// The values in lists.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    items: Option<Box<Seen>>,
}

/// A type of values other than objects and lists, serialised as its word in JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scalar {
    String,
    Boolean,
    Null,
    Number,
    Integer,
}

impl Scalar {
    fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Integer => "integer",
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(is_so: &bool) -> bool {
    !is_so
}

impl Seen {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: &Value) {
        self.merge(Self::of(value, 0));
    }

    fn of(value: &Value, depth: usize) -> Self {
        let mut seen = Self::default();
        let scalar = match value {
            Value::Object(fields) => {
                seen.has_objects = true;
                let fields = fields.iter().take(MAX_FIELDS).filter(|_| depth < MAX_DEPTH);
                let fields = fields.map(|(name, value)| (name.clone(), Self::of(value, depth + 1), true));
                seen.fields = fields.collect();
                return seen;
            }
            Value::Array(items) => {
                seen.has_lists = true;
                for item in items.iter().filter(|_| depth < MAX_DEPTH) {
                    seen.items
                        .get_or_insert_default()
                        .merge(Self::of(item, depth + 1));
                }
                return seen;
            }
            Value::String(_) => Scalar::String,
            Value::Bool(_) => Scalar::Boolean,
            Value::Null => Scalar::Null,
            Value::Number(number) if number.is_f64() => Scalar::Number,
            Value::Number(_) => Scalar::Integer,
        };
        seen.types.push(scalar);
        seen
    }

    /// Adds values that were seen later.
    pub(crate) fn merge(&mut self, later: Self) {
        if !self.has_objects {
            self.fields = later.fields;
        } else if later.has_objects {
            let mut later_fields: Vec<Option<(String, Self, bool)>> =
                later.fields.into_iter().map(Some).collect();
            for (name, seen, always) in &mut self.fields {
                let same = later_fields
                    .iter_mut()
                    .find(|field| field.as_ref().is_some_and(|(other, ..)| other == name));
                match same.and_then(Option::take) {
                    Some((_, later, is_always)) => {
                        seen.merge(later);
                        *always &= is_always;
                    }
                    None => *always = false,
                }
            }
            let new = later_fields.into_iter().flatten();
            let most = MAX_FIELDS.saturating_sub(self.fields.len());
            let new = new.take(most).map(|(name, seen, _)| (name, seen, false));
            self.fields.extend(new);
        }
        self.has_objects |= later.has_objects;
        self.has_lists |= later.has_lists;
        for scalar in later.types {
            if !self.types.contains(&scalar) {
                self.types.push(scalar);
            }
        }
        match (&mut self.items, later.items) {
            (Some(items), Some(later)) => items.merge(*later),
            (items @ None, later) => *items = later,
            (Some(_), None) => {}
        }
    }

    /// Returns the JSON Schema of a tool's parameters: an object.
    pub(crate) fn parameters(&self) -> Value {
        let mut schema = self.schema();
        schema.insert("type".to_owned(), "object".into());
        schema.entry("properties").or_insert_with(|| json!({}));
        Value::Object(schema)
    }

    fn schema(&self) -> Map<String, Value> {
        let mut types: Vec<&str> = Vec::new();
        types.extend(self.has_objects.then_some("object"));
        types.extend(self.has_lists.then_some("array"));
        // The type of numbers includes whole numbers.
        let has_numbers = self.types.contains(&Scalar::Number);
        let scalars = self
            .types
            .iter()
            .filter(|scalar| !(has_numbers && **scalar == Scalar::Integer));
        types.extend(scalars.map(|scalar| scalar.as_str()));
        let mut schema = Map::new();
        match types.as_slice() {
            [] => {}
            [one] => _ = schema.insert("type".to_owned(), (*one).into()),
            several => _ = schema.insert("type".to_owned(), several.into()),
        }
        if !self.fields.is_empty() {
            let properties = self
                .fields
                .iter()
                .map(|(name, seen, _)| (name.clone(), seen.schema().into()));
            schema.insert("properties".to_owned(), Value::Object(properties.collect()));
            let always = self.fields.iter().filter(|(.., always)| *always);
            let required: Vec<&str> = always.map(|(name, ..)| name.as_str()).collect();
            if !required.is_empty() {
                schema.insert("required".to_owned(), required.into());
            }
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema().into());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(values: &[Value]) -> Value {
        let mut seen = Seen::default();
        for value in values {
            seen.add(value);
        }
        seen.parameters()
    }

    #[test]
    fn a_field_has_the_types_that_were_seen_and_is_required_where_every_call_has_it() {
        assert_eq!(
            seen(&[
                json!({"city": "Oslo", "days": 2, "tags": ["a", 1], "at": {"x": 1.5}}),
                json!({"city": null, "days": 2.5, "tags": []}),
            ]),
            json!({
                "type": "object",
                "properties": {
                    "city": {"type": ["string", "null"]},
                    "days": {"type": "number"},
                    "tags": {"type": "array", "items": {"type": ["string", "integer"]}},
                    "at": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
                },
                "required": ["city", "days", "tags"]
            })
        );
    }

    #[test]
    fn what_was_seen_in_two_places_is_what_is_seen_in_one() {
        let values = [
            json!({"city": "Oslo", "at": {"x": 1, "y": 2}, "tags": [{"a": 1, "b": 2}]}),
            json!({"at": {"x": 1.5}, "tags": [{"a": "1"}], "days": 2}),
            json!({"city": null, "tags": [], "days": 3}),
        ];
        for split in 0..=values.len() {
            let mut first = Seen::default();
            let mut later = Seen::default();
            values[..split].iter().for_each(|value| first.add(value));
            values[split..].iter().for_each(|value| later.add(value));
            let written = serde_json::to_string(&later).unwrap();
            first.merge(serde_json::from_str(&written).unwrap());
            assert_eq!(
                first.parameters().to_string(),
                seen(&values).to_string(),
                "{split}"
            );
        }
        assert_eq!(seen(&values)["required"], json!(["tags"]));
    }

    #[test]
    fn a_tool_that_is_called_with_nothing_takes_an_empty_object() {
        assert_eq!(seen(&[json!({})]), json!({"type": "object", "properties": {}}));
        assert_eq!(seen(&[]), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn schemas_beyond_the_limits_accept_any_value() {
        let nest = |depth| (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
        let deepest = |schema: &Value| {
            let mut inner = schema;
            let mut depth = 0;
            while let Some(next) = inner.pointer("/properties/a") {
                (inner, depth) = (next, depth + 1);
            }
            (depth, inner.clone())
        };
        assert_eq!(
            deepest(&seen(&[nest(MAX_DEPTH)])),
            (MAX_DEPTH, json!({"type": "integer"}))
        );
        assert_eq!(
            deepest(&seen(&[nest(MAX_DEPTH + 1)])),
            (MAX_DEPTH, json!({"type": "object"}))
        );
        let wide = |count: usize| Value::Object((0..count).map(|n| (n.to_string(), json!(n))).collect());
        let properties = |schema: &Value| schema["properties"].as_object().unwrap().len();
        assert_eq!(properties(&seen(&[wide(MAX_FIELDS)])), MAX_FIELDS);
        assert_eq!(properties(&seen(&[wide(MAX_FIELDS + 1)])), MAX_FIELDS);
    }
}

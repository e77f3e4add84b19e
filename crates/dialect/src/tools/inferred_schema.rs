//! Parameters of a tool that nobody defines, as its calls show them.
//!
//! A field has the types that its values had, objects and lists inspected; it is required where every call has it. That
//! is what was seen and no more, so nothing beside it is forbidden. What is deeper or wider than the limits is allowed to be anything.

use serde_json::{Map, Value, json};

/// Levels of objects and lists that are inspected.
const MAX_DEPTH: usize = 8;
/// Fields of one object that are noted.
const MAX_FIELDS: usize = 128;

/// What values were seen in one place.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many were objects.
    objects: u64,
    /// Whether there was a list.
    has_lists: bool,
    /// Words for other types, each once, in the order of their first value.
    types: Vec<&'static str>,
    /// Fields of objects in the order of their first occurrence, and in how many objects they occur.
    fields: Vec<(String, Seen, u64)>,
    /// What stands in lists.
    items: Option<Box<Seen>>,
}

impl Seen {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: &Value) {
        self.add_at(value, 0);
    }

    fn add_at(&mut self, value: &Value, depth: usize) {
        let scalar = match value {
            Value::Object(fields) => {
                self.objects += 1;
                let fields = fields.iter().filter(|_| depth < MAX_DEPTH);
                return fields.for_each(|(name, value)| self.field(name, value, depth));
            }
            Value::Array(items) => {
                self.has_lists = true;
                for item in items.iter().filter(|_| depth < MAX_DEPTH) {
                    self.items.get_or_insert_default().add_at(item, depth + 1);
                }
                return;
            }
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
        };
        if !self.types.contains(&scalar) {
            self.types.push(scalar);
        }
    }

    fn field(&mut self, name: &str, value: &Value, depth: usize) {
        let known = self.fields.iter_mut().find(|(known, ..)| known == name);
        if let Some((_, seen, times)) = known {
            *times += 1;
            return seen.add_at(value, depth + 1);
        }
        if self.fields.len() < MAX_FIELDS {
            let mut seen = Self::default();
            seen.add_at(value, depth + 1);
            self.fields.push((name.to_owned(), seen, 1));
        }
    }

    /// The JSON Schema of what a tool takes: an object.
    pub(crate) fn parameters(&self) -> Value {
        let mut schema = self.schema();
        schema.insert("type".to_owned(), "object".into());
        schema.entry("properties").or_insert_with(|| json!({}));
        Value::Object(schema)
    }

    fn schema(&self) -> Map<String, Value> {
        let mut types: Vec<&str> = Vec::new();
        types.extend((self.objects > 0).then_some("object"));
        types.extend(self.has_lists.then_some("array"));
        // Whoever takes a number takes a whole one.
        let has_numbers = self.types.contains(&"number");
        types.extend(
            self.types
                .iter()
                .filter(|word| !(has_numbers && **word == "integer")),
        );
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
            let always = self.fields.iter().filter(|(.., times)| *times == self.objects);
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

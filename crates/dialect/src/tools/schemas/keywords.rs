//! Keywords of JSON Schema, and the schemas under them.

use serde_json::{Map, Value};

use crate::loss::schema_path::SchemaStep;

/// The kind of value that a keyword has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A schema.
    Schema,
    /// A list of schemas that is not empty.
    Schemas,
    /// A schema, or in draft 7 also a list of schemas.
    Items,
    /// Schemas by name.
    Named,
    /// Schemas, or lists of names, by name.
    Dependencies,
    /// A type, or a list of types.
    Types,
    /// A text.
    Text,
    /// A list of different texts.
    Texts,
    /// A number of elements or characters.
    Size,
    /// A number.
    Number,
    /// A number above zero.
    Positive,
    /// `true` or `false`.
    Flag,
    /// A list.
    List,
}

/// Returns the kind of value of a keyword; `None` if it may be anything.
pub(crate) fn holds(key: &str) -> Option<Holds> {
    Some(match key {
        "type" => Holds::Types,
        "items" => Holds::Items,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => Holds::Named,
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => Holds::Schemas,
        "additionalProperties"
        | "not"
        | "contains"
        | "propertyNames"
        | "if"
        | "then"
        | "else"
        | "additionalItems"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "dependencies" | "dependentRequired" => Holds::Dependencies,
        "required" => Holds::Texts,
        "enum" | "examples" => Holds::List,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => Holds::Size,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Holds::Number,
        "multipleOf" => Holds::Positive,
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => Holds::Flag,
        "title" | "description" | "pattern" | "format" | "$ref" | "$id" | "$schema" | "$comment" => {
            Holds::Text
        }
        _ => return None,
    })
}

/// Whether a schema has this type, or a list of types with it.
pub(crate) fn is_of(schema: &Map<String, Value>, word: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(words)) => words.iter().any(|own| own == word),
        own => own.is_some_and(|own| own == word),
    }
}

/// Visits the schemas directly inside a schema, under known keywords.
pub(crate) fn each_inner(
    schema: &mut Map<String, Value>,
    is_known: &dyn Fn(&str) -> bool,
    visit: &mut dyn FnMut(&mut Map<String, Value>),
) {
    for (key, value) in schema {
        match (holds(key).filter(|_| is_known(key)), value) {
            (Some(Holds::Named | Holds::Dependencies), Value::Object(schemas)) => {
                let schemas = schemas.values_mut().filter_map(Value::as_object_mut);
                schemas.for_each(&mut *visit);
            }
            (Some(Holds::Schemas | Holds::Items), Value::Array(schemas)) => {
                let schemas = schemas.iter_mut().filter_map(Value::as_object_mut);
                schemas.for_each(&mut *visit);
            }
            (Some(Holds::Schema | Holds::Items), Value::Object(schema)) => visit(schema),
            _ => {}
        }
    }
}

/// Returns the schemas directly inside a schema, each with its keyword, and with its name or index below that.
pub(crate) fn inner(
    schema: &Map<String, Value>,
) -> impl Iterator<Item = (&str, Option<SchemaStep<'_>>, &Map<String, Value>)> {
    schema.iter().flat_map(|(key, value)| {
        let holds = holds(key);
        let (is_named, is_listed, is_nested) = match holds {
            Some(Holds::Named | Holds::Dependencies) => (true, false, false),
            Some(Holds::Schemas) => (false, true, false),
            Some(Holds::Items) => (false, true, true),
            Some(Holds::Schema) => (false, false, true),
            _ => (false, false, false),
        };
        let named = value.as_object().filter(|_| is_named).into_iter().flatten();
        let listed = value.as_array().filter(|_| is_listed).into_iter().flatten();
        let all = named.map(|(name, schema)| (Some(SchemaStep::Name(name)), schema));
        let all = all.chain(
            listed
                .enumerate()
                .map(|(index, schema)| (Some(SchemaStep::Index(index)), schema)),
        );
        let all = all.chain(is_nested.then_some((None, value)));
        all.filter_map(move |(step, schema)| Some((key.as_str(), step, schema.as_object()?)))
    })
}

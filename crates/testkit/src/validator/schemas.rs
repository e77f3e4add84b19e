//! The parameters of tools by the page of each vendor: schemas are checked as written, without the code of the program.

use serde_json::Value;

use super::{RuleBreaches, array};

/// What a page requires of a schema, in addition to an object.
pub(super) struct Wants {
    /// Keywords that the root must not have.
    pub at_root: &'static [&'static str],
    /// Whether a tool must have parameters.
    pub is_due: bool,
    /// Whether properties must be named and elements described.
    pub is_whole: bool,
    /// Whether properties of the root must have plain names, and references must lead to a schema.
    pub is_plain: bool,
    /// The condition on the schema of a strict tool.
    pub is_strict: fn(&Value) -> bool,
}

pub(super) const OPENAI: Wants = Wants {
    at_root: &["anyOf", "oneOf", "allOf", "enum", "not"],
    is_due: false,
    is_whole: true,
    is_plain: false,
    is_strict: |schema| {
        let names = schema["properties"].as_object().into_iter().flatten();
        let refused = [
            "allOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "default",
            "uniqueItems",
            "propertyNames",
        ];
        has_none(schema, &refused)
            && (schema["type"] != "object"
                || schema["additionalProperties"] == false
                    && names
                        .into_iter()
                        .all(|(name, _)| array(&schema["required"]).iter().any(|one| one == name)))
    },
};

pub(super) const ANTHROPIC: Wants = Wants {
    at_root: &["anyOf", "oneOf", "allOf"],
    is_due: true,
    is_whole: false,
    is_plain: true,
    is_strict: |schema| {
        let refused = [
            "oneOf",
            "not",
            "minimum",
            "maximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "maxItems",
        ];
        let is_short = schema
            .get("minItems")
            .is_none_or(|least| *least == 0 || *least == 1);
        let is_closed = schema["type"] != "object" || schema["additionalProperties"] == false;
        has_none(schema, &refused) && is_short && is_closed
    },
};

pub(super) const MISTRAL: Wants = Wants {
    at_root: &[],
    is_due: true,
    is_whole: false,
    is_plain: false,
    is_strict: |_| true,
};

fn has_none(schema: &Value, keys: &[&str]) -> bool {
    keys.iter().all(|key| schema.get(key).is_none())
}

/// Checks the parameters of each tool, with the field `strict` of the tool.
pub(super) fn takes<'a>(
    parameters: impl Iterator<Item = (&'a Value, &'a Value)>,
    page: &Wants,
    rule: &'static str,
    breaches: &mut RuleBreaches,
) {
    breaches.check_the_whole();
    for (schema, strict) in parameters {
        let Some(root) = schema.as_object() else {
            breaches.when(page.is_due || !schema.is_null(), rule);
            continue;
        };
        breaches.when(page.at_root.iter().any(|key| root.contains_key(*key)), rule);
        let properties = root.get("properties").and_then(Value::as_object);
        breaches.when(page.is_whole && properties.is_none(), rule);
        let is_plain = |name: &String| {
            let mut characters = name.chars();
            !name.is_empty()
                && name.len() <= 64
                && characters.all(|one| one.is_ascii_alphanumeric() || "_.-".contains(one))
        };
        let are_plain = properties.is_none_or(|properties| properties.keys().all(is_plain));
        breaches.when(page.is_plain && !are_plain, rule);
        breaches.when(!each(schema, &|schema| is_schema(schema, page)), rule);
        breaches.when(page.is_plain && !is_linked(schema), rule);
        breaches.when(*strict == true && !each(schema, &page.is_strict), rule);
    }
}

/// Whether a schema and every schema below it satisfy a condition.
fn each(schema: &Value, is_right: &dyn Fn(&Value) -> bool) -> bool {
    let of = |key: &str| schema.get(key);
    let named = ["properties", "$defs", "definitions"].into_iter().filter_map(of);
    let mut named = named.filter_map(Value::as_object).flat_map(|all| all.values());
    let listed = ["anyOf", "oneOf", "allOf", "prefixItems", "items"]
        .into_iter()
        .filter_map(of);
    let mut listed = listed.flat_map(|all| array(all).iter().chain(all.is_object().then_some(all)));
    !schema.is_object()
        || is_right(schema) && named.all(|one| each(one, is_right)) && listed.all(|one| each(one, is_right))
}

/// Whether all references to places in the schema lead to one.
fn is_linked(root: &Value) -> bool {
    each(root, &|schema| {
        let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        let path = place.filter(|place| place.starts_with('/') && !place.contains('%'));
        path.is_none_or(|path| root.pointer(path).is_some())
    })
}

fn is_schema(schema: &Value, page: &Wants) -> bool {
    let words = [
        "object", "array", "string", "number", "integer", "boolean", "null",
    ];
    let is_word = |word: &Value| words.iter().any(|known| word == known);
    let kinds: Vec<&Value> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().collect(),
        Value::Null => Vec::new(),
        kind => vec![kind],
    };
    let holds_elements = kinds.iter().any(|kind| *kind == "array");
    kinds.iter().all(|kind| is_word(kind))
        && (!holds_elements || !page.is_whole || schema["items"].is_object())
        && schema.get("required").is_none_or(Value::is_array)
        && schema.get("properties").is_none_or(Value::is_object)
}

/// Checks the declarations of Gemini: one of the two keys, and a type from the subset everywhere.
pub(super) fn declared<'a>(
    declarations: impl Iterator<Item = &'a Value>,
    profile: &str,
    breaches: &mut RuleBreaches,
) {
    breaches.check_the_whole();
    for one in declarations {
        let is_beyond = one.get("parametersJsonSchema").is_some();
        breaches.when(
            is_beyond && (profile == "parameters-only" || one.get("parameters").is_some()),
            "GEM-11",
        );
        breaches.when(!is_linked(&one["parametersJsonSchema"]), "GEM-11");
        let is_right = |schema: &Value| {
            let beside = ["anyOf", "title", "description", "nullable"];
            let is_union = schema.get("anyOf").is_some();
            let keys = schema.as_object().into_iter().flat_map(|schema| schema.keys());
            let is_alone = keys.into_iter().all(|key| beside.contains(&key.as_str()));
            let kind = &schema["type"];
            (kind.is_string() || is_union && is_alone)
                && (schema.get("enum").is_none() || kind == "STRING")
                && (schema.get("items").is_none() || kind == "ARRAY")
                && (schema["type"] != "ARRAY" || schema["items"].is_object())
                && array(&schema["enum"]).iter().all(|word| word != "")
        };
        if let Some(schema) = one.get("parameters") {
            breaches.when(
                schema.get("anyOf").is_some() || !each(schema, &is_right),
                "GEM-11",
            );
        }
    }
}

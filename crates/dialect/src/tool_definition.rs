//! A definition of a tool, whatever vendor's form the source wrote.

use chatmill_model::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::made_texts::MadeTexts;

/// A tool definition, read from the shape of any vendor.
#[derive(Debug)]
pub(crate) struct Definition<'a> {
    /// Name of the tool.
    pub(crate) name: &'a str,
    pub(crate) description: Option<&'a RawValue>,
    pub(crate) schema: Option<&'a RawValue>,
    pub(crate) strict: Option<&'a RawValue>,
    /// Fields that have no place here.
    pub(crate) others: u64,
}

#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<&'a RawValue>,
    #[serde(borrow, rename = "toolSpec")]
    spec: Option<&'a RawValue>,
    #[serde(borrow, rename = "functionDeclarations", alias = "function_declarations")]
    declarations: Option<Vec<&'a RawValue>>,
    name: Option<String>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
    #[serde(borrow, alias = "inputSchema")]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    strict: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    json: &'a RawValue,
}

impl<'a> Definition<'a> {
    /// The definitions that a value of the source holds: one, several where a vendor lists them, none where it is no
    /// definition of a function.
    pub(crate) fn read(raw: &'a RawJson, made: &'a MadeTexts) -> Vec<Self> {
        read(raw.as_str(), 3, made)
    }
}

fn read<'a>(raw: &'a str, depth: u8, made: &'a MadeTexts) -> Vec<Definition<'a>> {
    if depth == 0 || !crate::json::is_portable(raw) {
        return Vec::new();
    }
    let Ok(written) = serde_json::from_str::<Written<'_>>(raw) else {
        return Vec::new();
    };
    if let Some(inner) = written.function.or(written.spec) {
        return read(inner.get(), depth - 1, made);
    }
    if let Some(declarations) = written.declarations {
        let each = declarations.into_iter();
        return each
            .flat_map(|inner| read(inner.get(), depth - 1, made))
            .collect();
    }
    let Some(name) = written.name.filter(|name| !name.is_empty()) else {
        return Vec::new();
    };
    let schema = written.parameters.or(written.input_schema).map(|schema| {
        serde_json::from_str::<Wrapped<'_>>(schema.get()).map_or(schema, |wrapped| wrapped.json)
    });
    let known = [
        written.kind.is_some(),
        true,
        written.description.is_some(),
        schema.is_some(),
        written.strict.is_some(),
    ];
    let known = known.into_iter().filter(|is_there| *is_there).count();
    let fields = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw)
        .map_or(0, |fields| fields.len());
    vec![Definition {
        name: made.keep(name),
        description: written.description.filter(|text| text.get().starts_with('"')),
        schema: schema.filter(|schema| schema.get().starts_with('{')),
        strict: written
            .strict
            .filter(|strict| matches!(strict.get(), "true" | "false")),
        others: fields.saturating_sub(known) as u64,
    }]
}

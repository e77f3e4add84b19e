//! Definitions of tools, read from the form of any vendor, and the definitions that a pipeline adds.

use std::collections::BTreeSet;

use chatmill_model::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::text::arena::TextArena;
use crate::tools::called::CalledTools;
use crate::tools::hosted;
use crate::view::View;

/// A tool definition, read from the form of any vendor.
#[derive(Debug)]
pub(crate) struct Definition<'a> {
    /// The name of the tool.
    pub(crate) name: &'a str,
    /// The key that is unique in a request: the name, or the whole definition if it has no name.
    pub(crate) key: &'a str,
    pub(crate) description: Option<&'a RawValue>,
    pub(crate) schema: Option<&'a RawValue>,
    pub(crate) strict: Option<&'a RawValue>,
    /// Whether it has the form of Anthropic.
    pub(crate) is_of_anthropic: bool,
    /// The definition of a hosted tool, without a schema.
    pub(crate) hosted: Option<&'a str>,
    /// Its text in the source.
    pub(crate) raw: &'a str,
    /// Number of fields that have no place here.
    pub(crate) others: u64,
    /// The origin of the definition.
    pub(crate) by: DefinedBy,
}

/// The origin of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefinedBy {
    /// The source.
    Source,
    /// The pipeline's file of tools.
    Pipeline,
    /// It is inferred from the calls.
    Calls,
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
    #[serde(borrow)]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow, rename = "inputSchema")]
    input: Option<&'a RawValue>,
    /// Gemini's other field for parameters, which accepts all of JSON Schema.
    #[serde(borrow, rename = "parametersJsonSchema", alias = "parameters_json_schema")]
    json_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    strict: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    json: &'a RawValue,
}

impl<'a> Definition<'a> {
    /// Reads the definitions in a value of the source: one, several if a vendor lists them, or none if it does not define a function.
    pub(crate) fn read(raw: &'a RawJson, arena: &'a TextArena) -> Vec<Self> {
        read(raw.as_str(), 3, arena)
    }
}

fn read<'a>(raw: &'a str, depth: u8, arena: &'a TextArena) -> Vec<Definition<'a>> {
    if depth == 0 || !crate::text::json::is_portable(raw) {
        return Vec::new();
    }
    let Ok(written) = serde_json::from_str::<Written<'_>>(raw) else {
        return Vec::new();
    };
    if let Some(inner) = written.function.or(written.spec) {
        return read(inner.get(), depth - 1, arena);
    }
    if let Some(declarations) = written.declarations {
        let each = declarations.into_iter();
        let functions = each.flat_map(|inner| read(inner.get(), depth - 1, arena));
        return functions.chain(hosted(raw, None, arena)).collect();
    }
    let schema = written
        .parameters
        .or(written.input_schema)
        .or(written.input)
        .or(written.json_schema);
    let name = written.name.filter(|name| !name.is_empty());
    if schema.is_none()
        && let Some(hosted) = hosted(raw, name.as_deref(), arena)
    {
        return vec![hosted];
    }
    let Some(name) = name else {
        return Vec::new();
    };
    let schema = schema.and_then(|schema| object(schema, arena)).map(|schema| {
        let wrapped = serde_json::from_str::<Wrapped<'_>>(schema.get()).ok();
        let inner = wrapped.and_then(|wrapped| object(wrapped.json, arena));
        inner.unwrap_or(schema)
    });
    let description = written.description.filter(|text| text.get().starts_with('"'));
    let strict = written.strict;
    let strict = strict.filter(|strict| matches!(strict.get(), "true" | "false"));
    // A field with a value of another kind than expected is not read, and counts as one without a place.
    let known = [
        written.kind.is_some(),
        true,
        description.is_some(),
        schema.is_some(),
        strict.is_some(),
    ];
    let known = known.into_iter().filter(|is_there| *is_there).count();
    let fields = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw)
        .map_or(0, |fields| fields.len());
    let name = arena.keep(name);
    vec![Definition {
        name,
        key: name,
        is_of_anthropic: written.input_schema.is_some(),
        hosted: None,
        raw,
        description,
        schema,
        strict,
        others: fields.saturating_sub(known) as u64,
        by: DefinedBy::Source,
    }]
}

/// Returns a value that is an object, or the object of which it is the JSON text, as in rows where a column has one type.
fn object<'a>(value: &'a RawValue, arena: &'a TextArena) -> Option<&'a RawValue> {
    if value.get().starts_with('{') {
        return Some(value);
    }
    let text: String = serde_json::from_str(value.get()).ok()?;
    let is_object = crate::text::json::is_portable_object(&text);
    is_object.then(|| serde_json::from_str(arena.keep(text)).ok())?
}

/// Reads the definition of a hosted tool.
fn hosted<'a>(raw: &'a str, name: Option<&str>, arena: &'a TextArena) -> Option<Definition<'a>> {
    let hosted = hosted::read(raw, name)?;
    let (name, definition) = (arena.keep(hosted.name), arena.keep(hosted.definition));
    Some(Definition {
        name,
        key: if hosted.is_named { name } else { definition },
        description: None,
        schema: None,
        strict: None,
        is_of_anthropic: false,
        hosted: Some(definition),
        raw,
        others: hosted.marks,
        by: DefinedBy::Source,
    })
}

/// Whether a JSON value defines one or more tools in a known form: OpenAI's, Anthropic's, Gemini's or Bedrock's.
pub fn defines_tools(raw: &RawJson) -> bool {
    !Definition::read(raw, &TextArena::default()).is_empty()
}

/// Returns the definitions of a conversation: a list for each value of the source, then the definitions of the pipeline's file, then those
/// inferred from calls of the perspective. An added definition is left out if an earlier one defines a tool of that name.
pub(crate) fn definitions<'a>(view: &View<'a>, arena: &'a TextArena) -> Vec<Vec<Definition<'a>>> {
    let tools = view.conversation().tools.iter();
    let mut all: Vec<Vec<Definition<'a>>> = tools.map(|raw| Definition::read(raw, arena)).collect();
    let mut known: BTreeSet<&'a str> = all.iter().flatten().map(|definition| definition.name).collect();
    let inferred = view.shared(|shared| &shared.inferred_tools, |_| inferred(view));
    let inferred = inferred
        .iter()
        .flat_map(|raw| read(arena.keep(raw.as_str().to_owned()), 1, arena));
    let given = |tools: &'a [RawJson], by| {
        let read = tools.iter().flat_map(|raw| Definition::read(raw, arena));
        read.map(move |definition| (definition, by))
    };
    let additions = &view.additions;
    let given =
        given(additions.tools, DefinedBy::Pipeline).chain(given(additions.called_tools, DefinedBy::Calls));
    let inferred = inferred.map(|definition| (definition, DefinedBy::Calls));
    for (mut definition, by) in given.chain(inferred) {
        if known.insert(definition.name) {
            definition.by = by;
            all.push(vec![definition]);
        }
    }
    all
}

/// Infers definitions from the calls of the perspective: one for each tool, as JSON, in the order of the names.
fn inferred(view: &View<'_>) -> Vec<RawJson> {
    let messages = view.conversation().messages.iter();
    let own = messages.filter(|message| view.additions.infers_tools && view.is_own(message));
    CalledTools::of(own).definitions()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema of a definition, and the number of its fields that have no place.
    fn schema(raw: &str) -> (Option<String>, u64) {
        let (raw, arena) = (RawJson(raw.to_owned()), TextArena::default());
        let [one] = &Definition::read(&raw, &arena)[..] else {
            panic!("one definition: {raw:?}")
        };
        (one.schema.map(|schema| schema.get().to_owned()), one.others)
    }

    #[test]
    fn parameters_may_be_the_json_text_of_a_schema() {
        let wanted = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
        let text = serde_json::to_string(wanted).unwrap();
        for raw in [
            format!(r#"{{"type":"function","function":{{"name":"f","parameters":{text}}}}}"#),
            format!(r#"{{"name":"f","input_schema":{text}}}"#),
            format!(r#"{{"toolSpec":{{"name":"f","inputSchema":{{"json":{text}}}}}}}"#),
        ] {
            assert_eq!(schema(&raw), (Some(wanted.to_owned()), 0), "{raw}");
        }
    }

    #[test]
    fn parameters_that_are_no_schema_are_a_field_without_a_place() {
        for parameters in [
            r#""a port""#,
            r#""{port""#,
            r#""[{}]""#,
            r#"[{"name":"port"}]"#,
            "true",
            "3",
        ] {
            let raw = format!(r#"{{"name":"f","description":"d","parameters":{parameters}}}"#);
            assert_eq!(schema(&raw), (None, 1), "{raw}");
        }
        assert_eq!(schema(r#"{"name":"f","description":5}"#), (None, 1));
    }
}

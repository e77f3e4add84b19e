//! `arguments-against-schema`: a call that the schema of its tool does not allow.
//!
//! Schemas come with the input and may be as hostile as it. A schema is used only if it has no references to anything outside itself, none
//! that lead back to themselves, and a small size with every reference written out. So a call costs a limited number of steps per byte.
//! Recursive schemas are excluded because data of sixty levels under a schema that tries two branches at each level takes 2^60 steps.
//! Patterns run as finite automata. A schema that is not used makes no call wrong: there is no finding.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Arguments, Linked, RawJson};
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use crate::walk::{at_arguments, calls};

/// The most bytes of arguments that are validated.
const ARGUMENT_BYTES: usize = 1 << 20;
/// The most bytes of a definition that is used.
const DEFINITION_BYTES: usize = 64 << 10;
/// The most bytes of definitions that a thread keeps for later conversations; if they would exceed this, all are dropped. Without the
/// cache, parsing and compiling the same five tools again took two thirds of the check of 20,000 conversations.
const CACHE_BYTES: usize = 256 << 10;
/// The most values in a schema with every reference written out.
const VALUES: usize = 4_000;
/// The most levels of such a schema.
const LEVELS: usize = 64;
/// The most bytes of a compiled pattern.
const PATTERN_BYTES: usize = 256 << 10;

/// Finds calls that the schema of their tool does not allow: one finding a call.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    if linked.conversation.tools.is_empty() || calls(linked).next().is_none() {
        return;
    }
    let definitions = definitions(linked);
    let mut declared: HashMap<&str, &DeclaredFunction> = HashMap::new();
    for function in definitions.iter().flat_map(|definition| definition.iter()) {
        declared.entry(&function.name).or_insert(function);
    }
    for (message, call) in calls(linked) {
        let (Some(name), Arguments::Object(raw)) = (&call.name, &call.arguments) else {
            continue;
        };
        if raw.as_str().len() > ARGUMENT_BYTES {
            continue;
        }
        let function = declared.get(name.as_str());
        let Some(validator) = function.and_then(|function| function.validator()) else {
            continue;
        };
        let Ok(arguments) = serde_json::from_str::<Value>(raw.as_str()) else {
            continue;
        };
        if let Err(error) = validator.validate(&arguments) {
            let keyword = error.kind().keyword();
            let text = format!("the schema of the tool does not allow the arguments: `{keyword}`");
            let finding = at_arguments(&codes::ARGUMENTS_AGAINST_SCHEMA, message, call, text);
            findings.push(finding.quoting(&error.to_string()));
        }
    }
}

/// A function that a definition declares, with its schema, which is compiled on first use.
struct DeclaredFunction {
    name: String,
    schema: Value,
    compiled: OnceCell<Option<Validator>>,
}

impl DeclaredFunction {
    fn validator(&self) -> Option<&Validator> {
        self.compiled.get_or_init(|| compile(&self.schema)).as_ref()
    }
}

type Functions = Rc<[DeclaredFunction]>;

/// Definitions of earlier conversations: in an archive, most conversations have the same.
#[derive(Default)]
struct DefinitionCache {
    by_text: HashMap<Box<str>, Functions>,
    /// The bytes of their texts.
    bytes: usize,
}

impl DefinitionCache {
    fn functions(&mut self, text: &str) -> Functions {
        if let Some(known) = self.by_text.get(text) {
            return Rc::clone(known);
        }
        let definition = serde_json::from_str::<Value>(text).ok();
        let functions = definition.as_ref().map(functions).unwrap_or_default();
        let functions: Functions = functions.into_iter().collect();
        // A short pattern can be large when it is compiled.
        if text.len() > CACHE_BYTES || text.contains("pattern") {
            return functions;
        }
        if self.bytes + text.len() > CACHE_BYTES {
            *self = Self::default();
        }
        self.bytes += text.len();
        self.by_text.insert(text.into(), Rc::clone(&functions));
        functions
    }
}

thread_local! {
    static CACHE: RefCell<DefinitionCache> = RefCell::default();
}

/// The functions of each definition that a conversation declares.
fn definitions(linked: &Linked) -> Vec<Functions> {
    let texts = linked.conversation.tools.iter().map(RawJson::as_str);
    let texts = texts.filter(|text| text.len() <= DEFINITION_BYTES);
    CACHE.with_borrow_mut(|cache| texts.map(|text| cache.functions(text)).collect())
}

fn compile(schema: &Value) -> Option<Validator> {
    let mut values = 0;
    if !schema.is_object() || !is_bounded(schema, schema, LEVELS, &mut values) {
        return None;
    }
    let patterns = PatternOptions::regex()
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).ok()
}

/// The functions that a definition declares, in the forms of vendors, with their schemas.
fn functions(definition: &Value) -> Vec<DeclaredFunction> {
    let listed = ["functionDeclarations", "function_declarations"];
    let listed = listed.iter().find_map(|key| definition.get(key)?.as_array());
    let one = std::slice::from_ref(definition);
    let each = listed.map_or(one, Vec::as_slice).iter();
    each.filter_map(|declared| {
        let function = ["function", "toolSpec"].iter().find_map(|key| declared.get(key));
        let function = function.unwrap_or(declared);
        let keys = [
            "parameters",
            "input_schema",
            "inputSchema",
            "parametersJsonSchema",
            "parameters_json_schema",
        ];
        let mut schemas = keys.iter().filter_map(|key| function.get(key));
        let schema = schemas.find(|schema| !schema.is_null())?;
        // One vendor has it inside another object, and rows where a column has one type as JSON text.
        let inner = schema.get("json").filter(|_| schema.get("type").is_none());
        let schema = inner.unwrap_or(schema);
        let text = schema.as_str().map(serde_json::from_str);
        let mut schema = text.map_or_else(|| Some(schema.clone()), Result::ok)?;
        take_null(&mut schema);
        Some(DeclaredFunction {
            name: function.get("name")?.as_str()?.to_owned(),
            schema,
            compiled: OnceCell::new(),
        })
    })
    .collect()
}

/// Lets schemas that a vendor calls `nullable` take null; JSON Schema does not know the word.
fn take_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(take_null),
        Value::Object(fields) => {
            fields.values_mut().for_each(take_null);
            if fields.get("nullable") == Some(&Value::Bool(true)) {
                fields.remove("nullable");
                let own = std::mem::take(fields);
                let null = Map::from_iter([("type".to_owned(), "null".into())]);
                fields.insert("anyOf".to_owned(), vec![null, own].into());
            }
        }
        _ => {}
    }
}

/// Whether a schema is small with every reference written out, and all its references lead to places in itself and end.
fn is_bounded(schema: &Value, root: &Value, levels: usize, values: &mut usize) -> bool {
    *values += 1;
    if *values > VALUES || levels == 0 {
        return false;
    }
    match schema {
        Value::Array(items) => items
            .iter()
            .all(|item| is_bounded(item, root, levels - 1, values)),
        Value::Object(fields) => fields.iter().all(|(key, value)| match (key.as_str(), value) {
            ("$dynamicRef" | "$recursiveRef" | "$id" | "id" | "$schema", Value::String(_)) => {
                key == "$schema"
            }
            ("$ref", Value::String(place)) => {
                let target = place.strip_prefix('#').and_then(|place| root.pointer(place));
                target.is_some_and(|target| is_bounded(target, root, levels - 1, values))
            }
            _ => is_bounded(value, root, levels - 1, values),
        }),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::{ArgumentForm, Conversation, Message, MessageOrigin, Part, Role, ToolCall};

    #[test]
    fn definitions_are_cached_up_to_a_limit_and_one_more_clears_the_cache() {
        let text = |number: usize, length: usize| {
            let start = format!("{{\"name\":\"f{number}\",\"parameters\":{{\"type\":\"object\"}},\"x\":\"");
            let filling = "x".repeat(length - start.len() - 2);
            format!("{start}{filling}\"}}")
        };
        let mut cache = DefinitionCache::default();
        let first = text(1, CACHE_BYTES - 1_000);
        assert_eq!(cache.functions(&first)[0].name, "f1");
        let again = cache.functions(&first);
        assert!(Rc::ptr_eq(&again, &cache.functions(&first)), "it is kept");
        cache.functions(&text(2, 1_000));
        assert_eq!((cache.by_text.len(), cache.bytes), (2, CACHE_BYTES));
        assert_eq!(cache.functions(&text(3, 200))[0].name, "f3");
        assert_eq!((cache.by_text.len(), cache.bytes), (1, 200));
        cache.functions(&text(4, CACHE_BYTES + 1));
        cache.functions("{\"name\":\"f5\",\"parameters\":{\"pattern\":\"a\"}}");
        assert_eq!(
            (cache.by_text.len(), cache.bytes),
            (1, 200),
            "too long, or with a pattern"
        );
    }

    #[test]
    fn very_long_arguments_are_not_validated() {
        let found = |length: usize| {
            let bare = r#"{"town":""}"#.len();
            let arguments = RawJson(format!(r#"{{"town":"{}"}}"#, "x".repeat(length - bare)));
            let arguments = (Arguments::Object(arguments), ArgumentForm::Text);
            let call = ToolCall::new(None, Some("weather".to_owned()), arguments);
            let mut message = Message::new(Role::Assistant, 0, MessageOrigin::default());
            message.parts.push(Part::ToolCall(call));
            let tool = r#"{"name":"weather","input_schema":{"type":"object","required":["city"]}}"#;
            let linked = Linked {
                conversation: Conversation {
                    tools: vec![RawJson(tool.to_owned())],
                    messages: vec![message],
                    ..Conversation::default()
                },
                links: vec![Vec::new()],
                pairings: Vec::new(),
            };
            let mut findings = Vec::new();
            check(&linked, &Limits::default(), &mut findings);
            findings.len()
        };
        assert_eq!((found(ARGUMENT_BYTES), found(ARGUMENT_BYTES + 1)), (1, 0));
    }
}

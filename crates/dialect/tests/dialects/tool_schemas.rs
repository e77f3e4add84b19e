//! Generated schemas of tools in the dialects of vendors: the validator of the testkit and the metaschemas of the standard accept every
//! valid rendering.

use chatmill_dialect::{Additions, History, Policy, auto_perspective};
use chatmill_drawn::{Random, cases, random};
use chatmill_model::RawJson;
use chatmill_testkit::validator;
use serde_json::{Value, json};

use crate::chat::TestChat;

const TARGETS: [&str; 7] = [
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "bedrock-converse",
    "gemini-contents",
    "gemini-contents@parameters-only",
    "mistral-chat",
];

/// Keywords with values, some of which are wrong.
const FIELDS: [(&str, &str); 50] = [
    ("type", r#""object""#),
    ("type", r#""string""#),
    ("type", r#""array""#),
    ("type", r#"["string","array","null"]"#),
    ("type", r#""any""#),
    ("type", "null"),
    ("required", r#"["a"]"#),
    ("required", "null"),
    ("required", "true"),
    ("additionalProperties", "false"),
    ("additionalProperties", "false"),
    ("enum", r#"["x","y"]"#),
    ("enum", r#"["",1]"#),
    ("enum", "[]"),
    ("const", r#""x""#),
    ("const", "true"),
    ("$ref", r##""#""##),
    ("$ref", r##""#/$defs/d""##),
    ("$ref", r#""https://a.example/s""#),
    ("items", "true"),
    ("items", "false"),
    ("items", r#"[{"type":"string"}]"#),
    ("items", r#"{"type":"string"}"#),
    ("additionalItems", "false"),
    ("minimum", "1"),
    ("minimum", r#""1""#),
    ("exclusiveMinimum", "true"),
    ("minItems", "2"),
    ("minLength", "1"),
    ("format", r#""uri""#),
    ("format", r#""date-time""#),
    ("pattern", r#""^a""#),
    ("default", r#""x""#),
    ("title", "5"),
    ("description", r#""d""#),
    ("uniqueItems", "true"),
    ("nullable", "true"),
    ("type", r#""INTEGER""#),
    ("enum", r#"["1","2"]"#),
    ("min_items", r#""1""#),
    ("any_of", r#"[{"type":"STRING"},{"type":"NULL"}]"#),
    ("ref", r##""#/defs/d""##),
    ("defs", r#"{"d":{"type":"STRING"}}"#),
    ("not", "{}"),
    ("anyOf", r#"[{"type":"string"},{"type":"null"}]"#),
    ("anyOf", r#"[{"required":["a"]},{"required":["b"]}]"#),
    ("oneOf", r#"[{"type":"string"},{"type":"number"}]"#),
    ("allOf", r#"[{"type":"string"}]"#),
    ("$defs", r#"{"d":{"type":"string"}}"#),
    ("patternProperties", r#"{"^x":{}}"#),
];

fn schema(random: &mut Random, depth: usize) -> Value {
    let mut fields = serde_json::Map::new();
    for _ in 0..random.below(5) {
        let (key, value) = *random.pick(&FIELDS).unwrap();
        fields.insert(key.to_owned(), serde_json::from_str(value).unwrap());
    }
    if depth < 3 && random.once_in(2) {
        let keys = ["a", "b", "filter[name]"];
        let property = |random: &mut Random| (random.below(3), schema(random, depth + 1));
        let named = (0..random.below(3)).map(|_| property(random));
        let named = named.map(|(name, schema)| (keys[name].to_owned(), schema));
        fields.insert("properties".to_owned(), Value::Object(named.collect()));
    }
    if depth < 3 && random.once_in(5) {
        let key = *random.pick(&["items", "not", "additionalProperties"]).unwrap();
        fields.insert(key.to_owned(), schema(random, depth + 1));
    }
    Value::Object(fields)
}

fn parameters(body: &Value) -> &Value {
    let places = [
        "/tools/0/function/parameters",
        "/tools/0/parameters",
        "/tools/0/input_schema",
        "/toolConfig/tools/0/toolSpec/inputSchema/json",
        "/tools/0/functionDeclarations/0/parametersJsonSchema",
    ];
    let found = places.iter().find_map(|place| body.pointer(place));
    found.unwrap_or(&Value::Null)
}

#[test]
fn what_a_dialect_calls_valid_the_validator_and_the_standard_accept() {
    let mut random = random(56);
    let mut valid = 0;
    for _ in 0..cases(400) {
        let mut root = schema(&mut random, 0);
        if random.once_in(2) {
            root["type"] = json!("object");
        }
        let names = ["find", "7zip-extract", "a.b"];
        let name = *random.pick(&names).unwrap();
        let strict = random.once_in(2);
        let tool = if random.once_in(3) {
            json!({"name": name, "input_schema": root, "strict": strict})
        } else {
            json!({"type": "function", "function": {"name": name, "parameters": root, "strict": strict}})
        };
        let mut chat = TestChat::new();
        let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
        chat.write(ann, "question");
        chat.write(bot, "answer");
        chat.linked.conversation.tools.push(RawJson(tool.to_string()));
        let perspective = auto_perspective(&chat.linked);
        for target in TARGETS {
            let seen = (&Policy::default(), Additions::default());
            let out = chat
                .render_added(target, seen, History::Document, perspective, None)
                .remove(0);
            if !out.violations.is_empty() {
                continue;
            }
            valid += 1;
            let (id, profile) = target.split_once('@').unwrap_or((target, "document"));
            let breaches = validator::breaches(id, profile, &out.text);
            assert_eq!(breaches, [], "{target}: {} of {tool}", out.text);
            let body: Value = serde_json::from_str(&out.text).unwrap();
            let schema = parameters(&body);
            let is_sound = match id {
                "mistral-chat" => jsonschema::draft7::meta::is_valid(schema),
                _ => jsonschema::draft202012::meta::is_valid(schema),
            };
            let is_of_subset = id == "gemini-contents" && schema.get("type") != Some(&json!("object"));
            assert!(is_sound || is_of_subset, "{target}: {schema} of {tool}");
        }
    }
    assert!(valid > cases(400) * 2, "{valid}");
}

//! Hosted tools: tools that a vendor runs itself. They are recognised by a type or a key of the vendor and have no schema; they are not
//! functions, and only the API of that vendor accepts them.
//!
//! Types and keys are those of the packages openai 3.57, anthropic 2.14 and google-genai 3.6, and of botocore 1.44.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// The API that runs the hosted tools of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// There are no hosted tools.
    Nobody,
    /// Chat Completions.
    Chat,
    /// Responses.
    Responses,
    /// Anthropic.
    Anthropic,
    /// Gemini.
    Google,
    /// Bedrock.
    Bedrock,
}

/// Types of tools in Responses, separated by blanks.
const RESPONSES: &str = "apply_patch code_interpreter computer computer_use_preview custom file_search image_generation \
    local_shell mcp namespace shell tool_search web_search web_search_2025_08_26 web_search_preview \
    web_search_preview_2025_03_11";

/// Keys of a tool in Gemini's requests, except the key of its functions, separated by blanks.
const GOOGLE: &str = "codeExecution computerUse enterpriseWebSearch fileSearch googleMaps googleSearch \
    googleSearchRetrieval retrieval urlContext";

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|own| own == word)
}

impl Hosts {
    /// Whether the API accepts a definition unchanged.
    pub(crate) fn take(self, definition: &Map<String, Value>) -> bool {
        let kind = definition.get("type").and_then(Value::as_str);
        let is_wrapped = definition.contains_key("custom");
        match self {
            Self::Nobody => false,
            Self::Chat => kind == Some("custom") && is_wrapped,
            Self::Responses => kind.is_some_and(|kind| is_in(RESPONSES, kind)) && !is_wrapped,
            // Anthropic's types end with the date of their version.
            Self::Anthropic => kind
                .and_then(|kind| kind.rsplit('_').next())
                .is_some_and(|day| day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit())),
            Self::Google => kind.is_none() && definition.keys().any(|key| is_in(GOOGLE, key)),
            Self::Bedrock => definition.contains_key("systemTool"),
        }
    }

    /// Returns the definition as the API accepts it; `None` if it does not have the tool.
    pub(crate) fn form_of(self, raw: &str) -> Option<Cow<'_, str>> {
        let definition: Map<String, Value> = serde_json::from_str(raw).ok()?;
        if self.take(&definition) {
            return Some(Cow::Borrowed(raw));
        }
        let is_wrapped = match self {
            Self::Chat => false,
            Self::Responses => true,
            Self::Nobody | Self::Anthropic | Self::Google | Self::Bedrock => return None,
        };
        let converted = custom(definition, is_wrapped)?;
        self.take(&converted)
            .then(|| Cow::Owned(Value::Object(converted).to_string()))
    }
}

/// Converts the definition of a tool with free text to the form of OpenAI's other API; `None` for other tools.
fn custom(mut definition: Map<String, Value>, is_wrapped: bool) -> Option<Map<String, Value>> {
    if definition.get("type")?.as_str() != Some("custom") {
        return None;
    }
    let is_grammar = |format: &Value| format["type"] == "grammar";
    if is_wrapped {
        let Some(Value::Object(mut inner)) = definition.shift_remove("custom") else {
            return None;
        };
        if let Some(format) = inner.get_mut("format").filter(|format| is_grammar(format))
            && let Some(Value::Object(grammar)) = format
                .as_object_mut()
                .and_then(|format| format.shift_remove("grammar"))
        {
            format.as_object_mut()?.extend(grammar);
        }
        definition.extend(inner);
        return Some(definition);
    }
    definition.shift_remove("type");
    if let Some(Value::Object(format)) = definition.get_mut("format").filter(|format| is_grammar(format)) {
        format.shift_remove("type");
        let grammar = Value::Object(std::mem::take(format));
        format.insert("type".to_owned(), Value::from("grammar"));
        format.insert("grammar".to_owned(), grammar);
    }
    let all = [
        ("type", Value::from("custom")),
        ("custom", Value::Object(definition)),
    ];
    Some(
        all.into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// A hosted tool.
pub(crate) struct HostedTool {
    /// The name, otherwise the type or key.
    pub(crate) name: String,
    /// Whether it has a name.
    pub(crate) is_named: bool,
    /// The definition without functions and cache marks.
    pub(crate) definition: String,
    /// Number of cache marks that were removed.
    pub(crate) marks: u64,
}

/// Reads a definition without a schema, with its name if it has one; `None` if it is a function.
pub(crate) fn read(raw: &str, name: Option<&str>) -> Option<HostedTool> {
    let Ok(Value::Object(mut definition)) = serde_json::from_str(raw) else {
        return None;
    };
    for key in ["functionDeclarations", "function_declarations"] {
        definition.shift_remove(key);
    }
    let marks = u64::from(definition.shift_remove("cache_control").is_some());
    for key in GOOGLE.split(' ') {
        let is_same = |own: &&String| own.replace('_', "").eq_ignore_ascii_case(key);
        let own = definition.keys().find(is_same).cloned();
        if let Some(value) = own.and_then(|own| definition.shift_remove(&own)) {
            definition.insert(key.to_owned(), value);
        }
    }
    let kind = definition.get("type").and_then(Value::as_str);
    let kind = kind.filter(|kind| *kind != "function");
    let mut wrapped = ["custom", "systemTool"].into_iter();
    let inner = wrapped.find_map(|key| definition.get(key)?.get("name")?.as_str());
    let key = definition
        .keys()
        .next()
        .filter(|_| Hosts::Google.take(&definition));
    let unnamed = kind
        .filter(|kind| is_in(RESPONSES, kind))
        .or(key.map(String::as_str));
    let named = name.filter(|_| kind.is_some()).or(inner);
    Some(HostedTool {
        name: named.or(unnamed)?.to_owned(),
        is_named: named.is_some(),
        definition: Value::Object(definition).to_string(),
        marks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_free_text_have_a_form_in_both_apis_of_openai() {
        for (flat, wrapped) in [
            (
                r#"{"type":"custom","name":"sql","description":"Asks."}"#,
                r#"{"type":"custom","custom":{"name":"sql","description":"Asks."}}"#,
            ),
            (
                r#"{"type":"custom","name":"sql","format":{"type":"text"}}"#,
                r#"{"type":"custom","custom":{"name":"sql","format":{"type":"text"}}}"#,
            ),
            (
                r#"{"type":"custom","name":"sql","format":{"type":"grammar","syntax":"lark","definition":"start: X"}}"#,
                r#"{"type":"custom","custom":{"name":"sql","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: X"}}}}"#,
            ),
        ] {
            for own in [flat, wrapped] {
                assert_eq!(Hosts::Chat.form_of(own).unwrap(), wrapped);
                assert_eq!(Hosts::Responses.form_of(own).unwrap(), flat);
                for other in [Hosts::Nobody, Hosts::Anthropic, Hosts::Google, Hosts::Bedrock] {
                    assert!(other.form_of(own).is_none());
                }
            }
        }
        assert!(Hosts::Chat.form_of(r#"{"type":"web_search"}"#).is_none());
        assert!(Hosts::Chat.form_of("[]").is_none());
    }

    #[test]
    fn tools_of_a_vendor_are_known_by_type_or_key_and_taken_by_its_own_api() {
        let all = [
            Hosts::Nobody,
            Hosts::Chat,
            Hosts::Responses,
            Hosts::Anthropic,
            Hosts::Google,
            Hosts::Bedrock,
        ];
        for (raw, name, taken) in [
            (
                r#"{"type":"web_search_20250305","name":"web_search","max_uses":5}"#,
                "web_search",
                3,
            ),
            (r#"{"type":"web_search"}"#, "web_search", 2),
            (
                r#"{"type":"web_search_preview_2025_03_11"}"#,
                "web_search_preview_2025_03_11",
                2,
            ),
            (r#"{"type":"mcp","server_label":"a"}"#, "mcp", 2),
            (r#"{"type":"custom","name":"sql"}"#, "sql", 2),
            (r#"{"type":"custom","custom":{"name":"sql"}}"#, "sql", 1),
            (r#"{"google_search":{}}"#, "googleSearch", 4),
            (r#"{"urlContext":{},"functionDeclarations":[]}"#, "urlContext", 4),
            (r#"{"systemTool":{"name":"nova_grounding"}}"#, "nova_grounding", 5),
        ] {
            let own: Value = serde_json::from_str(raw).unwrap();
            let read = read(raw, own["name"].as_str()).unwrap();
            assert_eq!(read.name, name);
            let definition = serde_json::from_str(&read.definition).unwrap();
            let takers: Vec<Hosts> = all.into_iter().filter(|hosts| hosts.take(&definition)).collect();
            assert_eq!(takers, [all[taken]], "{raw}");
        }
        let unknown = read(r#"{"type":"plugin","name":"x"}"#, Some("x")).unwrap();
        assert!(unknown.is_named && !read(r#"{"type":"mcp"}"#, None).unwrap().is_named);
        for raw in [
            r#"{"type":"function"}"#,
            r#"{"type":"object"}"#,
            r#"{"name":"f"}"#,
            "[]",
        ] {
            assert!(read(raw, None).is_none(), "{raw}");
        }
        assert!(read(r#"{"name":"f"}"#, Some("f")).is_none());
    }
}

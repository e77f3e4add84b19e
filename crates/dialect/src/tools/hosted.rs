//! Tools that a vendor has itself: known by a type or a key of the vendor's own, without a schema. They are no functions, and only the API
//! of that vendor takes them.
//!
//! Types and keys are those of the packages openai 3.57, anthropic 2.14 and google-genai 3.6, and of botocore 1.44.

use serde_json::{Map, Value};

/// Which tools of its own an API takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosts {
    /// None.
    Nobody,
    /// Those of Chat Completions.
    Chat,
    /// Those of Responses.
    Responses,
    /// Anthropic's.
    Anthropic,
    /// Gemini's.
    Google,
    /// Bedrock's.
    Bedrock,
}

/// Types of tools in Responses.
const RESPONSES: [&str; 16] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "shell",
    "tool_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
];

/// Keys of a tool in Gemini's requests, beside that of its functions.
const GOOGLE: [&str; 9] = [
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "fileSearch",
    "googleMaps",
    "googleSearch",
    "googleSearchRetrieval",
    "retrieval",
    "urlContext",
];

impl Hosts {
    /// Whether the API takes a definition as it is.
    pub(crate) fn take(self, definition: &Map<String, Value>) -> bool {
        let kind = definition.get("type").and_then(Value::as_str);
        let is_wrapped = definition.contains_key("custom");
        match self {
            Self::Nobody => false,
            Self::Chat => kind == Some("custom") && is_wrapped,
            Self::Responses => kind.is_some_and(|kind| RESPONSES.contains(&kind)) && !is_wrapped,
            // They end in the day of their version.
            Self::Anthropic => kind
                .and_then(|kind| kind.rsplit('_').next())
                .is_some_and(|day| day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit())),
            Self::Google => kind.is_none() && definition.keys().any(|key| GOOGLE.contains(&key.as_str())),
            Self::Bedrock => definition.contains_key("systemTool"),
        }
    }
}

/// The name of a tool that a vendor has itself, and its definition without what is a function or a cache mark; none where it is a function.
pub(crate) fn read(raw: &str, name: Option<&str>) -> Option<(String, String)> {
    let Ok(Value::Object(mut definition)) = serde_json::from_str(raw) else {
        return None;
    };
    for key in ["functionDeclarations", "function_declarations", "cache_control"] {
        definition.shift_remove(key);
    }
    for key in GOOGLE {
        let is_same = |own: &&String| own.replace('_', "").eq_ignore_ascii_case(key);
        let own = definition.keys().find(is_same).cloned();
        if let Some(value) = own.and_then(|own| definition.shift_remove(&own)) {
            definition.insert(key.to_owned(), value);
        }
    }
    let kind = definition.get("type").and_then(Value::as_str);
    let inner = ["custom", "systemTool"]
        .into_iter()
        .find_map(|key| definition.get(key)?.get("name")?.as_str());
    let is_of_google = Hosts::Google.take(&definition);
    let key = definition
        .keys()
        .next()
        .filter(|_| is_of_google)
        .map(String::as_str);
    let is_known = kind.is_some_and(|kind| RESPONSES.contains(&kind)) || inner.is_some() || is_of_google;
    let is_own = kind.is_some_and(|kind| kind != "function") && (is_known || name.is_some())
        || inner.is_some()
        || is_of_google;
    let name = name.or(inner).or(key).or(kind).filter(|_| is_own)?.to_owned();
    Some((name, Value::Object(definition).to_string()))
}

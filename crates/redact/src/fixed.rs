//! The strings of raw JSON that only programs read: keys, and the words of a tool's definition. They must not be replaced if a person has
//! such a name.
//!
//! A key can also be a person's name (`{"votes": {"Mirela Quint": 3}}`), so a key that is exactly a name is replaced: in metadata any name,
//! in arguments and results of tools a name of several words.

use std::ops::Range;

/// The kind of a piece of raw JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    /// The metadata of a source.
    Metadata,
    /// The arguments or the result of a tool.
    ToolData,
    /// The definition of a tool.
    Definition,
}

/// Keys of definitions with names of tools, parameters and types as values.
const NAMING: [&str; 6] = ["name", "required", "type", "$ref", "enum", "format"];

/// Ranges of raw JSON in which names are not searched for.
#[derive(Debug)]
pub(crate) struct Fixed {
    json: Json,
    /// The insides of strings, in order, and whether they are keys.
    strings: Vec<(Range<usize>, bool)>,
}

impl Fixed {
    /// The fixed strings of a piece of JSON; in broken JSON, those that can be recognised.
    pub(crate) fn of(text: &str, json: Json) -> Self {
        let mut strings = Vec::new();
        // For every open container: whether it is an object, and whether its values name tools or fields.
        let mut open: Vec<(bool, bool)> = Vec::new();
        let mut is_key_next = false;
        let mut names_next = false;
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            at += 1;
            match byte {
                b'{' | b'[' => {
                    open.push((*byte == b'{', names_next));
                    is_key_next = *byte == b'{';
                }
                b'}' | b']' => {
                    open.pop();
                }
                b',' => {
                    // A comma outside of any container separates nothing.
                    let (is_object, names) = open.last().copied().unwrap_or_default();
                    is_key_next = is_object;
                    names_next = !is_object && names;
                }
                b'"' => {
                    let end = string_end(text, at);
                    let inside = at..end;
                    if is_key_next {
                        names_next = json == Json::Definition
                            && text.get(inside.clone()).is_some_and(|key| NAMING.contains(&key));
                        strings.push((inside, true));
                        is_key_next = false;
                    } else if names_next {
                        strings.push((inside, false));
                    }
                    at = end + 1;
                }
                _ => {}
            }
        }
        Self { json, strings }
    }

    /// Whether a name at a place of the text is kept.
    pub(crate) fn holds(&self, text: &str, name: &Range<usize>) -> bool {
        let after = self
            .strings
            .partition_point(|(string, _)| string.start <= name.start);
        let Some((string, is_key)) = after.checked_sub(1).and_then(|index| self.strings.get(index)) else {
            return false;
        };
        if name.start >= string.end {
            return false;
        }
        let is_somebody = match self.json {
            Json::Metadata => true,
            Json::ToolData => text
                .get(name.clone())
                .is_some_and(|name| name.contains(char::is_whitespace)),
            Json::Definition => false,
        };
        !(*is_key && is_somebody && name == string)
    }
}

/// The end of a string that begins at `from`: its closing quote, or the end of the text.
fn string_end(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected_words(text: &str, json: Json) -> Vec<&str> {
        let fixed = Fixed::of(text, json);
        let words = ["city", "Ann", "Mirela Quint"];
        let mut protected_words: Vec<(usize, &str)> = words
            .iter()
            .flat_map(|word| text.match_indices(word))
            .filter(|(at, word)| fixed.holds(text, &(*at..at + word.len())))
            .collect();
        protected_words.sort_unstable();
        protected_words.into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn keys_of_tool_data_are_not_redacted_and_values_are() {
        let text = r#"{"city": "city", "a": ["Ann", {"city of Ann": "Ann"}], "b\"": "Ann"}"#;
        assert_eq!(protected_words(text, Json::ToolData), ["city", "city", "Ann"]);
    }

    #[test]
    fn a_key_that_is_a_persons_name_is_not_fixed() {
        let text = r#"{"votes": {"Mirela Quint": 3, "Ann": 1, "the city": 0}}"#;
        assert_eq!(protected_words(text, Json::ToolData), ["Ann", "city"]);
        assert_eq!(protected_words(text, Json::Metadata), ["city"]);
        assert_eq!(
            protected_words(text, Json::Definition),
            ["Mirela Quint", "Ann", "city"]
        );
    }

    #[test]
    fn property_names_and_enum_values_of_a_definition_are_not_redacted() {
        let text = r#"{"name": "city", "description": "Ann's city", "parameters": {"properties": {"city": {"enum": ["Ann"]}},
            "required": ["x", "city"], "examples": ["Ann"]}}"#;
        assert_eq!(
            protected_words(text, Json::Definition),
            ["city", "city", "Ann", "city"]
        );
    }

    #[test]
    fn invalid_json_is_read_up_to_the_error() {
        for text in ["{\"city", "{\"a\": \"Ann", "\\", "]}{,\"Ann\"", "{\"a\\"] {
            Fixed::of(text, Json::ToolData).holds(text, &(0..1));
        }
        assert_eq!(protected_words("{\"city", Json::ToolData), ["city"]);
    }
}

//! Fields of the source that have no place in the model.

/// JSON source text as written, with numbers, key order and spacing untouched; always one valid JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RawJson(pub String);

impl RawJson {
    /// The source text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Fields that have no place in the model: names and raw values, in input order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extra(pub Vec<(String, RawJson)>);

impl Extra {
    /// The name in a selector of the form `extra.NAME`; `None` for any other word, or if the name is empty.
    pub fn selected(word: &str) -> Option<&str> {
        word.strip_prefix("extra.").filter(|name| !name.is_empty())
    }

    /// The raw value of the first field with this name.
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields as one compact JSON object; `None` if there are none.
    pub fn to_json(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut out = String::from("{");
        for (index, (key, value)) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            crate::json::push_string(&mut out, key);
            out.push(':');
            crate::json::push_compact(&mut out, value.as_str());
        }
        out.push('}');
        Some(out)
    }
}

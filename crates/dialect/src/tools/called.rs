//! Tools inferred from calls: their names, and the types of their arguments.

use std::collections::BTreeMap;

use chatmill_model::{Arguments, Message, Part, RawJson};
use serde::{Deserialize, Serialize};

use crate::tools::inferred_schema::Seen;

/// The tools that were called, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CalledTools(BTreeMap<String, Seen>);

impl CalledTools {
    /// Collects the tools that these messages call.
    pub fn of<'m>(messages: impl Iterator<Item = &'m Message>) -> Self {
        let mut tools: BTreeMap<String, Seen> = BTreeMap::new();
        for part in messages.flat_map(|message| &message.parts) {
            let Part::ToolCall(call) = part else { continue };
            let Some(name) = call.name.as_deref().filter(|name| !name.is_empty()) else {
                continue;
            };
            let tool = match tools.get_mut(name) {
                Some(tool) => tool,
                None => tools.entry(name.to_owned()).or_default(),
            };
            if let Arguments::Object(raw) = &call.arguments
                && let Ok(value) = serde_json::from_str(raw.as_str())
            {
                tool.add(&value);
            }
        }
        Self(tools)
    }

    /// Whether no tool was called.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the calls of later messages, with the same result as if all messages had been read together.
    pub fn merge(&mut self, later: Self) {
        for (name, seen) in later.0 {
            self.0.entry(name).or_default().merge(seen);
        }
    }

    /// Returns a definition of each tool; a field of the arguments is required if every call has it.
    pub fn definitions(&self) -> Vec<RawJson> {
        let definitions = self.0.iter().map(|(name, seen)| {
            let definition = serde_json::json!({"name": name, "parameters": seen.parameters()});
            RawJson(definition.to_string())
        });
        definitions.collect()
    }
}

//! Resolves `[field_map]`: parses the paths of messages in a JSON record of any form, and of their fields.

use chatmill_source::{FieldMap, MapPath, Source};

use crate::error::PlanError;
use crate::pipeline::{FieldMapSection, InputSection, Pipeline};

impl FieldMapSection {
    /// Parses the paths of the section.
    pub fn resolve(&self) -> Result<FieldMap, PlanError> {
        let path =
            |text: &String| MapPath::parse(text).map_err(|message| PlanError::value("field_map", message));
        let optional = |text: &Option<String>| text.as_ref().map(path).transpose();
        Ok(FieldMap {
            conversation: optional(&self.conversation)?,
            title: optional(&self.title)?,
            messages: path(&self.messages)?,
            role: optional(&self.role)?,
            sender: optional(&self.sender)?,
            sender_name: optional(&self.sender_name)?,
            text: optional(&self.text)?,
            time: optional(&self.time)?,
            reply_to: optional(&self.reply_to)?,
            tool_calls: optional(&self.tool_calls)?,
            tool_call_id: optional(&self.tool_call_id)?,
            message_id: optional(&self.message_id)?,
            roles: self.roles.clone(),
        })
    }
}

/// Returns the source `mapped` for a section: with the section's field map, else with that of the pipeline file.
pub(in crate::plan) fn choose(
    section: &InputSection,
    pipeline: &Pipeline,
) -> Result<&'static dyn Source, PlanError> {
    let map = section.field_map.as_ref().or(pipeline.field_map.as_ref());
    let map = map.ok_or_else(|| {
        PlanError::value(
            "input.source",
            "`mapped` needs a [field_map] with the path of the messages",
        )
    })?;
    Ok(chatmill_source::mapped(map.resolve()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_model::Role;

    fn section(text: &str) -> FieldMapSection {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_section_becomes_a_map_and_equal_maps_are_one_source() {
        let text =
            "messages = \"$.turns\"\ntext = \"$.body\"\nroles = { guest = \"user\", true = \"assistant\" }\n";
        let map = section(text).resolve().unwrap();
        assert_eq!(map.roles.get("true"), Some(&Role::Assistant));
        let (one, other) = (chatmill_source::mapped(map.clone()), chatmill_source::mapped(map));
        assert!(std::ptr::addr_eq(one, other));
    }

    #[test]
    fn a_path_that_is_none_is_refused_with_its_reason() {
        let error = section("messages = \"turns\"").resolve().unwrap_err();
        assert!(error.to_string().contains("begins with $"), "{error}");
    }
}

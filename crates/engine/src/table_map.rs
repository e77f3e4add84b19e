//! `[table_map]`: which table of a database holds messages, and which column is what.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatmill_source::{SOURCES, Source, TableFilter, TableMap};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pipeline::nearest;
use crate::plan::{self, PlanError};

/// One `[table_map.NAME]` section. Columns are named as the table names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableMapSection {
    /// Name of the table, with its schema (`public.posts`) where only that one is meant.
    pub table: String,
    /// Source that reads the rows.
    #[serde(default = "table_rows")]
    pub source: String,
    /// Column with the id of a message.
    #[serde(default)]
    pub id: Option<String>,
    /// Column that says to which conversation a row belongs.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Column by which the rows of a conversation are ordered; without it, `created_at`, then the order of the input.
    #[serde(default)]
    pub order: Option<String>,
    /// Column that says who speaks: a person, the assistant, the system or a tool.
    #[serde(default)]
    pub role: Option<String>,
    /// Column with the id of the sender.
    #[serde(default)]
    pub sender: Option<String>,
    /// Column with the name of the sender.
    #[serde(default)]
    pub sender_name: Option<String>,
    /// Column with the text, or with JSON that holds it.
    #[serde(default)]
    pub content: Option<String>,
    /// Column with JSON that says more about the message.
    #[serde(default)]
    pub metadata: Option<String>,
    /// Column with the id of the message that is answered.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Column with the time of the message.
    #[serde(default)]
    pub created_at: Option<String>,
    /// Further columns: what the source calls them, and their names in the table.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// All columns of the table in their order, for dumps that name them nowhere (`--inserts --data-only`).
    #[serde(default)]
    pub definition: Vec<String>,
    /// Columns whose text is JSON; without it, those of content and metadata.
    #[serde(default)]
    pub json: Option<Vec<String>>,
    /// Values of the role column, and the roles that they mean: `{ visitor = "user", operator = "assistant" }`. A truth value
    /// is written as `true` or `false`.
    #[serde(default)]
    pub roles: BTreeMap<String, RoleWord>,
    /// Rows to read: columns, and the texts of which the cell must be one. Other rows are passed over.
    #[serde(default)]
    pub filter: BTreeMap<String, Vec<String>>,
}

/// A role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoleWord {
    /// A person.
    User,
    /// The model or bot.
    Assistant,
    /// Instructions.
    System,
    /// A tool's result.
    Tool,
}

impl RoleWord {
    /// The word that sources know.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Tool => "tool",
        }
    }
}

fn table_rows() -> String {
    "table-rows".to_owned()
}

impl TableMapSection {
    /// Resolves a section.
    fn resolve(&self, name: &str) -> Result<TableMap, PlanError> {
        let source = plan::source(&self.source)?.ok_or_else(|| PlanError::Value {
            key: "table_map.source",
            message: "a table has no content to detect its source by; name one".to_owned(),
        })?;
        let named = [
            ("id", &self.id),
            ("conversation", &self.conversation),
            ("order", &self.order),
            ("role", &self.role),
            ("sender", &self.sender),
            ("sender_name", &self.sender_name),
            ("content", &self.content),
            ("metadata", &self.metadata),
            ("reply_to", &self.reply_to),
            ("created_at", &self.created_at),
        ];
        let mut columns: Vec<(String, String)> = named
            .into_iter()
            .filter_map(|(ours, theirs)| Some((ours.to_owned(), theirs.clone()?)))
            .collect();
        columns.extend(
            self.columns
                .iter()
                .map(|(ours, theirs)| (ours.clone(), theirs.clone())),
        );
        if self.table.is_empty() || (columns.is_empty() && self.definition.is_empty()) {
            return Err(PlanError::Value {
                key: "table_map",
                message: format!("`{name}` names no table or no column"),
            });
        }
        let json = self.json.clone().unwrap_or_else(|| {
            [&self.content, &self.metadata]
                .into_iter()
                .filter_map(Clone::clone)
                .collect()
        });
        let mut requires: Vec<String> = columns.iter().map(|(_, theirs)| theirs.clone()).collect();
        requires.extend(self.filter.keys().cloned());
        Ok(TableMap {
            name: name.to_owned(),
            source: source.id().to_owned(),
            table: self.table.clone(),
            requires,
            columns,
            json,
            definition: self.definition.clone(),
            filters: self
                .filter
                .iter()
                .map(|(column, texts)| TableFilter {
                    column: column.clone(),
                    one_of: texts.iter().cloned().map(Some).collect(),
                })
                .collect(),
            roles: self
                .roles
                .iter()
                .map(|(word, role)| (word.clone(), role.as_str().to_owned()))
                .collect(),
            is_own: true,
        })
    }
}

/// The maps of an input: the one that is named, else those of the pipeline file, then every preset.
pub fn choose(
    named: Option<&str>,
    sections: &BTreeMap<String, TableMapSection>,
) -> Result<Arc<[TableMap]>, PlanError> {
    let mut maps = Vec::with_capacity(sections.len());
    for (name, section) in sections {
        maps.push(section.resolve(name)?);
    }
    maps.extend(SOURCES.iter().copied().flat_map(Source::tables));
    let Some(named) = named else {
        return Ok(maps.into());
    };
    // Several maps may share a name: the tables of one system.
    let chosen: Vec<TableMap> = maps.iter().filter(|map| map.name == named).cloned().collect();
    if chosen.is_empty() {
        return Err(PlanError::UnknownWord {
            key: "input.tables",
            what: "table map",
            word: named.to_owned(),
            suggestion: nearest(named, maps.iter().map(|map| map.name.as_str())).map(str::to_owned),
        });
    }
    Ok(chosen.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> BTreeMap<String, TableMapSection> {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_section_names_its_columns_in_the_words_of_the_source() {
        let sections = sections(
            "[desk]\nsource = \"openai-messages\"\ntable = \"public.posts\"\nid = \"post\"\nconversation = \"room\"\n\
             content = \"body\"\nfilter = { deleted = [\"f\"] }\n[desk.columns]\nlanguage = \"lang\"\n",
        );
        let maps = choose(Some("desk"), &sections).unwrap();
        assert_eq!(maps.len(), 1);
        let pairs = [
            ("id", "post"),
            ("conversation", "room"),
            ("content", "body"),
            ("language", "lang"),
        ];
        assert_eq!(
            maps[0].columns,
            pairs.map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()))
        );
        assert_eq!(maps[0].requires, ["post", "room", "body", "lang", "deleted"]);
        assert_eq!(maps[0].json, ["body"]);
        assert_eq!(maps[0].filters[0].one_of, [Some("f".to_owned())]);
    }

    #[test]
    fn a_map_that_does_not_exist_is_named_with_the_nearest() {
        let sections = sections("[helpdesk]\nsource = \"openai-messages\"\ntable = \"t\"\ncontent = \"c\"\n");
        let error = choose(Some("help-desk"), &sections).unwrap_err().to_string();
        assert!(error.contains("did you mean `helpdesk`"), "{error}");
    }

    #[test]
    fn a_section_without_columns_or_with_a_detected_source_is_refused() {
        for text in [
            "[a]\nsource = \"openai-messages\"\ntable = \"t\"\n",
            "[a]\nsource = \"auto\"\ntable = \"t\"\ncontent = \"c\"\n",
        ] {
            assert!(choose(None, &sections(text)).is_err(), "{text}");
        }
    }
}

//! `[table_map]`: which table of a database holds messages, and which column is what.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatmill_source::{SOURCES, Source, TableFilter, TableMap};

use super::require;
use super::source::built_in;
use crate::error::PlanError;
use crate::pipeline::TableMapSection;

impl TableMapSection {
    /// Resolves a section.
    fn resolve(&self, name: &str) -> Result<TableMap, PlanError> {
        let problem = "a table has no content to detect its source by; name one";
        require(self.source != "auto", "table_map.source", problem)?;
        let source = built_in(&self.source)?;
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
        let mut tables = self.table.names().iter().cloned();
        let table = tables.next().unwrap_or_default();
        let also: Vec<String> = tables.collect();
        let is_named = !table.is_empty() && also.iter().all(|name| !name.is_empty());
        let names_some = is_named && !(columns.is_empty() && self.definition.is_empty());
        let problem = format!("`{name}` names no table or no column");
        require(names_some, "table_map", problem)?;
        let json = self.json.clone();
        let known: Vec<String> = source.tables().into_iter().flat_map(|map| map.json).collect();
        let mut requires: Vec<String> = columns.iter().map(|(_, theirs)| theirs.clone()).collect();
        requires.extend(self.filter.keys().cloned());
        // A reader of whole records finds the columns of its own table under their names, whatever the map calls them.
        let names_theirs = columns.iter().any(|(_, theirs)| known.contains(theirs));
        if names_theirs && !columns.iter().any(|(ours, _)| known.contains(ours)) {
            columns.clear();
        }
        // The reader of a known system has columns of JSON by its names for them.
        let of_source = || {
            if columns.is_empty() {
                return known;
            }
            let is_json = |ours: &String| ours == "metadata" || known.contains(ours);
            let theirs = columns.iter().filter(|(ours, _)| is_json(ours));
            theirs.map(|(_, theirs)| theirs.clone()).collect()
        };
        let json = json.unwrap_or_else(of_source);
        Ok(TableMap {
            name: name.to_owned(),
            source: source.id().to_owned(),
            table,
            also,
            requires,
            columns,
            json,
            truths: Vec::new(),
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
pub(super) fn choose(
    named: Option<&str>,
    sections: &BTreeMap<String, TableMapSection>,
) -> Result<Arc<[TableMap]>, PlanError> {
    let mut maps = Vec::with_capacity(sections.len());
    for (name, section) in sections {
        maps.push(section.resolve(name)?);
    }
    // Where the user says which tables are meant, no other is read for its columns alone; a known system's map comes before such.
    let presets = SOURCES.iter().copied().flat_map(Source::tables);
    let (any, presets): (Vec<_>, Vec<_>) = presets.partition(|map| map.table == TableMap::ANY);
    maps.extend(presets);
    maps.extend(any.into_iter().filter(|_| sections.is_empty()));
    let Some(named) = named else {
        return Ok(maps.into());
    };
    // Several maps may share a name: the tables of one system.
    let chosen: Vec<TableMap> = maps.iter().filter(|map| map.name == named).cloned().collect();
    if chosen.is_empty() {
        return Err(PlanError::unknown(
            "input.tables",
            "table map",
            named,
            maps.iter().map(|map| map.name.as_str()),
        ));
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
        assert_eq!(maps[0].json, [""; 0]);
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

//! Resolves `[table_map]`: the table of a database that contains messages, and the meaning of its columns.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chatmill_intake::table::SenderTable;
use chatmill_model::Role;
use chatmill_source::{SOURCES, Source, TableFilter, TableMap};

use crate::error::PlanError;
use crate::pipeline::{SenderTableSection, TableMapSection, TableNames};
use crate::plan::require;
use crate::plan::source::built_in;

impl TableMapSection {
    /// Resolves a section of this name.
    fn resolve(&self, name: &str) -> Result<TableMap, PlanError> {
        let problem = "a table has no content to detect its source by; name one";
        require(self.source != "auto", "table_map.source", problem)?;
        let source = built_in(&self.source)?;
        let mut own = self.clone();
        let named = COLUMN_KEYS.into_iter().zip(own.keys_mut());
        let mut columns: Vec<(String, String)> = named
            .filter_map(|(ours, theirs)| Some((ours.to_owned(), theirs.take()?)))
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
        let senders = self.sender_from.as_ref().map(SenderTableSection::resolve);
        if let Some(senders) = &senders {
            let problem =
                "it needs the column `sender` of the table map, and `name` or `agent` of the other table";
            let has_some = senders.name.is_some() || senders.agent.is_some();
            require(
                has_some && self.sender.is_some(),
                "table_map.sender_from",
                problem,
            )?;
            let problem =
                "rows have a column with roles, which already marks agents: leave out `agent` or `role`";
            let has_roles = self.role.is_some() && self.role != self.sender;
            require(
                senders.agent.is_none() || !has_roles,
                "table_map.sender_from",
                problem,
            )?;
        }
        let json = self.json.clone();
        let known: Vec<String> = source.tables().into_iter().flat_map(|map| map.json).collect();
        let mut requires: Vec<String> = columns.iter().map(|(_, theirs)| theirs.clone()).collect();
        requires.extend(self.filter.keys().cloned());
        // The source of a known system expects the columns of that system. If the table has these names
        // and the map gives them to no other columns, nothing is renamed.
        let names_theirs = columns.iter().any(|(_, theirs)| known.contains(theirs));
        if names_theirs && !columns.iter().any(|(ours, _)| known.contains(ours)) {
            columns.clear();
        }
        // Without `json` in the section, the source knows which of its columns contain JSON.
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
            conversation_names: &[],
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
            senders,
            is_own: true,
            refusal: None,
        })
    }
}

impl SenderTableSection {
    fn resolve(&self) -> SenderTable {
        SenderTable {
            table: self.table.clone(),
            id: self.id.clone(),
            name: self.name.clone(),
            agent: self.agent.clone(),
            known: Arc::default(),
        }
    }

    /// Parses a word on the command line, `TABLE:ID:NAME:AGENT`;
    /// the last part may be missing, and the name empty.
    fn of_word(word: &str) -> Result<Self, PlanError> {
        let mut parts = word
            .split(':')
            .map(|part| Some(part.to_owned()).filter(|part| !part.is_empty()));
        let [table, id, name, agent] = [(); 4].map(|()| parts.next().flatten());
        let wrong = || {
            PlanError::value(
                "--map",
                "sender_from is TABLE:ID:NAME or TABLE:ID:NAME:AGENT, columns of another table",
            )
        };
        let (table, id) = table
            .zip(id)
            .filter(|_| parts.next().is_none())
            .ok_or_else(wrong)?;
        Ok(Self {
            table,
            id,
            name,
            agent,
        })
    }
}

/// Returns the maps of an input: the named one, else those of the pipeline
/// file followed by all presets. Senders in `assistants` are agents.
pub(in crate::plan) fn choose(
    named: Option<&str>,
    assistants: &[String],
    sections: &BTreeMap<String, TableMapSection>,
) -> Result<Arc<[TableMap]>, PlanError> {
    let mut maps = Vec::with_capacity(sections.len());
    for (name, section) in sections {
        maps.push(section.resolve(name)?);
    }
    // Presets for known systems name their tables. Generic presets fit any table with certain columns:
    // they come last, and if the user names tables, they are not used at all.
    let presets = SOURCES.iter().copied().flat_map(Source::tables);
    let (any, presets): (Vec<_>, Vec<_>) = presets.partition(|map| map.table == TableMap::ANY);
    maps.extend(presets);
    maps.extend(any.into_iter().filter(|_| sections.is_empty()));
    if !assistants.is_empty() {
        for map in maps.iter_mut().filter(|map| map.source == TABLE_ROWS) {
            name_assistants(map, assistants)?;
        }
    }
    let Some(named) = named else {
        return Ok(maps.into());
    };
    // The maps for several tables of one system share a name.
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

/// Makes these senders agents: the column with senders is also read as
/// the column with roles, where the names of these senders mean an agent.
fn name_assistants(map: &mut TableMap, assistants: &[String]) -> Result<(), PlanError> {
    let roles = "the rows have a column with roles, which already marks agents; leave out --assistant, or the role in --map";
    let senders: Vec<String> = ["sender", "sender_name"]
        .iter()
        .filter_map(|key| map.table_column(key).map(str::to_owned))
        .collect();
    if map.is_own {
        require(map.table_column("role").is_none(), "--assistant", roles)?;
        let needs = "it marks senders as agents, and the map names no column of senders: add sender=COLUMN";
        require(!senders.is_empty(), "--assistant", needs)?;
    } else if senders.is_empty() {
        map.refusal = Some(roles.to_owned());
        return Ok(());
    }
    if map.columns.is_empty() {
        // A map without columns renames nothing, and its tables have the names of the source. The
        // role is renamed below, so the other columns must be listed under these names.
        let own = map.requires.iter().map(|name| (name.clone(), name.clone()));
        map.columns = own.collect();
    }
    let as_roles = senders.into_iter().map(|theirs| ("role".to_owned(), theirs));
    map.columns.extend(as_roles);
    let agent = || Role::Assistant.as_str().to_owned();
    map.roles = assistants.iter().map(|name| (name.clone(), agent())).collect();
    Ok(())
}

impl TableMapSection {
    /// Parses the map of a command line, with words `KEY=COLUMN`.
    /// Without a table it reads the only table that has the columns.
    pub fn of_words(words: &[String]) -> Result<Self, PlanError> {
        const KEY: &str = "--map";
        let mut map = Self {
            table: TableNames::One(TableMap::ANY.to_owned()),
            source: TABLE_ROWS.to_owned(),
            ..Self::default()
        };
        let mut named = BTreeSet::new();
        for word in words {
            let pair = word
                .split_once('=')
                .filter(|(key, column)| !key.is_empty() && !column.is_empty());
            let wrong = || {
                PlanError::value(
                    KEY,
                    format!("`{word}` is no pair of a key and a column, such as content=text"),
                )
            };
            let (key, column) = pair.ok_or_else(wrong)?;
            let twice = format!("{key} is given twice");
            require(named.insert(key) || key == "table", KEY, twice)?;
            let column = column.to_owned();
            match (key, map.key(key)) {
                ("table", _) => map.table = map.table.with(column),
                ("source", _) => map.source = column,
                ("sender_from", _) => map.sender_from = Some(SenderTableSection::of_word(&column)?),
                ("json", _) => map.json.get_or_insert_default().push(column),
                (_, Some(place)) => *place = Some(column),
                (_, None) => _ = map.columns.insert(key.to_owned(), column),
            }
        }
        if map.source != TABLE_ROWS {
            return Ok(map);
        }
        if let Some(key) = map.columns.keys().next() {
            let known = COLUMN_KEYS
                .into_iter()
                .chain(["table", "source", "json", "sender_from"]);
            return Err(PlanError::unknown(KEY, "key of a table map", key, known));
        }
        let is_enough = map.content.is_some() && (map.role.is_some() || map.sender.is_some());
        let problem = "it needs content=COLUMN, and sender=COLUMN or role=COLUMN";
        require(is_enough, KEY, problem)?;
        Ok(map)
    }

    /// Returns the place for the column of a key.
    fn key(&mut self, key: &str) -> Option<&mut Option<String>> {
        let mut all = self.keys_mut().into_iter().zip(COLUMN_KEYS);
        all.find_map(|(place, known)| (known == key).then_some(place))
    }

    /// Returns the places of all columns, in the order of [`COLUMN_KEYS`].
    fn keys_mut(&mut self) -> [&mut Option<String>; COLUMN_KEYS.len()] {
        [
            &mut self.id,
            &mut self.conversation,
            &mut self.order,
            &mut self.role,
            &mut self.sender,
            &mut self.sender_name,
            &mut self.content,
            &mut self.metadata,
            &mut self.reply_to,
            &mut self.created_at,
        ]
    }
}

/// The keys of a map that name a column.
const COLUMN_KEYS: [&str; 10] = [
    "id",
    "conversation",
    "order",
    "role",
    "sender",
    "sender_name",
    "content",
    "metadata",
    "reply_to",
    "created_at",
];

/// The source for rows of tables that belong to no known system.
const TABLE_ROWS: &str = "table-rows";

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
        let maps = choose(Some("desk"), &[], &sections).unwrap();
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
        let error = choose(Some("help-desk"), &[], &sections).unwrap_err().to_string();
        assert!(error.contains("did you mean `helpdesk`"), "{error}");
    }

    #[test]
    fn a_section_without_columns_or_with_a_detected_source_is_refused() {
        for text in [
            "[a]\nsource = \"openai-messages\"\ntable = \"t\"\n",
            "[a]\nsource = \"auto\"\ntable = \"t\"\ncontent = \"c\"\n",
        ] {
            assert!(choose(None, &[], &sections(text)).is_err(), "{text}");
        }
    }
}

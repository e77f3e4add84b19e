//! Names and roles of senders from a separate table, for rows that have only the id of the sender.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{Cell, push_string, roles, truth_of};
use crate::json;
use crate::table::TableMap;

/// The table with the names of senders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderTable {
    /// The name of the table, or of a CSV file.
    pub table: String,
    /// The column with the id by which rows refer to a sender.
    pub id: String,
    /// The column with the name.
    pub name: Option<String>,
    /// The column that marks agents.
    pub agent: Option<String>,
    /// The senders, once the table has been read.
    pub known: Arc<OnceLock<Senders>>,
}

/// The senders of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Senders {
    by_id: BTreeMap<String, Person>,
    bytes: u64,
}

/// A person or an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Person {
    name: Option<String>,
    role: Option<String>,
}

impl SenderTable {
    /// The map that reads the table.
    pub fn map(&self) -> TableMap {
        let keys = [
            ("id", Some(&self.id)),
            ("name", self.name.as_ref()),
            ("agent", self.agent.as_ref()),
        ];
        let columns = keys
            .into_iter()
            .filter_map(|(ours, theirs)| Some((ours, theirs?)));
        TableMap {
            table: self.table.clone(),
            requires: columns.clone().map(|(_, theirs)| theirs.clone()).collect(),
            columns: columns
                .map(|(ours, theirs)| (ours.to_owned(), theirs.clone()))
                .collect(),
            is_own: true,
            ..TableMap::default()
        }
    }
}

impl Senders {
    /// Adds the sender in a row that the table's map has written; `names` are the roles of certain names.
    pub fn add(&mut self, row: &[u8], names: &[(String, String)]) {
        let Ok(document) = json::scan(row, u32::MAX) else {
            return;
        };
        let text = |key| {
            let value = document.root().get(key)?;
            let text = match value.kind() {
                json::Kind::String => value.as_str()?.into_owned(),
                json::Kind::Number | json::Kind::Bool(_) => value.raw().to_owned(),
                _ => return None,
            };
            Some(text).filter(|text| !text.is_empty())
        };
        let Some(id) = text("id") else { return };
        let name = text("name");
        let is_agent = text("agent").and_then(|text| truth_of(text.as_bytes())) == Some(true);
        let of_name = || names.iter().find(|(word, _)| name.as_ref() == Some(word));
        let role = if is_agent {
            Some("assistant".to_owned())
        } else {
            of_name().map(|(_, role)| role.clone())
        };
        self.bytes += (id.len() + name.as_ref().map_or(0, String::len)) as u64;
        self.by_id.insert(id, Person { name, role });
    }

    /// The number of bytes of all ids and names.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The senders, and whether the rows also have a column of names.
#[derive(Clone, Debug)]
pub(in crate::table) struct SenderNames {
    known: Arc<OnceLock<Senders>>,
    has_name: bool,
}

impl SenderNames {
    /// Writes the name and the role of a sender after its id; true if a role was written.
    pub(in crate::table) fn write(&self, sender: &Cell<'_>, has_role: bool, out: &mut Vec<u8>) -> bool {
        let person = self
            .known
            .get()
            .and_then(|known| known.by_id.get(&roles::word(sender)));
        if let Some(name) = person
            .and_then(|person| person.name.as_ref())
            .filter(|_| !self.has_name)
        {
            out.extend_from_slice(b",\"sender_name\":");
            push_string(name, out);
        }
        let Some(role) = person
            .and_then(|person| person.role.as_ref())
            .filter(|_| !has_role)
        else {
            return false;
        };
        out.push(b',');
        roles::write(role, sender, out);
        true
    }
}

impl TableMap {
    /// The names of the senders, if another table has them.
    pub(in crate::table) fn sender_names(&self) -> Option<SenderNames> {
        Some(SenderNames {
            known: Arc::clone(&self.senders.as_ref()?.known),
            has_name: self.columns.iter().any(|(ours, _)| ours == "sender_name"),
        })
    }
}

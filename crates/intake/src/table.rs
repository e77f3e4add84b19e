//! Database tables as inputs: the map decides which tables are read and under which names their columns appear in a row.
//!
//! A source receives a row of a table as one JSON object, whatever the table was stored in (a dump, CSV, a database
//! file): column names are keys, `NULL` is `null`, text is a string, and columns of JSON are embedded.

pub(crate) mod column;
pub(crate) mod copy;
pub(crate) mod csv;
mod escape;
pub mod extended;
pub(crate) mod literal;
mod object;
pub(crate) mod row;
pub(crate) mod sql;
pub(crate) mod statement;
pub(crate) mod times;

use std::borrow::Cow;

pub use row::senders::{SenderTable, Senders};

/// The table to read, the source that reads it, and the names of its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableMap {
    /// The name of the map: a preset, or a section of the pipeline file.
    pub name: String,
    /// The id of the source that reads the rows.
    pub source: String,
    /// The name of the table; with its schema (`public.messages`) if only that one is meant.
    pub table: String,
    /// Further tables with rows that count as rows of that table.
    pub also: Vec<String>,
    /// Columns that the table must have, under their names in the table.
    pub requires: Vec<String>,
    /// For each renamed column, the source's name and the table's. Other columns keep their names.
    pub columns: Vec<(String, String)>,
    /// The names that a table may give to the column [`TableMap::CONVERSATION`], in lower case with letters and digits only, the most
    /// probable first; empty if the map names the column as the table does.
    pub conversation_names: &'static [&'static str],
    /// Columns, under the table's names, with text that is JSON; valid JSON is embedded.
    pub json: Vec<String>,
    /// All columns of the table in order, for rows without column names; usually empty.
    pub definition: Vec<String>,
    /// Conditions that a row must meet; other rows are skipped.
    pub filters: Vec<TableFilter>,
    /// Columns, under the table's names, in which all values are truth values although the rows may write them differently.
    pub truths: Vec<String>,
    /// Values of the role column, as text, and the roles that they mean.
    pub roles: Vec<(String, String)>,
    /// The table with the names of senders.
    pub senders: Option<SenderTable>,
    /// Whether the user wrote the map for their tables; such a map also renames the fields of JSON rows.
    pub is_own: bool,
    /// Why a table is refused although the map recognises it.
    pub refusal: Option<String>,
}

/// A condition on a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFilter {
    /// The column, under its name in the table.
    pub column: String,
    /// The texts of which the cell must be one; `None` is `NULL`.
    pub one_of: Vec<Option<String>>,
}

/// Schemas with accounts, keys and files: their tables are read only if a map names them with the schema.
const GUARDED: [&str; 4] = ["auth", "pgsodium", "storage", "vault"];

impl TableMap {
    /// The name of a map's table if it reads any table; then the columns decide.
    pub const ANY: &'static str = "*";

    /// The source's name for the column with the conversation.
    pub const CONVERSATION: &'static str = "conversation";

    /// Whether this map reads a table; `columns` are the names in the table.
    ///
    /// Schema and table are compared as written, without quotes. `table` is `None` for CSV files, which do not name their table.
    pub fn reads(&self, table: Option<&str>, columns: &[String]) -> bool {
        let has = |wanted: &String| match self.conversation_names {
            [] => columns.contains(wanted),
            _ if wanted == Self::CONVERSATION => self.conversation_in(columns).is_some(),
            _ => columns.contains(wanted),
        };
        table.is_none_or(|table| self.names(table)) && self.requires.iter().all(has)
    }

    /// The column that names the conversation, if the map knows several names for it.
    fn conversation_in<'n>(&self, columns: &'n [String]) -> Option<&'n String> {
        let mut known = self.conversation_names.iter();
        known.find_map(|known| columns.iter().find(|column| is_spelling_of(column, known)))
    }

    /// This map with the name that a table with these columns gives to the conversation.
    #[must_use]
    pub fn spelled_as(&self, columns: &[String]) -> Cow<'_, Self> {
        let Some(name) = self.conversation_in(columns) else {
            return Cow::Borrowed(self);
        };
        let mut map = self.clone();
        let theirs = map.columns.iter_mut().map(|(_, theirs)| theirs);
        for known in theirs
            .chain(&mut map.requires)
            .filter(|known| *known == Self::CONVERSATION)
        {
            known.clone_from(name);
        }
        map.conversation_names = &[];
        Cow::Owned(map)
    }

    /// Whether this map is for a table of this name, whatever its columns are: `messages` matches that table in any
    /// schema except those with secrets, and `public.messages` matches it only in that schema, in any database.
    pub fn names(&self, table: &str) -> bool {
        self.whole(table).is_some()
    }

    /// The whole table to which a table of this name belongs, if the map names it: itself, or for one of the further
    /// tables, the map's table in the same schema.
    pub(crate) fn whole(&self, table: &str) -> Option<String> {
        let mut names = std::iter::once(&self.table).chain(&self.also);
        names.find_map(|name| {
            let last = table.rfind('.').map_or(table, |dot| table.split_at(dot + 1).1);
            let (name, first) = match name.as_str() {
                Self::ANY => (last, last),
                name => (name, self.table.as_str()),
            };
            let before = table.strip_suffix(name)?;
            let schema = before.strip_suffix('.').and_then(|path| path.rsplit('.').next());
            let is_guarded = schema.is_some_and(|schema| GUARDED.contains(&schema)) && !name.contains('.');
            let is_named = (before.is_empty() || before.ends_with('.')) && !is_guarded;
            is_named.then(|| format!("{before}{first}"))
        })
    }

    /// The table's name for a column of the source.
    pub fn table_column(&self, ours: &str) -> Option<&str> {
        let mut columns = self.columns.iter();
        let named = columns.find(|(name, _)| name == ours).map(|(_, column)| column);
        let own = || {
            self.requires
                .iter()
                .find(|name| *name == ours && self.columns.is_empty())
        };
        named.or_else(own).map(String::as_str)
    }

    /// The name of the map's table; for a map of any table, that of `table` if it is known.
    pub(crate) fn display_name<'n>(&'n self, table: Option<&'n str>) -> &'n str {
        let any = table.filter(|_| self.table == Self::ANY);
        any.unwrap_or(&self.table)
    }

    /// The first map that reads a table.
    pub fn find<'m>(maps: &'m [Self], table: Option<&str>, columns: &[String]) -> Option<&'m Self> {
        maps.iter().find(|map| map.reads(table, columns))
    }
}

/// Whether a name is a spelling of one in lower case with letters and digits only: `Chat ID` and `chat_id` are `chatid`.
pub fn is_spelling_of(name: &str, plain: &str) -> bool {
    let signs = name.chars().filter(|sign| sign.is_alphanumeric());
    signs.flat_map(char::to_lowercase).eq(plain.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(table: &str) -> TableMap {
        TableMap {
            table: table.to_owned(),
            requires: vec!["id".to_owned(), "body".to_owned()],
            ..TableMap::default()
        }
    }

    #[test]
    fn a_map_reads_its_table_in_any_schema_unless_it_names_one() {
        let columns: Vec<String> = ["id", "body", "extra"].map(str::to_owned).to_vec();
        assert!(map("posts").reads(Some("public.posts"), &columns));
        assert!(map("posts").reads(Some("posts"), &columns));
        assert!(map("posts").reads(None, &columns));
        assert!(!map("posts").reads(Some("public.users"), &columns));
        assert!(map("auth.posts").reads(Some("auth.posts"), &columns));
        assert!(!map("auth.posts").reads(Some("public.posts"), &columns));
        assert!(map("auth.posts").reads(Some("shop.auth.posts"), &columns));
        assert!(!map("posts").reads(Some("public.reposts"), &columns));
        assert!(
            !map("posts").reads(Some("auth.posts"), &columns),
            "it may hold secrets"
        );
        assert!(
            !map("posts").reads(Some("shop.vault.posts"), &columns),
            "it may hold secrets"
        );
        assert!(!map("posts").reads(Some("posts"), &columns[..1]));
    }
}

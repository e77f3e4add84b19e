//! The registry of tables: one file and one line per table, in the order of the manifest.
//!
//! A table is a list of columns and a sentence. The line below gives its name and its folder in the dataset, its writer
//! in [`PartSet`], its documentation, its place in the manifest and, with `by`, the column by which its files may be
//! partitioned.

use arrow_schema::SchemaRef;

use crate::error::DatasetError;
use crate::parquet::chunk::Context;
use crate::parquet::compression::Compression;
use crate::parquet::key::Key;
use crate::tables::describe::page;
use crate::tables::memory::MemoryTable;
use crate::tables::options::TableOptions;
use crate::tables::part::{self, Medium, Slot, WrittenPart};
use crate::tables::part_file::{PartFile, SlicePlace};
use crate::tables::table::{Table, schema};

/// A table without its row type, for code that treats all tables alike.
pub(crate) struct Registered {
    pub(crate) name: &'static str,
    pub(crate) schema: fn(&[String]) -> SchemaRef,
    pub(crate) describe: fn() -> String,
    /// Writes the file of a table that has no rows.
    pub(crate) write_empty: fn(&SlicePlace, &TableOptions) -> Result<WrittenPart, DatasetError>,
}

macro_rules! tables {
    ($($module:ident: $columns:ident, $row:ident, $push:ident, $writes:ident $(, by $dialect:ident)?;)+) => {
        $(pub(crate) mod $module;)+
        $(pub use $module::$row;)+
        $(pub(crate) use $module::$columns;)+

        $(impl Table for $columns {
            const NAME: &'static str = stringify!($module);
            const ABOUT: &'static str = $module::ABOUT;

            $(fn dialect(row: &$row<'_>) -> Option<Key> {
                Some(row.$dialect)
            })?
        })+

        /// The names of all tables, in the order of the manifest.
        pub const TABLES: &[&str] = &[$($columns::NAME),+];

        /// All tables.
        pub(crate) static REGISTRY: &[Registered] = &[$(Registered {
            name: $columns::NAME,
            schema: schema::<$columns>,
            describe: page::<$columns>,
            write_empty: part::write_empty::<$columns>,
        }),+];

        /// The open files of one slice: at most one per table, or one per table and dialect, each created at its first row.
        pub struct PartSet {
            medium: Medium,
            options: TableOptions,
            context: Context,
            $($module: Slot<$columns>,)+
        }

        impl PartSet {
            pub(crate) fn new(medium: Medium, options: TableOptions) -> Self {
                $(let $module = Slot::new(&options);)+
                let context = Context::new(options.compression);
                Self { medium, options, context, $($module,)+ }
            }

            $(
                #[doc = concat!("Adds a row to the table `", stringify!($module), "`, where that is written.")]
                pub fn $push(&mut self, row: $row<'_>) -> Result<(), DatasetError> {
                    self.$module.push(row, &self.medium, &self.options, &mut self.context)
                }

                #[doc = concat!("Whether the table `", stringify!($module), "` is written; if not, its rows are not needed.")]
                pub fn $writes(&self) -> bool {
                    self.$module.is_written()
                }
            )+

            /// Finishes all open files and returns them in the order of the tables.
            ///
            /// Each file is flushed, closed, read back for its footer rows and hash, synced and renamed into place, and
            /// then its folder is synced. A set that is dropped instead leaves only temporary files.
            pub fn close(mut self) -> Result<Vec<PartFile>, DatasetError> {
                let Medium::Staging(place) = &self.medium else {
                    return Ok(Vec::new());
                };
                let mut parts = Vec::new();
                $(parts.extend(self.$module.close(&mut self.context)?);)+
                part::finish(parts, place)
            }

            /// Finishes the tables of a set in memory, in registry order; tables without rows are empty.
            pub fn read_back(mut self) -> Result<Vec<MemoryTable>, DatasetError> {
                Ok(vec![$(self.$module.read_back(&mut self.context)?),+])
            }
        }
    };
}

tables! {
    conversations: ConversationColumns, ConversationRow, push_conversation, writes_conversations;
    messages: MessageColumns, MessageRow, push_message, writes_messages;
    alternatives: AlternativeColumns, AlternativeRow, push_alternative, writes_alternatives;
    message_references: ReferenceColumns, ReferenceRow, push_reference, writes_references;
    tool_calls: ToolCallColumns, ToolCallRow, push_tool_call, writes_tool_calls;
    renderings: RenderingColumns, RenderingRow, push_rendering, writes_renderings, by dialect;
    token_counts: TokenCountColumns, TokenCountRow, push_token_count, writes_token_counts;
    totals: TotalColumns, TotalRow, push_total, writes_totals;
    losses: LossColumns, LossRow, push_loss, writes_losses;
    findings: FindingColumns, FindingRow, push_finding, writes_findings;
    rejects: RejectColumns, RejectRow, push_reject, writes_rejects;
}

impl PartSet {
    /// An empty set of tables in memory, without compression regardless of the options.
    pub fn in_memory(options: &TableOptions) -> Self {
        let options = TableOptions {
            compression: Compression::None,
            ..options.clone()
        };
        Self::new(Medium::Memory, options)
    }

    /// The key of a text that many rows contain.
    pub fn key(&mut self, text: &str) -> Key {
        self.context.keys.key(text)
    }
}

pub use conversations::ParticipantCell;

/// The tables that every dataset has: findings, rejects and totals.
pub(crate) const ALWAYS_WRITTEN: [&str; 3] = [TotalColumns::NAME, FindingColumns::NAME, RejectColumns::NAME];

/// The tables that are not written if only these are wanted, in registry order.
pub fn absent_tables(wanted: &[String]) -> Vec<&'static str> {
    let is_wanted = |table: &str| ALWAYS_WRITTEN.contains(&table) || wanted.iter().any(|name| name == table);
    TABLES.iter().copied().filter(|table| !is_wanted(table)).collect()
}

/// The columns that were added to a table after its format number: a dataset has all of them or none.
pub(crate) fn added(table: &str) -> &'static [&'static str] {
    match table {
        "messages" => &[
            "usage_cache_write",
            "usage_cache_write_1h",
            "usage_searches",
            "usage_requests",
            "usage_tier",
            "logged_cost",
            "answer_id",
        ],
        "totals" => &[
            "logged_cache_write",
            "logged_cache_write_1h",
            "logged_searches",
            "logged_cost_requests",
            "logged_cost",
        ],
        _ => &[],
    }
}

/// Finds a table by name.
pub(crate) fn find(name: &str) -> Option<&'static Registered> {
    REGISTRY.iter().find(|table| table.name == name)
}

/// The Arrow schema of a table in a plan with these encodings; `None` where no table has this name.
pub fn table_schema(table: &str, encodings: &[String]) -> Option<SchemaRef> {
    find(table).map(|table| (table.schema)(encodings))
}

/// Describes a table in Markdown; `None` where no table has this name.
pub fn describe(table: &str) -> Option<String> {
    find(table).map(|table| (table.describe)())
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use super::{TABLES, describe};

    #[test]
    fn the_checked_in_pages_are_those_of_the_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/tables");
        let mut expected: Vec<String> = Vec::new();
        for table in TABLES {
            let page = describe(table).unwrap();
            chatmill_golden::assert_golden(&folder.join(format!("{table}.md")), &page);
            expected.push(format!("{table}.md"));
        }
        let mut found: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(
            found, expected,
            "a page without a table, or a table without a page"
        );
    }

    #[test]
    fn an_unknown_table_has_no_page() {
        assert_eq!(describe("invoices"), None);
    }
}

//! The facts about a table, in addition to its columns.

use arrow_schema::{Schema, SchemaRef};

use crate::parquet::column::RecordColumns;
use crate::parquet::key::Key;

/// A list of columns that is a table.
pub(crate) trait Table: RecordColumns + 'static {
    /// Name of the table and of its folder.
    const NAME: &'static str;
    /// A sentence that describes a row.
    const ABOUT: &'static str;

    /// The dialect by which the files of the table may be partitioned; most tables have none.
    fn dialect(_row: &Self::Row<'_>) -> Option<Key> {
        None
    }
}

/// The Arrow schema of a table. Only the columns of the encodings depend on the plan.
pub(crate) fn schema<T: Table>(encodings: &[String]) -> SchemaRef {
    let fields = T::fields(encodings).into_iter();
    SchemaRef::new(Schema::new(fields.map(|(field, _)| field).collect::<Vec<_>>()))
}

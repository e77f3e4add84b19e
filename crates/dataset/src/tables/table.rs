//! The facts about a table beside its columns.

use arrow_schema::{Schema, SchemaRef};

use crate::parquet::column::RecordColumns;
use crate::parquet::key::Key;

/// Columns that are a table.
pub(crate) trait Table: RecordColumns + 'static {
    /// Name of the table and of its folder.
    const NAME: &'static str;
    /// One sentence on what a row is.
    const ABOUT: &'static str;

    /// The dialect by which the table's files may be parted; most tables have none.
    fn dialect(_row: &Self::Row<'_>) -> Option<Key> {
        None
    }
}

/// The Arrow schema of a table. Only the encodings' columns depend on the plan.
pub(crate) fn schema<T: Table>(encodings: &[String]) -> SchemaRef {
    let fields = T::fields(encodings).into_iter();
    SchemaRef::new(Schema::new(fields.map(|(field, _)| field).collect::<Vec<_>>()))
}

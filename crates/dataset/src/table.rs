//! What a row type says about its table.

use arrow_schema::{Schema, SchemaRef};

use crate::column::{self, Column};

/// What a row type says about its table.
pub(crate) trait Table: Sized + 'static {
    /// Name of the table and of its folder.
    const NAME: &'static str;
    /// What a row is, one sentence.
    const ABOUT: &'static str;
    /// The columns in order.
    const COLUMNS: &'static [Column<Self>];

    /// The dialect by which the table's files may be parted; most tables have none.
    fn dialect(_row: &Self) -> Option<&str> {
        None
    }
}

/// The Arrow schema of a table. Only the encodings' columns depend on the plan.
pub(crate) fn schema<T: Table>(encodings: &[String]) -> SchemaRef {
    SchemaRef::new(Schema::new(column::fields(T::COLUMNS, encodings)))
}

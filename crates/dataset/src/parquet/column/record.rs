//! Columns that are filled together, declared as a list of names, types and descriptions.
//!
//! The schema, the documentation, the columns to fill and the row follow from the list. A row has one field per column,
//! with the value borrowed until it is written.

use arrow_schema::Field;

use super::{ColumnError, EachLeaf, Leaves};
use crate::parquet::chunk::{Context, Nesting};
use crate::parquet::key::Keys;

/// Columns that are filled together: those of a table, or of the structures in a list.
pub trait RecordColumns: Sized {
    /// The values of a row, one per column.
    type Row<'r>: Clone + 'r;

    /// The Arrow fields, each with a description.
    fn fields(encodings: &[String]) -> Vec<(Field, &'static str)>;

    /// For each column, the fields of its structures.
    fn inner(encodings: &[String]) -> Vec<Vec<(Field, &'static str)>>;

    /// Creates the columns of a new file.
    fn open(leaves: &mut Leaves<'_>, encodings: &[String]) -> Result<Self, ColumnError>;

    /// The number of bytes of text and binary data in a row, which decide where row groups are cut.
    fn text_bytes(row: &Self::Row<'_>, keys: &Keys) -> usize;

    /// Writes a row at this position.
    fn push(&mut self, row: Self::Row<'_>, at: Nesting, context: &Context) -> Result<(), ColumnError>;

    /// Visits the leaves of the columns, in the order of the schema.
    fn leaves<V: EachLeaf>(&mut self, visit: &mut V) -> Result<(), ColumnError>;
}

/// Declares columns and the row that fills them.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $row:ident => $visible:vis $columns:ident {
            $($(#[$field:meta])* $name:ident: $column:ty = $meaning:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row<'r> {
            $(
                #[doc = $meaning]
                $(#[$field])*
                pub $name: <$column as crate::parquet::column::Column>::Value<'r>,
            )+
        }

        #[doc = concat!("What a [`", stringify!($row), "`] fills.")]
        $visible struct $columns {
            $(pub(crate) $name: $column,)+
        }

        impl crate::parquet::column::RecordColumns for $columns {
            type Row<'r> = $row<'r>;

            fn fields(encodings: &[String]) -> Vec<(arrow_schema::Field, &'static str)> {
                let mut fields = Vec::new();
                $(
                    let named = <$column as crate::parquet::column::Column>::fields(stringify!($name), encodings);
                    fields.extend(named.into_iter().map(|field| (field, $meaning)));
                )+
                fields
            }

            fn inner(encodings: &[String]) -> Vec<Vec<(arrow_schema::Field, &'static str)>> {
                let mut inner = Vec::new();
                $(
                    let named = <$column as crate::parquet::column::Column>::fields(stringify!($name), encodings);
                    inner.extend(named.iter().map(|_| <$column as crate::parquet::column::Column>::inner()));
                )+
                inner
            }

            fn open(
                leaves: &mut crate::parquet::column::Leaves<'_>,
                encodings: &[String],
            ) -> Result<Self, crate::parquet::column::ColumnError> {
                Ok(Self {
                    $($name: <$column as crate::parquet::column::Column>::open(leaves, encodings)?,)+
                })
            }

            fn text_bytes(row: &$row<'_>, keys: &crate::parquet::key::Keys) -> usize {
                0 $(+ <$column as crate::parquet::column::Column>::text_bytes(&row.$name, keys))+
            }

            fn push(
                &mut self,
                row: $row<'_>,
                at: crate::parquet::chunk::Nesting,
                context: &crate::parquet::chunk::Context,
            ) -> Result<(), crate::parquet::column::ColumnError> {
                $(crate::parquet::column::Column::push(&mut self.$name, row.$name, at, context)?;)+
                Ok(())
            }

            fn leaves<V: crate::parquet::column::EachLeaf>(
                &mut self,
                visit: &mut V,
            ) -> Result<(), crate::parquet::column::ColumnError> {
                $(crate::parquet::column::Column::leaves(&mut self.$name, visit)?;)+
                Ok(())
            }
        }
    };
}

pub(crate) use record;

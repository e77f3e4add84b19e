//! The columns of a table that a reader asks for, each named once: [`columns!`](crate::columns) declares a struct, and
//! its fields decide which columns are read.

use chatmill_model::Component;

use crate::error::DatasetError;
use crate::read::{Batch, Batches, Components, Dataset, Numbers};

/// Columns of a table that are read together.
pub trait Columns: Sized {
    /// The names of these columns.
    fn names() -> Vec<&'static str>;

    /// The columns of one batch.
    fn of(batch: &Batch) -> Result<Self, DatasetError>;
}

/// The batch itself as a struct of columns, for errors about one of its rows.
impl Columns for Batch {
    fn names() -> Vec<&'static str> {
        Vec::new()
    }

    fn of(batch: &Batch) -> Result<Self, DatasetError> {
        Ok(batch.clone())
    }
}

impl Columns for Components {
    fn names() -> Vec<&'static str> {
        Component::ALL.map(Component::as_str).to_vec()
    }

    fn of(batch: &Batch) -> Result<Self, DatasetError> {
        let columns = Component::ALL.into_iter();
        let columns = columns.map(|component| Ok((component, batch.column(component.as_str())?)));
        columns.collect::<Result<_, _>>().map(Components)
    }
}

/// A callback for one row: it receives the columns, further columns of numbers, and the index of the row in them.
pub type RowVisit<'v, C> = dyn FnMut(&C, &[Numbers], usize) -> Result<(), DatasetError> + 'v;

impl Dataset {
    /// Visits the rows of a table one by one; the callback gets the columns and the index of the row in them.
    pub fn each_row<C: Columns>(
        &self,
        table: &str,
        visit: &mut dyn FnMut(&C, usize),
    ) -> Result<(), DatasetError> {
        self.each_row_with(table, &[], &mut |columns, _, row| {
            visit(columns, row);
            Ok(())
        })
    }

    /// Visits the rows with further columns of numbers, such as those that have an encoding in their name. The first
    /// error ends the visit.
    pub fn each_row_with<C: Columns>(
        &self,
        table: &str,
        more: &[String],
        visit: &mut RowVisit<'_, C>,
    ) -> Result<(), DatasetError> {
        let mut names: Vec<&str> = C::names();
        names.extend(more.iter().map(String::as_str));
        self.scan(table, &names, &mut |batch| {
            let numbers = more.iter().map(|name| batch.column(name));
            let (columns, numbers) = (C::of(batch)?, numbers.collect::<Result<Vec<Numbers>, _>>()?);
            (0..batch.rows()).try_for_each(|row| visit(&columns, &numbers, row))
        })
    }
}

/// The rows of a table one by one, for callers that read several tables in parallel.
pub struct Rows<'d, C> {
    batches: Batches<'d>,
    open: Option<C>,
    row: usize,
    /// The number of rows in the current batch.
    length: usize,
}

impl<'d, C: Columns> Rows<'d, C> {
    /// The rows of a table of a dataset.
    pub fn of(dataset: &'d Dataset, table: &str) -> Result<Self, DatasetError> {
        Self::from(dataset.batches(table, &C::names()))
    }

    /// The rows of one conversation in a table.
    pub fn of_conversation(
        dataset: &'d Dataset,
        table: &str,
        conversation: &'d str,
    ) -> Result<Self, DatasetError> {
        Self::from(dataset.batches_of(table, &C::names(), conversation))
    }

    fn from(batches: Batches<'d>) -> Result<Self, DatasetError> {
        let mut rows = Self {
            batches,
            open: None,
            row: 0,
            length: 0,
        };
        rows.fill()?;
        Ok(rows)
    }

    /// The columns of the current batch and the index of the current row in them; `None` after the last row.
    pub fn current(&self) -> Option<(&C, usize)> {
        self.open.as_ref().map(|cells| (cells, self.row))
    }

    /// Moves to the next row.
    pub fn advance(&mut self) -> Result<(), DatasetError> {
        self.row += 1;
        self.fill()
    }

    fn fill(&mut self) -> Result<(), DatasetError> {
        while self.row >= self.length {
            let Some(batch) = self.batches.next().transpose()? else {
                self.open = None;
                return Ok(());
            };
            (self.row, self.length) = (0, batch.rows());
            self.open = Some(C::of(&batch)?);
        }
        Ok(())
    }
}

/// Declares a struct of columns: each field is the column of the same name. `with field: Columns` includes another such struct.
#[macro_export]
macro_rules! columns {
    ($(
        $(#[$note:meta])*
        $of:vis struct $name:ident $(with $base:ident: $columns:ty)* {
            $($(#[$about:meta])* $column:ident: $kind:ty,)*
        }
    )*) => {
        $(
            $(#[$note])*
            $of struct $name {
                $(pub $base: $columns,)*
                $($(#[$about])* pub $column: $kind,)*
            }

            impl $crate::Columns for $name {
                fn names() -> Vec<&'static str> {
                    let mut names = vec![$(stringify!($column)),*];
                    $(names.extend(<$columns as $crate::Columns>::names());)*
                    names
                }

                fn of(batch: &$crate::Batch) -> Result<Self, $crate::DatasetError> {
                    Ok(Self {
                        $($base: <$columns as $crate::Columns>::of(batch)?,)*
                        $($column: batch.column(stringify!($column))?,)*
                    })
                }
            }
        )*
    };
}

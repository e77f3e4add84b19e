//! Columns with JSON: embedded in the row where the input does that, else as a text that is scanned here.

use chatmill_intake::json::{Document, Value};

use crate::base::Site;
use crate::base::texts::quoted_json::{CellForm, CellPlace};

/// A column with JSON.
#[derive(Clone, Copy)]
pub(super) struct Column<'d> {
    /// The JSON value of the column; `None` if it is empty or not JSON.
    pub json: Option<Value<'d>>,
    /// The column as written in the row, unless it is empty.
    pub cell: Option<Value<'d>>,
    /// The document of a text.
    quoted: Option<&'d Document<'d>>,
}

impl<'d> Column<'d> {
    /// A column of a row; `quoted` is the scanned document of a column that is a text.
    pub(super) fn of(cell: Option<Value<'d>>, quoted: Option<&'d Document<'d>>) -> Self {
        let cell = cell.filter(|value| !value.is_null() && value.written() != "\"\"");
        Self {
            json: match quoted {
                Some(document) => Some(document.root()),
                None => cell.filter(|value| value.as_str().is_none()),
            },
            cell,
            quoted,
        }
    }

    /// Reads a value inside the column `media`. Findings inside a text get the place of the whole column.
    pub(super) fn read(&self, site: &mut Site<'_>, read: impl FnOnce(&mut Site<'_>)) {
        let (Some(document), Some(cell)) = (self.quoted, self.cell) else {
            return read(site);
        };
        let inside = CellPlace {
            field: ".media",
            span: cell.span(),
            form: CellForm::Quoted,
        };
        inside.read(document.root(), site, read);
        inside.report_scan(document, site);
    }
}

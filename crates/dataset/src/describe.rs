//! The page of a table: its columns with type and meaning, in Markdown. `schemas/tables/` holds the pages.

use std::fmt::Write;

use arrow_schema::extension::Json;
use arrow_schema::{DataType, Field};

use crate::column::{self, Cell, Column, SPAN};
use crate::tables::conversations::PARTICIPANT;
use crate::tables::{self, Table};

/// Describes a table in Markdown; none when there is no table of that name.
pub fn describe(table: &str) -> Option<String> {
    tables::find(table).map(|table| (table.describe)())
}

/// Writes the page of a table.
pub(crate) fn page<T: Table>() -> String {
    let mut page = format!(
        "# {}\n\n{}\n\n| Column | Type | Null | Meaning |\n|---|---|---|---|\n",
        T::NAME,
        T::ABOUT
    );
    lines(T::COLUMNS, "", &mut page);
    page
}

fn lines<R>(columns: &[Column<R>], above: &str, page: &mut String) {
    // The name that stands for all encodings is no encoding, so it cannot clash with one.
    let any = ["⟨encoding⟩".to_owned()];
    for column in columns {
        for field in &column::fields(std::slice::from_ref(column), &any) {
            let null = if field.is_nullable() { "yes" } else { "no" };
            // Writing to a String cannot fail.
            let _ = writeln!(
                page,
                "| {above}{} | {} | {null} | {} |",
                field.name(),
                type_name(field),
                column.meaning
            );
        }
        let below = format!("{above}{}.", column.name);
        match column.cell {
            Cell::Participants(_) => lines(PARTICIPANT, &below, page),
            Cell::Spans(_) => lines(SPAN, &below, page),
            _ => {}
        }
    }
}

fn type_name(field: &Field) -> String {
    if field.has_valid_extension_type::<Json>() {
        return "string, JSON".to_owned();
    }
    match field.data_type() {
        DataType::Utf8 => "string".to_owned(),
        DataType::Int32 => "int32".to_owned(),
        DataType::Int64 => "int64".to_owned(),
        DataType::Float64 => "float64".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Binary => "binary".to_owned(),
        DataType::Timestamp(_, _) => "timestamp, µs UTC".to_owned(),
        DataType::List(element) => format!("list of {}", type_name(element)),
        DataType::Struct(_) => "struct".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests look at the files")]
mod tests {
    use super::describe;
    use crate::tables::TABLES;

    #[test]
    fn the_checked_in_pages_are_those_of_the_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/tables");
        let bless = std::env::var_os("BLESS").is_some();
        let mut expected: Vec<String> = Vec::new();
        for table in TABLES {
            let page = describe(table).unwrap();
            let file = folder.join(format!("{table}.md"));
            if bless {
                std::fs::write(&file, &page).unwrap();
            }
            assert_eq!(
                std::fs::read_to_string(&file).unwrap(),
                page,
                "run with BLESS=1 to rewrite {table}.md"
            );
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

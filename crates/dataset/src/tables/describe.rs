//! The page of a table in Markdown: its columns with type and meaning. The pages are in `schemas/tables/`.

use std::fmt::Write;

use arrow_schema::extension::Json;
use arrow_schema::{DataType, Field};

use crate::tables::table::Table;

/// Writes the page of a table.
pub(crate) fn page<T: Table>() -> String {
    let mut page = format!(
        "# {}\n\n{}\n\n| Column | Type | Null | Meaning |\n|---|---|---|---|\n",
        T::NAME,
        T::ABOUT
    );
    // The placeholder for all encodings is not the name of one, so it cannot clash.
    let any = ["⟨encoding⟩".to_owned()];
    for ((field, meaning), inner) in T::fields(&any).iter().zip(T::inner(&any)) {
        line("", field, meaning, &mut page);
        let above = format!("{}.", field.name());
        for (field, meaning) in inner {
            line(&above, &field, meaning, &mut page);
        }
    }
    page
}

fn line(above: &str, field: &Field, meaning: &str, page: &mut String) {
    let null = if field.is_nullable() { "yes" } else { "no" };
    let name = field.name();
    // Writing to a String cannot fail.
    let _ = writeln!(
        page,
        "| {above}{name} | {} | {null} | {meaning} |",
        type_name(field)
    );
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

//! Tables with lists and objects as Arrow structures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chatmill_export::{ExportError, ExportRequest, Format, NestedAs, export};
use parquet::file::reader::SerializedFileReader;
use parquet::record::{Field, Row};
use serde_json::{Map, Value};

use super::{enveloped, lines, milled, plain};

/// A row as JSON, in which missing values are no members.
fn value(field: &Field) -> Option<Value> {
    Some(match field {
        Field::Null => return None,
        Field::Bool(flag) => (*flag).into(),
        Field::Long(number) => (*number).into(),
        Field::Str(text) => text.clone().into(),
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().filter_map(value).collect(),
        other => panic!("{other:?}"),
    })
}

fn object(row: &Row) -> Value {
    let members = row.get_column_iter();
    let members = members.filter_map(|(name, field)| Some((name.clone(), value(field)?)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn rows(path: &Path) -> Vec<Value> {
    let file = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    file.into_iter().map(|row| object(&row.unwrap())).collect()
}

/// A record with arguments and parameters as values, however they were written.
fn spelled_out(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(spelled_out).collect(),
        Value::Object(members) => {
            let spelled = |(key, value): (String, Value)| match (key.as_str(), &value) {
                ("arguments" | "parameters", Value::String(text)) => {
                    let parsed = serde_json::from_str(text).unwrap_or(value);
                    (key, parsed)
                }
                _ => (key, spelled_out(value)),
            };
            Value::Object(members.into_iter().map(spelled).collect())
        }
        other => other,
    }
}

#[test]
fn a_table_of_structures_has_the_values_of_the_lines() {
    let (test_dir, dataset) = milled();
    let cases = [
        ("trl-messages", "hf-messages"),
        ("trl-prompt-completion", "hf-messages"),
        ("trl-prompts", "hf-messages"),
        ("axolotl", "hf-messages"),
        ("inspect", "hf-messages"),
        ("llama-factory", "sharegpt"),
    ];
    let mut schemas = BTreeMap::new();
    for (id, dialect) in cases {
        let request = |format, nested| ExportRequest {
            dialect: dialect.to_owned(),
            format,
            nested,
            ..enveloped(id)
        };
        let (as_lines, as_table) = (
            test_dir.path(&format!("{id}-l")),
            test_dir.path(&format!("{id}-t")),
        );
        export(&dataset, &request(Format::Jsonl, NestedAs::Json), &as_lines).unwrap();
        let summary = export(&dataset, &request(Format::Parquet, NestedAs::Struct), &as_table).unwrap();
        assert!(summary.kept > 3, "{id}");
        let wanted: Vec<Value> = lines(&as_lines, "data.jsonl")
            .iter()
            // A structure has no field for pictures in messages.
            .filter(|line| !line.contains(r#""type":"image""#))
            .map(|line| spelled_out(serde_json::from_str(line).unwrap()))
            .collect();
        let found: Vec<Value> = rows(&as_table.join("data.parquet"))
            .into_iter()
            .map(|mut row| {
                let members = row.as_object_mut().unwrap();
                for key in ["conversation_id", "dialect", "profile", "perspective", "ordinal"] {
                    assert!(members.remove(key).is_some());
                }
                spelled_out(row)
            })
            .collect();
        assert_eq!(found, wanted, "{id}");
        let file = SerializedFileReader::new(fs::File::open(as_table.join("data.parquet")).unwrap()).unwrap();
        schemas.insert(
            id,
            format!(
                "{:?}",
                parquet::file::reader::FileReader::metadata(&file)
                    .file_metadata()
                    .schema()
            ),
        );
    }
    assert!(schemas["axolotl"].contains("\"train\""));
    assert!(!schemas["trl-messages"].contains("\"train\""));
}

#[test]
fn a_column_that_no_structure_holds_is_refused_by_name() {
    let (test_dir, dataset) = milled();
    let refused = |request: &ExportRequest| {
        let out = test_dir.path("refused");
        let error = export(&dataset, request, &out).unwrap_err();
        assert!(!out.exists());
        match error {
            ExportError::ExportRequest { message, step } => format!("{message}; {step}"),
            other => panic!("{other}"),
        }
    };
    let structs = |request: ExportRequest| ExportRequest {
        format: Format::Parquet,
        nested: NestedAs::Struct,
        ..request
    };
    // A turn with a picture has a list of parts.
    let said = refused(&structs(enveloped("openai-sft")));
    assert!(
        said.contains(".content` is a list and no text in conversation"),
        "{said}"
    );
    assert!(said.contains("take `--nested json`"), "{said}");
    for (dialect, column) in [("gemini-contents", "contents"), ("bedrock-converse", "messages")] {
        let said = refused(&structs(plain(dialect)));
        let words = format!("no structure for `{column}` of {dialect}");
        assert!(said.contains(&words), "{said}");
    }
    let said = refused(&ExportRequest {
        format: Format::Jsonl,
        ..structs(plain("hf-messages"))
    });
    assert!(said.contains("`--nested` applies to Parquet only"), "{said}");
    // A text needs no structure.
    let out = test_dir.path("text");
    export(&dataset, &structs(plain("gryag-compact")), &out).unwrap();
    assert!(!rows(&out.join("data.parquet")).is_empty());
}

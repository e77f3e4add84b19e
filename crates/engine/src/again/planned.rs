//! The plan of a dataset, as far as its manifest holds what renderings are made by.

use chatmill_dataset::Dataset;
use chatmill_model::RawJson;
use serde_json::{Map, Value, json};

use super::AgainError;
use crate::pipeline::{PerspectiveChoice, Pipeline};
use crate::plan::{Plan, Target};

/// Tables from which conversations are put together.
const TABLES: [&str; 3] = ["conversations", "messages", "message_references"];

/// Families of dialects that write what only a record of their own system holds.
const OWN_SYSTEMS: [&str; 6] = [
    "group-chat",
    "tzurot",
    "gryag-gemini",
    "transcript",
    "suna-rows",
    "jaibber",
];

const RUN_AGAIN: &str = "add the dialect to `render.dialects` and run the pipeline again";

/// The plan of a dataset for one more dialect, and the dialect.
pub(super) fn plan(dataset: &Dataset, dialect: &str) -> Result<(Plan, Target), AgainError> {
    let target = Target::find(dialect)
        .map_err(|error| AgainError::refused(error.to_string(), "`chatmill dialects` lists them"))?;
    if OWN_SYSTEMS.contains(&target.dialect.about().family) {
        return Err(AgainError::refused(
            format!(
                "the dialect `{dialect}` writes records of its own system back, and the tables do not hold all of their fields"
            ),
            RUN_AGAIN,
        ));
    }
    let absent = TABLES.into_iter().find(|table| !dataset.has(table));
    if let Some(table) = absent {
        return Err(AgainError::refused(
            format!("the dialect `{dialect}` needs the table `{table}`, which `output.tables` left out"),
            RUN_AGAIN,
        ));
    }
    let written = &dataset.manifest().plan;
    let pipeline = pipeline(written, target.dialect.id(), target.profile())?;
    let replaces = written.pointer("/redact/mode") == Some(&Value::from("replace"));
    if replaces && matches!(pipeline.perspective.speaker, PerspectiveChoice::Participants(_)) {
        return Err(AgainError::refused(
            "`perspective.as` names participants, and redaction replaced their names",
            RUN_AGAIN,
        ));
    }
    let mut plan = Plan::without_inputs(pipeline)
        .map_err(|error| AgainError::refused(format!("the plan of the dataset: {error}"), RUN_AGAIN))?;
    plan.tools = definitions(written);
    Ok((plan, target))
}

/// The definitions of tools that the run added, which the manifest holds in place of their file.
fn definitions(plan: &Value) -> Vec<RawJson> {
    let written = plan.pointer("/tools/definitions").and_then(Value::as_array);
    let texts = written.into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| RawJson(text.to_owned())).collect()
}

/// The pipeline in a manifest, without what lies in files.
fn pipeline(plan: &Value, dialect: &str, profile: &str) -> Result<Pipeline, AgainError> {
    let unreadable = |reason: String| {
        AgainError::refused(
            format!("the plan in the manifest cannot be read: {reason}"),
            RUN_AGAIN,
        )
    };
    let Value::Object(mut plan) = plan.clone() else {
        return Err(unreadable("it is no object".to_owned()));
    };
    for key in ["inputs", "targets", "redact", "templates"] {
        plan.remove(key);
    }
    plan.insert("input".to_owned(), json!([{ "path": "." }]));
    plan.insert(
        "render".to_owned(),
        json!({ "dialects": [format!("{dialect}@{profile}")] }),
    );
    plan.insert("output".to_owned(), json!({ "path": "." }));
    if let Some(tools) = plan.get_mut("tools").and_then(Value::as_object_mut) {
        tools.remove("definitions");
    }
    let window = plan.get("window");
    let says = |pointer: &str| window.and_then(|window| window.pointer(pointer));
    if says("/same_for_all") == Some(&Value::Bool(true)) {
        return Err(AgainError::refused(
            "`window.same_for_all` plans the rows of all dialects of a run together",
            RUN_AGAIN,
        ));
    }
    if says("/max_tokens/template").is_some_and(Value::is_string) {
        return Err(AgainError::refused(
            "`window.max_tokens` goes by a template and a tokenizer, whose files are not in the dataset",
            RUN_AGAIN,
        ));
    }
    let budget = says("/max_tokens/encoding");
    let budget = budget.and_then(Value::as_str).map(str::to_owned);
    let registered = registered_encodings(&plan);
    if let Some(name) = budget
        && !registered.contains(&Value::from(name.as_str()))
    {
        return Err(AgainError::refused(
            format!("`window.max_tokens` counts in `{name}`, whose vocabulary is not in the dataset"),
            RUN_AGAIN,
        ));
    }
    plan.insert("count".to_owned(), json!({ "encodings": registered }));
    serde_json::from_value(Value::Object(plan)).map_err(|error| unreadable(error.to_string()))
}

/// The encodings of a plan that this program has by itself.
fn registered_encodings(plan: &Map<String, Value>) -> Vec<Value> {
    let counted = plan.get("count").and_then(|count| count.get("encodings"));
    let counted = counted.and_then(Value::as_array).into_iter().flatten();
    counted.filter(|encoding| encoding.is_string()).cloned().collect()
}

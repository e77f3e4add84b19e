//! Rebuilds the plan of a dataset from its manifest, as far as the settings of renderings go.

use chatmill_dataset::Dataset;
use chatmill_dialect::Dialect;
use chatmill_model::RawJson;
use serde_json::{Map, Value, json};

use super::RerenderError;
use crate::pipeline::{PerspectiveChoice, Pipeline, of_json};
use crate::plan::{Plan, Templates};

/// Tables that conversations are reconstructed from.
const TABLES: [&str; 3] = ["conversations", "messages", "message_references"];

const RUN_AGAIN: &str = "add the dialect to `render.dialects` and run the pipeline again";

/// Returns the plan of a dataset for one more dialect, the dialect,
/// and whether its run inferred tool definitions per input.
pub(super) fn plan(dataset: &Dataset, dialect: &str) -> Result<(Plan, Dialect, bool), RerenderError> {
    let target = Templates::default()
        .find(dialect)
        .map_err(|error| RerenderError::refused(error.to_string(), "`chatmill dialects` lists them"))?;
    match plan_of(dataset, dialect, &target) {
        Ok(plan) => {
            let infer = dataset.manifest().plan.pointer("/tools/infer");
            Ok((plan, target, infer == Some(&Value::from("input"))))
        }
        Err(reason) => Err(RerenderError::refused(reason, RUN_AGAIN)),
    }
}

/// Returns the plan, or the reason why the tables lack data that the dialect needs.
fn plan_of(dataset: &Dataset, dialect: &str, target: &Dialect) -> Result<Plan, String> {
    if target.is_of_one_system() {
        return Err(format!(
            "the dialect `{dialect}` needs fields of the original records that the tables do not hold"
        ));
    }
    if let Some(table) = TABLES.into_iter().find(|table| !dataset.has(table)) {
        return Err(format!(
            "the dialect `{dialect}` needs the table `{table}`, which `output.tables` left out"
        ));
    }
    let pipeline = pipeline(&dataset.manifest().plan, target.id(), target.profile())?;
    if replaces(dataset) && !dataset.has("losses") {
        return Err(format!(
            "the dialect `{dialect}` needs the table `losses`, which `output.tables` left out: it lists what was replaced"
        ));
    }
    if replaces(dataset) && matches!(pipeline.perspective.speaker, PerspectiveChoice::Participants(_)) {
        return Err("`perspective.as` names participants, and redaction replaced their names".to_owned());
    }
    let mut plan =
        Plan::without_inputs(pipeline).map_err(|error| format!("the plan of the dataset: {error}"))?;
    // The manifest contains the definitions themselves, not only the path of their file.
    let definitions = dataset.manifest().plan.pointer("/tools/definitions");
    let definitions = definitions.and_then(Value::as_array).into_iter().flatten();
    let definitions = definitions.filter_map(Value::as_str);
    plan.tools = definitions.map(|json| RawJson(json.to_owned())).collect();
    Ok(plan)
}

/// Returns whether the run replaced personal data and secrets.
pub(super) fn replaces(dataset: &Dataset) -> bool {
    dataset.manifest().plan.pointer("/redact/mode") == Some(&Value::from("replace"))
}

/// Reads the pipeline in a manifest, without the contents of files.
fn pipeline(plan: &Value, dialect: &str, profile: &str) -> Result<Pipeline, String> {
    let unreadable = |reason: &str| format!("the plan in the manifest cannot be read: {reason}");
    let Value::Object(mut plan) = plan.clone() else {
        return Err(unreadable("it is not an object"));
    };
    // These settings decided which conversations the dataset has; now they would decide a second time.
    for key in [
        "inputs",
        "targets",
        "redact",
        "templates",
        "select",
        "dedup",
        "mix",
    ] {
        plan.remove(key);
    }
    if let Some(tools) = plan.get_mut("tools").and_then(Value::as_object_mut) {
        tools.remove("definitions");
        if tools.get("infer").is_some_and(Value::is_string) {
            tools.remove("infer");
        }
    }
    refuse_shared_windows(&plan)?;
    plan.insert("input".to_owned(), json!([{ "path": "." }]));
    plan.insert(
        "render".to_owned(),
        json!({ "dialects": [format!("{dialect}@{profile}")] }),
    );
    plan.insert("output".to_owned(), json!({ "path": "." }));
    let budget = plan
        .get("window")
        .and_then(|window| window.pointer("/max_tokens/encoding"));
    let budget = budget.and_then(Value::as_str).map(str::to_owned);
    let registered = registered_encodings(&plan);
    if let Some(name) = budget
        && !registered.contains(&Value::from(name.as_str()))
    {
        return Err(format!(
            "`window.max_tokens` counts in `{name}`, and its vocabulary is not in the dataset"
        ));
    }
    plan.insert("count".to_owned(), json!({ "encodings": registered }));
    of_json(Value::Object(plan)).map_err(|error| unreadable(&error))
}

/// Refuses windows that depend on other dialects or on files.
fn refuse_shared_windows(plan: &Map<String, Value>) -> Result<(), String> {
    let window = |path: &str| plan.get("window").and_then(|window| window.pointer(path));
    if window("/same_for_all") == Some(&Value::Bool(true)) {
        return Err("with `window.same_for_all` the windows depend on all dialects of the run".to_owned());
    }
    for key in ["template", "tokenizer"] {
        if window(&format!("/max_tokens/{key}")).is_some_and(|value| !value.is_null()) {
            return Err(format!(
                "`window.max_tokens.{key}` names a file, which is not in the dataset"
            ));
        }
    }
    Ok(())
}

/// Returns the encodings of a plan that are built into this program.
fn registered_encodings(plan: &Map<String, Value>) -> Vec<Value> {
    let counted = plan.get("count").and_then(|count| count.get("encodings"));
    let counted = counted.and_then(Value::as_array).into_iter().flatten();
    counted.filter(|encoding| encoding.is_string()).cloned().collect()
}

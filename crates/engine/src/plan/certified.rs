//! The part of a plan that determines the bytes of the dataset, as JSON: the *normalised plan*. It is a part of
//! the fingerprint and of the manifest, which certifies these bytes.
//!
//! Hashes of files replace their paths, so that a plan has the same fingerprint on every machine. The destination,
//! the resources of the machine, checks and nights are left out, because they change no table.

use chatmill_intake::discover;
use chatmill_model::RawJson;
use chatmill_redact::Redactor;
use chatmill_source::Source;
use serde_json::{Map, Value, json};

use super::inputs::firsts;
use super::{Plan, PlannedInput};
use crate::error::PlanError;
use crate::pipeline::{OutputSection, Pipeline};

/// Returns the normalised settings of a plan, without inputs and dialects; `encodings` has an entry for each encoding.
pub(super) fn settings(plan: &Plan, encodings: Vec<Value>) -> Result<Map<String, Value>, PlanError> {
    let resolved = Pipeline {
        limits: plan.limits.clone(),
        output: OutputSection {
            tables: plan.tables.clone(),
            quote: plan.quotes,
            ..plan.pipeline.output.clone()
        },
        ..plan.pipeline.clone()
    };
    let Ok(Value::Object(mut settings)) = serde_json::to_value(resolved) else {
        return Err(PlanError::value("pipeline", "it cannot be written as JSON"));
    };
    for key in ["resources", "check", "night", "input"] {
        settings.remove(key);
    }
    if let Some(templates) = section(&mut settings, "templates") {
        plan.templates.normalise(templates);
    }
    if let Some(loaded) = &plan.evaluations
        && let Some(select) = section(&mut settings, "select")
        && let Some(decontaminate) = section(select, "decontaminate")
    {
        decontaminate.insert("against".to_owned(), loaded.identities.clone().into());
    }
    if !plan.earlier.is_empty()
        && let Some(dedup) = section(&mut settings, "dedup")
    {
        let fingerprints = plan.earlier.iter().map(|earlier| earlier.fingerprint.as_str());
        dedup.insert("against".to_owned(), fingerprints.collect());
    }
    if let Some(redact) = section(&mut settings, "redact") {
        redact.remove("key_file");
        let key = plan.redactor.as_ref().and_then(Redactor::key_id);
        redact.extend(key.map(|key| ("key".to_owned(), key.into())));
    }
    if let Some(tools) = section(&mut settings, "tools") {
        tools.remove("file");
        let definitions = plan.tools.iter().map(RawJson::as_str);
        tools.insert("definitions".to_owned(), definitions.collect());
    }
    if let Some(output) = section(&mut settings, "output") {
        output.remove("path");
    }
    if let Some(window) = section(&mut settings, "window")
        && let Some(most) = section(window, "max_tokens")
    {
        name_files_by_content(plan, most);
    }
    if let Some(count) = section(&mut settings, "count") {
        count.insert("encodings".to_owned(), encodings.into());
    }
    Ok(settings)
}

fn section<'s>(settings: &'s mut Map<String, Value>, key: &str) -> Option<&'s mut Map<String, Value>> {
    settings.get_mut(key)?.as_object_mut()
}

/// Replaces the paths of a budget's files with hashes of their content.
fn name_files_by_content(plan: &Plan, most: &mut Map<String, Value>) {
    let limit = plan.limits.vocabulary.max(plan.limits.template_file);
    for key in ["template", "tokenizer"] {
        let word = most.get(key).and_then(Value::as_str);
        // A word that is not a file is the name of a template or an encoding, which the plan describes elsewhere.
        if let Some(Ok(text)) = word.map(|word| discover::read_small(&plan.base.join(word), limit)) {
            let hash = blake3::hash(text.as_bytes()).to_hex();
            most.insert(key.to_owned(), hash.as_str().into());
        }
    }
}

/// Returns the settings for reading the inputs, for each section. The names and
/// hashes of the inputs are not in them: the fingerprint and the manifest add these.
pub(super) fn sections(inputs: &[PlannedInput]) -> Vec<Value> {
    let sections = firsts(inputs).map(|planned| {
        let (settings, written) = (&planned.settings, &planned.settings.written);
        let mut section = json!({
            "source": settings.source.map_or("auto", Source::id),
            "id_prefix": written.id_prefix,
            "merge": written.merge,
            "exclude": written.exclude,
            "field_map": written.field_map,
            "tables": settings.tables.iter().map(|map| map.name.as_str()).collect::<Vec<_>>(),
        });
        let format = settings.source.and_then(Source::written_outside);
        let format = format.map(format_hash);
        let optional = [
            ("format", format.map(Value::from)),
            ("zone", written.zone.clone().map(Value::from)),
            (
                "assistants",
                Some(json!(written.assistants)).filter(|_| !written.assistants.is_empty()),
            ),
            ("weight", written.weight.map(Value::from)),
            ("limit", written.limit.map(Value::from)),
            ("sample", written.sample.map(Value::from)),
        ];
        if let Some(section) = section.as_object_mut() {
            let optional = optional.into_iter();
            section.extend(optional.filter_map(|(key, value)| Some((key.to_owned(), value?))));
        }
        section
    });
    sections.collect()
}

/// Hashes a format file without its line `verified`, which records what
/// the file was last compared with, and changes no conversation.
fn format_hash(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let is_verified = |line: &str| {
        let rest = line.strip_prefix("verified");
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    for line in text.split_inclusive('\n').filter(|line| !is_verified(line)) {
        hasher.update(line.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

//! Resolves `[tools]`: reads a file with definitions of tools, which are added to those of the records.

use std::path::Path;

use chatmill_diag::limits::MIB;
use chatmill_dialect::defines_tools;
use chatmill_model::RawJson;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::small_file::read_text;
use crate::error::PlanError;
use crate::pipeline::ToolsSection;

/// The key in errors.
const KEY: &str = "tools.file";

/// The file as an object with a list.
#[derive(Deserialize)]
struct ToolsFile {
    tools: Vec<Box<RawValue>>,
}

/// Reads the definitions of a section; its path starts at `base`. Refuses a value that defines no tool.
pub(super) fn tools(section: &ToolsSection, base: &Path) -> Result<Vec<RawJson>, PlanError> {
    let Some(file) = &section.file else {
        return Ok(Vec::new());
    };
    let wrong = |message: String| PlanError::value(KEY, format!("{file}: {message}"));
    let path = base.join(file);
    let text = read_text(&path, MIB, |error| wrong(format!("cannot read it: {error}")))?;
    let list = serde_json::from_str(&text);
    let values: Vec<Box<RawValue>> = list
        .or_else(|_| serde_json::from_str(&text).map(|file: ToolsFile| file.tools))
        .map_err(|_| wrong("it is neither a JSON list nor an object with a list under `tools`".to_owned()))?;
    let definitions: Vec<RawJson> = values.iter().map(|raw| RawJson(raw.get().to_owned())).collect();
    if definitions.is_empty() {
        return Err(wrong("it defines no tool".to_owned()));
    }
    match definitions.iter().position(|raw| !defines_tools(raw)) {
        None => Ok(definitions),
        Some(number) => Err(wrong(format!(
            "entry {number}, counted from 0, is not a tool definition in the form of OpenAI, Anthropic, Gemini or Bedrock"
        ))),
    }
}

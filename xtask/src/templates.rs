//! `cargo xtask templates FOLDER CONVERSATIONS`: renders what `just templates` compares with transformers.
//!
//! It renders every Jinja file of a folder with every conversation of a JSON file, in the order of their names. Each gives a JSON
//! line with the text and the ranges that the template marks as generated, or with the template's error.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use chatmill_diag::Limits;
use chatmill_dialect::TemplateDialect;
use chatmill_dialect::template::Blueprint;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// The day on which every template is rendered.
const TODAY: &str = "2024-07-26";

/// The most bytes of an output.
const LONGEST: u64 = 1 << 24;

#[derive(Deserialize)]
struct Conversation {
    messages: Box<RawValue>,
    tools: Option<Box<RawValue>>,
    #[serde(default)]
    add_generation_prompt: bool,
}

pub(crate) fn run(folder: &str, conversations: &str) -> Result<String> {
    let text = fs::read_to_string(conversations).context("the conversations cannot be read")?;
    let conversations: BTreeMap<String, Conversation> = serde_json::from_str(&text)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(Path::new(folder)).context("the folder of templates cannot be read")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jinja") {
            files.push(path);
        }
    }
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let source = fs::read_to_string(&file)?;
        for (conversation, given) in &conversations {
            let line = match print(&source, given) {
                Ok((text, generated)) => {
                    json!({"template": name, "conversation": conversation, "text": text, "generated": generated})
                }
                Err(message) => json!({"template": name, "conversation": conversation, "error": message}),
            };
            lines.push(line.to_string());
        }
    }
    Ok(lines.join("\n"))
}

/// The text, and its generated ranges, counted in characters as Python does.
fn print(source: &str, given: &Conversation) -> Result<(String, Vec<(usize, usize)>), String> {
    let tokens = [("bos_token", "<BOS>"), ("eos_token", "<EOS>")];
    let template = TemplateDialect::new(Blueprint {
        id: "compared".to_owned(),
        source: source.to_owned(),
        now: Some(TODAY.to_owned()),
        add_generation_prompt: given.add_generation_prompt,
        variables: tokens
            .into_iter()
            .map(|(name, token)| (name.to_owned(), token.into()))
            .collect(),
        limits: Limits {
            rendering: LONGEST,
            ..Limits::default()
        },
        ..Blueprint::default()
    })
    .map_err(|error| error.to_string())?;
    let tools = given.tools.as_deref().map(RawValue::get);
    let printed = template.print(given.messages.get(), tools)?;
    let characters = |at: usize| printed.text.get(..at).unwrap_or_default().chars().count();
    let generated = printed.generated.iter();
    let generated = generated
        .map(|range| (characters(range.start), characters(range.end)))
        .collect();
    Ok((printed.text, generated))
}

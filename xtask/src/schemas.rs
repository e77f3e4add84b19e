//! `cargo xtask schemas`: the JSON Schemas of pipeline files, of `chatmill.toml`, of format files and of reports, from the types that read and
//! write them, and the page of all keys of pipeline files.

use std::path::Path;

use anyhow::{Context, Result};

use crate::generated::{Generated, Mode};
use crate::settings;
use crate::sources::read;
use crate::tables::replaced;

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    let pipeline = chatmill_engine::pipeline::schema();
    let page = settings_page(root, &pipeline)?;
    for (name, schema) in [
        ("pipeline", pipeline),
        ("config", chatmill_engine::pipeline::Config::schema()),
        ("report", chatmill_report::schema()),
        ("format", chatmill_source::format_schema().to_value()),
    ] {
        let mut text = serde_json::to_string_pretty(&schema)?;
        text.push('\n');
        generated.file(root, &format!("schemas/{name}.schema.json"), &text)?;
    }
    generated.file(root, SETTINGS, &page)?;
    generated.finish("schemas")
}

const SETTINGS: &str = "docs/settings.md";

fn settings_page(root: &Path, schema: &serde_json::Value) -> Result<String> {
    let table = "xtask/settings.toml";
    let keys = settings::reference(schema, &read(root, table)?).with_context(|| format!("in {table}"))?;
    replaced(&read(root, SETTINGS)?, "settings", keys.trim_end()).with_context(|| format!("in {SETTINGS}"))
}

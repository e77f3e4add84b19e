//! `cargo xtask schemas`: the JSON Schemas of pipeline files, of `chatmill.toml`, of format files and of reports, from the types that read and write them.

use std::path::Path;

use anyhow::Result;

use crate::generated::{Generated, Mode};

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    for (name, schema) in [
        ("pipeline", chatmill_engine::pipeline::schema()),
        ("config", chatmill_engine::pipeline::Config::schema()),
        ("report", chatmill_report::schema()),
        ("format", chatmill_source::format_schema().to_value()),
    ] {
        let mut text = serde_json::to_string_pretty(&schema)?;
        text.push('\n');
        generated.file(root, &format!("schemas/{name}.schema.json"), &text)?;
    }
    generated.finish("schemas")
}

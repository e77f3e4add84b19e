//! `cargo xtask schemas`: the JSON Schema of pipeline files, from the types that read them.

use std::path::Path;

use anyhow::Result;

use crate::generated::{Generated, Mode};

pub fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    let mut text = serde_json::to_string_pretty(&chatmill_engine::pipeline::schema())?;
    text.push('\n');
    generated.file(root, "schemas/pipeline.schema.json", &text)?;
    generated.finish("schemas")
}

//! `cargo xtask ranks FOLDER`: the vocabularies that tiktoken-rs embeds, as rank files. Other programs can be measured with them
//! without fetching anything.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tiktoken_rs::CoreBPE;

/// One past the highest ordinary rank of each.
const FILES: [(&str, fn() -> &'static CoreBPE, u32); 2] = [
    ("o200k_base", tiktoken_rs::o200k_base_singleton, 199_998),
    ("cl100k_base", tiktoken_rs::cl100k_base_singleton, 100_256),
];

pub fn run(folder: &str) -> Result<String> {
    let folder = Path::new(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (name, encoding, end) in FILES {
        let mut lines = String::new();
        for rank in 0..end {
            if let Ok(token) = encoding().decode_bytes(&[rank]) {
                writeln!(lines, "{} {rank}", STANDARD.encode(token))?;
            }
        }
        let path = folder.join(format!("{name}.tiktoken"));
        fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(format!("ranks: {} files in {}", FILES.len(), folder.display()))
}

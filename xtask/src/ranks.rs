//! `cargo xtask ranks FOLDER`: writes the vocabularies that tiktoken-rs embeds as rank files, so that `just bench-whole` can measure
//! other programs without a download.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tiktoken_rs::CoreBPE;

struct Vocabulary {
    name: &'static str,
    encoding: fn() -> &'static CoreBPE,
    /// One past the highest ordinary rank.
    end: u32,
}

const VOCABULARIES: [Vocabulary; 2] = [
    Vocabulary {
        name: "o200k_base",
        encoding: tiktoken_rs::o200k_base_singleton,
        end: 199_998,
    },
    Vocabulary {
        name: "cl100k_base",
        encoding: tiktoken_rs::cl100k_base_singleton,
        end: 100_256,
    },
];

pub(crate) fn run(folder: &str) -> Result<String> {
    let folder = Path::new(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for Vocabulary { name, encoding, end } in VOCABULARIES {
        let mut lines = String::new();
        for rank in 0..end {
            if let Ok(token) = encoding().decode_bytes(&[rank]) {
                writeln!(lines, "{} {rank}", STANDARD.encode(token))?;
            }
        }
        let path = folder.join(format!("{name}.tiktoken"));
        fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(format!(
        "ranks: {} files in {}",
        VOCABULARIES.len(),
        folder.display()
    ))
}

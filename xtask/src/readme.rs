//! `cargo xtask readme`: the tables of README.md and of the pages of sources, dialects and their rules, encodings and envelopes,
//! from the registries; and the picture of README.md.
//!
//! A table stands between `<!-- NAME -->` and `<!-- /NAME -->`; everything else in a file is written by hand.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use chatmill_dialect::{DIALECTS, LossCode};
use chatmill_export::ENVELOPES;
use chatmill_report::numbers::count;
use chatmill_source::SOURCES;
use chatmill_token::{ENCODINGS, Encoding, MODEL_FAMILIES};

use crate::dialect_rules;
use crate::generated::{Generated, Mode};
use crate::picture;
use crate::tables::{cell, replaced};

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    for (path, name, table) in [
        ("README.md", "lists", lists()?),
        ("docs/sources.md", "sources", sources()?),
        ("docs/sources.md", "keys", keys()?),
        ("docs/sources.md", "named", named()?),
        ("docs/dialects.md", "dialects", dialects()?),
        ("docs/dialects.md", "losses", losses()?),
        ("docs/encodings.md", "encodings", encodings()?),
        ("docs/encodings.md", "families", families()?),
        ("docs/export.md", "envelopes", envelopes()?),
    ] {
        let text = fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
        let text = replaced(&text, name, &table).with_context(|| format!("in {path}"))?;
        generated.file(root, path, &text)?;
    }
    let path = "docs/dialect-rules.md";
    let text = fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"))?;
    let text = dialect_rules::with_rules(&text).with_context(|| format!("in {path}"))?;
    generated.file(root, path, &text)?;
    for (path, text) in picture::files(root)? {
        generated.file(root, &path, &text)?;
    }
    generated.finish("readme")
}

/// The names of all sources, dialects and encodings, a row each.
fn lists() -> Result<String> {
    let mut table = String::from("| | |\n|---|---|\n");
    let mut row = |what: &str, page: &str, names: Vec<&str>| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        writeln!(
            table,
            "| [{} {what}](docs/{page}.md) | {} |",
            names.len(),
            names.join(", ")
        )
    };
    let sources = SOURCES.iter().map(|source| source.id()).collect();
    let dialects = DIALECTS.iter().map(|dialect| dialect.id()).collect();
    row("input formats", "sources", sources)?;
    row("output formats", "dialects", dialects)?;
    row(
        "tokenizers",
        "encodings",
        ENCODINGS.iter().map(Encoding::name).collect(),
    )?;
    Ok(table)
}

fn sources() -> Result<String> {
    let mut table = String::from("| Source | What it is | Shapes | Carries |\n|---|---|---|---|\n");
    for source in SOURCES {
        let about = source.about();
        let cells = [about.title, &about.shapes.join(", "), about.carries].map(cell);
        writeln!(table, "| `{}` | {} |", source.id(), cells.join(" | "))?;
    }
    Ok(table)
}

/// The formats that are named and not read.
fn named() -> Result<String> {
    let mut table = "| Format | The word for it |\n|---|---|\n".to_owned();
    for (id, name) in chatmill_source::unsupported_formats() {
        writeln!(table, "| {name} | `{id}` |")?;
    }
    Ok(table)
}

/// The keys of each source's format that mean nothing for a conversation.
fn keys() -> Result<String> {
    let mut sections = String::new();
    for source in SOURCES {
        let keys = chatmill_source::without_meaning(source.id());
        let (retained, keys): (Vec<_>, Vec<_>) = keys.partition(|(_, is_retained)| *is_retained);
        let [retained, mut keys] =
            [retained, keys].map(|keys| keys.iter().map(|(key, _)| format!("`{key}`")).collect::<Vec<_>>());
        if !retained.is_empty() {
            keys.push(format!("– and kept in `extra`: {}", retained.join(" ")));
        }
        if keys.is_empty() {
            continue;
        }
        write!(sections, "### {}\n\n{}\n\n", source.about().title, keys.join(" "))?;
    }
    Ok(sections.trim_end().to_owned() + "\n")
}

fn dialects() -> Result<String> {
    let heads = "| Dialect | What it is | Family | Profiles | Type | Carries | Specification |\n";
    let mut table = format!("{heads}{}|\n", "|---".repeat(7));
    for dialect in DIALECTS {
        let about = dialect.about();
        let cells = [
            about.title,
            about.family,
            &about.profile_names().collect::<Vec<_>>().join(", "),
            about.media_type,
            about.carries,
            &format!("{}, {}", about.specification, about.dated),
        ]
        .map(cell);
        writeln!(table, "| `{}` | {} |", dialect.id(), cells.join(" | "))?;
    }
    Ok(table)
}

/// Which dialects may lose what.
fn losses() -> Result<String> {
    let lists: Vec<(&str, Vec<LossCode>)> = DIALECTS
        .iter()
        .map(|dialect| (dialect.id(), dialect.loses()))
        .collect();
    let mut table = String::from("| Loss | What happened | Dialects |\n|---|---|---|\n");
    for code in LossCode::ALL {
        let of = |may: bool| {
            let lists = lists
                .iter()
                .filter(move |(_, losses)| losses.contains(code) == may);
            lists.map(|(id, _)| format!("`{id}`")).collect::<Vec<_>>()
        };
        let (may, never) = (of(true), of(false));
        let dialects = match (may.len(), never.len()) {
            (0, _) if *code == LossCode::Redacted => "all, where the pipeline asks for it".to_owned(),
            (0, _) => "templates".to_owned(),
            (_, 0) => "all".to_owned(),
            (may, never) if never < may => format!("all but {}", of(false).join(", ")),
            _ => of(true).join(", "),
        };
        writeln!(
            table,
            "| `{}` | {} | {dialects} |",
            code.as_str(),
            cell(code.meaning())
        )?;
    }
    Ok(table)
}

fn encodings() -> Result<String> {
    let mut table = String::from("| Encoding | Read by | Tokens |\n|---|---|---|\n");
    for encoding in ENCODINGS {
        let about = encoding.about();
        let tokens = count(about.vocabulary.into());
        writeln!(
            table,
            "| `{}` | {} | {tokens} |",
            encoding.name(),
            cell(about.models)
        )?;
    }
    Ok(table)
}

/// The families of open models, and how each is counted.
fn families() -> Result<String> {
    let mut table = String::from("| Models | File | Counted |\n|---|---|---|\n");
    for family in MODEL_FAMILIES {
        let cells = [family.models, family.file, family.counting.as_str()].map(cell);
        writeln!(table, "| {} |", cells.join(" | "))?;
    }
    Ok(table)
}

fn envelopes() -> Result<String> {
    let mut table = String::from("| Envelope | Dialect | A record is | Left out |\n|---|---|---|---|\n");
    for envelope in ENVELOPES {
        let dialects: Vec<String> = envelope.dialects.iter().map(|id| format!("`{id}`")).collect();
        let cells = [&dialects.join(", "), envelope.record, envelope.left_out].map(cell);
        writeln!(table, "| `{}` | {} |", envelope.id, cells.join(" | "))?;
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registry_fills_its_table() {
        assert_eq!(
            lists().unwrap().matches('`').count(),
            2 * (SOURCES.len() + DIALECTS.len() + ENCODINGS.len())
        );
        assert_eq!(sources().unwrap().lines().count(), SOURCES.len() + 2);
        assert_eq!(dialects().unwrap().lines().count(), DIALECTS.len() + 2);
        assert_eq!(encodings().unwrap().lines().count(), ENCODINGS.len() + 2);
        assert_eq!(envelopes().unwrap().lines().count(), ENVELOPES.len() + 2);
    }
}

//! `cargo xtask readme`: the tables of README.md and of the pages of sources, dialects and their rules, encodings and envelopes,
//! from the registries; and the picture of README.md.
//!
//! A table is between `<!-- NAME -->` and `<!-- /NAME -->`; everything else in a file is written by hand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use chatmill_dialect::{LossCode, known};
use chatmill_export::ENVELOPES;
use chatmill_report::numbers::count;
use chatmill_source::SOURCES;
use chatmill_token::{ENCODINGS, Encoding, MODEL_FAMILIES};

use crate::dialect_rules;
use crate::format_groups::groups;
use crate::generated::{Generated, Mode};
use crate::picture;
use crate::sources::read;
use crate::tables::{names, replaced, table};

pub(crate) fn run(root: &Path, mode: Mode) -> Result<String> {
    let mut generated = Generated::new(mode);
    for (path, name, table) in [
        ("README.md", "lists", lists(root)?),
        ("docs/sources.md", "sources", sources()),
        ("docs/sources.md", "keys", keys()),
        ("docs/sources.md", "named", named()),
        ("docs/dialects.md", "dialects", dialects()),
        ("docs/dialects.md", "losses", losses()),
        ("docs/encodings.md", "encodings", encodings()),
        ("docs/encodings.md", "families", families()),
        ("docs/export.md", "envelopes", envelopes()),
    ] {
        let text = replaced(&read(root, path)?, name, &table).with_context(|| format!("in {path}"))?;
        generated.file(root, path, &text)?;
    }
    let path = "docs/dialect-rules.md";
    let text = dialect_rules::with_rules(&read(root, path)?).with_context(|| format!("in {path}"))?;
    generated.file(root, path, &text)?;
    for (path, text) in picture::files(root)? {
        generated.file(root, &path, &text)?;
    }
    generated.finish("readme")
}

/// Returns the names of all sources and dialects by group, and those of the encodings.
fn lists(root: &Path) -> Result<String> {
    let sources: Vec<&str> = SOURCES.iter().map(|source| source.id()).collect();
    let dialects: Vec<&str> = known().map(chatmill_dialect::Dialect::id).collect();
    let of = |formats: &[String]| names(formats.iter().map(String::as_str));
    let rows = groups(root, &sources, &dialects)?.into_iter();
    let rows = rows.map(|group| {
        let (read, written) = (of(&group.read), of(&group.written));
        [group.title, read, written]
    });
    let (sources, dialects) = (sources.len(), dialects.len());
    let head = format!(
        "| | [Read: {sources} formats](docs/sources.md) | [Written: {dialects} formats](docs/dialects.md) |"
    );
    let encodings = names(ENCODINGS.iter().map(Encoding::name));
    Ok(table(&head, rows)
        + &format!(
            "\nTokens are counted with {encodings}, and with [files of other models](docs/encodings.md).\n"
        ))
}

fn sources() -> String {
    let rows = SOURCES.iter().map(|source| {
        let about = source.about();
        let shapes = about.shapes.join(", ");
        [
            names([source.id()]),
            about.title.to_owned(),
            shapes,
            about.carries.to_owned(),
        ]
    });
    table("| Source | What it is | Shapes | Carries |", rows)
}

/// Returns the table of formats that are recognised but not read.
fn named() -> String {
    let rows = chatmill_source::unsupported_formats().map(|(id, name)| [name.to_owned(), names([id])]);
    table("| Format | The word for it |", rows)
}

/// Returns the table of the keys of each source's format that have no meaning for a conversation.
fn keys() -> String {
    let mut sections = String::new();
    for source in SOURCES {
        let keys = chatmill_source::without_meaning(source.id());
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (key, becomes) in keys {
            groups.entry(becomes).or_default().push(format!("`{key}`"));
        }
        let mut lists = Vec::new();
        for (becomes, keys) in groups {
            let before = if becomes.is_empty() {
                String::new()
            } else {
                format!("– {becomes}: ")
            };
            lists.push(before + &keys.join(" "));
        }
        if !lists.is_empty() {
            let _ = write!(
                sections,
                "### {}\n\n{}\n\n",
                source.about().title,
                lists.join(" ")
            );
        }
    }
    sections.trim_end().to_owned() + "\n"
}

fn dialects() -> String {
    let rows = known().map(|dialect| {
        let about = dialect.about();
        [
            names([dialect.id()]),
            about.title.to_owned(),
            about.family.to_owned(),
            about.profile_names().collect::<Vec<_>>().join(", "),
            about.media_type.to_owned(),
            about.carries.to_owned(),
            format!("{}, {}", about.specification, about.dated),
        ]
    });
    table(
        "| Dialect | What it is | Family | Profiles | Type | Carries | Specification |",
        rows,
    )
}

/// Returns the table of losses, with the dialects that may have each.
fn losses() -> String {
    let lists = known().map(|dialect| (dialect.id(), dialect.loses()));
    let lists: Vec<(&str, Vec<LossCode>)> = lists.collect();
    let rows = LossCode::ALL.iter().map(|code| {
        let (may, never): (Vec<_>, Vec<_>) = lists.iter().partition(|(_, losses)| losses.contains(code));
        let [may, never] =
            [may, never].map(|of: Vec<&(&str, _)>| of.into_iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let dialects = match (may.len(), never.len()) {
            (0, _) if *code == LossCode::Redacted => "all, where the pipeline asks for it".to_owned(),
            (0, _) => "templates".to_owned(),
            (_, 0) => "all".to_owned(),
            (so_many, so_few) if so_few < so_many => format!("all but {}", names(never)),
            _ => names(may),
        };
        [names([code.as_str()]), code.meaning().to_owned(), dialects]
    });
    table("| Loss | What happened | Dialects |", rows)
}

fn encodings() -> String {
    let rows = ENCODINGS.iter().map(|encoding| {
        let about = encoding.about();
        let tokens = count(about.vocabulary.into());
        [names([encoding.name()]), about.models.to_owned(), tokens]
    });
    table("| Encoding | Read by | Tokens |", rows)
}

/// Returns the table of families of open models, with the way to count each.
fn families() -> String {
    let rows = MODEL_FAMILIES.iter();
    let rows = rows.map(|family| [family.models, family.file, family.counting.as_str()].map(str::to_owned));
    table("| Models | File | Counted |", rows)
}

fn envelopes() -> String {
    let rows = ENVELOPES.iter().map(|envelope| {
        let (record, left_out) = (envelope.record.to_owned(), envelope.left_out.to_owned());
        [
            names([envelope.id]),
            names(envelope.dialects.iter().copied()),
            record,
            left_out,
        ]
    });
    table("| Envelope | Dialect | A record is | Left out |", rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registry_fills_its_table() {
        let lists = lists(&crate::root()).unwrap();
        assert_eq!(
            lists.matches('`').count(),
            2 * (SOURCES.len() + known().count() + ENCODINGS.len())
        );
        assert_eq!(sources().lines().count(), SOURCES.len() + 2);
        assert_eq!(dialects().lines().count(), known().count() + 2);
        assert_eq!(encodings().lines().count(), ENCODINGS.len() + 2);
        assert_eq!(envelopes().lines().count(), ENVELOPES.len() + 2);
    }
}

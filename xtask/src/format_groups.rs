//! The formats by group, from `xtask/formats.toml`, for the tables of README.md: each registered format is in exactly one group.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::sources::read;

const FORMATS: &str = "xtask/formats.toml";

/// Formats of one kind, the best known first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatGroup {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) read: Vec<String>,
    #[serde(default)]
    pub(crate) written: Vec<String>,
}

#[derive(Deserialize)]
struct FormatGroups {
    group: Vec<FormatGroup>,
}

/// Reads the groups, and fails where they do not list exactly these sources and dialects.
pub(crate) fn groups(root: &Path, sources: &[&str], dialects: &[&str]) -> Result<Vec<FormatGroup>> {
    let FormatGroups { group: groups } = toml::from_str(&read(root, FORMATS)?)?;
    let read = groups.iter().flat_map(|group| &group.read);
    let written = groups.iter().flat_map(|group| &group.written);
    let mut wrong = differences("read", read.map(String::as_str), sources);
    wrong.extend(differences("written", written.map(String::as_str), dialects));
    if !wrong.is_empty() {
        bail!("{FORMATS}:\n{}", wrong.join("\n"));
    }
    Ok(groups)
}

/// Lists the formats that are in no group, in two groups, or in no registry.
fn differences<'f>(list: &str, grouped: impl Iterator<Item = &'f str>, registered: &[&str]) -> Vec<String> {
    let mut missing: BTreeSet<&str> = registered.iter().copied().collect();
    let mut wrong = Vec::new();
    for format in grouped {
        if !registered.contains(&format) {
            wrong.push(format!("{list}: there is no format `{format}`"));
        } else if !missing.remove(format) {
            wrong.push(format!("{list}: `{format}` is in two groups"));
        }
    }
    let missing = missing.into_iter();
    wrong.extend(missing.map(|format| format!("{list}: `{format}` is in no group")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_in_exactly_one_group_and_in_the_registry() {
        let registered = ["codex", "irc-log", "matrix"];
        assert!(differences("read", ["irc-log", "codex", "matrix"].into_iter(), &registered).is_empty());
        assert_eq!(
            differences(
                "read",
                ["codex", "irc-log", "codex", "icq"].into_iter(),
                &registered
            ),
            [
                "read: `codex` is in two groups",
                "read: there is no format `icq`",
                "read: `matrix` is in no group"
            ]
        );
    }
}

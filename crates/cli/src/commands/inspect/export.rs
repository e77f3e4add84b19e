//! The folder of an export: its `export.json` says which files it has, and these are held against it before they are read.

use std::path::{Component, Path, PathBuf};

use chatmill_dataset::PROGRAM;
use chatmill_dataset::statistics::LearnedShare;
use chatmill_diag::limits::MIB;
use chatmill_engine::inspect::{FileStatistics, statistics};
use chatmill_export::SUMMARY;
use chatmill_intake::discover::content_hash;
use chatmill_token::Encoding;
use serde::Deserialize;
use serde_json::{Value, json};

use super::statistics::describe;
use crate::context::Context;
use crate::exit::{self, Exit, WrongRequest};
use crate::figures::{count, counted};
use crate::output::{harmless, shown};

/// An export, as its summary says.
#[derive(Deserialize)]
struct Summary {
    dialect: String,
    profile: String,
    envelope: Option<String>,
    read: u64,
    kept: u64,
    turns: Option<Turns>,
    files: Vec<File>,
}

#[derive(Clone, Copy, Deserialize)]
struct Turns {
    learned: u64,
    context: u64,
}

#[derive(Deserialize)]
struct File {
    name: String,
    bytes: u64,
    hash: String,
}

/// The folder of an export.
pub(super) struct Export {
    folder: PathBuf,
    summary: Summary,
}

/// An export with the statistics of its files.
pub(super) struct InspectedExport {
    folder: PathBuf,
    summary: Summary,
    pub(super) found: FileStatistics,
}

impl Export {
    /// The export in a folder, or whose summary is named; none for other paths.
    pub(super) fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let folder = if path.ends_with(SUMMARY) {
            path.parent().unwrap_or(Path::new("")).to_owned()
        } else {
            path.to_owned()
        };
        let path = folder.join(SUMMARY);
        // What cannot be read is no summary: reading the path as files says why.
        let Ok(text) = chatmill_intake::read_small(&path, 16 * MIB) else {
            return Ok(None);
        };
        let wrong = |error: &dyn std::fmt::Display| WrongRequest::new(format!("{}: {error}", path.display()));
        let fields: Value = match serde_json::from_str(&text) {
            Ok(fields) => fields,
            // Another program's file may have this name.
            Err(_) if !text.contains(PROGRAM) => return Ok(None),
            Err(error) => return Err(wrong(&error).then(WAY).into()),
        };
        if fields.get("program").and_then(Value::as_str) != Some(PROGRAM) {
            return Ok(None);
        }
        let summary: Summary = serde_json::from_value(fields).map_err(|error| wrong(&error).then(WAY))?;
        Ok(Some(Self { folder, summary }))
    }

    /// Reads the files; one that is not the file that was written is an error.
    pub(super) fn inspect(
        self,
        encoding: Option<&Encoding>,
        context: &Context<'_>,
    ) -> anyhow::Result<InspectedExport> {
        let mut paths = Vec::new();
        for file in &self.summary.files {
            paths.push(self.whole(file, context)?);
        }
        let mut found = statistics(
            &paths,
            encoding,
            !context.global.no_content,
            context.meter,
            context.signals.stop(),
        )?;
        if let Some(turns) = self.summary.turns {
            found.statistics.learned.push(LearnedShare {
                dialect: self.summary.dialect.clone(),
                profile: self.summary.profile.clone(),
                unit: "turns".to_owned(),
                whole: found.statistics.messages,
                assistant: turns.learned + turns.context,
                learned: turns.learned,
            });
        }
        Ok(InspectedExport {
            folder: self.folder,
            summary: self.summary,
            found,
        })
    }

    /// The path of a file, which has the bytes that were written.
    fn whole(&self, file: &File, context: &Context<'_>) -> anyhow::Result<String> {
        let damaged = |reason: &str| {
            WrongRequest::new(format!(
                "{}: {}: {reason}",
                self.folder.display(),
                harmless(&file.name)
            ))
            .then(WAY)
        };
        let parts: Vec<Component<'_>> = Path::new(&file.name).components().collect();
        if !matches!(parts.as_slice(), [Component::Normal(_)]) {
            return Err(damaged("it is no name of a file in this folder").into());
        }
        let path = self.folder.join(&file.name);
        let stop = context.signals.stop();
        let mut go_on = |_| !stop.load(std::sync::atomic::Ordering::Relaxed);
        let hashed = content_hash(&path, &mut go_on).map_err(|failure| {
            if failure.is_of_the_system {
                anyhow::Error::from(failure)
            } else {
                damaged(&failure.reason).into()
            }
        })?;
        let is_whole =
            hashed.is_some_and(|(bytes, hash)| bytes == file.bytes && hash.to_hex().as_str() == file.hash);
        if !is_whole {
            return Err(damaged("it is not the file that the export wrote").into());
        }
        Ok(path.display().to_string())
    }
}

/// What to do about an export that was damaged.
const WAY: &str = "export again; without export.json the folder is read like other files";

impl InspectedExport {
    /// What it is.
    pub(super) fn about(&self) -> Value {
        let Summary {
            dialect,
            profile,
            envelope,
            read,
            kept,
            ..
        } = &self.summary;
        json!({
            "path": self.folder.display().to_string(),
            "dialect": dialect, "profile": profile, "envelope": envelope, "read": read, "kept": kept,
            "not_read": self.found.not_read,
            "troubles": self.found.problems.first,
        })
    }

    pub(super) fn describe(&self) -> String {
        let Summary {
            envelope,
            dialect,
            read,
            kept,
            ..
        } = &self.summary;
        let of = envelope.as_ref().unwrap_or(dialect);
        let mut text = format!(
            "{}: export {}, kept {} of {}\n",
            shown(&self.folder),
            harmless(of),
            count(*kept),
            counted(*read, "row")
        );
        if self.found.not_read > 0 {
            let rows = counted(self.found.not_read, "row");
            text.push_str(&format!(
                "    {rows} cannot be read as conversations, and are in no figure"
            ));
            let why = self.found.problems.first.first();
            let why = why.map(|problem| format!(": {} ({})", harmless(&problem.message), problem.code));
            text.push_str(&why.unwrap_or_default());
            text.push('\n');
        }
        if self.found.statistics.conversations > 0 {
            text.push_str(&describe(&self.found.statistics, "because of --no-content"));
        }
        text
    }

    /// Fails where the system failed; rows in a form that is written and not read are told, and no fault of the export.
    pub(super) fn exit(&self) -> Exit {
        exit::report_failures(&self.found.problems.failures)
    }
}

//! The folder of an export. Its `export.json` lists the files, which are verified against it before they are read.

use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use chatmill_dataset::PROGRAM;
use chatmill_dataset::statistics::TrainedPart;
use chatmill_diag::limits::MIB;
use chatmill_engine::inspect::{FileStatistics, statistics};
use chatmill_export::SUMMARY;
use chatmill_intake::Failure;
use chatmill_intake::discover::{content_hash, is_regular};
use chatmill_token::Encoding;
use serde::Deserialize;
use serde_json::{Value, json};

use super::statistics::describe;
use crate::context::Context;
use crate::exit::{CommandError, Outcome};
use crate::figures::{count, counted};
use crate::output::{harmless, shown};

/// The remedy for an export that has changed since it was written.
const WAY: &str = "export again; without export.json the folder is read like other files";

/// The fields of `export.json` that are read.
#[derive(Deserialize)]
struct Summary {
    dialect: String,
    profile: String,
    envelope: Option<String>,
    read: u64,
    #[serde(rename = "kept")]
    written: u64,
    turns: Option<Turns>,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct Turns {
    #[serde(rename = "learned")]
    trained: u64,
    context: u64,
}

#[derive(Deserialize)]
struct File {
    name: String,
    bytes: u64,
    hash: String,
}

/// The folder of an export, with its summary.
pub(super) struct Export {
    folder: PathBuf,
    summary: Summary,
}

impl Export {
    /// The export of a folder, or of the `export.json` in it; `None` for other paths.
    pub(super) fn read(path: &Path) -> Outcome<Option<Self>> {
        let folder = match path.parent() {
            // With a folder before it, a file named `-` is not taken for stdin.
            Some(folder) if path == Path::new(SUMMARY) => folder.join("."),
            Some(folder) if path.ends_with(SUMMARY) => folder.to_owned(),
            _ => path.to_owned(),
        };
        let path = folder.join(SUMMARY);
        // An unreadable file is not a summary; the error is reported when the path is read as a file.
        let (Ok(true), Ok(text)) = (is_regular(&path), chatmill_intake::read_small(&path, 16 * MIB)) else {
            return Ok(None);
        };
        let wrong = |error: serde_json::Error| {
            CommandError::request(format!("{}: {error}", path.display())).then(WAY)
        };
        let fields: Value = match serde_json::from_str(&text) {
            Ok(fields) => fields,
            // Another program may write a file with this name.
            Err(_) if !text.contains(PROGRAM) => return Ok(None),
            Err(error) => return Err(wrong(error)),
        };
        if fields.get("program").and_then(Value::as_str) != Some(PROGRAM) {
            return Ok(None);
        }
        let summary = serde_json::from_value(fields).map_err(wrong)?;
        Ok(Some(Self { folder, summary }))
    }

    /// Reads the files; a file that differs from what was written is an error.
    pub(super) fn inspect(
        &self,
        encoding: Option<&Encoding>,
        context: &Context<'_>,
    ) -> Outcome<FileStatistics> {
        let files = self.summary.files.iter();
        let paths = files.map(|file| self.whole(file, context));
        let mut found = statistics(
            &paths.collect::<Outcome<Vec<_>>>()?,
            encoding,
            !context.global.no_content,
            context.meter,
            context.signals.stop(),
        )?;
        if let Some(turns) = &self.summary.turns {
            found.statistics.trained.push(TrainedPart {
                dialect: self.summary.dialect.clone(),
                profile: self.summary.profile.clone(),
                unit: "turns".to_owned(),
                whole: found.statistics.messages,
                assistant: turns.trained.saturating_add(turns.context),
                trained: turns.trained,
            });
        }
        Ok(found)
    }

    /// The path of a file, after checking that it is in the folder and has the bytes that were written.
    fn whole(&self, file: &File, context: &Context<'_>) -> Outcome<String> {
        let refused = |reason: &str| {
            let place = format!("{}: {}", self.folder.display(), harmless(&file.name));
            CommandError::request(format!("{place}: {reason}")).then(WAY)
        };
        let path = self.folder.join(&file.name);
        let failed = |failure: Failure| {
            if failure.is_of_the_system {
                failure.into()
            } else {
                refused(&failure.reason)
            }
        };
        let mut parts = Path::new(&file.name).components();
        let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        if !is_name || !is_regular(&path).map_err(failed)? {
            return Err(refused("it is not the name of a file in this folder"));
        }
        let stop = context.signals.stop();
        let hashed = content_hash(&path, &mut |_| !stop.load(Ordering::Relaxed)).map_err(failed)?;
        if !hashed.is_some_and(|(bytes, hash)| bytes == file.bytes && *hash.to_hex() == *file.hash) {
            return Err(refused("it is not the file that the export wrote"));
        }
        Ok(path.display().to_string())
    }

    /// The export, and what of it was not read, as JSON.
    pub(super) fn about(&self, found: &FileStatistics) -> Value {
        let summary = &self.summary;
        json!({
            "path": self.folder.display().to_string(),
            "dialect": summary.dialect, "profile": summary.profile, "envelope": summary.envelope,
            "read": summary.read, "kept": summary.written,
            "not_read": found.not_read, "troubles": found.problems.first,
        })
    }

    /// The export, and what of it was not read, with the statistics as text.
    pub(super) fn describe(&self, found: &FileStatistics) -> String {
        let summary = &self.summary;
        let mut text = format!(
            "{}: export {}, kept {} of {}\n",
            shown(&self.folder),
            harmless(summary.envelope.as_ref().unwrap_or(&summary.dialect)),
            count(summary.written),
            counted(summary.read, "row")
        );
        if found.not_read > 0 {
            let rows = counted(found.not_read, "row");
            let why = found.problems.first.first();
            let why = why.map(|problem| format!(": {} ({})", harmless(&problem.message), problem.code));
            text.push_str(&format!(
                "    {rows} cannot be read as conversations, and are not included in the figures"
            ));
            text.extend(why);
            text.push('\n');
        }
        if found.statistics.conversations > 0 {
            text.push_str(&describe(&found.statistics, "because of --no-content"));
        }
        text
    }
}

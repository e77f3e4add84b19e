//! `chatmill inspect`: the format of a file, with the evidence and the contents; for a dataset or an export, statistics on its
//! conversations.
//!
//! Files are described one by one, or as an `overview` if there are many; `export` verifies the folder of an export before it is read.

mod export;
mod overview;
mod statistics;

use std::path::Path;

use chatmill_dataset::{Dataset, is_dataset};
use chatmill_diag::{Limits, Severity};
use chatmill_engine::inspect::{EntryReport, inspect};
use chatmill_engine::{InputReading, ReadProblem};
use chatmill_source::Proposal;
use chatmill_token::Encoding;
use clap::Args;
use serde_json::{Map, Value, json};

use self::export::Export;
use self::overview::MOST_DESCRIBED;
use super::encodings;
use crate::args::{ListFormat, MappedInputs};
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome, refuse};
use crate::figures::{count, counted, instant};
use crate::output::{self, harmless};
use crate::terminal;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/inspect.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, or `-` for stdin; finished datasets; folders of exports
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    reading: MappedInputs,
    /// Measures an export in tokens of this encoding instead of characters; datasets have their own
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: ListFormat,
}

/// Inspects the paths.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let encoding = arguments.encoding.as_deref().map(known_encoding).transpose()?;
    let mut inspected = Inspected::default();
    let mut files = Vec::new();
    let mut has_export = false;
    for path in &arguments.paths {
        if is_dataset(Path::new(path))? {
            inspected.dataset(path, context)?;
        } else if let Some(export) = Export::read(Path::new(path))? {
            inspected.export(&export, encoding, context)?;
            has_export = true;
        } else {
            files.push(path.clone());
        }
    }
    if encoding.is_some() && !has_export {
        return refuse(
            "`--encoding` is for exports, and no path is one",
            "leave it out: datasets are shown in the encodings of their runs",
        );
    }
    if !files.is_empty() {
        inspected.files(&files, &arguments.reading.reading(context.global)?, context)?;
    }
    context.meter.finish();
    match arguments.format {
        ListFormat::Text => output::print(&inspected.text.join("\n"))?,
        ListFormat::Json => output::print_json(&inspected.json)?,
    }
    Ok(inspected.exit)
}

/// Whether a folder was written by `export` or `convert`.
pub(super) fn is_export(folder: &Path) -> Outcome<bool> {
    Ok(Export::read(folder)?.is_some())
}

fn known_encoding(name: &str) -> Outcome<&'static Encoding> {
    chatmill_token::find(name).ok_or_else(|| encodings::unknown(name, std::iter::empty()))
}

/// The results, as text and as JSON.
struct Inspected {
    text: Vec<String>,
    json: Map<String, Value>,
    exit: Exit,
}

impl Default for Inspected {
    fn default() -> Self {
        let entries = [("entries".to_owned(), json!([]))];
        Self {
            text: Vec::new(),
            json: Map::from_iter(entries),
            exit: Exit::Complete,
        }
    }
}

impl Inspected {
    fn files(&mut self, paths: &[String], reading: &InputReading, context: &Context<'_>) -> Outcome<()> {
        let limits = Limits::default();
        let inspection = inspect(paths, reading, &limits, context.meter, context.signals.stop())?;
        let mut entries = inspection.entries;
        if context.global.no_content {
            for entry in &mut entries {
                entry.versions.clear();
            }
        }
        self.text
            .push(if entries.len() > MOST_DESCRIBED && context.global.verbose == 0 {
                overview::overview(&entries)
            } else {
                let text = entries.iter().map(describe).collect::<Vec<_>>().join("\n");
                terminal::prose(&text, 18)
            });
        self.json.insert("entries".to_owned(), json!(entries));
        self.end(match exit::report_failures(&inspection.failures) {
            Exit::Complete => verdict(&entries),
            failed => failed,
        });
        Ok(())
    }

    fn dataset(&mut self, path: &str, context: &Context<'_>) -> Outcome<()> {
        let dataset = Dataset::open(Path::new(path))?;
        let mut found = chatmill_report::statistics(&dataset)?;
        let why = if context.global.no_content {
            statistics::leave_out_content(&mut found);
            "because of --no-content"
        } else {
            "because the pipeline keeps no content, or forbids quoting it"
        };
        let manifest = dataset.manifest();
        let name = manifest.plan.get("name").and_then(Value::as_str);
        let name = name
            .ok_or_else(|| CommandError::request(format!("{path}: the plan of the dataset has no name")))?;
        let mut text = format!(
            "{}: dataset {}, {}\n",
            harmless(path),
            harmless(name),
            manifest.verdict.replace('-', " ")
        );
        if !manifest.absent_tables.is_empty() {
            let absent = manifest.absent_tables.join(", ");
            text.push_str(&format!(
                "    left out by output.tables: {absent}; what needs them is not shown\n"
            ));
        }
        text.push_str(&statistics::describe(&found, why));
        self.text.push(text);
        let about = json!({
            "path": path, "name": name, "fingerprint": manifest.fingerprint, "verdict": manifest.verdict,
        });
        self.list("datasets", about, &found);
        Ok(())
    }

    fn export(&mut self, export: &Export, encoding: Option<&Encoding>, context: &Context<'_>) -> Outcome<()> {
        let found = export.inspect(encoding, context)?;
        self.text.push(export.describe(&found));
        self.list("exports", export.about(&found), &found.statistics);
        // Rows in a form that chatmill writes but does not read are reported, and are not a fault of the export.
        self.end(exit::report_failures(&found.problems.failures));
        Ok(())
    }

    /// Adds statistics to a list of the JSON object.
    fn list(&mut self, list: &str, about: Value, statistics: &impl serde::Serialize) {
        let mut fields = Map::new();
        for part in [about, json!(statistics)] {
            if let Value::Object(part) = part {
                fields.extend(part);
            }
        }
        let list = self.json.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(Value::Object(fields));
        }
    }

    /// Keeps the worst exit.
    fn end(&mut self, exit: Exit) {
        if self.exit == Exit::Complete {
            self.exit = exit;
        }
    }
}

/// `Failed` if there is no conversation, or if an input cannot be opened; an unknown format is not a failure.
fn verdict(entries: &[EntryReport]) -> Exit {
    let nothing = entries.iter().all(|entry| entry.conversations == 0);
    Exit::complete_if(!nothing && !entries.iter().any(is_closed))
}

/// Whether an input could not be opened or unpacked.
fn is_closed(entry: &EntryReport) -> bool {
    entry.problems.iter().any(ReadProblem::is_of_input)
}

/// The path of a file, or of a member in its archive.
fn name(entry: &EntryReport) -> String {
    if entry.entry.is_empty() {
        harmless(&entry.path)
    } else {
        harmless(&format!("{}!{}", entry.path, entry.entry))
    }
}

fn describe(entry: &EntryReport) -> String {
    let mut lines = vec![name(entry)];
    let mut line = |what: &str, text: String| lines.push(format!("    {what:<14}{text}"));
    for problem in &entry.problems {
        let is_error = problem.severity == Severity::Error;
        let what = if is_error { "not read" } else { "warning" };
        let place = problem.line.map(|number| format!("line {number}: "));
        let place = place.unwrap_or_default();
        line(
            what,
            harmless(&format!("{place}{} ({})", problem.message, problem.code)),
        );
    }
    if is_closed(entry) {
        return lines.join("\n") + "\n";
    }
    let source = entry.source.as_deref();
    line("source", source.unwrap_or("unknown format").to_owned());
    if let Some(format) = &entry.looks_like {
        line("looks like", harmless(format));
    }
    if entry.source.is_none() && !entry.unread_tables.is_empty() {
        let tables: Vec<&str> = entry.unread_tables.iter().map(String::as_str).collect();
        line("tables", harmless(&tables.join(", ")));
    }
    if !entry.evidence.is_empty() {
        line("evidence", harmless(&entry.evidence.join("; ")));
    }
    let others = entry.considered.iter();
    for considered in others.filter(|other| source != Some(other.source)) {
        let why = considered.why.join("; ");
        line(
            "considered",
            harmless(&format!(
                "{} ({}): {why}",
                considered.source, considered.confidence
            )),
        );
    }
    if !entry.shapes.is_empty() {
        let shapes: Vec<&str> = entry.shapes.iter().map(String::as_str).collect();
        line("shapes", shapes.join(", "));
    }
    if !entry.versions.is_empty() {
        let versions: Vec<&str> = entry.versions.iter().map(String::as_str).collect();
        let verified = match entry.verified.rsplit_once(", ") {
            _ if entry.verified.is_empty() => String::new(),
            None => format!(" (the source was last compared in {})", entry.verified),
            Some((with, month)) => format!(" (the source was last compared with {with} in {month})"),
        };
        line("version", versions.join(", ") + &harmless(&verified));
    }
    let rejected = if entry.rejected > 0 {
        format!(", {} of them unreadable", count(entry.rejected))
    } else {
        String::new()
    };
    line("records", format!("{}{rejected}", count(entry.records)));
    line("conversations", count(entry.conversations));
    line(
        "messages",
        counted(entry.messages, "message") + " by " + &counted(entry.participants, "participant"),
    );
    if let (Some(first), Some(last)) = (entry.started_at, entry.ended_at) {
        let [first, last] = [first, last].map(|time| instant(time, "%Y-%m-%d %H:%M:%S UTC"));
        line("time span", format!("{first} to {last}"));
    }
    if entry.source.is_none() && entry.entry.is_empty() && entry.records > 0 {
        let is_guess = |proposal: &Proposal| !matches!(proposal, Proposal::Rivals(_));
        let way = if entry.proposal.as_ref().is_some_and(is_guess) {
            format!("chatmill init {} proposes a map for it", harmless(&entry.path))
        } else {
            "chatmill explain unknown-format".to_owned()
        };
        line("way out", way);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_an_archive_is_shown_with_its_archive() {
        let entry = EntryReport {
            path: "a.zip".into(),
            entry: "chat.json".into(),
            source: Some("group-chat".into()),
            records: 2,
            rejected: 1,
            started_at: Some(0),
            ended_at: Some(1_000_000),
            ..EntryReport::default()
        };
        let shown = describe(&entry);
        assert!(shown.starts_with("a.zip!chat.json\n"), "{shown}");
        assert!(shown.contains("2, 1 of them unreadable"), "{shown}");
        assert!(
            shown.contains("1970-01-01 00:00:00 UTC to 1970-01-01 00:00:01 UTC"),
            "{shown}"
        );
    }

    #[test]
    fn a_file_that_no_source_reads_has_an_unknown_format() {
        assert!(describe(&EntryReport::default()).contains("unknown format"));
    }
}

//! `chatmill check`: located findings and a verdict per file, without rendering.

mod json;
mod lines;
mod report;
mod text;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use chatmill_dataset::rows::FindingRow;
use chatmill_diag::Limits;
use chatmill_engine::check::{CheckOptions, Checked, FileVerdict, check};
use chatmill_engine::tables::{self, Place};
use clap::{Args, ValueEnum};

use self::report::{Report, Totals};
use super::Context;
use crate::exit::Exit;
use crate::output::{self, Sink};
use crate::selection;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        chatmill check exports/\n  \
                        chatmill check 'exports/*.zip' --ignore TM,legacy-role --fail-on warning\n  \
                        chatmill check exports/ --statistics --write jsonl=findings.jsonl")]
pub struct Arguments {
    /// Files, folders, globs, archives, or `-` for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Source id; `auto` detects by content
    #[arg(long, default_value = "auto", value_name = "ID")]
    source: String,
    /// Form of what is printed
    #[arg(long, value_enum, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Reports only these: codes (RF001), prefixes (RF) or names (dangling-reference)
    #[arg(long, value_delimiter = ',', value_name = "CODE|PREFIX|NAME")]
    select: Vec<String>,
    /// Leaves these out; wins over --select
    #[arg(long, value_delimiter = ',', value_name = "CODE|PREFIX|NAME")]
    ignore: Vec<String>,
    /// Least severity that makes the exit code 1
    #[arg(long, value_enum, default_value = "error", value_name = "SEVERITY")]
    fail_on: FailOn,
    /// Prints counts per code instead of single findings (text only)
    #[arg(long)]
    statistics: bool,
    /// Writes a further report to a file
    #[arg(long, value_parser = written_report, value_name = "FORMAT=FILE")]
    write: Vec<(Format, PathBuf)>,
    /// Worker threads; 0 takes what the machine gives
    #[arg(long, default_value_t = 0, value_name = "N")]
    threads: usize,
}

/// Form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One object: findings, files, summary
    Json,
    /// One finding a line
    Jsonl,
}

/// Least severity that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

fn written_report(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text
        .split_once('=')
        .ok_or("write FORMAT=FILE, for example json=check.json")?;
    let format =
        Format::from_str(format, false).map_err(|_| format!("`{format}` is neither text, json nor jsonl"))?;
    if file.is_empty() {
        return Err("the name of the file is missing".to_owned());
    }
    Ok((format, PathBuf::from(file)))
}

/// Checks the paths.
pub fn execute(arguments: Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let quote = !context.global.no_content;
    let options = CheckOptions {
        ignored: selection::left_out(&arguments.select, &arguments.ignore)?,
        paths: arguments.paths,
        source: arguments.source,
        limits: Limits::default(),
        threads: arguments.threads,
    };
    let report = |format: Format, sink: Sink| -> Box<dyn Report> {
        match format {
            Format::Text => Box::new(text::Text::new(sink, quote, arguments.statistics)),
            Format::Json => Box::new(json::Json::new(sink)),
            Format::Jsonl => Box::new(lines::Lines::new(sink)),
        }
    };
    let mut reports = vec![report(arguments.format, output::stdout())];
    for (format, path) in &arguments.write {
        reports.push(report(*format, output::file(path)?));
    }
    let mut totals = Totals::default();
    let mut failure = None;
    let stop = context.signals.stop();
    let checked = check(&options, context.meter, stop, &mut |checked| {
        totals.add(&checked.located.finding);
        let row = row(&checked, quote);
        let told = tell(&mut reports, |report| report.finding(&checked, &row));
        // Nobody reads on, or a report cannot be written: the rest need not be checked.
        stop.fetch_or(told.is_err() || reports.is_empty(), Ordering::Relaxed);
        if failure.is_none() {
            failure = told.err();
        }
    });
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    if reports.is_empty() {
        return Ok(Exit::Complete);
    }
    let files = checked?;
    context.meter.finish();
    tell(&mut reports, |report| report.end(&files, &totals))?;
    Ok(verdict(&files, arguments.fail_on))
}

/// Tells every report. One whose reader went away is dropped; any other failure counts.
fn tell(
    reports: &mut Vec<Box<dyn Report>>,
    mut what: impl FnMut(&mut dyn Report) -> io::Result<()>,
) -> io::Result<()> {
    let mut failure = None;
    reports.retain_mut(|report| match what(report.as_mut()) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
        Err(error) => {
            failure.get_or_insert(error);
            true
        }
    });
    failure.map_or(Ok(()), Err)
}

fn row(checked: &Checked, quote: bool) -> FindingRow {
    let place = Place {
        input: &checked.path,
        entry: &checked.entry,
        record: checked.record.unwrap_or_default(),
    };
    let id = checked.conversation.as_deref();
    tables::finding(&checked.located, place, checked.record.is_some(), id, quote)
}

/// The exit code depends on the findings alone, never on the form of the report.
fn verdict(files: &[FileVerdict], fail_on: FailOn) -> Exit {
    let errors = files.iter().any(|file| file.errors > 0);
    let warnings = files.iter().any(|file| file.warnings > 0);
    let fails = match fail_on {
        FailOn::Error => errors,
        FailOn::Warning => errors || warnings,
        FailOn::Never => false,
    };
    if fails { Exit::Objection } else { Exit::Complete }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(errors: u64, warnings: u64) -> FileVerdict {
        FileVerdict {
            path: "a.json".into(),
            source: None,
            verdict: "valid",
            records: 1,
            conversations: 1,
            errors,
            warnings,
            notes: 1,
        }
    }

    #[test]
    fn the_exit_code_follows_the_severity_that_was_asked_for() {
        let (clean, warned, wrong) = ([file(0, 0)], [file(0, 1)], [file(0, 0), file(1, 0)]);
        assert_eq!(verdict(&clean, FailOn::Warning), Exit::Complete);
        assert_eq!(verdict(&warned, FailOn::Error), Exit::Complete);
        assert_eq!(verdict(&warned, FailOn::Warning), Exit::Objection);
        assert_eq!(verdict(&wrong, FailOn::Error), Exit::Objection);
        assert_eq!(verdict(&wrong, FailOn::Never), Exit::Complete);
    }

    #[test]
    fn a_written_report_names_a_format_and_a_file() {
        assert_eq!(
            written_report("jsonl=a=b.jsonl"),
            Ok((Format::Jsonl, PathBuf::from("a=b.jsonl")))
        );
        assert!(written_report("jsonl").is_err());
        assert!(written_report("jsonl=").is_err());
        assert!(written_report("yaml=x").unwrap_err().contains("yaml"));
    }
}

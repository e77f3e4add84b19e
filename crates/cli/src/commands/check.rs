//! `chatmill check`: located findings and a verdict per file. Nothing is rendered, but for the dialects of `--for`.

mod baseline;
mod json;
mod junit;
mod lines;
mod report;
mod sarif;
mod table;
mod text;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use chatmill_dataset::ReportFile;
use chatmill_diag::suggest::nearest;
use chatmill_diag::{Limits, Severity};
use chatmill_dialect::DIALECTS;
use chatmill_engine::Plan;
use chatmill_engine::check::{CheckOptions, Checkup, FileVerdict, Known, check};
use chatmill_engine::plan::{Target, Templates, typed_inputs};
use chatmill_intake::InputKind;
use clap::{Args, ValueEnum};

use self::report::{Report, Totals};
use super::Context;
use crate::exit::{self, Exit, WrongRequest};
use crate::output::{self, Colours, Output};
use crate::selection;

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                        chatmill check exports/\n  \
                        chatmill check 'exports/*.zip' --ignore TM,legacy-role --fail-on warning\n  \
                        chatmill check fine-tuning.jsonl --for openai-chat --baseline known.jsonl")]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, or `-` for stdin
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Source id; `auto` detects by content
    #[arg(long, default_value = "auto", value_name = "ID")]
    source: String,
    /// Adds what this dialect's consumer would refuse; may be given several times
    #[arg(long = "for", value_name = "DIALECT[@PROFILE]")]
    targets: Vec<String>,
    /// Pipeline file whose templates --for may name
    #[arg(long, requires = "targets", value_name = "FILE")]
    pipeline: Option<PathBuf>,
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
    /// Reports only what an earlier report (json or jsonl) does not have
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Prints counts per code instead of single findings (text only)
    #[arg(long)]
    statistics: bool,
    /// Writes a further report to a file; may be given several times
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
    /// The verdicts, one file a line
    Csv,
    /// Test results, for build servers
    Junit,
    /// Static analysis results, for code hosts
    Sarif,
}

/// Least severity that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

impl FailOn {
    /// Whether findings of a severity make the exit code 1.
    fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Never => false,
        }
    }
}

fn written_report(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text
        .split_once('=')
        .ok_or("write FORMAT=FILE, for example json=check.json")?;
    let format = Format::from_str(format, false)
        .map_err(|_| format!("`{format}` is none of text, json, jsonl, csv, junit and sarif"))?;
    if file.is_empty() {
        return Err("the name of the file is missing".to_owned());
    }
    Ok((format, PathBuf::from(file)))
}

/// Checks the paths.
pub(crate) fn execute(arguments: Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let quote = !context.global.no_content;
    let known = arguments
        .baseline
        .as_deref()
        .map_or_else(|| Ok(Known::default()), baseline::read)?;
    let plan = arguments.pipeline.as_deref();
    let plan = plan.map(|path| Plan::load(path, &[], None)).transpose()?;
    let templates = plan.map(|plan| plan.templates).unwrap_or_default();
    let options = CheckOptions {
        ignored: selection::left_out(&arguments.select, &arguments.ignore)?,
        targets: targets(&arguments.targets, &templates)?,
        excerpts: match quote && !arguments.statistics {
            false => 0,
            // Which findings are printed shows only when the known ones have been taken out.
            true if !known.is_empty() => usize::MAX,
            true => text::PER_CODE as usize,
        },
        known,
        paths: arguments.paths,
        source: arguments.source,
        limits: Limits::default(),
        threads: arguments.threads,
    };
    let report = |format: Format, sink: Output, colours: Colours| -> Box<dyn Report> {
        match format {
            Format::Text => Box::new(text::Text::new(sink, colours, arguments.statistics)),
            Format::Json => Box::new(json::Json::new(sink)),
            Format::Jsonl => Box::new(lines::Lines::new(sink)),
            Format::Csv => Box::new(table::Table::new(sink)),
            Format::Junit => Box::new(junit::Junit::new(sink, arguments.fail_on)),
            Format::Sarif => Box::new(sarif::Sarif::new(sink)),
        }
    };
    let mut reports = vec![report(arguments.format, output::stdout(), Colours::of_stdout())];
    let mut written = Vec::new();
    if !arguments.write.is_empty() {
        let inputs = read_paths(&options)?;
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        for (format, path) in &arguments.write {
            let (sink, file) = output::file(path, &inputs)?;
            reports.push(report(*format, sink, Colours::NONE));
            written.push(file);
        }
        if written
            .iter()
            .enumerate()
            .any(|(at, one)| written.iter().skip(at + 1).any(|other| one.is_of(other)))
        {
            return Err(WrongRequest::new("--write names one file twice").into());
        }
    }
    let mut totals = Totals::default();
    let mut failure = None;
    let stop = context.signals.stop();
    let checked = check(&options, context.meter, stop, &mut |checked| {
        totals.add(&checked.located.finding);
        let texts = checked.texts(quote);
        let row = checked.row(&texts);
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
    let Checkup { files, failures } = checked?;
    context.meter.finish();
    tell(&mut reports, |report| report.end(&files, &totals))?;
    written.iter().try_for_each(ReportFile::finish)?;
    Ok(match exit::tell(&failures) {
        Exit::Complete => verdict(files.iter(), arguments.fail_on),
        failed => failed,
    })
}

/// Where the bytes are that will be read.
fn read_paths(options: &CheckOptions) -> anyhow::Result<Vec<PathBuf>> {
    let inputs = typed_inputs(&options.paths, &options.source)?.into_iter();
    let paths = inputs.filter_map(|planned| match planned.input.kind {
        InputKind::File | InputKind::Folder | InputKind::Pipe => Some(planned.input.path()),
        // A shell may have opened any file for us.
        InputKind::Stdin => Some(PathBuf::from("/dev/stdin")),
        InputKind::Refused(_) | InputKind::Failed(_) => None,
    });
    Ok(paths.collect())
}

/// Writes a finding into every report. A report whose pipe was closed is dropped; any other failure counts.
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

/// The dialects that judge, each once.
fn targets(words: &[String], templates: &Templates) -> Result<Vec<Target>, WrongRequest> {
    let mut targets: Vec<Target> = Vec::new();
    for word in words {
        let Ok(target) = Target::find_among(word, templates) else {
            let registered = DIALECTS.iter().map(|dialect| dialect.id());
            let near = nearest(word, registered.chain(templates.names()));
            let refusal = WrongRequest::unknown("dialect", word, near);
            return Err(refusal.then("`chatmill dialects` lists them and their profiles"));
        };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The exit code depends on what was read and found, never on the form of the report. What could not be read counts
/// whatever is selected, ignored or known; so does that there was nothing to read.
fn verdict(mut files: impl Iterator<Item = FileVerdict> + Clone, fail_on: FailOn) -> Exit {
    let nothing = files.clone().all(|file| file.conversations == 0);
    let unread = files.clone().any(|file| file.verdict == "unreadable");
    if (nothing || unread) && fail_on.fails(Severity::Error) {
        return Exit::Objection;
    }
    let fails = |file: FileVerdict| {
        file.errors > 0 && fail_on.fails(Severity::Error)
            || file.warnings > 0 && fail_on.fails(Severity::Warning)
    };
    if files.any(fails) {
        Exit::Objection
    } else {
        Exit::Complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(errors: u64, warnings: u64) -> FileVerdict {
        FileVerdict {
            path: "a.json".into(),
            verdict: "valid",
            conversations: 1,
            errors,
            warnings,
            notes: 1,
            ..FileVerdict::default()
        }
    }

    #[test]
    fn the_exit_code_follows_the_severity_that_was_asked_for() {
        let (clean, warned, wrong) = ([file(0, 0)], [file(0, 1)], [file(0, 0), file(1, 0)]);
        assert_eq!(verdict(clean.iter().cloned(), FailOn::Warning), Exit::Complete);
        assert_eq!(verdict(warned.iter().cloned(), FailOn::Error), Exit::Complete);
        assert_eq!(verdict(warned.iter().cloned(), FailOn::Warning), Exit::Objection);
        assert_eq!(verdict(wrong.iter().cloned(), FailOn::Error), Exit::Objection);
        assert_eq!(verdict(wrong.iter().cloned(), FailOn::Never), Exit::Complete);
    }

    #[test]
    fn what_could_not_be_read_counts_whatever_was_found() {
        let unread = FileVerdict {
            verdict: "unreadable",
            conversations: 0,
            ..file(0, 0)
        };
        let files = [file(0, 0), unread];
        assert_eq!(verdict(files.iter().cloned(), FailOn::Error), Exit::Objection);
        assert_eq!(verdict(files.iter().cloned(), FailOn::Warning), Exit::Objection);
        assert_eq!(verdict(files.iter().cloned(), FailOn::Never), Exit::Complete);
    }

    #[test]
    fn one_empty_file_is_no_error_and_nothing_but_empty_files_is_one() {
        let empty = FileVerdict {
            verdict: "empty",
            conversations: 0,
            ..file(0, 1)
        };
        assert_eq!(
            verdict([file(0, 0), empty.clone()].into_iter(), FailOn::Error),
            Exit::Complete
        );
        assert_eq!(
            verdict([file(0, 0), empty.clone()].into_iter(), FailOn::Warning),
            Exit::Objection
        );
        assert_eq!(verdict([empty].into_iter(), FailOn::Error), Exit::Objection);
    }

    #[test]
    fn a_dialect_judges_once_however_often_it_is_named() {
        let words = ["openai-chat", "chatml", "openai-chat"].map(str::to_owned);
        let targets = targets(&words, &Templates::default()).unwrap();
        let ids: Vec<&str> = targets.iter().map(|target| target.dialect.id()).collect();
        assert_eq!(ids, ["openai-chat", "chatml"]);
        let refused = super::targets(&["openai-chaat".to_owned()], &Templates::default())
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            refused,
            "there is no dialect `openai-chaat`; did you mean `openai-chat`?"
        );
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

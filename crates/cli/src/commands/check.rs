//! `chatmill check`: findings with their places, and a verdict for each file. Conversations are rendered only for the dialects of `--for`.
//!
//! `settings` and `arguments` decide what is checked and reported, the engine checks the files, and every finding goes to each report at
//! once: the one on stdout and those of `--write`. All report formats implement the trait of `report`.

mod arguments;
mod baseline;
mod files;
mod findings_by_file;
mod github;
mod gitlab;
mod json;
mod junit;
mod pages;
mod report;
mod sarif;
mod settings;
mod text_report;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use chatmill_dataset::ReportFile;
use chatmill_diag::suggest::nearest;
use chatmill_diag::{Day, Limits, Severity};
use chatmill_dialect::Dialect;
use chatmill_engine::check::{CheckOptions, Checked, Checkup, FileVerdict, Known, Quoting, check, inputs};
use chatmill_engine::pipeline::FailOn;
use chatmill_engine::{Plan, Templates};
use chatmill_intake::InputKind;

pub(crate) use self::arguments::Arguments;
use self::arguments::{Format, WrittenReport};
use self::findings_by_file::FindingsByFile;
use self::pages::{Html, SupplierReports};
use self::report::{Report, Sent, Totals};
use self::settings::Settings;
use self::text_report::{Layout, TextReport, Verbosity, View};
use crate::args::Global;
use crate::context::Context;
use crate::exit::{self, CommandError, Exit, Outcome};
use crate::mask::mask;
use crate::output::{self, Colours, Output, Style};
use crate::terminal;

/// The number of findings of a code in a file that text reports show by default.
const MAX_FINDINGS: usize = 10;

/// Checks the paths.
pub(crate) fn execute(arguments: &Arguments, context: &Context<'_>) -> Outcome<Exit> {
    let quote = !context.global.no_content;
    let pipeline = arguments.pipeline.as_deref();
    let reading = arguments.reading.reading(pipeline, context.global)?;
    let plan = pipeline.map(|_| reading.plan()).transpose()?;
    let settings = Settings::new(arguments, plan.as_ref())?;
    let mut resolved = settings.resolved()?;
    if let Some(zone) = &arguments.reading.input_zone {
        resolved.zone = Some(zone.clone());
    }
    if arguments.secrets {
        resolved.find_secrets();
    }
    if arguments.settings.show_settings {
        output::print(&settings.describe()?)?;
        return Ok(Exit::Complete);
    }
    if let Some(path) = &settings.passed_over {
        let path = output::shown(path);
        context.note(&format!(
            "the settings {path} are inside the checked inputs and are not read; use `--config` to read them"
        ));
    }
    let known = settings
        .baseline()
        .map_or_else(|| Ok(Known::default()), baseline::read)?;
    let own = settings.files();
    let beside = plan.as_ref().map(Plan::read_beside).unwrap_or_default();
    let spared = own
        .iter()
        .cloned()
        .chain(beside)
        .chain(context.global.mask_key.clone());
    let spared = spared.chain([arguments.reading.source.clone().into()]).collect();
    let reporting = Reporting::new(arguments, &settings, context.global, spared);
    let templates = plan.map(|plan| plan.templates).unwrap_or_default();
    let formats = arguments.formats();
    let shows_text = formats
        .iter()
        .any(|format| reporting.layout(*format) == Some(Layout::Full));
    let options = CheckOptions {
        own,
        targets: targets(&arguments.targets, &templates)?,
        mask: mask(context.global)?,
        hashes: arguments.hashes(),
        hides_paths: arguments.no_paths,
        // A line of the source may contain the secret that is looked for.
        excerpts: match quote && shows_text && !arguments.secrets {
            false => 0,
            // Which findings are printed is only known once those of the baseline are taken out.
            true if !known.is_empty() || reporting.most == 0 => usize::MAX,
            true => reporting.most,
        },
        known,
        paths: arguments.paths.clone(),
        reading,
        limits: Limits {
            now: Some(arguments.now.unwrap_or_else(today)),
            ..Limits::default()
        },
        threads: arguments.threads,
        settings: resolved,
    };
    let (mut reports, written) = reporting.reports(&options)?;
    let mut totals = Totals::default();
    let quoting = options.mask.as_ref().map_or(Quoting::All, Quoting::Masked);
    let mut failure = None;
    let stop = context.signals.stop();
    let checked = check(&options, context.meter, stop, &mut |checked| {
        totals.add(&checked.located.finding);
        let texts = checked.texts(quoting);
        let row = checked.row(&texts);
        let outcome = write_each(&mut reports, |report| report.finding(&checked, &row));
        // The check stops when all readers have closed their pipes, or a report cannot be written.
        stop.fetch_or(outcome.is_err() || reports.is_empty(), Ordering::Relaxed);
        if failure.is_none() {
            failure = outcome.err();
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
    write_each(&mut reports, |report| report.end(&files, &totals))?;
    written.iter().try_for_each(ReportFile::finish)?;
    Ok(match exit::report_failures(&failures) {
        Exit::Complete => verdict(files.iter(), settings.fail_on()),
        failed => failed,
    })
}

/// A finding as the text report prints it: message, place, source text with carets, and path.
pub(super) fn finding_text(
    checked: &Checked,
    quoting: Quoting<'_>,
    colours: Colours,
    columns: usize,
) -> String {
    let checked = Checked {
        excerpt: checked
            .excerpt
            .clone()
            .filter(|_| matches!(quoting, Quoting::All)),
        ..checked.clone()
    };
    let texts = checked.texts(quoting);
    text_report::full(&checked, &checked.row(&texts), colours, columns).0
}

/// The style of the word of a severity.
pub(super) fn style_of(severity: &str) -> Style {
    let severity = severity.parse().unwrap_or(Severity::Error);
    text_report::style(severity)
}

/// Today in UTC, by the clock of the machine.
#[expect(
    clippy::disallowed_methods,
    reason = "findings about the future depend on today; `--now` makes them independent of the clock"
)]
fn today() -> Day {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Day::of(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

/// What decides how the reports are written.
struct Reporting<'a> {
    arguments: &'a Arguments,
    settings: &'a Settings,
    verbosity: Verbosity,
    /// Whether reports may quote content.
    quotes: bool,
    /// The number of findings of a code in a file that text reports show; 0 shows all.
    most: usize,
    /// Files that the check reads in addition to its inputs; no report may replace them.
    spared: Vec<PathBuf>,
}

impl<'a> Reporting<'a> {
    fn new(arguments: &'a Arguments, settings: &'a Settings, global: &Global, spared: Vec<PathBuf>) -> Self {
        Self {
            arguments,
            settings,
            verbosity: match (global.quiet, global.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, 0) => Verbosity::Plain,
                (false, _) => Verbosity::Verbose,
            },
            quotes: !global.no_content,
            most: arguments.max_findings.unwrap_or(MAX_FINDINGS),
            spared,
        }
    }

    /// The printed report and those of `--write`, and the files that these are written to.
    fn reports(&self, options: &CheckOptions) -> Outcome<(Vec<Sent>, Vec<ReportFile>)> {
        let (stdout, colours) = (output::stdout(), Colours::of_stdout());
        let printed = self.arguments.output_format;
        let mut reports = vec![self.report(printed, stdout, colours, terminal::columns())];
        let mut written: Vec<ReportFile> = Vec::new();
        if self.arguments.write.is_empty() {
            return Ok((reports, written));
        }
        let inputs = read_paths(options)?;
        let inputs: Vec<&Path> = inputs.iter().chain(&self.spared).map(PathBuf::as_path).collect();
        for wanted in &self.arguments.write {
            match wanted {
                WrittenReport::File(format, path) => {
                    if written.iter().any(|other| other.is_at(path)) {
                        return Err(CommandError::request("two --write options name the same file"));
                    }
                    let (sink, file) = output::file(path, &inputs)?;
                    let columns = terminal::COLUMNS_OF_A_FILE;
                    reports.push(self.report(*format, sink, Colours::NONE, columns));
                    written.push(file);
                }
                WrittenReport::SupplierReports(path) => {
                    let folder = SupplierReports::begin(path, &options.paths)?;
                    reports.push(Sent {
                        most: self.most_shown(),
                        ..sent(Box::new(folder), Box::new(io::sink()))
                    });
                }
            }
        }
        Ok((reports, written))
    }

    /// The layout of a text format; `None` for other formats.
    fn layout(&self, format: Format) -> Option<Layout> {
        let layout = match format {
            Format::Full => Layout::Full,
            Format::Concise => Layout::Concise,
            Format::Grouped => Layout::Grouped,
            _ => return None,
        };
        Some(if self.arguments.statistics {
            Layout::Statistics
        } else {
            layout
        })
    }

    fn report(&self, format: Format, out: Output, colours: Colours, columns: usize) -> Sent {
        let report: Box<dyn Report> = match format {
            Format::Full | Format::Concise | Format::Grouped => {
                let layout = self.layout(format).unwrap_or(Layout::Full);
                return sent(
                    Box::new(TextReport::new(colours, self.view(layout, columns))),
                    out,
                );
            }
            Format::Json => Box::<json::Json>::default(),
            Format::Jsonl => Box::new(json::JsonLines),
            Format::Csv => Box::new(files::Table),
            Format::Manifest => Box::new(files::FileManifest),
            Format::Junit => Box::new(junit::Junit {
                fail_on: self.settings.fail_on(),
                suites: BTreeMap::new(),
            }),
            Format::Sarif => Box::<sarif::Sarif>::default(),
            Format::Github => Box::new(github::Github),
            Format::Gitlab => Box::<gitlab::Gitlab>::default(),
            Format::Html => Box::new(Html {
                title: title(&self.arguments.paths, self.arguments.no_paths),
                findings: FindingsByFile::quoting(self.quotes),
                quotes: self.quotes,
            }),
        };
        // Formats for programs contain all findings by default; a page states how many it leaves out.
        let is_limited = format == Format::Html || self.arguments.max_findings.is_some();
        Sent {
            least: self.arguments.min_severity.unwrap_or(Severity::Note),
            most: self.most_shown().filter(|_| is_limited),
            ..sent(report, out)
        }
    }

    /// The greatest number of findings of a code in a file; `None` without a limit.
    fn most_shown(&self) -> Option<u64> {
        (self.most > 0).then_some(self.most as u64)
    }

    fn view(&self, layout: Layout, columns: usize) -> View {
        let usual = match self.verbosity {
            Verbosity::Verbose => Severity::Note,
            Verbosity::Quiet | Verbosity::Plain => Severity::Warning,
        };
        View {
            layout,
            verbosity: self.verbosity,
            columns,
            least: self.arguments.min_severity.unwrap_or(usual),
            most: self.most,
            settings: self.settings.origin.as_deref().map(output::shown),
        }
    }
}

/// A report that gets all findings.
fn sent(report: Box<dyn Report>, out: Output) -> Sent {
    Sent {
        report,
        out,
        least: Severity::Note,
        most: None,
        seen: BTreeMap::new(),
    }
}

/// The number of paths that a title names; the others are counted.
const TITLE_PATHS: usize = 3;

/// The title of a page: the checked paths, unless paths are masked.
fn title(paths: &[String], no_paths: bool) -> String {
    match paths {
        _ if no_paths => "Checked files".to_owned(),
        paths if paths.len() > TITLE_PATHS => format!("{} paths", paths.len()),
        paths => output::harmless(&paths.join(", ")),
    }
}

/// The paths that will be read.
fn read_paths(options: &CheckOptions) -> Outcome<Vec<PathBuf>> {
    let (inputs, _) = inputs(options)?;
    let paths = inputs.into_iter().filter_map(|planned| match planned.input.kind {
        InputKind::File | InputKind::Folder | InputKind::Pipe => Some(planned.input.path()),
        // Stdin may be any file that the shell has opened.
        InputKind::Stdin => Some(PathBuf::from("/dev/stdin")),
        InputKind::Memory(_) | InputKind::Refused(_) | InputKind::Failed(_) => None,
    });
    Ok(paths.collect())
}

/// Passes a finding to every report. A report is dropped if its pipe was closed; any other failure is returned.
fn write_each(reports: &mut Vec<Sent>, mut what: impl FnMut(&mut Sent) -> io::Result<()>) -> io::Result<()> {
    let mut failure = None;
    reports.retain_mut(|report| match what(report) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
        Err(error) => {
            failure.get_or_insert(error);
            true
        }
    });
    failure.map_or(Ok(()), Err)
}

/// The dialects of `--for`, without repetitions.
fn targets(words: &[String], templates: &Templates) -> Outcome<Vec<Dialect>> {
    let mut targets: Vec<Dialect> = Vec::new();
    for word in words {
        let Ok(target) = templates.find(word) else {
            let registered: Vec<&str> = chatmill_dialect::known().map(Dialect::id).collect();
            let near = nearest(word, registered.into_iter().chain(templates.names()));
            let refusal = CommandError::unknown("dialect", word, near);
            return Err(refusal.then("`chatmill dialects` lists them and their profiles"));
        };
        let is_target = |known: &Dialect| (known.id(), known.profile()) == (target.id(), target.profile());
        if !targets.iter().any(is_target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The exit code depends on what was read and found, never on the format of the report. Unreadable files always fail the check, whatever is
/// selected, ignored or in the baseline; so do inputs without a conversation.
fn verdict(mut files: impl Iterator<Item = FileVerdict> + Clone, fail_on: FailOn) -> Exit {
    let nothing = files.clone().all(|file| file.conversations == 0);
    let unread = files.clone().any(|file| file.verdict == "unreadable");
    if (nothing || unread) && fail_on.fails(Severity::Error) {
        return Exit::Failed;
    }
    let fails = |file: FileVerdict| {
        file.errors > 0 && fail_on.fails(Severity::Error)
            || file.warnings > 0 && fail_on.fails(Severity::Warning)
            || file.notes > 0 && fail_on.fails(Severity::Note)
    };
    Exit::complete_if(!files.any(fails))
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
        assert_eq!(verdict(clean.iter().cloned(), FailOn::Note), Exit::Failed);
        assert_eq!(verdict(clean.iter().cloned(), FailOn::Warning), Exit::Complete);
        assert_eq!(verdict(warned.iter().cloned(), FailOn::Error), Exit::Complete);
        assert_eq!(verdict(warned.iter().cloned(), FailOn::Warning), Exit::Failed);
        assert_eq!(verdict(wrong.iter().cloned(), FailOn::Error), Exit::Failed);
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
        assert_eq!(verdict(files.iter().cloned(), FailOn::Error), Exit::Failed);
        assert_eq!(verdict(files.iter().cloned(), FailOn::Warning), Exit::Failed);
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
            Exit::Failed
        );
        assert_eq!(verdict([empty].into_iter(), FailOn::Error), Exit::Failed);
    }

    #[test]
    fn a_title_names_a_few_paths() {
        let shown = |words: &[&str]| {
            let paths: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            title(&paths, false)
        };
        assert_eq!(shown(&["a", "b", "c"]), "a, b, c");
        assert_eq!(shown(&["a", "b", "c", "d"]), "4 paths");
        assert_eq!(title(&["a".to_owned()], true), "Checked files");
    }

    #[test]
    fn a_dialect_that_is_named_twice_validates_once() {
        let words = ["openai-chat", "chatml", "openai-chat"].map(str::to_owned);
        let targets = targets(&words, &Templates::default()).unwrap();
        let ids: Vec<&str> = targets.iter().map(Dialect::id).collect();
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
}

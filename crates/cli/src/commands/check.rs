//! `chatmill check`: located findings and a verdict per file. Nothing is rendered, but for the dialects of `--for`.

mod arguments;
mod baseline;
mod gathered;
mod github;
mod gitlab;
mod html;
mod json;
mod junit;
mod letters;
mod lines;
mod manifest;
mod people;
mod report;
mod sarif;
mod settings;
mod table;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use chatmill_dataset::ReportFile;
use chatmill_diag::suggest::nearest;
use chatmill_diag::{Day, Limits, Severity};
use chatmill_dialect::DIALECTS;
use chatmill_engine::check::{CheckOptions, Checkup, FileVerdict, Known, Quoting, check, inputs};
use chatmill_engine::pipeline::FailOn;
use chatmill_engine::{Plan, Progress, Target, Templates};
use chatmill_intake::InputKind;

pub(crate) use self::arguments::Arguments;
use self::arguments::{Format, WrittenReport};
use self::letters::Letters;
use self::people::{Layout, People, View, Voice};
use self::report::{Limited, Report, Totals};
use self::settings::Settings;
use crate::args::Global;
use crate::context::Context;
use crate::exit::{self, Exit, WrongRequest};
use crate::mask::mask;
use crate::output::{self, Colours, Output};
use crate::terminal;

/// Findings of a code in a file that a report for people shows, unless it is told otherwise.
const MAX_FINDINGS: usize = 10;

/// Checks the paths.
pub(crate) fn execute(arguments: Arguments, context: &Context<'_>) -> anyhow::Result<Exit> {
    let quote = !context.global.no_content;
    let plan = arguments.pipeline.as_deref();
    let plan = plan.map(|path| Plan::load(path, &[], None)).transpose()?;
    let settings = Settings::new(&arguments, plan.as_ref())?;
    let resolved = settings.resolved()?;
    if arguments.settings.show_settings {
        output::print(&settings.describe()?)?;
        return Ok(Exit::Complete);
    }
    if let Some(path) = &settings.passed_over {
        let path = output::harmless(&path.display().to_string());
        let text = format!("{path} lies in what is checked and is not read; `--config` names it");
        context.meter.note(&text);
    }
    let known = settings
        .baseline()
        .map_or_else(|| Ok(Known::default()), baseline::read)?;
    let templates = plan.map(|plan| plan.templates).unwrap_or_default();
    let reporting = Reporting::new(&arguments, &settings, context.global);
    let shows_text = arguments
        .formats()
        .iter()
        .any(|format| reporting.layout(*format) == Some(Layout::Full));
    let options = CheckOptions {
        own: settings.files(),
        targets: targets(&arguments.targets, &templates)?,
        mask: mask(context.global)?,
        hashes: arguments.hashes(),
        hides_paths: arguments.no_paths,
        excerpts: match quote && shows_text {
            false => 0,
            // Which findings are printed shows only when the known ones have been taken out.
            true if !known.is_empty() || reporting.most == 0 => usize::MAX,
            true => reporting.most,
        },
        known,
        paths: arguments.paths,
        source: arguments.source,
        limits: Limits {
            now: Some(arguments.now.unwrap_or_else(today)),
            ..Limits::default()
        },
        threads: arguments.threads,
        settings: resolved,
    };
    let (stdout, colours) = (output::stdout(), Colours::of_stdout());
    let mut reports = vec![reporting.report(reporting.printed, stdout, colours, terminal::columns())];
    let mut written = Vec::new();
    if !arguments.write.is_empty() {
        let inputs = read_paths(&options)?;
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        for wanted in &arguments.write {
            match wanted {
                WrittenReport::File(format, path) => {
                    let (sink, file) = output::file(path, &inputs)?;
                    let columns = terminal::COLUMNS_OF_A_FILE;
                    reports.push(reporting.report(*format, sink, Colours::NONE, columns));
                    written.push(file);
                }
                WrittenReport::Letters(path) => {
                    let letters = Letters::begin(path, &options.paths, reporting.most)?;
                    reports.push(Box::new(letters));
                }
            }
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
    let quoting = options.mask.as_ref().map_or(Quoting::All, Quoting::Masked);
    let mut failure = None;
    let stop = context.signals.stop();
    let checked = check(&options, context.meter, stop, &mut |checked| {
        totals.add(&checked.located.finding);
        let texts = checked.texts(quoting);
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
        Exit::Complete => verdict(files.iter(), reporting.fail_on),
        failed => failed,
    })
}

/// The day that the machine's clock shows, in UTC.
#[expect(
    clippy::disallowed_methods,
    reason = "what lies in the future depends on today; `--now` takes the clock out of it"
)]
fn today() -> Day {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Day::of(since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

/// How reports are written.
struct Reporting {
    printed: Format,
    statistics: bool,
    fail_on: FailOn,
    /// The file that settings come from.
    origin: Option<String>,
    voice: Voice,
    /// What a page says that was checked.
    title: String,
    least: Option<Severity>,
    /// Findings of a code in a file that people are shown; 0 shows all.
    most: usize,
    /// The same for programs, which are told all unless somebody says otherwise.
    most_for_programs: Option<u64>,
}

impl Reporting {
    fn new(arguments: &Arguments, settings: &Settings, global: &Global) -> Self {
        let most = arguments.max_findings;
        Self {
            printed: arguments.output_format,
            statistics: arguments.statistics,
            fail_on: settings.fail_on(),
            origin: settings
                .origin
                .as_ref()
                .map(|path| output::harmless(&path.display().to_string())),
            voice: match (global.quiet, global.verbose) {
                (true, _) => Voice::Quiet,
                (false, 0) => Voice::Plain,
                (false, _) => Voice::Verbose,
            },
            title: title(&arguments.paths, arguments.no_paths),
            least: arguments.min_severity,
            most: most.unwrap_or(MAX_FINDINGS),
            most_for_programs: most.filter(|most| *most > 0).map(|most| most as u64),
        }
    }

    /// How a format for people is laid out.
    fn layout(&self, format: Format) -> Option<Layout> {
        let layout = match format {
            Format::Full => Layout::Full,
            Format::Concise => Layout::Concise,
            Format::Grouped => Layout::Grouped,
            _ => return None,
        };
        Some(if self.statistics {
            Layout::Statistics
        } else {
            layout
        })
    }

    fn report(&self, format: Format, sink: Output, colours: Colours, columns: usize) -> Box<dyn Report> {
        let least = self.least.unwrap_or(Severity::Note);
        let report: Box<dyn Report> = match format {
            Format::Full | Format::Concise | Format::Grouped => {
                let layout = self.layout(format).unwrap_or(Layout::Full);
                return Box::new(People::new(sink, colours, self.view(layout, columns)));
            }
            Format::Json => Box::new(json::Json::new(sink)),
            Format::Jsonl => Box::new(lines::Lines::new(sink)),
            Format::Csv => Box::new(table::Table::new(sink)),
            Format::Manifest => Box::new(manifest::FileManifest::new(sink)),
            Format::Junit => Box::new(junit::Junit::new(sink, self.fail_on)),
            Format::Sarif => Box::new(sarif::Sarif::new(sink)),
            Format::Github => Box::new(github::Github::new(sink)),
            Format::Gitlab => Box::new(gitlab::Gitlab::new(sink)),
            Format::Html => {
                // It says itself how many it leaves out.
                let page = html::Html::new(sink, self.title.clone(), self.most);
                return Box::new(Limited::new(Box::new(page), least, None));
            }
        };
        Box::new(Limited::new(report, least, self.most_for_programs))
    }

    fn view(&self, layout: Layout, columns: usize) -> View {
        let usual = match self.voice {
            Voice::Verbose => Severity::Note,
            Voice::Quiet | Voice::Plain => Severity::Warning,
        };
        View {
            layout,
            voice: self.voice,
            columns,
            least: self.least.unwrap_or(usual),
            most: self.most,
            settings: self.origin.clone(),
        }
    }
}

/// Paths that a title names; of more it tells the number.
const TITLE_PATHS: usize = 3;

/// What was checked, where that may be said.
fn title(paths: &[String], no_paths: bool) -> String {
    match paths {
        _ if no_paths => "Checked files".to_owned(),
        paths if paths.len() > TITLE_PATHS => format!("{} paths", paths.len()),
        paths => output::harmless(&paths.join(", ")),
    }
}

/// Where the bytes are that will be read.
fn read_paths(options: &CheckOptions) -> anyhow::Result<Vec<PathBuf>> {
    let inputs = inputs(options)?.into_iter();
    let paths = inputs.filter_map(|planned| match planned.input.kind {
        InputKind::File | InputKind::Folder | InputKind::Pipe => Some(planned.input.path()),
        // A shell may have opened any file for us.
        InputKind::Stdin => Some(PathBuf::from("/dev/stdin")),
        InputKind::Memory(_) | InputKind::Refused(_) | InputKind::Failed(_) => None,
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
            || file.notes > 0 && fail_on.fails(Severity::Note)
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
        assert_eq!(verdict(clean.iter().cloned(), FailOn::Note), Exit::Objection);
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
}

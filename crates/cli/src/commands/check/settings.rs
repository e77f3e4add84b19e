//! The settings of a check: the options of the command line, and one `[check]` section, that of `--config`, of `--pipeline`, or of the
//! nearest `chatmill.toml` from the current folder upwards.
//!
//! Inputs do not configure their own check: a `chatmill.toml` inside a checked path is not read unless it is named.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use chatmill_diag::limits::MIB;
use chatmill_engine::pipeline::{CheckSection, Config, FailOn};
use chatmill_engine::{CheckSettings, Plan};
use chatmill_intake::discover::lies_below;
use chatmill_intake::{Failure, is_of_the_system, read_small};

use super::arguments::Arguments;
use crate::exit::{CommandError, Outcome, small_file};
use crate::output::shown;
use crate::selection;

/// The name of a settings file.
const NAME: &str = "chatmill.toml";

/// The size limit of a settings file, in bytes.
const MAX_BYTES: u64 = MIB;

/// The settings of a check.
pub(super) struct Settings {
    /// The section, with the options of the command line applied.
    section: CheckSection,
    /// The file of the section.
    pub origin: Option<PathBuf>,
    /// A settings file that was not read because it is inside the checked paths.
    pub passed_over: Option<PathBuf>,
}

impl Settings {
    /// Finds the section that applies, and applies the options of the command line.
    pub(super) fn new(arguments: &Arguments, plan: Option<&Plan>) -> Outcome<Self> {
        let in_plan = plan.and_then(|plan| Some((plan.pipeline.check.clone()?, plan)));
        let mut passed_over = None;
        let (mut section, origin) = if let Some(path) = &arguments.settings.config {
            (read(path, named)?, Some(path.clone()))
        } else if arguments.settings.no_config {
            (CheckSection::default(), None)
        } else if let Some((mut section, plan)) = in_plan {
            section.baseline = section.baseline.map(|baseline| plan.base.join(baseline));
            (section, arguments.pipeline.clone())
        } else {
            let here = env::current_dir()
                .map_err(|error| CommandError::from(error).context("cannot determine the current folder"))?;
            let found = nearest_file(&here, &arguments.paths)?;
            passed_over = found.passed_over;
            match found.file {
                Some((path, text)) => (parse(&text, &path)?, Some(path)),
                None => (CheckSection::default(), None),
            }
        };
        for word in arguments.select.iter().chain(&arguments.ignore) {
            selection::named(word)?;
        }
        if !arguments.select.is_empty() {
            section.select.clone_from(&arguments.select);
        }
        section.ignore.extend(arguments.ignore.iter().cloned());
        section.follow_links |= arguments.settings.follow_links;
        section.fail_on = arguments.fail_on.or(section.fail_on);
        if let Some(baseline) = &arguments.baseline {
            section.baseline = Some(baseline.clone());
        }
        Ok(Self {
            section,
            origin,
            passed_over,
        })
    }

    /// The settings for codes and files.
    pub(super) fn resolved(&self) -> Outcome<CheckSettings> {
        CheckSettings::new(&self.section).map_err(|error| match &self.origin {
            None => error.into(),
            Some(origin) => CommandError::from(error).context(origin.display()),
        })
    }

    /// The least severity that makes the exit code 1.
    pub(super) fn fail_on(&self) -> FailOn {
        self.section.fail_on.unwrap_or(FailOn::Error)
    }

    /// The earlier report with the known findings.
    pub(super) fn baseline(&self) -> Option<&Path> {
        self.section.baseline.as_deref()
    }

    /// The files from which the settings come.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let baseline = self.section.baseline.clone();
        self.origin.iter().cloned().chain(baseline).collect()
    }

    /// The settings as the text of a settings file, for `--show-settings`.
    pub(super) fn describe(&self) -> Outcome<String> {
        let origin = match &self.origin {
            Some(path) => format!("the command line and {}", shown(path)),
            None => format!("the command line; no {NAME} was found"),
        };
        let passed_over = self.passed_over.as_ref().map(|path| {
            let path = shown(path);
            format!("# {path} is inside the checked inputs and was not read\n")
        });
        let mut check = self.section.clone();
        check.fail_on = Some(self.fail_on());
        let settings = Config { check }.to_toml();
        let settings = settings.map_err(CommandError::bug)?;
        Ok(format!(
            "# from {origin}\n{}{settings}",
            passed_over.unwrap_or_default(),
        ))
    }
}

/// The result of the search for a settings file.
#[derive(Debug, Default)]
struct Found {
    file: Option<(PathBuf, String)>,
    passed_over: Option<PathBuf>,
}

/// The nearest settings file, from a folder upwards, that is not inside a checked path.
fn nearest_file(here: &Path, checked: &[String]) -> Outcome<Found> {
    let mut found = Found::default();
    for folder in here.ancestors() {
        let path = folder.join(NAME);
        let is_below = checked.iter().map(|pattern| lies_below(&path, pattern));
        let is_below: io::Result<Vec<bool>> = is_below.collect();
        let is_below = is_below.map_err(|error| Failure::new("look at", &path, &error))?;
        if is_below.contains(&true) {
            found.passed_over.get_or_insert(path);
            continue;
        }
        match read_small(&path, MAX_BYTES) {
            Ok(text) => {
                found.file = Some((path, text));
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if is_of_the_system(&error) => return Err(Failure::new("read", &path, &error).into()),
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(found)
}

fn read(path: &Path, wrong: fn(&Path, &io::Error) -> CommandError) -> Outcome<CheckSection> {
    parse(&small_file(path, MAX_BYTES, |error| wrong(path, &error))?, path)
}

fn named(path: &Path, error: &io::Error) -> CommandError {
    unreadable(path, error).then("`chatmill schema config` lists the allowed keys")
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    let path = shown(path);
    CommandError::request(format!("cannot read the settings {path}: {error}"))
}

/// Parses a settings file; its paths are relative to its folder.
fn parse(text: &str, path: &Path) -> Outcome<CheckSection> {
    let mut section = Config::parse(text, path)?.check;
    if let (Some(baseline), Some(folder)) = (&section.baseline, path.parent()) {
        section.baseline = Some(folder.join(baseline));
    }
    Ok(section)
}

//! The arguments of `check`.

use std::path::PathBuf;

use chatmill_diag::{Day, Severity};
use chatmill_engine::pipeline::FailOn;
use clap::{Args, ValueEnum};

use crate::args::{Inputs, words};

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("../../../help/check.txt").trim_end())]
pub(crate) struct Arguments {
    /// Files, folders, globs, archives, or `-` for stdin
    #[arg(required_unless_present = "show_settings", value_name = "PATH")]
    pub paths: Vec<String>,
    #[command(flatten)]
    pub reading: Inputs,
    /// Also reports what a consumer of this dialect would refuse; repeatable
    #[arg(long = "for", value_name = "DIALECT[@PROFILE]")]
    pub targets: Vec<String>,
    /// Pipeline file with maps, `[check]` settings, and templates for --for
    #[arg(long, value_name = "FILE")]
    pub pipeline: Option<PathBuf>,
    /// The options that select the settings.
    #[command(flatten)]
    pub settings: SettingsArguments,
    /// Output format
    #[arg(long, alias = "format", default_value = "full", value_name = "FORMAT")]
    pub output_format: Format,
    /// Reports only these codes (RF001), prefixes (RF) or names (dangling-reference); replaces the settings' `select`
    #[arg(long, value_delimiter = ',', value_name = "CODE|PREFIX|NAME")]
    pub select: Vec<String>,
    /// Leaves out these codes, too; overrides --select
    #[arg(long, value_delimiter = ',', value_name = "CODE|PREFIX|NAME")]
    pub ignore: Vec<String>,
    /// Least severity to list; lesser findings are still counted [default: warning in text formats, else note]
    #[arg(long, value_parser = words::<Severity>(), value_name = "SEVERITY")]
    pub min_severity: Option<Severity>,
    /// Findings to list per code and file; 0 lists all [default: 10 in text formats, else 0]
    #[arg(long, value_name = "N")]
    pub max_findings: Option<usize>,
    /// Least severity that makes the exit code 1 [default: error]
    #[arg(long, value_parser = words::<FailOn>(), value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,
    /// Day of the check; messages of later days are reported [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub now: Option<Day>,
    /// Reports only findings that an earlier report (json or jsonl) does not contain
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Prints counts per code instead of single findings (text formats only)
    #[arg(long)]
    pub statistics: bool,
    /// Also writes a report to a file, or a report for each supplier into a new folder (letters=DIR); repeatable
    #[arg(long, value_parser = written_report, value_name = "FORMAT=FILE")]
    pub write: Vec<WrittenReport>,
    /// Looks for keys and tokens, too; findings name the place and never the value
    #[arg(long)]
    pub secrets: bool,
    /// Also masks paths and names of archive members
    #[arg(long, requires = "no_content")]
    pub no_paths: bool,
    /// Worker threads; 0 uses all cores
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
}

/// The options that select the settings.
#[derive(Debug, Args)]
pub(crate) struct SettingsArguments {
    /// Settings file, instead of the nearest chatmill.toml from the current folder upwards
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Ignores settings files
    #[arg(long)]
    pub no_config: bool,
    /// Follows links inside folders, wherever they lead
    #[arg(long)]
    pub follow_links: bool,
    /// Prints the effective settings and their origin, and checks nothing
    #[arg(long)]
    pub show_settings: bool,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text: finding, location, source excerpt and help
    #[value(alias = "text")]
    Full,
    /// Text: one line per finding
    Concise,
    /// Text: one line per finding, grouped by file
    Grouped,
    /// One object: findings, files, summary
    Json,
    /// One finding per line
    Jsonl,
    /// SARIF, for code hosts
    Sarif,
    /// Test results, for build servers
    Junit,
    /// GitHub Actions annotations
    Github,
    /// GitLab Code Quality report
    Gitlab,
    /// One file and its verdict per line
    Csv,
    /// One file per line, with length, hash and verdict
    Manifest,
    /// HTML page: all files, with filters by code, file and severity
    Html,
}

/// A report of `--write`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrittenReport {
    /// A report in this format, in a file.
    File(Format, PathBuf),
    /// A report for each supplier, in a folder.
    SupplierReports(PathBuf),
}

/// The word that `--write` uses for the reports for suppliers.
const SUPPLIER_REPORTS: &str = "letters";

impl Arguments {
    /// The formats of all reports that are a single file.
    pub(super) fn formats(&self) -> Vec<Format> {
        let written = self.write.iter().filter_map(|written| match written {
            WrittenReport::File(format, _) => Some(*format),
            WrittenReport::SupplierReports(_) => None,
        });
        std::iter::once(self.output_format).chain(written).collect()
    }

    /// Whether some report contains the hashes of the files.
    pub(super) fn hashes(&self) -> bool {
        let is_supplier_reports =
            |written: &WrittenReport| matches!(written, WrittenReport::SupplierReports(_));
        self.formats().contains(&Format::Manifest) || self.write.iter().any(is_supplier_reports)
    }
}

fn written_report(text: &str) -> Result<WrittenReport, String> {
    let (format, file) = text
        .split_once('=')
        .ok_or("write FORMAT=FILE, for example json=check.json")?;
    if file.is_empty() {
        return Err("the file name is missing".to_owned());
    }
    let file = PathBuf::from(file);
    if format == SUPPLIER_REPORTS {
        return Ok(WrittenReport::SupplierReports(file));
    }
    let format = Format::from_str(format, false).map_err(|_| {
        let known = Format::value_variants().iter();
        let known: Vec<String> = known
            .filter_map(ValueEnum::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .chain([SUPPLIER_REPORTS.to_owned()])
            .collect();
        format!("`{format}` is not one of {}", known.join(", "))
    })?;
    Ok(WrittenReport::File(format, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_report_names_a_format_and_a_file() {
        assert_eq!(
            written_report("jsonl=a=b.jsonl"),
            Ok(WrittenReport::File(Format::Jsonl, PathBuf::from("a=b.jsonl")))
        );
        assert_eq!(
            written_report("text=a"),
            Ok(WrittenReport::File(Format::Full, PathBuf::from("a"))),
            "the name that it had before"
        );
        assert_eq!(
            written_report("letters=to/send"),
            Ok(WrittenReport::SupplierReports(PathBuf::from("to/send")))
        );
        assert!(written_report("letters=").is_err());
        assert!(written_report("jsonl").is_err());
        assert!(written_report("jsonl=").is_err());
        let refused = written_report("yaml=x").unwrap_err();
        assert!(
            refused.contains("`yaml`")
                && refused.contains("grouped, json")
                && refused.contains("html, letters"),
            "{refused}"
        );
    }

    #[test]
    fn each_severity_fails_from_itself_on() {
        use Severity::{Error, Note, Warning};
        let fails = |fail_on: FailOn| [Note, Warning, Error].map(|severity| fail_on.fails(severity));
        assert_eq!(fails(FailOn::Note), [true, true, true]);
        assert_eq!(fails(FailOn::Warning), [false, true, true]);
        assert_eq!(fails(FailOn::Error), [false, false, true]);
        assert_eq!(fails(FailOn::Never), [false, false, false]);
    }
}

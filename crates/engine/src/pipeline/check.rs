//! `[check]`: how files are validated, in `chatmill.toml` or in a pipeline file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmill_diag::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use super::parse;
use crate::error::PlanError;

/// The contents of a `chatmill.toml`: settings for every command in a folder and below.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Settings of `chatmill check`.
    pub check: CheckSection,
}

/// `[check]`: the settings of `chatmill check`. A run writes every finding, whatever these settings are.
///
/// Codes are written as on the command line: letters and digits (`RF001`), the beginning of these (`RF`), or
/// a name (`dangling-reference`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckSection {
    /// The codes that are reported; an empty list means all.
    pub select: Vec<String>,
    /// The codes that are not reported; they take precedence over `select`.
    pub ignore: Vec<String>,
    /// The least severity that makes the exit code 1.
    pub fail_on: Option<FailOn>,
    /// A report of an earlier check (json or jsonl), whose findings are not reported again; relative paths start at this file's
    /// folder.
    pub baseline: Option<PathBuf>,
    /// The names of files that are not read: globs such as `*.png` or `attachments/**`.
    pub exclude: Vec<String>,
    /// The zone of times without an offset, if the conversation names none: an IANA name (`Europe/Kyiv`) or an offset (`+02:00`).
    pub zone: Option<String>,
    /// Whether links inside folders are followed, wherever they lead; each folder is read once.
    pub follow_links: bool,
    /// Severities by code, in place of the codes' own; of several entries for one code, the longest takes precedence.
    pub severity: BTreeMap<String, SeverityWord>,
    /// Further settings for files of certain names, by glob; where several globs match, all hold, in the order of the globs.
    pub per_path: BTreeMap<String, PerPathSection>,
    /// The suppliers of files, by name, each with a list of globs. A file that no glob matches belongs to the supplier of its
    /// top folder.
    pub suppliers: BTreeMap<String, Vec<String>>,
}

/// `[check.per-path."GLOB"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PerPathSection {
    /// The codes that are not reported for these files.
    pub ignore: Vec<String>,
    /// Severities by code for these files.
    pub severity: BTreeMap<String, SeverityWord>,
}

/// The severity of a code, or `off` if it is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeverityWord {
    /// Not reported.
    Off,
    /// Worth knowing.
    Note,
    /// Suspicious, or repaired.
    Warning,
    /// Refused by the format's own consumer, or lost.
    Error,
}

/// The least severity that makes the exit code 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, EnumString, VariantNames)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FailOn {
    /// Errors.
    Error,
    /// Warnings and errors.
    Warning,
    /// Any finding.
    Note,
    /// No severity fails the check.
    Never,
}

impl FailOn {
    /// Returns whether findings of a severity make the exit code 1.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Note => true,
            Self::Never => false,
        }
    }
}

impl Config {
    /// Reads a `chatmill.toml`; `shown` is its path in messages.
    pub fn parse(text: &str, shown: &Path) -> Result<Self, PlanError> {
        toml::from_str(text).map_err(|error| parse::unreadable(shown, text, &error))
    }

    /// Returns the text of an equivalent `chatmill.toml` with every key.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// Returns the JSON Schema of a `chatmill.toml`.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CheckSection, String> {
        let config = Config::parse(text, Path::new("chatmill.toml"));
        config
            .map(|config| config.check)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_is_read_and_written_alike() {
        let text = "[check]\nselect = [\"RF\"]\nignore = [\"TM\"]\nfail-on = \"warning\"\nbaseline = \"known.json\"\n\
                    exclude = [\"*.png\"]\nzone = \"Europe/Kyiv\"\nfollow-links = true\n\n[check.severity]\nAS001 = \"error\"\nTM002 = \"off\"\n\n\
                    [check.per-path.\"old/**\"]\nignore = [\"TL\"]\n\n\
                    [check.suppliers]\nAcme = [\"acme/**\"]\n";
        let section = read(text).unwrap();
        assert_eq!(section.severity["AS001"], SeverityWord::Error);
        assert_eq!(section.per_path["old/**"].ignore, ["TL"]);
        assert_eq!(section.suppliers["Acme"], ["acme/**"]);
        let config = Config { check: section };
        let again = config.to_toml().unwrap();
        assert_eq!(Config::parse(&again, Path::new("x")).unwrap(), config);
        let keys = [
            "select",
            "ignore",
            "fail-on",
            "baseline",
            "exclude",
            "zone",
            "follow-links",
            "severity",
            "suppliers",
        ];
        assert!(keys.iter().all(|key| again.contains(key)), "{again}");
    }

    #[test]
    fn an_empty_file_and_an_empty_section_give_the_default_settings() {
        assert_eq!(read("").unwrap(), CheckSection::default());
        assert_eq!(read("[check]\n").unwrap(), CheckSection::default());
    }
}

//! The settings of `chatmill check`: codes of findings that are ignored or have another severity, in all files or in some;
//! files that are not read; and the suppliers of files. A plan resolves the section only to refuse what is wrong in it.

use std::collections::BTreeMap;

use chatmill_diag::{Code, Severity, codes};
use chatmill_intake::discover::{Links, Patterns};
use chatmill_redact::{PersonalKind, Redactor};

use super::inputs::require_zone;
use crate::error::PlanError;
use crate::pipeline::{CheckSection, PerPathSection, SeverityWord};

/// The codes of findings with settings.
#[derive(Clone, Debug, Default)]
pub struct CodeSettings {
    /// Codes that are neither reported nor counted.
    off: Vec<&'static str>,
    /// Severities that replace the defaults of the codes.
    severities: BTreeMap<&'static str, Severity>,
}

/// Settings of codes for files that match a pattern.
#[derive(Clone, Debug, Default)]
pub struct PathSettings {
    patterns: Patterns,
    codes: CodeSettings,
}

/// A resolved `[check]` section.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    /// The settings of codes for all files.
    pub codes: CodeSettings,
    /// Further settings of codes for some files, in the order of the section.
    pub per_path: Vec<PathSettings>,
    /// Patterns of files that are not read.
    pub exclude: Patterns,
    /// Whether symbolic links inside folders are followed.
    pub links: Links,
    /// The suppliers, who delivered the files and get a letter about them, each with the patterns of these files.
    suppliers: Vec<(String, Patterns)>,
    /// The zone of times without an offset, if the conversation names none.
    pub zone: Option<String>,
    /// Finds secrets such as API keys, if requested.
    pub(crate) redactor: Option<Redactor>,
}

impl CheckSettings {
    /// Also searches for secrets such as API keys and access tokens.
    pub fn find_secrets(&mut self) {
        self.redactor = Some(Redactor::new(&[PersonalKind::Secret], None, &[]));
    }

    /// Resolves a section.
    ///
    /// # Errors
    ///
    /// If it names an unknown code or zone, or an invalid glob.
    pub fn new(section: &CheckSection) -> Result<Self, PlanError> {
        let mut codes = CodeSettings::default();
        let selected = all(&section.select, "check.select")?;
        if !section.select.is_empty() {
            let left = codes::CODES.iter().filter(|code| !selected.contains(code));
            codes.off.extend(left.map(|code| code.code));
        }
        codes.ignore(&section.ignore, "check.ignore")?;
        codes.grade(&section.severity, "check.severity")?;
        require_zone(section.zone.as_deref(), "check.zone")?;
        let per_path = section.per_path.iter().map(path).collect::<Result<_, _>>()?;
        let suppliers = section.suppliers.iter();
        let suppliers = suppliers.map(|(name, globs)| Ok((name.clone(), Patterns::new(globs)?)));
        Ok(Self {
            codes,
            per_path,
            exclude: Patterns::new(&section.exclude)?,
            zone: section.zone.clone(),
            redactor: None,
            suppliers: suppliers.collect::<Result<_, PlanError>>()?,
            links: if section.follow_links {
                Links::Followed
            } else {
                Links::Refused
            },
        })
    }

    /// Returns the supplier of a file: the one in the settings, else the top folder of its path. `names` are the
    /// names of the file: the first is its path below the checked folder, the last its path as typed.
    pub fn supplier(&self, names: &[impl AsRef<str>]) -> String {
        let matches = |patterns: &Patterns| names.iter().any(|name| patterns.matches(name.as_ref()));
        if let Some((supplier, _)) = self.suppliers.iter().find(|(_, patterns)| matches(patterns)) {
            return supplier.clone();
        }
        let below = names.first().and_then(|name| name.as_ref().split_once('/'));
        let below = below.map(|(top, _)| top.to_owned());
        // A file directly in the checked folder belongs to that folder, which the path as typed contains.
        let typed = || {
            let (folder, _) = names.last()?.as_ref().rsplit_once('/')?;
            folder.rsplit('/').next().map(str::to_owned)
        };
        let folder = below.or_else(typed);
        folder
            .filter(|name| !matches!(name.as_str(), "" | "." | ".."))
            .unwrap_or_else(|| "delivery".to_owned())
    }

    /// Returns the settings of codes for a file with these names: those for all files, then those of each matching pattern.
    pub fn of(&self, names: &[impl AsRef<str>]) -> CodeSettings {
        let mut codes = self.codes.clone();
        for one in &self.per_path {
            if names.iter().any(|name| one.patterns.matches(name.as_ref())) {
                codes.off.extend(&one.codes.off);
                codes.severities.extend(&one.codes.severities);
            }
        }
        codes
    }
}

fn path((glob, section): (&String, &PerPathSection)) -> Result<PathSettings, PlanError> {
    let mut codes = CodeSettings::default();
    codes.ignore(&section.ignore, "check.per-path.ignore")?;
    codes.grade(&section.severity, "check.per-path.severity")?;
    Ok(PathSettings {
        patterns: Patterns::new(std::slice::from_ref(glob))?,
        codes,
    })
}

impl CodeSettings {
    /// Returns the severity of a finding; `own` is the default, and `None` means that the finding is ignored.
    pub fn severity(&self, code: &Code, own: Severity) -> Option<Severity> {
        if self.off.contains(&code.code) {
            return None;
        }
        // The map has only the codes that the settings name.
        Some(self.severities.get(code.code).copied().unwrap_or(own))
    }

    fn ignore(&mut self, words: &[String], key: &'static str) -> Result<(), PlanError> {
        self.off.extend(all(words, key)?.iter().map(|code| code.code));
        Ok(())
    }

    /// Adds severities. If several words select a code, the longest has priority: `RF001` over the
    /// prefix `RF`, and the name `dangling-reference` over both.
    fn grade(
        &mut self,
        severities: &BTreeMap<String, SeverityWord>,
        key: &'static str,
    ) -> Result<(), PlanError> {
        let mut ordered: Vec<_> = severities.iter().collect();
        ordered.sort_by_key(|(word, _)| word.len());
        let mut off = Vec::new();
        for (word, severity) in ordered {
            for code in named_codes(word, key)? {
                off.retain(|other| *other != code.code);
                self.severities.remove(code.code);
                let severity = match severity {
                    SeverityWord::Off => {
                        off.push(code.code);
                        continue;
                    }
                    SeverityWord::Note => Severity::Note,
                    SeverityWord::Warning => Severity::Warning,
                    SeverityWord::Error => Severity::Error,
                };
                self.severities.insert(code.code, severity);
            }
        }
        self.off.extend(off);
        Ok(())
    }
}

fn all(words: &[String], key: &'static str) -> Result<Vec<&'static Code>, PlanError> {
    let mut all = Vec::new();
    for word in words {
        all.extend(named_codes(word, key)?);
    }
    Ok(all)
}

/// Returns the codes that a word selects: a code, a prefix of codes, or a name.
pub(super) fn named_codes(word: &str, key: &'static str) -> Result<Vec<&'static Code>, PlanError> {
    codes::named(word).map_err(|near| PlanError::UnknownWord {
        key,
        what: "code",
        word: word.to_owned(),
        suggestion: near.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Config;
    use std::path::Path;

    fn settings(text: &str) -> Result<CheckSettings, String> {
        let config = Config::parse(text, Path::new("chatmill.toml")).unwrap();
        CheckSettings::new(&config.check).map_err(|error| error.to_string())
    }

    fn graded(settings: &CodeSettings) -> Vec<(&'static str, Severity)> {
        let codes = codes::CODES.iter();
        codes
            .filter_map(|code| Some((code.code, settings.severity(code, code.severity)?)))
            .collect()
    }

    #[test]
    fn a_file_is_sent_by_whom_the_settings_name_else_by_its_top_folder() {
        let named = settings("[check.suppliers]\nAcme = [\"acme/**\", \"*.acme.json\"]\n").unwrap();
        for (names, supplier) in [
            (["acme/a.json", "in/acme/a.json"], "Acme"),
            (["bird/a.acme.json", "in/bird/a.acme.json"], "Acme"),
            (["bird/deep/a.json", "in/bird/deep/a.json"], "bird"),
            (["a.json", "exports/in/a.json"], "in"),
            (["a.json", "./a.json"], "delivery"),
            (["a.json", "/a.json"], "delivery"),
            (["-", "-"], "delivery"),
        ] {
            assert_eq!(named.supplier(&names), supplier, "{names:?}");
        }
        assert!(settings("[check.suppliers]\nAcme = [\"a{\"]\n").is_err());
    }

    #[test]
    fn known_zones_in_the_settings_are_read_and_unknown_ones_refused() {
        for zone in ["Europe/Kyiv", "+02:00"] {
            let settings = settings(&format!("[check]\nzone = \"{zone}\"\n")).unwrap();
            assert_eq!(settings.zone.as_deref(), Some(zone));
        }
        for zone in ["", "Kyiv Time"] {
            let refused = settings(&format!("[check]\nzone = \"{zone}\"\n")).unwrap_err();
            assert!(
                refused.starts_with("check.zone: ") && refused.contains("Europe/Kyiv"),
                "{refused}"
            );
        }
    }

    #[test]
    fn empty_check_settings_select_every_code_with_its_own_severity() {
        let settings = settings("").unwrap();
        let own: Vec<_> = codes::CODES
            .iter()
            .map(|code| (code.code, code.severity))
            .collect();
        assert_eq!(graded(&settings.of(&["a"])), own);
    }

    #[test]
    fn a_code_a_prefix_and_a_name_select_alike_and_ignore_wins() {
        let text = "[check]\nselect = [\"IN001\", \"dangling-reference\", \"tm00\"]\nignore = [\"TM002\"]\n";
        let graded_codes = graded(&settings(text).unwrap().of(&[""]));
        let graded_codes: Vec<&str> = graded_codes.iter().map(|(code, _)| *code).collect();
        assert_eq!(graded_codes[..5], ["IN001", "RF001", "TM001", "TM003", "TM004"]);
        assert!(
            graded_codes[5..].iter().all(|code| code.starts_with("TM")),
            "{graded_codes:?}"
        );
    }

    #[test]
    fn the_longest_matching_word_for_a_code_wins() {
        for severities in [
            "TM = \"off\"\ntimestamp-naive = \"error\"\nTM003 = \"note\"",
            "timestamp-naive = \"error\"\nTM003 = \"note\"\nTM = \"off\"",
        ] {
            let text = format!("[check]\nselect = [\"TM\"]\n[check.severity]\n{severities}\n");
            let graded_codes = graded(&settings(&text).unwrap().of(&[""]));
            assert_eq!(
                graded_codes,
                [("TM002", Severity::Error), ("TM003", Severity::Note)]
            );
        }
    }

    #[test]
    fn settings_for_some_files_override_those_for_all() {
        let text = "[check]\nselect = [\"TM003\", \"RF001\"]\n[check.per-path.\"old/**\"]\nignore = [\"TM\"]\n\
                    [check.per-path.\"*.jsonl\"]\nseverity = { RF = \"error\" }\n";
        let settings = settings(text).unwrap();
        let (warned, error) = (Severity::Warning, Severity::Error);
        for (name, expected) in [
            ("new/a.json", vec![("RF001", warned), ("TM003", warned)]),
            ("old/a.json", vec![("RF001", warned)]),
            ("new/a.jsonl", vec![("RF001", error), ("TM003", warned)]),
            ("old/a.jsonl", vec![("RF001", error)]),
        ] {
            assert_eq!(graded(&settings.of(&["typed", name])), expected, "{name}");
        }
    }

    #[test]
    fn the_settings_on_the_page_of_check_are_settings() {
        let page = include_str!("../../../../docs/check.md");
        let text = page.split("```toml\n").nth(1).unwrap();
        let text = text.split("```").next().unwrap();
        let settings = settings(text).unwrap();
        let severity = |code: &Code, name: &str| settings.of(&[name]).severity(code, code.severity);
        assert_eq!(severity(&codes::DUPLICATE_MESSAGE_ID, "a"), Some(Severity::Error));
        assert_eq!(severity(&codes::TIMESTAMP_NAIVE, "a"), None);
        assert_eq!(severity(&codes::TIME_GOES_BACKWARDS, "a"), Some(Severity::Note));
        assert_eq!(severity(&codes::DANGLING_REFERENCE, "archive/a"), None);
        assert_eq!(severity(&codes::WRONG_TYPE, "archive/a"), Some(Severity::Note));
        assert!(settings.exclude.matches("deep/a.png"));
    }
}

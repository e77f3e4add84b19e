//! What could not be read, and where: for the commands that read without writing a dataset.

use std::fmt;

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::Failure;
use serde::{Serialize, Serializer};

/// Something that could not be read, or not wholly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The path as typed.
    pub path: String,
    /// Member of an archive.
    pub entry: String,
    /// Line from 1, where there are lines.
    pub line: Option<u64>,
    /// Its code.
    pub code: &'static str,
    /// Whether something is missing, or only in doubt.
    #[serde(skip)]
    pub severity: Severity,
    /// One clause that says why, without any byte of a chat.
    pub message: String,
}

impl Trouble {
    /// The trouble that a finding tells of.
    pub(crate) fn new(path: &str, entry: &str, line: Option<u64>, finding: &Finding) -> Self {
        Self {
            path: path.to_owned(),
            entry: entry.to_owned(),
            line,
            code: finding.code.code,
            severity: finding.severity,
            message: finding.message.clone(),
        }
    }

    /// Whether it says the same of another place of the same entry.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.path, &self.entry, self.code, &self.message)
            == (&other.path, &other.entry, other.code, &other.message)
    }

    /// Whether the input itself cannot be opened or read, whatever it holds.
    pub fn is_of_input(&self) -> bool {
        [&codes::UNREADABLE_INPUT, &codes::NOT_A_REGULAR_FILE]
            .iter()
            .any(|code| code.code == self.code)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)?;
        if !self.entry.is_empty() {
            write!(formatter, "!{}", self.entry)?;
        }
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}: {}", self.code, self.message)
    }
}

/// All of them: the first are kept, the rest is counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Troubles {
    /// What could not be read.
    pub count: u64,
    /// The first of it.
    pub first: Vec<Trouble>,
    /// What was read, though something about it is in doubt.
    pub warnings: Vec<Trouble>,
    /// Inputs that were not read to their end because the system failed.
    #[serde(serialize_with = "as_texts")]
    pub failures: Vec<Failure>,
}

fn as_texts<S: Serializer>(failures: &[Failure], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(failures.iter().map(ToString::to_string))
}

impl Troubles {
    /// How many are kept of each kind.
    const MAX_KEPT: usize = 100;

    /// Adds one.
    pub fn add(&mut self, trouble: Trouble) {
        let is_error = trouble.severity == Severity::Error;
        self.count += u64::from(is_error);
        let list = if is_error {
            &mut self.first
        } else {
            &mut self.warnings
        };
        // What a file that nobody reads says of each of its records is said once.
        let is_new = !list.last().is_some_and(|last| trouble.repeats(last));
        if is_new && list.len() < Self::MAX_KEPT {
            list.push(trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_names_file_entry_and_line() {
        let finding = Finding::new(&codes::INVALID_JSON, "expected a closing quote");
        let trouble = Trouble::new("a.zip", "b.jsonl", Some(7), &finding);
        assert_eq!(
            trouble.to_string(),
            "a.zip!b.jsonl:7: IN001: expected a closing quote"
        );
        assert!(!trouble.is_of_input());
        let finding = Finding::new(&codes::UNREADABLE_INPUT, "permission denied");
        let trouble = Trouble::new("a.json", "", None, &finding);
        assert_eq!(trouble.to_string(), "a.json: IN014: permission denied");
        assert!(trouble.is_of_input());
    }

    #[test]
    fn what_is_said_of_every_record_is_counted_and_kept_once() {
        let mut troubles = Troubles::default();
        for (path, line) in [("a", 1), ("a", 2), ("b", 1), ("a", 3)] {
            let finding = Finding::new(&codes::UNKNOWN_FORMAT, "x");
            troubles.add(Trouble::new(path, "", Some(line), &finding));
        }
        let kept: Vec<String> = troubles.first.iter().map(Trouble::to_string).collect();
        assert_eq!(kept, ["a:1: SR003: x", "b:1: SR003: x", "a:3: SR003: x"]);
        assert_eq!(troubles.count, 4);
    }

    #[test]
    fn troubles_without_end_are_counted_and_not_kept() {
        let mut troubles = Troubles::default();
        for number in 0..1_000 {
            let of = |code| Trouble::new(&number.to_string(), "", None, &Finding::new(code, "x"));
            troubles.add(of(&codes::INVALID_JSON));
            troubles.add(of(&codes::UNREAD_JOURNAL));
        }
        assert_eq!(troubles.count, 1_000);
        assert_eq!(
            (troubles.first.len(), troubles.warnings.len()),
            (Troubles::MAX_KEPT, Troubles::MAX_KEPT)
        );
    }
}

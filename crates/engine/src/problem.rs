//! Problems of reading with their places, for commands that read without writing a dataset.

use std::fmt;

use chatmill_diag::{Finding, Severity, codes};
use chatmill_intake::Failure;
use serde::{Serialize, Serializer};

/// An input, entry or record that could not be read completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadProblem {
    /// The path as the user typed it.
    pub path: String,
    /// Member of an archive.
    pub entry: String,
    /// Line number from 1; `None` for data without lines.
    pub line: Option<u64>,
    /// The code.
    pub code: &'static str,
    /// The severity: an error if data is missing, a warning if it is doubtful.
    #[serde(skip)]
    pub severity: Severity,
    /// The reason in one clause, without text of the chat.
    pub message: String,
}

impl ReadProblem {
    /// Converts a finding to a problem.
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

    /// Returns whether the problem is the same at another place of the same entry.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.path, &self.entry, self.code, &self.message)
            == (&other.path, &other.entry, other.code, &other.message)
    }

    /// Returns whether the input itself cannot be opened or read.
    pub fn is_of_input(&self) -> bool {
        [&codes::UNREADABLE_INPUT, &codes::NOT_A_REGULAR_FILE]
            .iter()
            .any(|code| code.code == self.code)
    }
}

impl fmt::Display for ReadProblem {
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

/// All problems: the first are listed, the others are counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReadProblems {
    /// The number of records that could not be read.
    pub count: u64,
    /// The first of these records.
    pub first: Vec<ReadProblem>,
    /// The first problems of doubtful data.
    pub warnings: Vec<ReadProblem>,
    /// Notes about excluded inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Inputs that were not read to their end because the system failed.
    #[serde(serialize_with = "as_texts")]
    pub failures: Vec<Failure>,
}

fn as_texts<S: Serializer>(failures: &[Failure], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(failures.iter().map(ToString::to_string))
}

impl ReadProblems {
    /// The number of problems that are listed per kind.
    const MAX_LISTED: usize = 100;

    /// Adds a problem.
    pub fn add(&mut self, problem: ReadProblem) {
        let is_error = problem.severity == Severity::Error;
        self.count += u64::from(is_error);
        let list = if is_error {
            &mut self.first
        } else {
            &mut self.warnings
        };
        // Equal problems in consecutive records of a file are listed once.
        let is_new = !list.last().is_some_and(|last| problem.repeats(last));
        if is_new && list.len() < Self::MAX_LISTED {
            list.push(problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_file_entry_and_line() {
        let finding = Finding::new(&codes::INVALID_JSON, "expected a closing quote");
        let problem = ReadProblem::new("a.zip", "b.jsonl", Some(7), &finding);
        assert_eq!(
            problem.to_string(),
            "a.zip!b.jsonl:7: IN001: expected a closing quote"
        );
        assert!(!problem.is_of_input());
        let finding = Finding::new(&codes::UNREADABLE_INPUT, "permission denied");
        let problem = ReadProblem::new("a.json", "", None, &finding);
        assert_eq!(problem.to_string(), "a.json: IN014: permission denied");
        assert!(problem.is_of_input());
    }

    #[test]
    fn equal_problems_in_a_row_are_counted_and_listed_once() {
        let mut problems = ReadProblems::default();
        for (path, line) in [("a", 1), ("a", 2), ("b", 1), ("a", 3)] {
            let finding = Finding::new(&codes::UNKNOWN_FORMAT, "x");
            problems.add(ReadProblem::new(path, "", Some(line), &finding));
        }
        let listed: Vec<String> = problems.first.iter().map(ReadProblem::to_string).collect();
        assert_eq!(listed, ["a:1: SR003: x", "b:1: SR003: x", "a:3: SR003: x"]);
        assert_eq!(problems.count, 4);
    }

    #[test]
    fn problems_over_the_limit_are_counted_and_not_listed() {
        let mut problems = ReadProblems::default();
        for number in 0..1_000 {
            let of = |code| ReadProblem::new(&number.to_string(), "", None, &Finding::new(code, "x"));
            problems.add(of(&codes::INVALID_JSON));
            problems.add(of(&codes::UNREAD_JOURNAL));
        }
        assert_eq!(problems.count, 1_000);
        assert_eq!(
            (problems.first.len(), problems.warnings.len()),
            (ReadProblems::MAX_LISTED, ReadProblems::MAX_LISTED)
        );
    }
}

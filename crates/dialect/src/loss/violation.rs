//! Violations: rules of a dialect that a rendering breaks.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::loss::rule::DialectRule;
use crate::loss::schema_path::Problem;

/// A rule of the dialect that a rendering breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The rule and the problem, for example `OAC-06: the call in message 3 has no result`.
    pub rule: String,
    /// Position of the message that breaks it, if it is a single one.
    pub position: Option<u32>,
    /// Id of the call or result that breaks it, if it is one.
    pub call_id: Option<String>,
    /// The tool definition that breaks it, if it is one.
    pub definition: Option<RefusedDefinition>,
}

/// A definition of a tool that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefusedDefinition {
    /// The name of the tool in the source.
    pub tool: String,
    /// A hash of the tool's definition in the source.
    pub text: u64,
    /// The code of the rule.
    pub rule: &'static str,
    /// The error.
    pub problem: Problem,
}

impl Violation {
    /// Creates the violation of a rule of the dialect, with the problem in words, at a message or of the whole rendering.
    pub(crate) fn of(rule: &DialectRule, position: Option<u32>, problem: impl fmt::Display) -> Self {
        Self::at(position, format!("{rule}: {problem}"))
    }

    /// Creates a violation of the whole rendering.
    pub fn whole(rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            position: None,
            call_id: None,
            definition: None,
        }
    }

    /// Creates a violation of one message.
    pub fn at(position: impl Into<Option<u32>>, rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            position: position.into(),
            call_id: None,
            definition: None,
        }
    }

    /// Creates a violation of the definition of tool `number`, with its name and its text in the source.
    pub(crate) fn of_definition(
        rule: &DialectRule,
        number: usize,
        [tool, raw]: [&str; 2],
        problem: Problem,
    ) -> Self {
        let mut text = DefaultHasher::new();
        raw.hash(&mut text);
        let sentence = format!("{rule}: parameters of tool {number}: {}", problem.sentence());
        Self {
            definition: Some(RefusedDefinition {
                tool: tool.to_owned(),
                text: text.finish(),
                rule: rule.id(),
                problem,
            }),
            ..Self::whole(sentence)
        }
    }

    /// Returns the violation with the id of the call or result that breaks the rule.
    #[must_use]
    pub(crate) fn of_call(mut self, id: Option<&str>) -> Self {
        self.call_id = id.map(str::to_owned);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.rule)
    }
}

//! A rule of a dialect that a rendering breaks.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::loss::rule::DialectRule;
use crate::loss::schema_path::Problem;

/// A rule of the dialect that a rendering breaks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The rule and what is wrong, for example `OAC-06: the call in message 3 has no result`.
    pub rule: String,
    /// Position of the message that breaks it, where it is a single one.
    pub position: Option<u32>,
    /// Id of the call or the result that breaks it, where it is one.
    pub call_id: Option<String>,
    /// The definition of a tool that breaks it, where it is one.
    pub definition: Option<RefusedDefinition>,
}

/// A definition of a tool that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefusedDefinition {
    /// The name of the tool, as the source has it.
    pub tool: String,
    /// A hash of the tool's definition in the source.
    pub text: u64,
    /// The rule.
    pub rule: &'static str,
    /// What is wrong.
    pub problem: Problem,
}

impl Violation {
    /// A rule of a dialect that a rendering breaks, in one message where there is a position, and what is wrong.
    pub(crate) fn of(rule: &DialectRule, position: Option<u32>, problem: impl fmt::Display) -> Self {
        Self::at(position, format!("{rule}: {problem}"))
    }

    /// A rule that the rendering as a whole breaks.
    pub fn whole(rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            position: None,
            call_id: None,
            definition: None,
        }
    }

    /// A rule that one message breaks.
    pub fn at(position: impl Into<Option<u32>>, rule: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            position: position.into(),
            call_id: None,
            definition: None,
        }
    }

    /// A rule that the definition of tool `number` breaks, given its name and its text in the source.
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

    /// The same of a call or a result of this id.
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

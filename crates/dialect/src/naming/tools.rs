//! Names of tools in spellings that a dialect allows, different for each tool.

use std::collections::BTreeMap;

use chatmill_model::{Message, Part};

use crate::loss::LossReason;
use crate::naming::participants::{UNNAMED, fitted};
use crate::naming::unique::{TakenNames, is_word};
use crate::text::arena::TextArena;
use crate::view::View;

/// The names that a dialect allows, and the reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameRule {
    /// The maximum length of names of `[a-zA-Z0-9_-]`; `None`: any name that is not empty.
    pub(crate) most: Option<usize>,
    /// Whether a name must begin with a letter or `_`.
    pub(crate) begins_as_identifier: bool,
    /// Why other names are respelled.
    pub(crate) reason: LossReason,
}

impl NameRule {
    /// Creates a rule for names that may begin with any allowed character.
    pub(crate) const fn new(most: Option<usize>, reason: LossReason) -> Self {
        Self {
            most,
            begins_as_identifier: false,
            reason,
        }
    }

    fn fits(&self, name: &str) -> bool {
        self.most.map_or(!name.is_empty(), |most| is_word(name, most)) && self.begins_well(name)
    }

    fn begins_well(&self, name: &str) -> bool {
        !self.begins_as_identifier || !name.starts_with(|sign: char| sign.is_ascii_digit() || sign == '-')
    }

    /// Returns a name in an allowed spelling.
    fn fitted(&self, name: &str) -> String {
        let spelling = fitted(name);
        if self.begins_well(&spelling) {
            spelling
        } else {
            fitted(&format!("_{name}"))
        }
    }
}

/// The spelling of each tool that is defined or that the perspective calls.
pub(crate) struct ToolNames<'a> {
    spelled: BTreeMap<&'a str, &'a str>,
    rule: NameRule,
    arena: &'a TextArena,
}

impl<'a> ToolNames<'a> {
    /// Chooses the spellings for a rendering.
    pub(crate) fn new(
        view: &View<'a>,
        shown: &[&'a Message],
        defined: impl IntoIterator<Item = &'a str>,
        rule: &NameRule,
        arena: &'a TextArena,
    ) -> Self {
        let mut names: Vec<&'a str> = Vec::new();
        for message in shown.iter().filter(|message| view.is_own(message)) {
            for part in &message.parts {
                if let Part::ToolCall(call) = part {
                    // Calls without a name share one spelling, which no tool gets.
                    names.push(call.name.as_deref().unwrap_or_default());
                }
            }
        }
        names.extend(defined);
        let mut spelled = BTreeMap::new();
        if names.iter().any(|name| !rule.fits(name)) {
            let fitting = names.iter().filter(|name| rule.fits(name));
            let mut taken = TakenNames::new(fitting.copied());
            for name in names {
                if rule.fits(name) || spelled.contains_key(name) {
                    continue;
                }
                let spelling = taken.unique(arena.keep(rule.fitted(name)), arena);
                spelled.insert(name, spelling);
            }
        }
        Self {
            spelled,
            rule: *rule,
            arena,
        }
    }

    /// Returns the spelling of a tool, also of one that is not known.
    pub(crate) fn of(&self, name: Option<&'a str>) -> &'a str {
        let name = name.unwrap_or_default();
        if self.rule.fits(name) {
            return name;
        }
        match self.spelled.get(name) {
            Some(spelling) => spelling,
            None if name.is_empty() => UNNAMED,
            None => self.arena.keep(self.rule.fitted(name)),
        }
    }

    /// Returns why a name is respelled, or `None` if it is not.
    pub(crate) fn change(&self, name: &str) -> Option<LossReason> {
        (!self.rule.fits(name)).then_some(self.rule.reason)
    }
}

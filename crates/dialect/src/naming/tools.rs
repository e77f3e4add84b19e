//! Names of tools in the spelling that a dialect allows, no two tools alike.

use std::collections::BTreeMap;

use chatmill_model::{Message, Part};

use crate::loss::LossReason;
use crate::naming::participants::{UNNAMED, fitted};
use crate::naming::unique::{TakenNames, is_word};
use crate::text::arena::TextArena;
use crate::view::View;

/// Which names a dialect allows, and by which rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameRule {
    /// `[a-zA-Z0-9_-]` up to this length; none: any name that is not empty.
    pub(crate) most: Option<usize>,
    /// Whether a name begins with a letter or `_`.
    pub(crate) begins_as_identifier: bool,
    /// Why another name is written anew.
    pub(crate) reason: LossReason,
}

impl NameRule {
    /// The rule of a dialect.
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

    /// A name in a spelling that fits.
    fn fitted(&self, name: &str) -> String {
        let spelling = fitted(name);
        if self.begins_well(&spelling) {
            spelling
        } else {
            fitted(&format!("_{name}"))
        }
    }
}

/// A spelling for each tool that the perspective calls or that is defined.
pub(crate) struct ToolNames<'a> {
    spelled: BTreeMap<&'a str, &'a str>,
    rule: NameRule,
    arena: &'a TextArena,
}

impl<'a> ToolNames<'a> {
    /// Spellings for a rendering.
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
                    // Calls without a name share one spelling, which no tool has.
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

    /// The spelling of a tool, be it known or not.
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

    /// Why a name is written in another spelling; none where it is not.
    pub(crate) fn change(&self, name: &str) -> Option<LossReason> {
        (!self.rule.fits(name)).then_some(self.rule.reason)
    }
}

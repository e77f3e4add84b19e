//! Names of tools in the spelling that a dialect allows, no two tools alike.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Part};

use crate::loss::LossReason;
use crate::made_texts::MadeTexts;
use crate::names::{Numbers, UNNAMED, fitted};
use crate::tool_definition::Definition;
use crate::view::View;

/// Which names a dialect allows, and the rule that says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameRule {
    /// `[a-zA-Z0-9_-]` up to this length; none: any name that is not empty.
    pub(crate) most: Option<usize>,
    /// Why another name is written anew.
    pub(crate) reason: LossReason,
}

impl NameRule {
    fn fits(&self, name: &str) -> bool {
        !name.is_empty()
            && self.most.is_none_or(|most| {
                name.len() <= most
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
            })
    }
}

/// A spelling for each tool that the perspective calls or that is defined.
pub(crate) struct ToolNames<'a> {
    spelled: BTreeMap<&'a str, &'a str>,
    rule: NameRule,
    made: &'a MadeTexts,
}

impl<'a> ToolNames<'a> {
    /// Spellings for a rendering.
    pub(crate) fn new(
        view: &View<'a>,
        shown: &[&'a Message],
        definitions: &[Vec<Definition<'a>>],
        rule: &NameRule,
        made: &'a MadeTexts,
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
        let defined = definitions.iter().flatten();
        names.extend(defined.map(|definition| definition.name));
        let mut spelled = BTreeMap::new();
        if names.iter().any(|name| !rule.fits(name)) {
            let fitting = names.iter().filter(|name| rule.fits(name));
            let mut taken: BTreeSet<&'a str> = fitting.copied().collect();
            let mut numbers = Numbers::default();
            for name in names {
                if rule.fits(name) || spelled.contains_key(name) {
                    continue;
                }
                let mut spelling = made.keep(fitted(name));
                if !taken.insert(spelling) {
                    let free = numbers.free(spelling, 64, 9, |spelling| !taken.contains(spelling));
                    spelling = made.keep(free.unwrap_or_default());
                    taken.insert(spelling);
                }
                spelled.insert(name, spelling);
            }
        }
        Self {
            spelled,
            rule: *rule,
            made,
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
            None => self.made.keep(fitted(name)),
        }
    }

    /// Why a name is written in another spelling; none where it is not.
    pub(crate) fn change(&self, name: &str) -> Option<LossReason> {
        (!self.rule.fits(name)).then_some(self.rule.reason)
    }
}

//! Names of tools in the spelling that a dialect allows, no two tools alike.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Part};

use crate::loss::LossReason;
use crate::names::{UNNAMED, fitted};
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
    spelled: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    rule: NameRule,
}

impl<'a> ToolNames<'a> {
    /// Spellings for a rendering.
    pub(crate) fn new(view: &View<'a>, shown: &[&'a Message], rule: &NameRule) -> Self {
        let mut names: Vec<Cow<'a, str>> = Vec::new();
        for message in shown.iter().filter(|message| view.is_own(message)) {
            for part in &message.parts {
                if let Part::ToolCall(call) = part {
                    // Calls without a name share one spelling, which no tool has.
                    names.push(Cow::Borrowed(call.name.as_deref().unwrap_or_default()));
                }
            }
        }
        for definition in view.conversation().tools.iter().flat_map(Definition::read) {
            names.push(Cow::Owned(definition.name));
        }
        let mut taken: BTreeSet<String> = names
            .iter()
            .filter(|name| rule.fits(name))
            .map(|name| name.clone().into_owned())
            .collect();
        let mut spelled = BTreeMap::new();
        // Where the search for a free number goes on: a thousand tools may share one spelling.
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for name in names {
            if rule.fits(&name) || spelled.contains_key(&name) {
                continue;
            }
            let base = fitted(&name);
            let mut spelling = base.clone();
            let count = counts.entry(base.clone()).or_insert(1);
            while !taken.insert(spelling.clone()) {
                *count += 1;
                let suffix = format!("_{count}");
                let room = 64 - suffix.len();
                spelling = base.chars().take(room).collect::<String>() + &suffix;
            }
            spelled.insert(name, Cow::Owned(spelling));
        }
        Self { spelled, rule: *rule }
    }

    /// The spelling of a tool.
    pub(crate) fn of(&self, name: Option<&'a str>) -> Cow<'a, str> {
        let name = name.unwrap_or_default();
        if self.rule.fits(name) {
            return Cow::Borrowed(name);
        }
        match self.spelled.get(name) {
            Some(spelling) => spelling.clone(),
            None if name.is_empty() => Cow::Borrowed(UNNAMED),
            None => Cow::Owned(fitted(name)),
        }
    }

    /// The spelling of a tool that is defined.
    pub(crate) fn spelling(&self, name: &str) -> String {
        match self.spelled.get(name) {
            Some(spelling) => spelling.clone().into_owned(),
            None if self.rule.fits(name) => name.to_owned(),
            None => fitted(name),
        }
    }

    /// Why a name is written in another spelling; none where it is not.
    pub(crate) fn change(&self, name: &str) -> Option<LossReason> {
        (!self.rule.fits(name)).then_some(self.rule.reason)
    }
}

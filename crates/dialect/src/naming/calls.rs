//! Ids of calls: the source's where the dialect allows them, else written anew, no two alike.

use std::collections::{BTreeMap, BTreeSet};

use chatmill_model::{Message, Part, PartPlace};

use crate::loss::rule::DialectRule;
use crate::loss::{Losses, reasons};
use crate::naming::unique::{Numbers, as_word, is_word};
use crate::text::arena::MadeTexts;
use crate::view::View;

/// Which ids a dialect allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdShape {
    /// Anything up to a length in characters.
    Any(usize),
    /// `[a-zA-Z0-9_-]` up to a length.
    Word(usize),
    /// Nine letters and digits.
    Nine,
    /// Anything but `null`.
    NotNull,
}

/// What a dialect wants of ids, with the names of its rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IdRule {
    /// Which ids it allows.
    pub(crate) shape: IdShape,
    /// The rule that wants an id, and says which.
    pub(crate) wanted: &'static DialectRule,
    /// The rule that wants no two alike.
    pub(crate) unique: &'static DialectRule,
}

impl IdRule {
    /// The rule of a dialect, as its own rules say.
    pub(crate) const fn new(
        shape: IdShape,
        wanted: &'static DialectRule,
        unique: &'static DialectRule,
    ) -> Self {
        Self {
            shape,
            wanted,
            unique,
        }
    }

    /// Whether an id may stay as it is.
    pub(crate) fn fits(&self, id: &str) -> bool {
        match self.shape {
            IdShape::Any(most) => !id.is_empty() && id.chars().count() <= most,
            IdShape::Word(most) => is_word(id, most),
            IdShape::NotNull => !id.is_empty() && id != "null",
            IdShape::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }

    /// The nearest spelling that fits, where there is one; ids that differ may meet in it.
    fn fitted(&self, id: &str) -> String {
        if self.fits(id) {
            return id.to_owned();
        }
        match self.shape {
            IdShape::Any(most) => id.chars().take(most).collect(),
            IdShape::Word(most) => as_word(id, most),
            IdShape::Nine | IdShape::NotNull => String::new(),
        }
    }

    fn made(&self, number: u64) -> String {
        match self.shape {
            IdShape::Nine => format!("call{number:05}"),
            IdShape::Any(_) | IdShape::Word(_) | IdShape::NotNull => format!("call_{number}"),
        }
    }

    /// A spelling near an id that no other has.
    fn near(&self, id: &str, numbers: &mut Numbers, is_free: impl Fn(&str) -> bool) -> Option<String> {
        let (IdShape::Any(most) | IdShape::Word(most)) = self.shape else {
            return None;
        };
        let fitted = self.fitted(id);
        if fitted.bytes().all(|byte| byte == b'_') {
            return None;
        }
        if is_free(&fitted) {
            return Some(fitted);
        }
        numbers.free(&fitted, most, 3, is_free)
    }
}

/// An id for each call of the perspective.
pub(crate) struct CallIds<'a> {
    by_call: BTreeMap<PartPlace, &'a str>,
    /// An id that no call has.
    unused: &'a str,
    rule: IdRule,
}

impl<'a> CallIds<'a> {
    /// Ids for the calls in the messages that are shown. What the source lacks or repeats is made up by counting; what
    /// the dialect does not allow is respelled. The order of calls leads from each id back to its call.
    pub(crate) fn new(
        view: &View<'a>,
        shown: &[&'a Message],
        rule: &IdRule,
        kept: &'a MadeTexts,
        losses: &mut Losses,
    ) -> Self {
        let mut calls = Vec::new();
        for message in shown.iter().filter(|message| view.is_own(message)) {
            for (index, part) in message.parts.iter().enumerate() {
                if let Part::ToolCall(call) = part {
                    calls.push((View::place(message, index), call.known_id()));
                }
            }
        }
        let results = shown
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(|part| match part {
                Part::ToolResult(result) => result.known_id(),
                _ => None,
            });
        let called = calls.iter().filter_map(|(_, id)| *id);
        let known: BTreeSet<&str> = called.chain(results).collect();
        let mut used: BTreeSet<&'a str> = BTreeSet::new();
        let mut next = 0_u64;
        let mut ids = BTreeMap::new();
        let mut numbers = Numbers::default();
        for (place, id) in calls {
            let (id, cause) = match id {
                Some(id) if rule.fits(id) && !used.contains(id) => (id, None),
                Some(id) if rule.fits(id) => (
                    kept.keep(made(rule, &known, &used, &mut next)),
                    Some(reasons::ID_OCCURS_EARLIER.by(rule.unique)),
                ),
                Some(id) => {
                    let is_free = |near: &str| !known.contains(near) && !used.contains(near);
                    let near = rule.near(id, &mut numbers, is_free);
                    (
                        kept.keep(near.unwrap_or_else(|| made(rule, &known, &used, &mut next))),
                        Some(reasons::ID_IS_NOT_ALLOWED.by(rule.wanted)),
                    )
                }
                None => (
                    kept.keep(made(rule, &known, &used, &mut next)),
                    Some(reasons::CALL_HAS_NO_ID.by(rule.wanted)),
                ),
            };
            if let Some(cause) = cause {
                losses.at(cause, place.position);
            }
            used.insert(id);
            ids.insert(place, id);
        }
        Self {
            by_call: ids,
            unused: kept.keep(made(rule, &known, &used, &mut next)),
            rule: *rule,
        }
    }

    /// The id of a result without a call: its own where the dialect allows it, else one that no call has.
    pub(crate) fn loose(&self, id: &'a str) -> &'a str {
        if self.rule.fits(id) { id } else { self.unused }
    }

    /// The id of a call.
    #[expect(clippy::indexing_slicing, reason = "all own calls that are shown have one")]
    pub(crate) fn of(&self, place: PartPlace) -> &'a str {
        self.by_call[&place]
    }
}

fn made(rule: &IdRule, known: &BTreeSet<&str>, used: &BTreeSet<&str>, next: &mut u64) -> String {
    loop {
        let id = rule.made(*next);
        *next += 1;
        if !known.contains(id.as_str()) && !used.contains(id.as_str()) {
            return id;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::rule::samples::{ABC_01, ABC_02};

    const fn rule(shape: IdShape) -> IdRule {
        IdRule {
            shape,
            wanted: ABC_01,
            unique: ABC_02,
        }
    }

    #[test]
    fn ids_that_fit_stay_and_others_are_respelled() {
        let word = rule(IdShape::Word(10));
        assert_eq!(word.fitted("a-b_1"), "a-b_1");
        assert_eq!(word.fitted("fn:web search"), "fn_web_sea");
        let near = |rule: &IdRule, id: &str| rule.near(id, &mut Numbers::default(), |near| near != "a_b");
        assert_eq!(near(&word, "a.b"), Some("a_b_2".to_owned()));
        assert_eq!(near(&word, "你好"), None);
        let any = rule(IdShape::Any(3));
        assert!(any.fits("你好!") && !any.fits("four"));
        assert_eq!(near(&any, "four"), Some("fou".to_owned()));
        let nine = rule(IdShape::Nine);
        assert!(nine.fits("abc123DEF") && !nine.fits("call_0001"));
        assert_eq!(near(&nine, "x"), None);
        assert!(nine.fits(&nine.made(7)) && nine.fits(&nine.made(99_999)));
    }

    #[test]
    fn the_search_for_a_free_number_goes_on_where_it_stopped() {
        let word = rule(IdShape::Word(10));
        let mut numbers = Numbers::default();
        let mut taken = BTreeSet::from(["a_b".to_owned(), "a_b_3".to_owned()]);
        let mut found = Vec::new();
        for id in ["a.b", "a:b", "a b"] {
            let near = word.near(id, &mut numbers, |near| !taken.contains(near)).unwrap();
            taken.insert(near.clone());
            found.push(near);
        }
        assert_eq!(found, ["a_b_2", "a_b_4", "a_b_5"]);
    }
}

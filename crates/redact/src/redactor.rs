//! The redactor: the kinds to detect, and whether matches are only counted or also replaced.

use std::collections::HashSet;
use std::ops::Range;

use chatmill_diag::cut;
use chatmill_model::Conversation;

use crate::account::Counts;
use crate::find::{self, Found, KindSet};
use crate::fixed::{Fixed, Json};
use crate::fold::fold;
use crate::kind::PersonalKind;
use crate::pseudonym::{Form, PseudonymKey};
use crate::roster::{ID, IN_PATH, Roster};
use crate::spelling::plain_name;

/// Finds personal data and secrets, and replaces them if it has a key.
#[derive(Clone, Debug)]
pub struct Redactor {
    kinds: KindSet,
    key: Option<PseudonymKey>,
    keep: HashSet<String>,
}

impl Redactor {
    /// A redactor for these kinds. With a key it replaces matches; without one it only counts them. Names in `keep` are never replaced.
    pub fn new(kinds: &[PersonalKind], key: Option<PseudonymKey>, keep: &[String]) -> Self {
        Self {
            kinds: KindSet::new(kinds),
            key,
            keep: keep.iter().map(|name| plain_name(name)).collect(),
        }
    }

    /// Whether matches are replaced.
    pub fn replaces(&self) -> bool {
        self.key.is_some()
    }

    /// A fingerprint of the key, which does not reveal it.
    pub fn key_id(&self) -> Option<&str> {
        self.key.as_ref().map(PseudonymKey::id)
    }

    /// The names to detect in a conversation; empty if names are not wanted.
    pub fn roster(&self, conversation: &Conversation) -> Roster {
        if self.kinds.has(PersonalKind::Name) {
            Roster::of(conversation, &self.keep)
        } else {
            Roster::default()
        }
    }

    /// The text with all matches replaced, or `None` if it does not change. Adds the matches to `counts`.
    pub fn text(&self, text: &str, roster: &Roster, counts: &mut Counts) -> Option<String> {
        self.replaced(text, roster, counts, false, |_, _| true)
    }

    /// The same for raw JSON, except for names in strings that only a program reads.
    pub(crate) fn json(
        &self,
        text: &str,
        json: Json,
        roster: &Roster,
        counts: &mut Counts,
    ) -> Option<String> {
        let fixed = Fixed::of(text, json);
        self.replaced(text, roster, counts, true, |found, written| {
            found.kind != PersonalKind::Name
                || found.value.starts_with([ID, IN_PATH])
                || !fixed.holds(text, written)
        })
    }

    /// The text with the matches that `takes` accepts replaced.
    fn replaced(
        &self,
        text: &str,
        roster: &Roster,
        counts: &mut Counts,
        is_json: bool,
        takes: impl Fn(&Found, &Range<usize>) -> bool,
    ) -> Option<String> {
        let folded = fold(text);
        let mut found = find::find(&folded.text, self.kinds);
        let others = found.len();
        roster.find(&folded.text, &mut found);
        if is_json {
            roster.find_values(&folded.text, &mut found);
        }
        if found.len() > others {
            found = find::merge_overlaps(found);
        }
        found.retain(|each| takes(each, &folded.written(&each.range)));
        for each in &found {
            counts.add(each.kind);
        }
        let key = self.key.as_ref().filter(|_| !found.is_empty())?;
        let mut replaced = String::with_capacity(text.len() + 16 * found.len());
        let mut copied = 0;
        for each in &found {
            let range = folded.written(&each.range);
            replaced.push_str(cut::text(text, copied..range.start));
            replaced.push_str(&pseudonym(key, each, &folded.text));
            copied = range.end;
        }
        replaced.push_str(text.split_at(copied).1);
        Some(replaced)
    }

    /// A field with only a name or an id in it: a name of the roster is replaced as a whole, anything else is treated as a text.
    pub fn name(&self, field: &str, roster: &Roster, counts: &mut Counts) -> Option<String> {
        let Some(owner) = roster.owner(field).or_else(|| roster.account(field)) else {
            return self.text(field, roster, counts);
        };
        counts.add(PersonalKind::Name);
        self.key.as_ref().map(|key| name(key, &owner))
    }

    /// A field with only an e-mail address in it, in any spelling.
    pub(crate) fn email(&self, field: &str, roster: &Roster, counts: &mut Counts) -> Option<String> {
        if !self.kinds.has(PersonalKind::Email) || field.trim().is_empty() {
            return self.text(field, roster, counts);
        }
        counts.add(PersonalKind::Email);
        let value = fold(field).text.trim().to_lowercase();
        self.key
            .as_ref()
            .map(|key| key.pseudonym(PersonalKind::Email, &value, Form::Text))
    }
}

fn pseudonym(key: &PseudonymKey, found: &Found, text: &str) -> String {
    match found.kind {
        PersonalKind::Name if found.value.starts_with(ID) && is_number(text, found) => {
            key.pseudonym(found.kind, &found.value, Form::Number)
        }
        PersonalKind::Name => name(key, &found.value),
        PersonalKind::Card | PersonalKind::Phone if is_number(text, found) => {
            key.pseudonym(found.kind, &found.value, Form::Number)
        }
        kind => key.pseudonym(kind, &found.value, Form::Text),
    }
}

/// `Person-` or `Agent-` and the hash of the name, or `account-` and the hash of an id.
fn name(key: &PseudonymKey, owner: &str) -> String {
    if owner.starts_with(ID) {
        return format!("account-{}", key.pseudonym(PersonalKind::Name, owner, Form::Text));
    }
    let owner = owner.strip_prefix(IN_PATH).unwrap_or(owner);
    let (prefix, name) = owner.split_once('-').unwrap_or(("Person", owner));
    format!("{prefix}-{}", key.pseudonym(PersonalKind::Name, name, Form::Text))
}

/// Whether digits are a number in JSON: then only a number may replace them.
fn is_number(text: &str, found: &Found) -> bool {
    let digits = cut::text(text, found.range.clone());
    let (before, after) = (
        text.split_at(found.range.start).0,
        text.split_at(found.range.end).1,
    );
    let before = before.trim_end().chars().next_back();
    let after = after.trim_start().chars().next();
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && (matches!(before, Some(':' | ',' | '[')) && matches!(after, Some(',' | '}' | ']'))
            || (before.is_none() && after.is_none()))
}

#[cfg(test)]
mod tests;

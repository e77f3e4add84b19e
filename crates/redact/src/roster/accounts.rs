//! Accounts: the ids of participants in mentions and links, and the names of accounts in paths.
//!
//! An id is replaced if a field contains nothing else, as a whole value of JSON, and in texts after the beginning of a mention or a link,
//! never as a bare word or number. The name of an account is the part of a path after `/Users/`, `/home/` or `C:\Users\`, or after `~`;
//! accounts of the system are kept.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use chatmill_diag::cut;
use chatmill_model::{Arguments, Conversation, Extra, OwnItem, Part, Participant, ParticipantKind};

use crate::find::Found;
use crate::fold::fold;
use crate::kind::PersonalKind;
use crate::spelling::plain_name;
use crate::stop_words::is_role;

/// Accounts of systems, and placeholders for a name, sorted.
static SYSTEM: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("../system_accounts.txt").lines().collect());

/// The first character of a value that is an account's id, or the name of an account in a path.
pub(crate) const ID: char = '\u{1}';
pub(crate) const IN_PATH: char = '\u{2}';

/// The fewest digits of a number that is an account.
const FEWEST_DIGITS: usize = 5;

/// The beginnings of a mention or a link.
const MENTIONS: [&str; 5] = [
    "tg://user?id=",
    "<@!",
    "<@",
    "discord.com/users/",
    "discordapp.com/users/",
];

/// The beginnings of a Matrix id, `@ann:harbour.example`, in a mention and in its two kinds of links, and the form of its `@` there.
const MATRIX: [(&str, &str); 2] = [("@", "@"), ("matrix:u/", "")];

/// The beginnings of a link to a person by a handle.
const HANDLES: [&str; 3] = ["t.me/", "telegram.me/", "@"];

/// The most characters of a Matrix id, by its specification.
const LONGEST: usize = 255;

/// The text before the name of an account in a path.
const HOMES: [&str; 4] = ["/Users/", "/home/", "\\Users\\", "\\home\\"];

/// The ids of a conversation's participants.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    /// The ids in each of their spellings, with their normal form.
    ids: HashMap<String, String>,
}

impl Accounts {
    /// The ids of participants, except for those with a name in `keep`.
    pub(super) fn of(conversation: &Conversation, keep: &HashSet<String>) -> Self {
        let mut accounts = Self::default();
        let stays_as_it_is = |one: &Participant| {
            let names = [Some(&one.id), one.name.as_ref(), one.alias.as_ref()];
            names
                .into_iter()
                .flatten()
                .any(|name| keep.contains(&plain_name(name)))
        };
        for one in conversation
            .participants
            .iter()
            .filter(|one| !stays_as_it_is(one))
        {
            let number = number_of(&one.id);
            // The ids of agents are names of models or of roles.
            if number.is_none() && (one.kind == ParticipantKind::Agent || is_named_as_role(&one.id)) {
                continue;
            }
            let plain = number.unwrap_or(&one.id);
            for spelling in [&one.id, plain] {
                accounts.ids.insert(spelling.to_owned(), plain.to_owned());
            }
        }
        accounts
    }

    /// The value for a pseudonym, if a field is exactly an id.
    pub(super) fn value(&self, field: &str) -> Option<String> {
        self.ids.get(field).map(|id| format!("{ID}{id}"))
    }

    /// Finds ids after the beginning of a mention or a link, in a folded text. `found` already contains the names.
    pub(super) fn find_mentions(&self, text: &str, found: &mut Vec<Found>) {
        for lead in MENTIONS {
            for (at, _) in text.match_indices(lead) {
                let range = token(text, at + lead.len());
                found.extend(self.found(text, range));
            }
        }
        for (lead, at_sign) in MATRIX {
            for (at, _) in text.match_indices(lead) {
                let range = matrix_id(text, at + lead.len());
                let value = self.value(&format!("@{}", cut::text(text, range.clone())));
                found.extend(value.map(|value| Found {
                    kind: PersonalKind::Name,
                    range: range.start - at_sign.len()..range.end,
                    value,
                }));
            }
        }
        let names = found.iter().filter(|found| found.kind == PersonalKind::Name);
        let names: BTreeMap<usize, usize> = names.map(|name| (name.range.start, name.range.end)).collect();
        for lead in HANDLES {
            for (at, _) in text.match_indices(lead) {
                if lead == "@" && !is_boundary(text.split_at(at).0) {
                    continue;
                }
                let range = handle(text, at + lead.len());
                let written = cut::text(text, range.clone()).to_lowercase();
                if let Some(id) = self.found(text, range.clone()) {
                    found.push(id);
                } else if has_a_name(&names, &range) {
                    found.push(Found {
                        kind: PersonalKind::Name,
                        range,
                        value: format!("{ID}{written}"),
                    });
                }
            }
        }
    }

    /// Finds ids that are whole values of JSON.
    pub(super) fn find_values(&self, json: &str, found: &mut Vec<Found>) {
        if self.ids.is_empty() {
            return;
        }
        let mut at = 0;
        while let Some(start) = json.get(at..).and_then(|rest| rest.find(is_sign)) {
            let range = token(json, at + start);
            at = range.end.max(at + start + 1);
            let before = json.split_at(range.start).0.trim_end();
            let after = json.split_at(range.end).1.trim_start();
            let is_text = before.ends_with('"') && after.starts_with('"');
            let is_number = before.ends_with([':', ',', '[']) && after.starts_with([',', '}', ']']);
            if is_text || is_number {
                found.extend(self.found(json, range));
            }
        }
    }

    fn found(&self, text: &str, range: Range<usize>) -> Option<Found> {
        let value = self.value(text.get(range.clone())?)?;
        Some(Found {
            kind: PersonalKind::Name,
            range,
            value,
        })
    }
}

/// The number of an account, if an id is a number or letters and a number.
fn number_of(id: &str) -> Option<&str> {
    let digits = id.trim_start_matches(|sign: char| sign.is_ascii_alphabetic());
    let is_number = digits.len() >= FEWEST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(digits)
}

/// Whether an id is the name of a role, perhaps with a small number.
fn is_named_as_role(id: &str) -> bool {
    let word = id.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '_' | '-' | ' '));
    word.is_empty() || is_role(&word.to_lowercase())
}

fn is_sign(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '_' | '.' | '-')
}

/// The id or the name that begins at a place.
fn token(text: &str, from: usize) -> Range<usize> {
    let rest = text.split_at(from).1;
    let end = rest.find(|sign| !is_sign(sign)).unwrap_or(rest.len());
    let written = rest.split_at(end).0.trim_end_matches(['.', '-']);
    from..from + written.len()
}

/// The Matrix id that begins at a place, after its `@`.
fn matrix_id(text: &str, from: usize) -> Range<usize> {
    let rest = text.split_at(from).1;
    let is_of_id = |sign: &char| is_sign(*sign) || matches!(sign, ':' | '=' | '+');
    let signs = rest.chars().take(LONGEST).take_while(is_of_id);
    let end = signs.map(char::len_utf8).sum();
    let written = rest.split_at(end).0.trim_end_matches(['.', '-', ':']);
    from..from + written.len()
}

/// The handle that begins at a place.
fn handle(text: &str, from: usize) -> Range<usize> {
    let rest = text.split_at(from).1;
    let end = rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_');
    from..from + end.unwrap_or(rest.len())
}

/// Whether a handle contains a name and more.
fn has_a_name(names: &BTreeMap<usize, usize>, handle: &Range<usize>) -> bool {
    let name = names.range(handle.clone()).next();
    name.is_some_and(|(start, end)| *start > handle.start || *end < handle.end)
}

/// Finds the names of accounts in paths, in a folded text.
pub(super) fn in_paths(text: &str, keep: &HashSet<String>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut add = |range: Range<usize>| {
        let name = plain_name(cut::text(text, range.clone()));
        let stays = name.is_empty() || is_system(&name) || is_role(&name) || keep.contains(&name);
        if !stays {
            found.push(range);
        }
    };
    for prefix in HOMES {
        for (at, _) in text.match_indices(prefix) {
            // A share may precede a Windows path, `\\files\Users\`, but no web address may.
            if prefix.starts_with('\\') || begins_path(text.split_at(at).0) {
                add(token(text, at + prefix.len()));
            }
        }
    }
    for (at, _) in text.match_indices('~') {
        let range = token(text, at + 1);
        let is_path = text.get(range.end..).is_some_and(|after| after.starts_with('/'));
        if is_path && is_boundary(text.split_at(at).0) {
            add(range);
        }
    }
    found
}

fn is_system(name: &str) -> bool {
    SYSTEM
        .binary_search_by(|known| plain_name(known).as_str().cmp(name))
        .is_ok()
}

/// Whether a path may begin after this text: at the beginning of a word, after a drive, or as the path of `file://`.
fn begins_path(before: &str) -> bool {
    let mounted = before.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let is_drive = before.len() == mounted.len() + 1 && mounted.ends_with('/');
    let on_drive = is_drive && (is_boundary(mounted.trim_end_matches('/')) || mounted.ends_with("/mnt/"));
    before.ends_with("file://") || on_drive || is_boundary(before)
}

fn is_boundary(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|sign| !sign.is_alphanumeric() && !matches!(sign, '/' | '\\' | '.' | '-' | '_'))
}

/// Visits the texts of a conversation that may contain paths.
pub(super) fn each_text(conversation: &Conversation, visit: &mut dyn FnMut(&str)) {
    let extra = |extra: &Extra, visit: &mut dyn FnMut(&str)| {
        for (_, value) in &extra.0 {
            visit(value.as_str());
        }
    };
    extra(&conversation.extra, visit);
    extra(&conversation.envelope, visit);
    let others = conversation
        .alternatives
        .iter()
        .flat_map(|other| &other.messages)
        .flatten();
    for message in conversation.messages.iter().chain(others) {
        extra(&message.extra, visit);
        for part in &message.parts {
            let own = match part {
                Part::ToolCall(call) => call.own.as_deref(),
                Part::ToolResult(result) => result.own.as_deref(),
                _ => None,
            };
            if let Some(item) = own.and_then(OwnItem::item) {
                visit(item.raw.as_str());
            }
            match part {
                Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => visit(text),
                Part::ToolCall(call) => match &call.arguments {
                    Arguments::Object(raw) | Arguments::NotObject(raw) => visit(raw.as_str()),
                    Arguments::Malformed(text) => visit(text),
                },
                Part::ToolResult(result) => visit(&result.content),
                Part::Item(item) => visit(item.raw.as_str()),
                Part::Media(_) | Part::CacheMark => {}
            }
        }
    }
}

/// The names of accounts in the paths of a text.
pub(super) fn names_in(text: &str, keep: &HashSet<String>) -> Vec<String> {
    // Most texts have no path.
    if !["Users", "/home/", "\\home\\", "~"]
        .iter()
        .any(|sign| text.contains(sign))
    {
        return Vec::new();
    }
    let folded = fold(text);
    let found = in_paths(&folded.text, keep).into_iter();
    found
        .filter_map(|range| folded.text.get(range).map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_of_systems_are_sorted() {
        assert!(SYSTEM.is_sorted_by(|one, other| plain_name(one) < plain_name(other)));
    }

    #[test]
    fn the_name_of_an_account_is_the_part_behind_a_home() {
        for (text, name) in [
            ("/Users/annsmith/harbour/gate.md", Some("annsmith")),
            ("cd /home/ben_k && ls", Some("ben_k")),
            ("see file:///Users/annsmith.", Some("annsmith")),
            (r"C:\Users\Ben\x", Some("Ben")),
            ("/mnt/c/Users/ben/x", Some("ben")),
            ("cat ~ben/notes", Some("ben")),
            (r"see \\files\Users\annsmith\x", Some("annsmith")),
            (r#""\\wsl$\Ubuntu\home\ben\x""#, Some("ben")),
            (r"\\nas\Users\ben\x", Some("ben")),
            (r#"{"cwd":"C:\\Users\\ben\\x"}"#, Some("ben")),
            (r"\\files\Users\Public\x", None),
            ("https://api.example/Users/annsmith", None),
            ("/home/runner/work", None),
            ("/Users/Shared/x", None),
            ("~/notes and ~5 minutes", None),
            ("about ~ann", None),
            ("/Users/$USER/x", None),
        ] {
            assert_eq!(
                names_in(text, &HashSet::new()).first().map(String::as_str),
                name,
                "{text}"
            );
        }
        let keep = HashSet::from(["annsmith".to_owned()]);
        assert!(names_in("/Users/annsmith/x", &keep).is_empty());
    }

    #[test]
    fn ids_of_matrix_end_where_their_mention_or_link_does() {
        let ids = [("@ann_k:harbour.example", "@ann_k:harbour.example")];
        let ids = ids.map(|(id, plain)| (id.to_owned(), plain.to_owned()));
        let accounts = Accounts { ids: ids.into() };
        let found = |text: &str| {
            let mut found = Vec::new();
            accounts.find_mentions(text, &mut found);
            let ranges = found
                .into_iter()
                .map(|found| cut::text(text, found.range).to_owned());
            ranges.collect::<Vec<_>>()
        };
        for (text, wanted) in [
            ("ask @ann_k:harbour.example.", "@ann_k:harbour.example"),
            (
                "https://matrix.to/#/@ann_k:harbour.example?via=x",
                "@ann_k:harbour.example",
            ),
            ("matrix:u/ann_k:harbour.example", "ann_k:harbour.example"),
        ] {
            assert_eq!(found(text), [wanted], "{text}");
        }
        for text in ["@ann_k:other.example", "ann_k:harbour.example", "@ann_k", "@"] {
            assert!(found(text).is_empty(), "{text}");
        }
        let long = format!("@{}:harbour.example", "a".repeat(LONGEST * 3));
        assert!(found(&long).is_empty());
        assert!(found(&"@matrix:u/".repeat(100)).is_empty());
    }

    #[test]
    fn ids_are_numbers_behind_letters_and_words_of_roles_are_none() {
        assert_eq!(number_of("user700000002"), Some("700000002"));
        assert_eq!(number_of("1200000000000000101"), Some("1200000000000000101"));
        for id in ["u12", "U0AB12345", "12-34567", "ann"] {
            assert_eq!(number_of(id), None, "{id}");
        }
        for (id, is_role) in [
            ("user", true),
            ("user_1", true),
            ("assistant", true),
            ("7", true),
            ("u1", false),
        ] {
            assert_eq!(is_named_as_role(id), is_role, "{id}");
        }
    }
}

//! The names of a conversation's roster, and the search for them in texts.
//!
//! Names, second names and nicknames are found as whole words in any case, with and without accents, with any separator between their words
//! (`Ann Smith`, `ann_smith`, `Ann-Smith`, `@annsmith`); the first and the last word of a person's name are also found alone. In scripts
//! without spaces between words, a name of two characters or more is found anywhere. A name of fewer than three letters, or of a common
//! word, is not searched for.

mod accounts;

use std::collections::{BTreeMap, HashMap, HashSet};

use chatmill_diag::cut;
use chatmill_model::{Conversation, Participant, ParticipantKind, Reference, Role};

use crate::find::{Found, is_unspaced, is_word};
use crate::fold::fold;
use crate::kind::PersonalKind;
use crate::spelling::{plain_name, plain_word, transcribed_name};
use crate::stop_words::{is_common, is_role};
use accounts::Accounts;

pub(crate) use accounts::{ID, IN_PATH};

/// The fewest letters of a name that is searched for.
const FEWEST_LETTERS: usize = 3;

/// The fewest letters of an account's name that is searched for outside of paths.
const FEWEST_IN_ACCOUNT: usize = 4;

/// Fields of participants that contain a name and are not part of the model.
const NAME_FIELDS: [&str; 8] = [
    "nickname",
    "nick",
    "username",
    "user_name",
    "handle",
    "display_name",
    "displayName",
    "real_name",
];

/// The names of a conversation.
#[derive(Debug, Default)]
pub struct Roster {
    /// Whole names in normal form, with their owners.
    whole: HashMap<String, Owner>,
    /// The names that are searched for word by word.
    words: Words,
    /// The names that are searched for without regard to word boundaries, in order.
    unspaced: Vec<(String, Owner)>,
    /// The first bytes of the words that are ASCII, in both cases: a bit for each.
    first_bytes: u128,
    /// The ids of participants.
    accounts: Accounts,
    /// The names that are never replaced; `None` if names are not searched for.
    keep: Option<HashSet<String>>,
}

/// The bit of a word's first byte, if it is ASCII.
fn first_byte(word: &str) -> Option<u128> {
    let byte = word.bytes().next()?;
    byte.is_ascii().then(|| 1 << byte)
}

/// The owner of a name, from which the pseudonym is derived.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner {
    is_agent: bool,
    /// The display name in normal form.
    name: String,
}

impl Owner {
    /// The form of this owner's name in [`Found::value`].
    fn value(&self) -> String {
        format!(
            "{}{}",
            if self.is_agent { "Agent-" } else { "Person-" },
            self.name
        )
    }
}

/// A prefix tree of names by words, since hundreds of people may share a first name: a number for each beginning of a name, 0 for the empty
/// one. It is a flat map, because a name may have a million words.
#[derive(Debug, Default)]
struct Words {
    /// The numbers of longer beginnings, by the number of the shorter one and the next word.
    longer: HashMap<(usize, String), usize>,
    /// The owner of the name that ends at a number.
    owners: HashMap<usize, Owner>,
    /// The owner of a name of several words written as one: such a match needs a leading character such as `@`, or capitals inside.
    joined: HashMap<usize, Owner>,
}

impl Words {
    fn add(&mut self, words: Vec<String>, is_joined: bool, owner: &Owner) {
        let end = words.into_iter().fold(0, |beginning, word| {
            let next = self.longer.len() + 1;
            *self.longer.entry((beginning, word)).or_insert(next)
        });
        let owners = if is_joined {
            &mut self.joined
        } else {
            &mut self.owners
        };
        owners.entry(end).or_insert_with(|| owner.clone());
    }
}

impl Roster {
    /// The names of a conversation, except for those in `keep`, which are in normal form.
    pub fn of(conversation: &Conversation, keep: &HashSet<String>) -> Self {
        let mut names = Names {
            keep,
            whole: BTreeMap::new(),
            further: BTreeMap::new(),
            joined: BTreeMap::new(),
        };
        for participant in &conversation.participants {
            names.participant(participant);
        }
        let alternatives = conversation
            .alternatives
            .iter()
            .flat_map(|alternative| &alternative.messages);
        for message in conversation.messages.iter().chain(alternatives.flatten()) {
            let sender = conversation.sender(message);
            let is_agent = sender.is_some_and(|sender| sender.kind == ParticipantKind::Agent);
            // In a tool's answer, the name is that of the tool.
            if let Some(name) = message
                .sender_name
                .as_ref()
                .filter(|_| message.role != Role::Tool)
            {
                names.stranger(name, is_agent);
            }
            for reference in &message.references {
                names.quoted(reference);
            }
        }
        accounts::each_text(conversation, &mut |text| {
            for name in accounts::names_in(text, keep) {
                names.account(&name);
            }
        });
        Self {
            accounts: Accounts::of(conversation, keep),
            keep: Some(keep.clone()),
            ..names.roster()
        }
    }

    /// The value for a pseudonym, if a field is exactly the id of a participant.
    pub(crate) fn account(&self, field: &str) -> Option<String> {
        self.accounts.value(field)
    }

    /// Finds the ids of participants that are whole values of JSON.
    pub(crate) fn find_values(&self, json: &str, found: &mut Vec<Found>) {
        self.accounts.find_values(json, found);
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
    }

    /// The value for a pseudonym, if a field is exactly a name.
    pub(crate) fn owner(&self, field: &str) -> Option<String> {
        if self.whole.is_empty() {
            return None;
        }
        self.whole.get(&plain_name(field)).map(Owner::value)
    }

    /// Finds names in a folded text.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<Found>) {
        // If two matches are equal, the first is used.
        self.find_paths(text, found);
        if !self.words.longer.is_empty() {
            self.find_words(text, found);
        }
        if !self.unspaced.is_empty() {
            self.find_unspaced(text, found);
        }
        self.accounts.find_mentions(text, found);
    }

    /// Finds the names of accounts in paths.
    fn find_paths(&self, text: &str, found: &mut Vec<Found>) {
        let Some(keep) = &self.keep else {
            return;
        };
        for range in accounts::in_paths(text, keep) {
            let name = plain_name(cut::text(text, range.clone()));
            let owner = self.whole.get(&name).cloned();
            let value = owner.unwrap_or_else(|| shared_owner(&name)).value();
            found.push(Found {
                kind: PersonalKind::Name,
                range,
                value: format!("{IN_PATH}{value}"),
            });
        }
    }

    fn find_words(&self, text: &str, found: &mut Vec<Found>) {
        let mut at = 0;
        while let Some(word) = next_word(text, at) {
            at = word.end;
            let Some(written) = text.get(word.clone()) else {
                continue;
            };
            // The bit mask covers only ASCII: a word that begins with another letter, such as one with an accent, is always looked up.
            if first_byte(written).is_some_and(|bit| self.first_bytes & bit == 0) {
                continue;
            }
            let words = &self.words;
            let longer = |beginning: usize, word: &str| words.longer.get(&(beginning, plain_word(word)));
            let Some(mut beginning) = longer(0, written) else {
                continue;
            };
            let is_handle = text.get(..word.start).is_some_and(|before| before.ends_with('@'))
                || written.chars().skip(1).any(char::is_uppercase) && written.chars().any(char::is_lowercase);
            let joined = words.joined.get(beginning).filter(|_| is_handle);
            let owner = words.owners.get(beginning).or(joined);
            let mut longest = owner.map(|owner| (at, owner));
            let mut end = at;
            while let Some(next) = following(text, end)
                && let Some(more) = longer(*beginning, cut::text(text, next.clone()))
            {
                (beginning, end) = (more, next.end);
                longest = words.owners.get(beginning).map(|owner| (end, owner)).or(longest);
            }
            if let Some((end, owner)) = longest {
                found.push(Found {
                    kind: PersonalKind::Name,
                    range: word.start..end,
                    value: owner.value(),
                });
                at = end;
            }
        }
    }

    fn find_unspaced(&self, text: &str, found: &mut Vec<Found>) {
        let mut free = 0;
        for (at, _) in text
            .char_indices()
            .filter(|(_, character)| is_unspaced(*character))
        {
            let Some(rest) = text.get(at..).filter(|_| at >= free) else {
                continue;
            };
            if let Some((name, owner)) = longest(&self.unspaced, rest) {
                free = at + name.len();
                found.push(Found {
                    kind: PersonalKind::Name,
                    range: at..free,
                    value: owner.value(),
                });
            }
        }
    }
}

/// Names while they are collected.
struct Names<'k> {
    keep: &'k HashSet<String>,
    /// Whole names; `None` as the owner if several people have the name.
    whole: BTreeMap<String, Option<Owner>>,
    /// Words and further spellings of names; `None` as the owner if several people have one.
    further: BTreeMap<String, Option<Owner>>,
    /// Names of several words written as one; `None` as the owner if several people have one.
    joined: BTreeMap<String, Option<Owner>>,
}

impl Names<'_> {
    fn participant(&mut self, participant: &Participant) {
        let is_agent = participant.kind == ParticipantKind::Agent;
        let shown = participant.display_name();
        let mut given = [&participant.name, &participant.alias].into_iter().flatten();
        // The ids of agents are names of models or of roles.
        if !given.any(|name| !name.is_empty()) && (is_agent || !is_name_like(shown)) {
            return;
        }
        let further = participant
            .extra
            .0
            .iter()
            .filter(|(key, _)| NAME_FIELDS.contains(&key.as_str()));
        let further = further.filter_map(|(_, value)| value.as_str().strip_prefix('"')?.strip_suffix('"'));
        let names = [&participant.name, &participant.alias].into_iter().flatten();
        let names = names.map(String::as_str).chain(further);
        let Some(owner) = self.owner(shown, is_agent) else {
            // A role has no name, but may have a second name.
            for name in names {
                self.stranger(name, is_agent);
            }
            return;
        };
        self.add(shown, &owner);
        for name in names {
            self.add(name, &owner);
            if !is_agent {
                self.add_ends(name, &owner);
                self.add_joined(name, &owner);
            }
        }
    }

    /// The authors' names in a reference, and in the references nested in it.
    fn quoted(&mut self, reference: &Reference) {
        if let Some(preview) = &reference.preview
            && let Some(name) = &preview.sender_name
        {
            self.stranger(name, preview.from_agent);
        }
        for nested in &reference.nested {
            self.quoted(nested);
        }
    }

    /// The name of an account in a path: it is searched for as a word if it has enough letters.
    fn account(&mut self, name: &str) {
        let length = name.chars().filter(|sign| sign.is_alphabetic()).count();
        if length >= FEWEST_IN_ACCOUNT && !is_common(&name.to_lowercase()) {
            self.stranger(name, false);
        }
    }

    /// A name that is not in the roster.
    fn stranger(&mut self, name: &str, is_agent: bool) {
        if self.whole.contains_key(&plain_name(name)) {
            return;
        }
        if let Some(owner) = self.owner(name, is_agent) {
            self.add(name, &owner);
        }
    }

    fn owner(&self, name: &str, is_agent: bool) -> Option<Owner> {
        let name = plain_name(name);
        let stays = name.is_empty() || is_role(&name) || self.keep.contains(&name);
        (!stays).then_some(Owner { is_agent, name })
    }

    fn add(&mut self, name: &str, owner: &Owner) {
        let plain = plain_name(name);
        if plain.is_empty() || is_role(&plain) || self.keep.contains(&plain) {
            return;
        }
        claim(&mut self.whole, plain, owner);
        if let Some(transcribed) = transcribed_name(name) {
            claim(&mut self.further, transcribed, owner);
        }
    }

    /// A name of two or three words written as one.
    fn add_joined(&mut self, name: &str, owner: &Owner) {
        for name in [Some(plain_name(name)), transcribed_name(name)]
            .into_iter()
            .flatten()
        {
            let words: Vec<&str> = name.split(' ').collect();
            if (2..=3).contains(&words.len()) && words.iter().all(|word| word.chars().all(is_word)) {
                claim(&mut self.joined, words.concat(), owner);
            }
        }
    }

    /// The first and the last word of a name of two or three words.
    fn add_ends(&mut self, name: &str, owner: &Owner) {
        let folded = fold(name);
        let words: Vec<&str> = folded.text.split_whitespace().collect();
        if !(2..=3).contains(&words.len()) {
            return;
        }
        for word in [words.first(), words.last()].into_iter().flatten() {
            let is_capital = word.chars().next().is_some_and(char::is_uppercase);
            if !is_capital || !word.chars().all(is_word) || self.keep.contains(&plain_name(word)) {
                continue;
            }
            claim(&mut self.further, plain_name(word), owner);
            if let Some(transcribed) = transcribed_name(word) {
                claim(&mut self.further, transcribed, owner);
            }
        }
    }

    fn roster(self) -> Roster {
        let mut roster = Roster::default();
        for (name, owner) in self.whole {
            let owner = owner.unwrap_or_else(|| shared_owner(&name));
            roster.search_for(&name, false, &owner);
            roster.whole.insert(name, owner);
        }
        for (names, are_joined) in [(self.further, false), (self.joined, true)] {
            for (name, owner) in names {
                // A whole name was added before, for its owner.
                if !roster.whole.contains_key(&name) {
                    let owner = owner.unwrap_or_else(|| shared_owner(&name));
                    roster.search_for(&name, are_joined, &owner);
                }
            }
        }
        roster.unspaced.sort_by(|(one, _), (other, _)| one.cmp(other));
        roster
            .unspaced
            .dedup_by(|(next, _), (previous, _)| next == previous);
        roster
    }
}

/// Gives a name to an owner, or to nobody if another person has it.
fn claim(names: &mut BTreeMap<String, Option<Owner>>, name: String, owner: &Owner) {
    let entry = names.entry(name).or_insert_with(|| Some(owner.clone()));
    if entry.as_ref() != Some(owner) {
        *entry = None;
    }
}

/// The owner of a name that several people have.
fn shared_owner(name: &str) -> Owner {
    Owner {
        is_agent: false,
        name: name.to_owned(),
    }
}

impl Roster {
    fn search_for(&mut self, name: &str, is_joined: bool, owner: &Owner) {
        if name.chars().any(is_unspaced) {
            if name.chars().nth(1).is_some()
                && name
                    .chars()
                    .all(|character| is_unspaced(character) || !is_word(character))
            {
                self.unspaced.push((name.to_owned(), owner.clone()));
            }
            return;
        }
        let letters = name.chars().filter(|character| character.is_alphabetic()).count();
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(word) = next_word(name, at) {
            at = word.end;
            words.extend(name.get(word).map(str::to_owned));
        }
        let Some(first) = words.first() else { return };
        if letters < FEWEST_LETTERS || (words.len() == 1 && is_common(first)) {
            return;
        }
        for spelling in [first, &first.to_uppercase()] {
            self.first_bytes |= first_byte(spelling).unwrap_or_default();
        }
        self.words.add(words, is_joined, owner);
    }
}

/// Whether an id can be a name if nothing else names a participant: mostly letters, and not a role at the beginning.
fn is_name_like(id: &str) -> bool {
    if next_word(id, 0)
        .and_then(|word| id.get(word))
        .is_some_and(|word| is_role(&word.to_lowercase()))
    {
        return false;
    }
    let letters = id.chars().filter(|character| character.is_alphabetic()).count();
    let digits = id.chars().filter(char::is_ascii_digit).count();
    letters >= FEWEST_LETTERS && letters > digits
}

/// The next word: letters and digits of scripts with spaces between words.
fn next_word(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let belongs = |character: char| is_word(character) && !is_unspaced(character);
    let start = from + text.get(from..)?.find(belongs)?;
    let rest = text.get(start..)?;
    let length = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
    Some(start..start + length)
}

/// The word that may continue a name: on the same line, after at most three characters.
fn following(text: &str, from: usize) -> Option<std::ops::Range<usize>> {
    let gap = text
        .get(from..)?
        .chars()
        .take(4)
        .take_while(|character| !is_word(*character) && *character != '\n');
    let (characters, bytes) = gap.fold((0, 0), |(characters, bytes), character| {
        (characters + 1, bytes + character.len_utf8())
    });
    let start = from + bytes;
    next_word(text, start).filter(|word| word.start == start && (1..=3).contains(&characters))
}

/// The longest of some sorted names with which a text begins. The last name that is not greater than the text shares at least as much of
/// its beginning as any other.
fn longest<'n>(names: &'n [(String, Owner)], mut text: &str) -> Option<&'n (String, Owner)> {
    loop {
        let behind = names.partition_point(|(name, _)| name.as_str() <= text);
        let near = names.get(behind.checked_sub(1)?)?;
        let pairs = near.0.chars().zip(text.chars());
        let shared = pairs.take_while(|(one, other)| one == other);
        let shared: usize = shared.map(|(character, _)| character.len_utf8()).sum();
        if shared == near.0.len() {
            return Some(near);
        }
        text = text.get(..shared).filter(|shared| !shared.is_empty())?;
    }
}

#[cfg(test)]
mod tests;

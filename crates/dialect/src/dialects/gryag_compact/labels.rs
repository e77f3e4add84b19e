//! Labels of participants in a transcript: names without the characters of a line, short ids, letters where labels are equal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use chatmill_diag::cut;
use chatmill_model::{Message, Participant, ParticipantKind};

use super::edition::{Breaks, Edition, Letters};
use crate::loss::{Losses, reasons};
use crate::text::edit::on_one_line;
use crate::transcript::Transcript;
use crate::view::View;

/// The name of the bot if the source does not name it.
const BOT: &str = "gryag";

/// The labels of all participants.
pub(super) struct Labels<'t, 'a> {
    /// Labels by index of the participant.
    by_index: Vec<&'a str>,
    /// The same without letters.
    bare: Vec<&'a str>,
    /// The first label without an id.
    bot: Option<&'a str>,
    transcript: &'t Transcript<'a>,
    edition: &'static Edition,
}

impl<'t, 'a> Labels<'t, 'a> {
    /// Makes the labels for the participants of a view; the lines of the messages `shown` count for letters.
    pub(super) fn new(
        transcript: &'t Transcript<'a>,
        edition: &'static Edition,
        shown: &[&Message],
        losses: &mut Losses,
    ) -> Self {
        let view = transcript.view();
        let roster = &view.conversation().participants;
        let mut labels: Vec<String> = Vec::with_capacity(roster.len());
        let mut cleaned = 0;
        for (index, participant) in roster.iter().enumerate() {
            let is_bot = view.perspective == Some(index);
            let name = match edition.bot.filter(|_| is_bot) {
                Some(bot) => Cow::Borrowed(bot),
                None => edition.name(participant),
            };
            let label = edition.label(&name, "User");
            cleaned += u64::from(label != name);
            labels.push(label);
        }
        losses.whole_rendering(reasons::NAMES_LOSE_OWN_SIGNS, cleaned);
        let plain: Vec<String> = roster.iter().map(|person| edition.short_id_of(person)).collect();
        let mut bare = labels.clone();
        add_ids(view, &mut bare, &plain);
        add_ids(view, &mut labels, &lettered(view, edition, plain, shown));
        if edition.letters == Letters::PerPerson {
            add_suffixes(view, &mut labels);
        }
        let stored = |labels: Vec<String>| {
            labels
                .into_iter()
                .map(|label| transcript.arena().keep(label))
                .collect()
        };
        let by_index: Vec<&'a str> = stored(labels);
        Self {
            bot: by_index.iter().copied().find(|label| !label.contains('#')),
            by_index,
            bare: stored(bare),
            transcript,
            edition,
        }
    }

    /// Returns the label of the participant with an id.
    pub(super) fn of_id(&self, id: &str) -> Option<&'a str> {
        let index = self.transcript.roster().find(id)?;
        Some(*cut::at(&self.by_index, index))
    }

    /// Returns the label of the bot if it has this name. Replies state the account of the bot, which lines of the bot do not have.
    pub(super) fn bot_called(&self, name: &str) -> Option<&'a str> {
        self.bot.filter(|bot| *bot == name)
    }

    /// Returns the label of a person who may not be in the roster.
    pub(super) fn of_stranger(&self, name: &str, id: &str) -> &'a str {
        let label = format!("{}#{}", self.edition.label(name, "Unknown"), short_id(id));
        self.transcript.arena().keep(label)
    }

    /// Returns the label of a message's sender, without a letter.
    pub(super) fn bare(&self, message: &Message) -> &'a str {
        let bare = message.sender.map(|sender| *cut::at(&self.bare, sender));
        bare.unwrap_or_else(|| self.of(message))
    }

    /// Returns the label of a message's sender.
    pub(super) fn of(&self, message: &Message) -> &'a str {
        if let Some(sender) = message.sender {
            return cut::at::<&str>(&self.by_index, sender);
        }
        let name = message.sender_name.as_deref().unwrap_or_default();
        let label = format!("{}#", self.edition.label(name, "Unknown"));
        self.transcript.arena().keep(label)
    }
}

/// Adds ids after the names of all participants except the perspective.
fn add_ids(view: &View<'_>, labels: &mut [String], ids: &[String]) {
    for (index, (label, id)) in labels.iter_mut().zip(ids).enumerate() {
        if view.perspective != Some(index) {
            label.push('#');
            label.push_str(id);
        }
    }
}

impl Edition {
    /// Returns the name of a participant: the name, otherwise the second name. An agent without a name is the bot.
    fn name<'p>(&self, person: &'p Participant) -> Cow<'p, str> {
        match person.own_name() {
            Some(name) if self.at_signs && person.name.as_deref() != Some(name) => {
                Cow::Owned(format!("@{}", name.trim_start_matches('@')))
            }
            Some(name) => Cow::Borrowed(name),
            None if person.kind == ParticipantKind::Agent => Cow::Borrowed(BOT),
            None => Cow::Borrowed("User"),
        }
    }

    /// Returns the short id of a participant.
    fn short_id_of(&self, person: &Participant) -> String {
        if self.stated_ids && person.is_id_made {
            return String::new();
        }
        short_id(&person.id)
    }

    /// Returns a name without the characters that have a meaning in a line, cut if the edition cuts names.
    fn label(&self, name: &str, nobody: &str) -> String {
        let clean = match self.breaks {
            Breaks::Spaces => clean(name),
            Breaks::Unchanged => clean_of(&name.replace('\n', " ")),
        };
        if clean.is_empty() {
            return if name.is_empty() { nobody } else { "User" }.to_owned();
        }
        match self.longest_name {
            Some(most) if clean.chars().count() > most => clean
                .chars()
                .take(most.saturating_sub(2))
                .chain("..".chars())
                .collect(),
            _ => clean,
        }
    }
}

/// Returns short ids, with letters if the edition adds them to ids.
fn lettered(view: &View<'_>, edition: &Edition, plain: Vec<String>, shown: &[&Message]) -> Vec<String> {
    let roster = &view.conversation().participants;
    let mut ids = plain;
    if edition.letters == Letters::PerPerson {
        return ids;
    }
    // One entry for every line, as in the code: a participant with two lines is counted twice and keeps the last letter.
    let mut lines: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for sender in shown.iter().filter_map(|message| message.sender) {
        if view.perspective != Some(sender) {
            let id = cut::at(&ids, sender).clone();
            lines.entry(id).or_default().push(sender);
        }
    }
    for mut senders in lines.into_values().filter(|senders| senders.len() > 1) {
        senders.sort_by_key(|sender| order(cut::at(roster, *sender)));
        for (place, sender) in senders.into_iter().enumerate() {
            let id = cut::at_mut(&mut ids, sender);
            *id = edition.short_id_of(cut::at(roster, sender));
            let place = u32::try_from(place).ok();
            id.extend(place.and_then(|place| char::from_u32(u32::from('a') + place)));
        }
    }
    ids
}

/// Adds letters to labels that are equal.
fn add_suffixes(view: &View<'_>, labels: &mut [String]) {
    let roster = &view.conversation().participants;
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, label) in labels.iter().enumerate() {
        if view.perspective != Some(index) {
            alike.entry(label.clone()).or_default().push(index);
        }
    }
    let mut taken: BTreeSet<String> = labels.iter().cloned().collect();
    for mut namesakes in alike.into_values().filter(|indices| indices.len() > 1) {
        namesakes.sort_by_key(|index| order(cut::at(roster, *index)));
        let mut letters = 0;
        for index in namesakes {
            let label = cut::at_mut(labels, index);
            let mut suffixed;
            loop {
                suffixed = format!("{label}{}", letter(letters));
                letters += 1;
                if taken.insert(suffixed.clone()) {
                    break;
                }
            }
            *label = suffixed;
        }
    }
}

/// Returns a name without the characters that have a meaning in a line.
fn clean(name: &str) -> String {
    clean_of(&on_one_line(name))
}

fn clean_of(name: &str) -> String {
    name.replace([':', '→', '[', ']'], "").trim().to_owned()
}

/// Returns the last six digits of a number, and other ids unchanged except for characters of the line.
fn short_id(id: &str) -> String {
    let digits = id.strip_prefix('-').unwrap_or(id);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return clean(id);
    }
    let start = digits.len().saturating_sub(6);
    digits.split_at(start).1.to_owned()
}

/// A key to sort by ascending id: numbers by value, before all other ids.
fn order(participant: &Participant) -> (bool, i128, String) {
    match participant.id.parse::<i128>() {
        Ok(number) => (false, number, String::new()),
        Err(_) => (true, 0, participant.id.clone()),
    }
}

/// Returns a, b, …, z, aa, ab, … for 0, 1, ….
fn letter(mut index: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (index % 26) as u8));
        if index < 26 {
            break;
        }
        index = index / 26 - 1;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::super::edition::CODE;
    use super::*;

    #[test]
    fn a_short_id_is_the_last_six_digits_or_the_id_itself() {
        for (id, short) in [
            ("123456789", "456789"),
            ("1000000", "000000"),
            ("-1001234567", "234567"),
            ("123", "123"),
            ("user_101", "user_101"),
            ("a:b [c]", "ab c"),
        ] {
            assert_eq!(short_id(id), short);
        }
    }

    #[test]
    fn names_lose_the_signs_of_a_line() {
        for (name, label) in [
            ("Alice\nBob", "Alice Bob"),
            ("[]", ""),
            ("  x  ", "x"),
            ("a#b", "a#b"),
            ("A→B: [x]", "AB x"),
        ] {
            assert_eq!(clean(name), label);
        }
    }

    #[test]
    fn labels_after_z_have_two_letters() {
        assert_eq!(letter(0), "a");
        assert_eq!(letter(25), "z");
        assert_eq!(letter(26), "aa");
        assert_eq!(letter(52), "ba");
    }

    const VECTORS: &str = include_str!("../../../../../data-samples/dialects/gryag-compact/vectors.json");

    #[test]
    fn ids_and_names_are_those_of_the_code_of_the_documents_day() {
        let vectors: serde_json::Value = serde_json::from_str(VECTORS).unwrap();
        let mut seen = (0, 0);
        for case in vectors["cases"].as_array().unwrap() {
            let expected = case["expected"].as_str();
            match case["kind"].as_str().unwrap() {
                "short id" => {
                    assert_eq!(Some(short_id(&case["input"].to_string()).as_str()), expected);
                    seen.0 += 1;
                }
                "name" => {
                    let label = CODE.label(case["input"].as_str().unwrap(), "Unknown");
                    assert_eq!(Some(label.as_str()), expected);
                    seen.1 += 1;
                }
                _ => {}
            }
        }
        assert_eq!(seen, (3, 7));
    }
}

//! The speaker of a message: the word for the role, and its meaning.

use chatmill_diag::codes;
use chatmill_intake::json::Value;
use chatmill_model::Role;

use crate::base::{Site, id, roles};
use crate::format::language::condition::{Chosen, chosen};
use crate::format::language::path::MapPath;
use crate::format::language::{MessageMap, Speaks, Unknown};

/// The finding about a word for a role that is neither common nor named by a field map.
const OF_MAP: &str = "the role is none of the known words, and roles of the field map does not name it: the message is read as a user's";

/// The meaning of a message's role, and the word for the role.
pub(super) struct SpeakerRole<'d> {
    pub(super) meaning: Speaks,
    pub(super) word: Option<String>,
    /// The unknown word, if the role is unknown.
    pub(super) unknown: Option<UnknownWord<'d>>,
}

/// An unknown word for a role; `None` where the record has no word.
#[derive(Clone, Copy)]
pub(super) struct UnknownWord<'d>(pub(super) Option<Value<'d>>);

/// Determines the role of a message's speaker.
pub(super) fn speaker_of<'d>(map: &MessageMap, value: Value<'d>) -> SpeakerRole<'d> {
    let of_word = |word: &str| {
        let begins = |(pattern, _): &(&String, &Speaks)| {
            pattern
                .strip_suffix('*')
                .is_some_and(|start| word.starts_with(start))
        };
        let known = map.roles.get(word).copied();
        let known = known.or_else(|| map.roles.iter().find(begins).map(|(_, meaning)| *meaning));
        known.or_else(|| roles::known_role(word).map(Speaks::from))
    };
    let (word, found) = match chosen(&map.role.0, value) {
        None => (None, None),
        Some(Chosen::Fixed(word)) => (Some(word.to_owned()), None),
        Some(Chosen::Found(found)) => (role_word(found), Some(found)),
    };
    let meaning = match word.as_deref().and_then(of_word) {
        Some(meaning) => Some(meaning),
        None => others(map, value).find_map(|word| of_word(&word)),
    };
    let names_call = map.answers(value);
    let meaning = names_call.map(|_| Speaks::Tool).or(meaning);
    for choice in &map.role.0 {
        choice.read(value);
    }
    let asks_record = map.role.0.iter().any(|choice| choice.path().is_some());
    let is_known = meaning.is_some() || !asks_record;
    let otherwise = match map.unknown {
        Unknown::Notice if asks_record => Speaks::Notice,
        _ => Speaks::User,
    };
    SpeakerRole {
        meaning: meaning.unwrap_or(otherwise),
        word,
        unknown: (!is_known).then_some(UnknownWord(found)),
    }
}

/// A word for a role or a kind; a boolean is one, too.
pub(super) fn role_word(found: Value<'_>) -> Option<String> {
    match found.as_bool() {
        Some(is) => Some(is.to_string()),
        None => id(found),
    }
}

/// The words for the role after the first.
fn others(map: &MessageMap, value: Value<'_>) -> impl Iterator<Item = String> {
    let choices = map.role.0.iter().skip(1);
    choices.filter_map(move |choice| match chosen(std::slice::from_ref(choice), value)? {
        Chosen::Fixed(word) => Some(word.to_owned()),
        Chosen::Found(found) => role_word(found),
    })
}

impl From<Role> for Speaks {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::System => Self::System,
            Role::Tool => Self::Tool,
        }
    }
}

impl<'d> SpeakerRole<'d> {
    /// Reports an unknown word for the role.
    pub(super) fn report(&self, map: &MessageMap, site: &mut Site<'_>) {
        let Some(UnknownWord(found)) = self.unknown else {
            return;
        };
        let field = map.role_field();
        match (found, map.unknown) {
            (Some(found), Unknown::Notice) => {
                let text = format!("{field} is none of the known words: the entry is kept as a notice");
                site.note(&codes::UNKNOWN_MESSAGE_TYPE, &text, format!(".{field}"), found);
            }
            (Some(found), _) => {
                let text = format!("{field} is none of the known words: the message is read as a user's");
                site.warn(field, &text, found);
            }
            (None, _) => site.empty(field),
        }
    }

    /// Reports an unknown role of a message that a field map reads; there the sender may give the role as well.
    pub(super) fn report_for_map(&self, map: &MessageMap, value: Value<'d>, site: &mut Site<'_>) {
        let found = map.kind.first(value);
        match (&self.unknown, found) {
            (None, _) => {}
            (Some(_), Some(found)) => site.warn(map.role_field(), OF_MAP, found),
            (Some(_), None) => site.empty("role"),
        }
    }
}

impl MessageMap {
    /// The call that a message is the result of, if it names one.
    pub(in crate::format) fn answers(&self, value: Value<'_>) -> Option<String> {
        self.result.as_ref()?.call.id(value)
    }

    /// The name of the field with the role, as findings show it.
    pub(super) fn role_field(&self) -> &str {
        let mut paths = self.role.0.iter().filter_map(|choice| choice.path());
        paths.next().map_or("role", MapPath::name)
    }

    /// The part of a finding that names the known words.
    pub(super) fn role_words(&self) -> String {
        let mut roles: Vec<(&Speaks, &str)> = self
            .roles
            .iter()
            .map(|(word, role)| (role, word.as_str()))
            .collect();
        roles.sort();
        let words: Vec<&str> = roles.into_iter().map(|(_, word)| word).collect();
        match words.as_slice() {
            [one, other] => format!("neither {one} nor {other}"),
            _ => "none of the known words".to_owned(),
        }
    }
}

/// Whether a message belongs to the conversation.
pub(in crate::format) fn belongs(map: &MessageMap, value: Value<'_>) -> bool {
    speaker_of(map, value).meaning != Speaks::Nothing
}

/// Whether the speaker of a message is a person.
pub(in crate::format) fn is_of_user(map: &MessageMap, value: Value<'_>) -> bool {
    speaker_of(map, value).meaning == Speaks::User
}

//! Checks of a format file beyond its syntax, and the values derived from it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::language::condition::{Choice, Word};
use super::language::path::{MapPath, Paths};
use super::language::{Language, MessageMap, Piece};

/// The most entries of a list or table of a format file, and the most holes of a text.
pub(super) const MOST: usize = 64;

/// The most entries of all lists and tables of a format file together: each may be looked up in every message.
const MOST_IN_ALL: usize = 2048;

/// A format file of which only the numbers of entries are of interest. Lists and tables of any name are counted, so that none can be
/// forgotten.
pub(super) struct Counted;

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        let in_all = Cell::new(0);
        let name = "the file";
        Entries {
            name,
            in_all: &in_all,
        }
        .deserialize(file)
    }
}

/// Counts the entries of a value with this name.
#[derive(Clone, Copy)]
struct Entries<'c> {
    name: &'c str,
    in_all: &'c Cell<usize>,
}

impl Entries<'_> {
    /// Counts another entry after so many.
    fn another<E: Error>(self, before: usize) -> Result<(), E> {
        let in_all = self.in_all.get() + 1;
        self.in_all.set(in_all);
        if before >= MOST {
            return Err(E::custom(format!("{} has more than {MOST} entries", self.name)));
        }
        if in_all > MOST_IN_ALL {
            let text = format!("all lists and tables together have more than {MOST_IN_ALL} entries");
            return Err(E::custom(text));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = Counted;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<Counted, D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Counted;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a value of TOML")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Counted, E> {
        Ok(Counted)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Counted, E> {
        Ok(Counted)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Counted, E> {
        Ok(Counted)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Counted, E> {
        Ok(Counted)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Counted, A::Error> {
        let mut count = 0;
        while list.next_element_seed(self)?.is_some() {
            self.another(count)?;
            count += 1;
        }
        Ok(Counted)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Counted, A::Error> {
        let mut count = 0;
        while let Some(name) = table.next_key::<String>()? {
            self.another(count)?;
            count += 1;
            let entry = Entries { name: &name, ..self };
            table.next_value_seed(entry)?;
        }
        Ok(Counted)
    }
}

/// Checks a format file whose syntax is valid; the error gives the reason.
pub(super) fn check(language: &Language) -> Result<(), String> {
    if let Some(mark) = language
        .recognise
        .iter()
        .find(|mark| mark.sure == 0 || mark.sure > 100)
    {
        return Err(format!("recognise.sure is {}, and runs from 1 to 100", mark.sure));
    }
    let map = &language.conversation;
    if language.request.is_some() {
        let has_more_keys =
            !map.messages.0.is_empty() || !language.message.say.is_empty() || !language.case.is_empty();
        return if has_more_keys {
            Err("a request is read as its vendor's API has it: conversation, message and case say nothing beside it".to_owned())
        } else {
            Ok(())
        };
    }
    if map.messages.0.is_empty() {
        return Err("conversation.messages says nowhere where messages stand: a path like \"$.messages\", or \"$\" where each record is one".to_owned());
    }
    let has_rows = !map.alone && map.messages.0.iter().any(MapPath::is_root);
    if has_rows && (map.join || !map.each.0.is_empty()) {
        return Err(
            "where each record is a message (conversation.messages = \"$\"), there is no join and no each"
                .to_owned(),
        );
    }
    let goes_back = language.tree.as_ref().is_some_and(|tree| tree.back.is_some());
    if !has_rows && (goes_back || language.message.repeated.is_some()) {
        return Err("tree.back and message.repeated speak of records that are messages: they need conversation.messages = \"$\"".to_owned());
    }
    if !has_rows && !map.header.0.is_empty() {
        return Err("conversation.header speaks of records that are no messages: it needs conversation.messages = \"$\"".to_owned());
    }
    if map.alone && !matches!(map.messages.0.as_slice(), [path] if path.is_root()) {
        return Err("conversation.alone speaks of records that are conversations: it needs conversation.messages = \"$\"".to_owned());
    }
    if map.join && map.id.0.is_empty() {
        return Err(
            "conversation.join needs conversation.id: files that name the same one are joined".to_owned(),
        );
    }
    for (place, piece) in pieces(language) {
        if piece.parts.is_some() && place == "part" {
            return Err("a part has no parts of its own: the language has no recursion".to_owned());
        }
    }
    let own_pieces = language
        .message
        .say
        .iter()
        .chain(language.case.iter().flat_map(|case| case.say.iter().flatten()));
    let has_words = own_pieces.count() > 0 || !language.message.notice.0.is_empty();
    if !has_words {
        return Err("message.say is empty: nothing says what a message says".to_owned());
    }
    Ok(())
}

/// Every piece, with the list that it stands in.
fn pieces(language: &Language) -> impl Iterator<Item = (&'static str, &Piece)> {
    let own_pieces = language
        .message
        .say
        .iter()
        .chain(language.case.iter().flat_map(|case| case.say.iter().flatten()));
    let parts = language.part.iter().map(|piece| ("part", piece));
    own_pieces.map(|piece| ("say", piece)).chain(parts)
}

/// The names of structures that a format file gives.
pub(super) fn shapes(language: &Language) -> Vec<&str> {
    if let Some(request) = &language.request {
        return vec![&request.shape];
    }
    let words = language
        .conversation
        .shape
        .0
        .iter()
        .filter_map(|choice| match choice {
            Choice::Always(Word::Fixed(word)) => Some(word.as_str()),
            Choice::Always(Word::At(_)) => None,
            Choice::Where(choice) => Some(choice.is.as_str()),
        });
    let words: Vec<&str> = words.collect();
    if words.is_empty() { vec!["session"] } else { words }
}

/// First keys of the paths of messages, in order; of more than 128 the last may stand twice.
pub(super) fn first_keys<'m>(messages: impl Iterator<Item = &'m MessageMap>) -> Vec<String> {
    let mut keys = BTreeSet::new();
    let mut add = |path: &MapPath| keys.extend(path.keys().0.first().map(|key| (*key).to_owned()));
    for map in messages {
        let paths: [&Paths; 4] = [&map.id, &map.time, &map.kind, &map.model];
        paths.into_iter().flat_map(|paths| &paths.0).for_each(&mut add);
        let conversation = map.conversation.0.iter();
        conversation.filter_map(|text| text.path()).for_each(&mut add);
        map.role.0.iter().filter_map(Choice::path).for_each(&mut add);
        let sender = map
            .sender
            .iter()
            .flat_map(|sender| [&sender.id, &sender.name, &sender.alias]);
        sender.flat_map(|paths| &paths.0).for_each(&mut add);
        for piece in &map.say {
            let own = [
                &piece.each,
                &piece.parts,
                &piece.message,
                &piece.content,
                &piece.calls,
            ];
            own.into_iter().flatten().for_each(&mut add);
            let here = piece.each.is_none().then_some(&piece.text.0);
            here.into_iter()
                .flatten()
                .filter_map(|text| text.path())
                .for_each(&mut add);
        }
        map.again.iter().map(|again| &again.text).for_each(&mut add);
        map.reply.iter().flat_map(|reply| &reply.to.0).for_each(&mut add);
        map.mentions.iter().for_each(&mut add);
    }
    keys.into_iter().collect()
}

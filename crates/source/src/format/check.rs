//! Checks of a format file beyond its syntax, and the values derived from it.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::language::condition::{Choice, Word};
use super::language::path::MapPath;
use super::language::{Language, MessageMap, Piece};

/// The most entries of a list or table of a format file, and the most placeholders of a text.
pub(super) const MOST: usize = 64;

/// The most entries and placeholders of a format file in all: each may be looked up in every message.
const MOST_IN_ALL: usize = 2048;

/// Checks that no list, table or text of a format file has too many entries or placeholders, whatever its name; the error gives place and reason.
pub(super) fn counted(text: &str) -> Result<(), String> {
    let Ok(file) = DeTable::parse(text) else {
        // The parser of format files reports the syntax error.
        return Ok(());
    };
    let mut left: Vec<_> = named(file.get_ref()).collect();
    let mut in_all = left.len();
    while let Some((name, value)) = left.pop() {
        let others = left.len();
        let (what, holes) = match value.get_ref() {
            DeValue::String(text) => ("placeholders", text.matches('{').count()),
            DeValue::Array(list) => {
                left.extend(list.iter().map(|value| (name, value)));
                ("entries", 0)
            }
            DeValue::Table(table) => {
                left.extend(named(table));
                ("entries", 0)
            }
            _ => continue,
        };
        let count = holes + left.len() - others;
        in_all += count;
        let reason = if count > MOST {
            format!("{name} has {count} {what}; the limit is {MOST}")
        } else if in_all > MOST_IN_ALL {
            format!(
                "all lists, tables and texts together have more than {MOST_IN_ALL} entries and placeholders"
            )
        } else {
            continue;
        };
        let (before, _) = text.split_at(value.span().start);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|sign| *sign != '\n').count() + 1;
        return Err(format!("line {line}, column {column}: {reason}"));
    }
    Ok(())
}

/// The values of a table with their names.
fn named<'v, 't>(table: &'v DeTable<'t>) -> impl Iterator<Item = (&'v str, &'v Spanned<DeValue<'t>>)> {
    table.iter().map(|(key, value)| (&**key.get_ref(), value))
}

/// Checks a format file with valid syntax; the error gives the reason.
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
            Err("a request is read by the grammar of its vendor: conversation, message and case have no effect with it".to_owned())
        } else {
            Ok(())
        };
    }
    if map.messages.0.is_empty() {
        return Err("conversation.messages is missing: give the path of the messages, such as \"$.messages\", or \"$\" where each record is one message".to_owned());
    }
    let has_rows = !map.alone && map.messages.0.iter().any(MapPath::is_root);
    if has_rows && (map.join || !map.each.0.is_empty()) {
        return Err(
            "conversation.join and conversation.each do not apply if each record is a message (conversation.messages = \"$\")"
                .to_owned(),
        );
    }
    let goes_back = language.tree.as_ref().is_some_and(|tree| tree.back.is_some());
    if !has_rows && (goes_back || language.message.repeated.is_some()) {
        return Err("tree.back and message.repeated are for records that are messages: they need conversation.messages = \"$\"".to_owned());
    }
    if !has_rows && !map.header.0.is_empty() {
        return Err(
            "conversation.header is for records that are no messages: it needs conversation.messages = \"$\""
                .to_owned(),
        );
    }
    if map.alone && !matches!(map.messages.0.as_slice(), [path] if path.is_root()) {
        return Err("conversation.alone is for records that are conversations: it needs conversation.messages = \"$\"".to_owned());
    }
    if map.join && map.id.0.is_empty() {
        return Err(
            "conversation.join needs conversation.id: files that name the same one are joined".to_owned(),
        );
    }
    for (place, piece) in pieces(language) {
        if piece.parts.is_some() && place == "part" {
            return Err("a part cannot have parts: the language has no recursion".to_owned());
        }
    }
    let own_pieces = language
        .message
        .say
        .iter()
        .chain(language.case.iter().flat_map(|case| case.say.iter().flatten()));
    let has_words = own_pieces.count() > 0 || !language.message.notice.0.is_empty();
    if !has_words {
        return Err("message.say is empty: give the path of the content".to_owned());
    }
    Ok(())
}

/// All pieces, each with the name of its list.
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

/// First keys of the paths of messages, in order. Repetition of a key is noticed for the first 128 of them.
pub(super) fn first_keys<'m>(messages: impl Iterator<Item = &'m MessageMap>) -> Vec<String> {
    let mut keys = BTreeSet::new();
    let mut add = |path: &MapPath| keys.extend(path.keys().0.first().map(|key| (*key).to_owned()));
    for map in messages {
        let paths = [&map.id, &map.time, &map.kind, &map.model, &map.answer_id];
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

//! The names of the field with the conversation of a row or of a message: one list for every container, where names count in any
//! spelling (`chat_id`, `chatId`, `Chat ID`).

use chatmill_intake::json::Value;
use chatmill_intake::table::is_spelling_of;

use super::{id, words};

/// Names that need no map, in lower case with letters and digits only, the most probable first.
pub(crate) static CONVERSATION_NAMES: [&str; 11] = words!(
    conversation conversationid conversationuuid threadid threaduuid sessionid sessionuuid chatid chatuuid roomid
    roomuuid
);

/// Words for a conversation, the most probable first: alone or before a word for an id, they may name one.
const NOUNS: [&str; 14] =
    words!(conversation thread session chat room dialog dialogue conv convo ticket case call channel sid);

/// Words for an id.
const ENDS: [&str; 7] = words!(id uuid guid key no nr number);

/// Words before `id` in names of what a conversation consists of, which repeat from one conversation to the next.
const PARTS: [&str; 7] = words!(message msg turn step line row item);

/// The words before `id` in names that do not identify a
/// conversation: a person, a model, a tenant, a reply or a parent.
const OTHERS: [&str; 36] = words!(
    user speaker participant recipient receiver from to sender author person member customer client contact visitor
    account profile owner agent bot assistant operator employee model provider tenant org organization organisation company workspace team reply_to
    in_reply_to parent parent_message
);

/// Whether a name means the conversation without a map.
pub(crate) fn names_conversation(name: &str) -> bool {
    CONVERSATION_NAMES.iter().any(|known| is_spelling_of(name, known))
}

/// Whether a name is a word for a conversation, which means one only by a map: `chat`, `ticket_id`, `callNo`.
pub(crate) fn is_word_for_conversation(name: &str) -> bool {
    rank(name).is_some()
}

/// The most probable of the names that mean the conversation, without a map or with one.
pub(crate) fn proposed<'n>(names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let known = |name: &str| {
        let mut known = CONVERSATION_NAMES.iter();
        known.position(|known| is_spelling_of(name, known))
    };
    let place = |name: &str| known(name).or_else(|| Some(CONVERSATION_NAMES.len() + rank(name)?));
    let ranked = names.filter_map(|name| Some((place(name)?, name)));
    ranked.min_by_key(|(place, _)| *place).map(|(_, name)| name)
}

/// The place of a name among the words for a conversation.
fn rank(name: &str) -> Option<usize> {
    let name = words_of(name).concat();
    NOUNS.iter().position(|noun| {
        let end = name.strip_prefix(noun);
        end.is_some_and(|end| end.is_empty() || ENDS.contains(&end))
    })
}

/// Whether a name is that of an id which may be the conversation's.
pub(crate) fn may_be_id_of_conversation(name: &str) -> bool {
    id_of(name).is_some_and(|stem| !PARTS.contains(&&*stem))
}

/// The id of the conversation in a row, by the most probable of its fields.
pub(crate) fn conversation_of(row: Value<'_>) -> Option<String> {
    let fields: Vec<_> = row.fields().collect();
    let of_name = |known| {
        let mut named = fields.iter().filter(|(name, _)| is_spelling_of(name, known));
        named.find_map(|(_, value)| id(*value))
    };
    CONVERSATION_NAMES.iter().find_map(|known| of_name(known))
}

/// Whether a column that repeats may name the conversation although its name is none that needs no map.
pub fn may_name_conversation(name: &str) -> bool {
    is_word_for_conversation(name) || id_of(name).is_some()
}

/// The words before the id in a name, unless such an id identifies something else.
fn id_of(name: &str) -> Option<String> {
    let words = words_of(name);
    let (end, stem) = words.split_last()?;
    let stem = stem.join("_");
    let is_id = matches!(&**end, "id" | "uuid" | "guid") && !stem.is_empty();
    Some(stem).filter(|stem| is_id && !OTHERS.contains(&&**stem))
}

/// The words of a name, in lower case: `ticketId`, `Ticket ID` and `TICKET_ID` are `ticket` and `id`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_capital = true;
    for sign in name.chars() {
        let is_capital = sign.is_uppercase();
        if !sign.is_alphanumeric() || is_capital && !is_after_capital {
            words.push(String::new());
        }
        is_after_capital = is_capital;
        if let Some(word) = words.last_mut().filter(|_| sign.is_alphanumeric()) {
            word.extend(sign.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_conversation_in_every_spelling() {
        for name in [
            "conversation",
            "Conversation",
            "chat_id",
            "chatId",
            "ChatID",
            "Chat ID",
            "chat-id",
            "chatid",
            "CONVERSATION_ID",
            "conversation_uuid",
            "roomId",
        ] {
            assert!(names_conversation(name), "{name}");
        }
        for name in ["chat", "id", "channel_id", "user_id", "conversation_title"] {
            assert!(!names_conversation(name), "{name}");
        }
    }

    #[test]
    fn a_column_of_another_id_may_name_the_conversation() {
        for name in [
            "ticket_id",
            "ticketId",
            "Ticket ID",
            "TICKET_ID",
            "ticketid",
            "trace_uuid",
            "callNo",
            "conv_id",
            "turn_id",
            "room",
            "Thread",
        ] {
            assert!(may_name_conversation(name), "{name}");
        }
        for name in [
            "id",
            "uuid",
            "paid",
            "user_id",
            "userId",
            "User ID",
            "replyToId",
            "speaker_id",
            "parent_message_id",
            "word",
            "caseworker",
            "chat_title",
        ] {
            assert!(!may_name_conversation(name), "{name}");
        }
    }

    #[test]
    fn the_most_probable_name_is_proposed() {
        let of = |names: &[&'static str]| proposed(names.iter().copied());
        assert_eq!(of(&["channel", "chatId", "Thread ID", "id"]), Some("Thread ID"));
        assert_eq!(of(&["id", "channel"]), Some("channel"));
        assert_eq!(of(&["id", "user_id"]), None);
    }
}

//! What is compared of two tales: a format tells less of who speaks, and when, than another.

use std::collections::BTreeMap;

use chatmill_model::{MediaSource, Role};
use serde_json::Value;

use super::{Account, Label, Piece, Tale, Turn, Words};

/// Further fields that tell the id of a conversation, and its description.
const OF_CONVERSATIONS: [&str; 3] = ["conversation_id", "group_id", "scene_desc"];

/// Further fields that tell of a medium.
const OF_MEDIA: [&str; 3] = ["url", "file_name", "file_type"];

impl Tale {
    /// Senders are people with names, and not ids, and a conversation has none: as requests know them.
    pub fn without_ids(&mut self) {
        self.id = None;
        for turn in &mut self.turns {
            turn.sender = None;
            turn.facts.given = None;
        }
    }

    /// Turns have lines that say who speaks in which chat and what is answered, and whoever says `error` has failed: as
    /// gryag's prompts know them. Two of one name are kept apart by their roles.
    pub fn as_prompted(&mut self) {
        self.without_ids();
        // System text that was put in front is a user's to those who see no other user's line.
        if let Some(first) = self.turns.first_mut().filter(|first| first.role == Role::System) {
            first.role = Role::User;
            first.name = Label::Exact(None);
        }
        for turn in &mut self.turns {
            let of_lines = ["chat_id", "thread_id", "username"];
            turn.facts.extra.retain(|key| {
                !key.starts_with("reply_to_")
                    && !key.ends_with(".file_uri")
                    && !of_lines.contains(&key.as_str())
            });
            turn.name = std::mem::replace(&mut turn.name, Label::Any).kept_apart();
            // Lines hold the ids that accounts have, and the names that their messages give them.
            let account = &turn.account;
            let is_id = account.known.is_none() && turn.name == Label::Exact(account.id.clone());
            if account.is_made && (is_id || account.is_unnamed) {
                turn.name = Label::Exact(None);
            }
            // Turns of tools have no line.
            if turn
                .pieces
                .iter()
                .all(|piece| matches!(piece, Piece::Call { .. } | Piece::Answer { .. }))
                && !turn.pieces.is_empty()
            {
                turn.name = Label::Any;
            }
            for piece in &mut turn.pieces {
                if let Piece::Answer { words, is_error, .. } = piece
                    && let Some(text) = words.text()
                    && let Ok(Value::Object(fields)) = serde_json::from_str(&text)
                {
                    *is_error |= fields.len() == 1 && fields.contains_key("error");
                }
            }
        }
    }

    /// Rows have no order but that of their times, and know agents and people by ids that are more than a role: as Suna's
    /// table knows them.
    pub fn as_rows(&mut self) {
        let id = self.id.take();
        self.without_ids();
        // Without rows there is no thread, and without an id one is made for it.
        self.id = id.filter(|id| !self.turns.is_empty() && !id.starts_with("thread-"));
        let mut last = i64::MIN;
        for turn in &mut self.turns {
            if let Some(time) = turn.facts.times.first() {
                let local = || time.parse::<jiff::civil::DateTime>().ok();
                let as_utc = |local: jiff::civil::DateTime| local.to_zoned(jiff::tz::TimeZone::UTC).ok();
                let known = time.parse().ok();
                let known = known.or_else(|| Some(local().and_then(as_utc)?.timestamp().as_microsecond()));
                last = known.unwrap_or(last);
            }
            turn.time = last;
            // A count since 1970 is the same in seconds, of which not every reader makes a time, and in microseconds.
            for time in &mut turn.facts.times {
                if time.bytes().all(|byte| byte.is_ascii_digit()) {
                    *time = time.trim_end_matches('0').to_owned();
                }
            }
            turn.facts.other_name = None;
            turn.name = std::mem::replace(&mut turn.name, Label::Any).kept_apart();
            if turn.role == Role::System && !turn.is_notice {
                turn.name = Label::Exact(None);
            }
        }
        self.turns.sort_by_key(|turn| turn.time);
    }

    /// Senders are accounts with the names that messages show, and who is nowhere named in the roster has the first name
    /// that is shown for him: as Jaibber's rooms know them. Whom a text itself mentions, nothing else has to.
    pub fn as_payloads(&mut self) {
        let id = self.id.take();
        // That an agent has an account, each of his turns tells.
        self.people = self.people.saturating_sub(self.agents);
        // Without payloads there is no project, and without an id one is made for it.
        self.id = id.filter(|id| !self.turns.is_empty() && !id.starts_with("project-"));
        let mut first: BTreeMap<(String, bool), String> = BTreeMap::new();
        for turn in &self.turns {
            let account = &turn.account;
            if let (Some(id), Some(name)) = (&account.id, account.known.as_ref().or(account.shown.as_ref())) {
                let key = (id.clone(), turn.role == Role::Assistant);
                first.entry(key).or_insert_with(|| name.clone());
            }
        }
        for turn in &mut self.turns {
            let Account {
                id,
                known,
                shown,
                mentions,
                ..
            } = std::mem::take(&mut turn.account);
            let key = id.clone().map(|id| (id, turn.role == Role::Assistant));
            let of_room = key.and_then(|key| first.get(&key).cloned());
            let known = known.or(of_room);
            turn.facts.given = shown.clone().or(known.clone());
            if turn.name != Label::Any {
                turn.name = Label::Exact(known.or(shown));
            }
            turn.sender = id;
            turn.facts.other_name = None;
            let text = turn.said().to_lowercase();
            let is_said = |name: &str| text.contains(&format!("@{}", name.to_lowercase()));
            // Payloads have an order of fields.
            turn.facts.extra.sort();
            turn.facts.mentions.clear();
            for (id, name) in mentions {
                if !is_said(name.as_ref().unwrap_or(&id)) && !turn.facts.mentions.contains(&id) {
                    turn.facts.mentions.push(id);
                }
            }
            for piece in &mut turn.pieces {
                empty_is_none(piece);
            }
        }
    }

    /// A message is a text and media, and what is beside the message is not told: as Tzurot's requests know it. A quote that
    /// was read back stands behind the text again, with its medium and without the words that say who is quoted.
    pub fn as_request(&mut self) {
        self.id = None;
        for turn in &mut self.turns {
            turn.sender = None;
            turn.facts.given = None;
            if turn.facts.references > 0 {
                turn.facts.references = 0;
                for quote in std::mem::take(&mut turn.quotes) {
                    let text = format!("{}\"", quote.text);
                    let words = Words::exact(text);
                    turn.pieces.push(Piece::Text { words, added: true });
                    turn.pieces.extend(quote.medium.map(Piece::Medium));
                }
            }
            let (texts, media): (Vec<Piece>, Vec<Piece>) = std::mem::take(&mut turn.pieces)
                .into_iter()
                .partition(|piece| matches!(piece, Piece::Text { .. }));
            let mut said: Option<Words> = None;
            for piece in texts {
                if let Piece::Text { words, added } = piece {
                    match &mut said {
                        Some(said) => said.join(if added { "\n" } else { " " }, words),
                        None => said = Some(words),
                    }
                }
            }
            turn.pieces = said.map(Piece::text).into_iter().chain(media).collect();
        }
    }

    /// Senders are ids with the name that the message gives them: as archives know them. What further fields say of a medium
    /// and of the conversation's id is told by these, and an empty address says nothing.
    pub fn as_archived(&mut self) {
        let has_medium = |turn: &&Turn| turn.pieces.iter().any(|piece| matches!(piece, Piece::Medium(_)));
        let media: Vec<Option<u32>> = self.turns.iter().filter(has_medium).map(|turn| turn.at).collect();
        self.metadata
            .retain(|key| !OF_CONVERSATIONS.contains(&key.as_str()));
        self.metadata.sort();
        for turn in &mut self.turns {
            turn.facts.other_name = None;
            turn.name = std::mem::replace(&mut turn.name, Label::Any).without_role();
            if media.contains(&turn.at) {
                turn.facts.extra.retain(|key| !OF_MEDIA.contains(&key.as_str()));
            }
            for piece in &mut turn.pieces {
                empty_is_none(piece);
            }
        }
    }
}

/// An empty address of a medium says nothing.
fn empty_is_none(piece: &mut Piece) {
    if let Piece::Medium(media) = piece
        && media.source == MediaSource::Url(String::new())
    {
        media.source = MediaSource::Upload;
    }
}

//! Finds the most expensive conversations, rooms and participants, in one pass over narrow columns of `messages`.
//!
//! The messages of a conversation are adjacent, so only the largest conversations are kept in memory; senders and titles are kept up to a
//! limit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use chatmill_dataset::{Dataset, DatasetError, Texts, columns};

use crate::report::{Costly, MostExpensive};

/// The length of each list.
const LISTED: usize = 10;

/// The number of senders, and of titled conversations, that are ranked: about 20 MB.
const RANKED: usize = 100_000;

columns! {
    struct Messages {
        conversation_id: Texts,
        sender_id: Texts,
        sender_name: Texts,
        role: Texts,
        kind: Texts,
    }

    struct Titles {
        conversation_id: Texts,
        title: Texts,
    }
}

/// The most expensive conversations, rooms and participants; `None` without token counts or without messages.
pub(super) fn most_expensive(dataset: &Dataset) -> Result<Option<MostExpensive>, DatasetError> {
    let Some(encoding) = dataset.encodings().first() else {
        return Ok(None);
    };
    if !dataset.has("messages") {
        return Ok(None);
    }
    let titles = titles(dataset)?;
    let mut found = MostExpensive {
        encoding: encoding.clone(),
        ..MostExpensive::default()
    };
    let mut current = Costly::default();
    let mut rooms = Ranking::default();
    let mut senders = Ranking::default();
    let mut finish = |done: Costly, conversations: &mut Vec<Costly>| {
        if let Some(title) = titles.get(&done.id) {
            rooms.add(title, None, &done);
        }
        conversations.push(done);
        if conversations.len() > 2 * LISTED {
            keep_most(conversations);
        }
    };
    let tokens = [format!("tokens_{encoding}")];
    dataset.each_row_with("messages", &tokens, &mut |columns: &Messages, tokens, row| {
        if columns.kind.at(row) != "message" {
            return Ok(());
        }
        let id = columns.conversation_id.at(row);
        if current.id != id {
            let next = Costly {
                id: id.to_owned(),
                ..Costly::default()
            };
            let done = std::mem::replace(&mut current, next);
            if done.messages > 0 {
                finish(done, &mut found.conversations);
            }
        }
        let tokens = tokens.iter().map(|column| column.at(row)).sum();
        let is_written = columns.role.at(row) == "assistant";
        let message = Costly {
            messages: 1,
            tokens,
            written: if is_written { tokens } else { 0 },
            ..Costly::default()
        };
        add(&mut current, &message);
        found.tokens += tokens;
        let sender = columns.sender_id.get(row).unwrap_or_else(|| columns.role.at(row));
        senders.add(sender, columns.sender_name.get(row), &message);
        Ok(())
    })?;
    if current.messages > 0 {
        finish(current, &mut found.conversations);
    }
    keep_most(&mut found.conversations);
    for costly in &mut found.conversations {
        costly.name = titles.get(&costly.id).cloned();
    }
    found.participants = senders.most();
    // A room with a single conversation is listed as a conversation.
    found.rooms = rooms.most_of_several();
    Ok(Some(found))
}

/// The titles of conversations by id; empty if too many have one.
fn titles(dataset: &Dataset) -> Result<HashMap<String, String>, DatasetError> {
    let mut titles = HashMap::new();
    if dataset.has("conversations") && dataset.rows("conversations") <= RANKED as u64 {
        dataset.each_row("conversations", &mut |columns: &Titles, row| {
            if let Some(title) = columns.title.get(row).filter(|title| !title.is_empty()) {
                titles.insert(columns.conversation_id.at(row).to_owned(), title.to_owned());
            }
        })?;
    }
    Ok(titles)
}

/// Sums by name, up to a limit of names.
#[derive(Default)]
struct Ranking {
    sums: BTreeMap<String, (Costly, u64)>,
    is_too_large: bool,
}

impl Ranking {
    fn add(&mut self, id: &str, name: Option<&str>, more: &Costly) {
        if self.is_too_large {
            return;
        }
        if let Some((sum, times)) = self.sums.get_mut(id) {
            add(sum, more);
            *times += 1;
            return;
        }
        if self.sums.len() == RANKED {
            self.is_too_large = true;
            self.sums.clear();
            return;
        }
        let mut sum = Costly {
            id: id.to_owned(),
            name: name
                .filter(|name| *name != id && !name.is_empty())
                .map(str::to_owned),
            ..Costly::default()
        };
        add(&mut sum, more);
        self.sums.insert(id.to_owned(), (sum, 1));
    }

    fn most(self) -> Vec<Costly> {
        let mut most = self.sums.into_values().map(|(sum, _)| sum).collect();
        keep_most(&mut most);
        most
    }

    fn most_of_several(self) -> Vec<Costly> {
        if self.sums.values().any(|(_, times)| *times > 1) {
            self.most()
        } else {
            Vec::new()
        }
    }
}

fn add(sum: &mut Costly, more: &Costly) {
    sum.messages += more.messages;
    sum.tokens += more.tokens;
    sum.written += more.written;
}

/// Keeps the entries with the most tokens; of equal ones, the first.
fn keep_most(costly: &mut Vec<Costly>) {
    costly.sort_by_key(|costly| Reverse(costly.tokens));
    costly.truncate(LISTED);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(tokens: u64) -> Costly {
        Costly {
            messages: 1,
            tokens,
            ..Costly::default()
        }
    }

    #[test]
    fn names_are_ranked_up_to_a_limit() {
        let mut ranking = Ranking::default();
        for number in 0..RANKED {
            ranking.add(&format!("user-{number}"), Some("Ann"), &message(1));
        }
        ranking.add("user-7", None, &message(4));
        let most = ranking.most();
        assert_eq!(most.len(), LISTED);
        assert_eq!(
            (most[0].id.as_str(), most[0].tokens, most[0].messages),
            ("user-7", 5, 2)
        );
        assert_eq!(most[0].name.as_deref(), Some("Ann"));

        let mut ranking = Ranking::default();
        for number in 0..=RANKED {
            ranking.add(&format!("user-{number}"), None, &message(1));
        }
        assert!(ranking.most().is_empty());
    }

    #[test]
    fn titles_of_one_conversation_each_are_not_ranked() {
        let mut ranking = Ranking::default();
        ranking.add("kitchen", None, &message(3));
        ranking.add("cellar", None, &message(2));
        assert!(ranking.most_of_several().is_empty());
        let mut ranking = Ranking::default();
        ranking.add("kitchen", None, &message(3));
        ranking.add("cellar", None, &message(2));
        ranking.add("cellar", None, &message(2));
        let ids: Vec<String> = ranking
            .most_of_several()
            .into_iter()
            .map(|room| room.id)
            .collect();
        assert_eq!(ids, ["cellar", "kitchen"]);
    }
}

//! Guesses about the tables of one database: the table that seems to have the messages, and the table with the names of its senders.

use super::guess::{Guess, SampledColumn, SenderColumns, columns_of, guess, is_agent};
use super::names;
use super::sample::TableSample;

/// The guess about the table with the most of a chat; each table comes with its name.
pub fn guess_tables(tables: &[(String, TableSample)]) -> Option<Guess> {
    let guesses = tables.iter().filter_map(|(name, sample)| {
        let table = Some(name.clone());
        Some((
            sample,
            Guess {
                table,
                ..guess(sample)?
            },
        ))
    });
    let has = |guess: &Guess, key: &str| guess.columns.iter().any(|(ours, _)| *ours == key);
    let rank = |guess: &Guess| (guess.is_sure, has(guess, "conversation"), guess.columns.len());
    let (sample, mut guess) = guesses.reduce(|best, next| {
        let is_better = rank(&next.1) > rank(&best.1);
        if is_better { next } else { best }
    })?;
    if !has(&guess, "role") {
        let others = tables
            .iter()
            .filter(|(name, _)| Some(name) != guess.table.as_ref());
        let found = { others }.find_map(|(name, other)| senders(&guess, sample, name, &columns_of(other)));
        if let Some((columns, agents)) = found {
            guess.senders = Some(columns);
            guess.assistants = agents;
        }
    }
    Some(guess)
}

/// The columns of a table that has all senders of another by id, each with a name; and the ids of those that seem to be agents, if no column
/// marks them.
fn senders(
    guess: &Guess,
    sample: &TableSample,
    table: &str,
    columns: &[SampledColumn<'_>],
) -> Option<(SenderColumns, Vec<String>)> {
    let (_, sender) = guess.columns.iter().find(|(ours, _)| *ours == "sender")?;
    let own = columns_of(sample);
    let senders = own.iter().find(|column| column.name == *sender)?.distinct();
    let id = columns.iter().find(|column| {
        column.is(names::IDS) && column.is_unique() && senders.is_subset(&column.distinct())
    })?;
    let has_name =
        |column: &&SampledColumn<'_>| column.is(names::NAMES) && column.texts.len() == id.texts.len();
    let name = columns.iter().find(has_name)?;
    let is_truth = |text: &&str| {
        matches!(
            text.to_lowercase().as_str(),
            "0" | "1" | "t" | "f" | "true" | "false"
        )
    };
    let is_of_agents =
        |column: &&SampledColumn<'_>| column.is(names::IS_AGENT) && column.texts.iter().all(is_truth);
    let agent = columns.iter().find(is_of_agents);
    let named = id
        .texts
        .iter()
        .zip(&name.texts)
        .filter(|(id, name)| agent.is_none() && senders.contains(*id) && is_agent(name));
    let agents = named.map(|(id, _)| (*id).to_owned()).collect();
    let found = SenderColumns {
        table: table.to_owned(),
        id: id.name.to_owned(),
        name: name.name.to_owned(),
        agent: agent.map(|column| column.name.to_owned()),
    };
    Some((found, agents))
}

#[cfg(test)]
mod tests {
    use chatmill_intake::{Framing, Head};

    use super::*;

    fn table(name: &str, rows: &str) -> (String, TableSample) {
        let head = Head {
            framing: Framing::Lines,
            complete: true,
            bytes: rows.as_bytes().to_vec(),
        };
        (name.to_owned(), TableSample::of(&head).unwrap())
    }

    fn options(tables: &[(String, TableSample)]) -> Option<String> {
        guess_tables(tables)?.options()
    }

    const POSTS: &str = r#"{"room":"a","author_id":1,"body":"Is it open?"}
{"room":"a","author_id":2,"body":"Until four."}"#;

    #[test]
    fn names_come_from_the_table_that_has_every_sender() {
        let posts = table("posts", POSTS);
        let people = r#"{"id":1,"name":"Kim","bot":false}
{"id":2,"name":"desk","bot":true}"#;
        let some = people.lines().next().unwrap();
        let orders = r#"{"id":1,"item":"oar"}
{"id":2,"item":"rope"}"#;
        let read = "--map table=posts,conversation=room,sender=author_id,content=body";
        for (other, senders) in [
            (people, ",sender_from=people:id:name:bot"),
            (&*people.replace("true", "\"on\""), ",sender_from=people:id:name"),
            (
                &*people.replace("bot", "paid").replace("desk", "deskbot"),
                ",sender_from=people:id:name --assistant 2",
            ),
            (some, ""),
            (orders, ""),
        ] {
            let tables = [table("people", other), posts.clone()];
            assert_eq!(options(&tables), Some(format!("{read}{senders}")), "{other}");
        }
    }

    #[test]
    fn rows_with_roles_need_no_names_and_tables_without_words_are_none() {
        let rows = POSTS
            .replace(r#""author_id":1"#, r#""role":"user""#)
            .replace(r#""author_id":2"#, r#""role":"bot""#);
        let people = table("people", r#"{"id":"user","name":"Kim"}"#);
        let read = "--map table=posts,conversation=room,role=role,content=body";
        assert_eq!(
            options(&[people.clone(), table("posts", &rows)]),
            Some(read.to_owned())
        );
        assert_eq!(options(&[people]), None);
    }
}

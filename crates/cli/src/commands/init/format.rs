//! The text of a format file: a template, filled in with guesses from the names in a file.

use std::collections::BTreeMap;

use chatmill_engine::Proposal;
use minijinja::{Error, context};

use super::toml::{environment, stem};

const TEMPLATE: (&str, &str) = ("format.toml", include_str!("../../../templates/format.toml"));

/// The names of columns of rows, by the names in a map of messages.
const COLUMNS: [(&str, &str); 3] = [("content", "text"), ("created_at", "time"), ("id", "message_id")];

/// A format file for a path; `None` if nothing in it looks like messages.
pub(super) fn file(path: &str, proposal: &Proposal) -> Result<Option<String>, Error> {
    let mut rivals: &[String] = &[];
    let paths: BTreeMap<&str, String> = match proposal {
        Proposal::Fields(paths) => paths.iter().map(|(key, path)| (*key, path.clone())).collect(),
        Proposal::Columns(guess) => {
            let known = |key: &'static str| {
                COLUMNS
                    .iter()
                    .find(|(own, _)| *own == key)
                    .map_or(key, |(_, name)| *name)
            };
            let columns = guess
                .columns
                .iter()
                .map(|(key, column)| (known(key), format!("$.{column}")));
            columns.chain([("messages", "$".to_owned())]).collect()
        }
        Proposal::Rivals(lists) => {
            let Some((first, others)) = lists.split_first() else {
                return Ok(None);
            };
            rivals = others;
            [
                ("messages", first.clone()),
                ("role", "$.role".to_owned()),
                ("text", "$.content".to_owned()),
            ]
            .into()
        }
    };
    let path_of = |key: &str| paths.get(key).map(String::as_str);
    let (Some(list), Some(text)) = (path_of("messages"), path_of("text")) else {
        return Ok(None);
    };
    let is_rows = list == "$";
    let messages = if is_rows {
        list.to_owned()
    } else {
        format!("{list}[*]")
    };
    let lines = |keys: &[(&'static str, &str)]| -> Vec<[String; 2]> {
        let found = keys
            .iter()
            .filter_map(|(key, own)| Some([(*key).to_owned(), path_of(own)?.to_owned()]));
        found.collect()
    };
    let mut conversation = if is_rows {
        Vec::new()
    } else {
        lines(&[("id", "conversation"), ("title", "title")])
    };
    conversation.push(["messages".to_owned(), messages.clone()]);
    let whose: &[(&str, &str)] = if is_rows {
        &[("conversation", "conversation")]
    } else {
        &[]
    };
    let message = [
        &[("id", "message_id")],
        whose,
        &[("time", "time"), ("role", "role")],
    ]
    .concat();
    let name_of = |path: &str| path.trim_start_matches("$.").replace("[*]", "[]");
    let inside = if is_rows {
        String::new()
    } else {
        name_of(&messages) + "."
    };
    let outer = path_of("conversation").filter(|_| !is_rows).map(name_of);
    let role = path_of("role").map(|role| inside.clone() + &name_of(role));
    let marks = [outer, role, Some(inside.clone() + &name_of(text))];
    let marks: Vec<String> = marks.into_iter().flatten().collect();
    let context = context! {
        path,
        name => stem(path),
        keys => paths.keys().copied().collect::<Vec<&str>>(),
        marks,
        conversation,
        rivals => rivals.to_vec(),
        message => lines(&message),
        has_role => paths.contains_key("role"),
        sender => lines(&[("id", "sender"), ("name", "sender_name")]),
        reply => path_of("reply_to"),
        text,
        vendor => path_of("as"),
        calls => path_of("tool_calls").map(|path| format!("{path}[*]")),
        call_id => path_of("tool_call_id"),
    };
    environment(TEMPLATE)?
        .get_template(TEMPLATE.0)?
        .render(context)
        .map(Some)
}

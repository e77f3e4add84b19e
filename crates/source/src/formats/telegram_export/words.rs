//! The text of an entry: a string, or a list of strings and of formatted ranges such as links, mentions and code.

use chatmill_intake::json::{Kind, Value};

use crate::base::{ExtraFields, Keep as _, Site, id, present, text};

/// The text of an entry; `mentions` gets the names and ids of the mentioned people.
pub(super) fn read(
    value: Value<'_>,
    mentions: &mut Vec<String>,
    extra: &mut ExtraFields,
    site: &mut Site<'_>,
) -> String {
    if let Some(words) = text(Some(value)) {
        return words;
    }
    if value.kind() != Kind::Array {
        site.warn(
            "text",
            "text is neither a string nor a list and is kept as it is",
            value,
        );
        extra.keep("text", value);
        return String::new();
    }
    let mut out = String::new();
    for (index, fragment) in value.items().enumerate() {
        if let Some(words) = text(Some(fragment)) {
            out.push_str(&words);
            continue;
        }
        let Some(words) = text(fragment.get("text")) else {
            let path = format!("text[{index}]");
            site.warn(
                &path,
                "a stretch of the text has no words and is kept as it is",
                fragment,
            );
            extra.keep(path, fragment);
            continue;
        };
        match text(fragment.get("type")).as_deref() {
            Some("text_link") => {
                let href = text(fragment.get("href")).filter(|href| *href != words);
                match href {
                    Some(href) => out.extend(["[", &words, "](", &href, ")"]),
                    None => out.push_str(&words),
                }
            }
            Some("mention") => {
                mentions.push(words.trim_start_matches('@').to_owned());
                out.push_str(&words);
            }
            Some("mention_name") => {
                let user = present(fragment, "user_id").and_then(id);
                mentions.push(user.map_or_else(|| words.clone(), |user| format!("user{user}")));
                out.push_str(&words);
            }
            Some("pre") => {
                let language = text(fragment.get("language")).unwrap_or_default();
                out.extend(["```", &language, "\n", &words, "\n```"]);
            }
            Some("code") => out.extend(["`", &words, "`"]),
            _ => out.push_str(&words),
        }
    }
    out
}

/// The question of a poll, and its answers.
pub(super) fn poll(poll: Value<'_>) -> Option<String> {
    let words = |value: Value<'_>| text(Some(value)).or_else(|| text(value.get("text")));
    let mut out = present(poll, "question").and_then(words)?;
    let answers = present(poll, "answers").into_iter().flat_map(Value::items);
    for answer in answers.filter_map(words) {
        out.push_str("\n- ");
        out.push_str(&answer);
    }
    Some(out)
}

/// The text that replaces the text of a message: a contact, a place, a game, an invoice, a list of tasks, a text with blocks.
pub(super) fn further(key: &str, value: Value<'_>) -> Option<String> {
    let between = match key {
        "contact_information" => " ",
        "location_information" => ", ",
        "game_title"
        | "game_description"
        | "place_name"
        | "address"
        | "invoice_information"
        | "todo_list"
        | "rich_message" => "\n",
        _ => return None,
    };
    let mut words = Vec::new();
    leaves(value, &mut words);
    (!words.is_empty()).then(|| words.join(between))
}

/// Collects the texts inside a value, in its order.
fn leaves(value: Value<'_>, words: &mut Vec<String>) {
    match value.kind() {
        Kind::String => words.extend(text(Some(value)).filter(|text| !text.is_empty())),
        Kind::Number => words.push(value.raw().to_owned()),
        Kind::Array => value.items().for_each(|item| leaves(item, words)),
        Kind::Object => {
            let no_words = [
                "id",
                "type",
                "currency",
                "amount",
                "date",
                "completed_by",
                "completion_date",
            ];
            let fields = value.fields().filter(|(key, _)| !no_words.contains(&&**key));
            fields.for_each(|(_, field)| leaves(field, words));
        }
        Kind::Null | Kind::Bool(_) => {}
    }
}

//! The text of a message: resolves its markup, and reads blocks if there is no text.

use chatmill_intake::json::{Mark, Value};

use super::members::Members;
use crate::base::{RepeatedText, text};

/// Levels of blocks inside one another that are read.
const MAX_DEPTH: usize = 12;

/// The longest name that replaces an id, in bytes. Every mention repeats the name, so that a long one would multiply;
/// names in Slack have at most 80 characters.
const MAX_NAME_BYTES: usize = 512;

/// Resolves mentions, links and entities; `mentions` gets the id of a member for each mention.
pub(super) fn resolved(words: &str, members: &Members, mentions: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(words.len());
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('<') {
        plain(before, &mut out);
        // The search ends at the next opening; without this limit, each opening would search the whole rest.
        let stop = after.find(['<', '>']).unwrap_or(after.len());
        let (inside, behind) = after.split_at_checked(stop).unwrap_or((after, ""));
        if let Some(behind) = behind.strip_prefix('>') {
            token(inside, members, mentions, &mut out);
            rest = behind;
        } else {
            out.push('<');
            rest = after;
        }
    }
    plain(rest, &mut out);
    out
}

fn token(inside: &str, members: &Members, mentions: &mut Vec<String>, out: &mut String) {
    let (target, label) = match inside.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (inside, None),
    };
    if let Some(id) = target.strip_prefix('@') {
        mention(id, label, members, mentions, out);
    } else if let Some(channel) = target.strip_prefix('#') {
        out.push('#');
        plain(label.unwrap_or(channel), out);
    } else if let Some(command) = target.strip_prefix('!') {
        // `<!here>`, `<!subteam^S1|@team>`, `<!date^1767600300^{date}|5 January>`.
        if let Some(label) = label {
            plain(label, out);
        } else {
            out.push('@');
            plain(command.split('^').next().unwrap_or(command), out);
        }
    } else {
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let is_same = |label: &str| {
            let label = bare(label);
            ["", "http://", "https://", "mailto:", "tel:"]
                .iter()
                .any(|scheme| bare(target) == format!("{scheme}{label}"))
        };
        match label {
            Some(label) if !is_same(label) => {
                out.push('[');
                plain(label, out);
                out.push_str("](");
                plain(target, out);
                out.push(')');
            }
            Some(label) if !target.contains("://") => plain(label, out),
            _ => plain(target, out),
        }
    }
}

fn mention(id: &str, label: Option<&str>, members: &Members, mentions: &mut Vec<String>, out: &mut String) {
    out.push('@');
    match members.name_of(id).filter(|name| name.len() <= MAX_NAME_BYTES) {
        Some(name) => out.push_str(name),
        None => plain(label.unwrap_or(id), out),
    }
    mentions.push(id.to_owned());
}

/// Appends a text with its entities resolved: exports use only three.
fn plain(words: &str, out: &mut String) {
    if !words.contains('&') {
        out.push_str(words);
        return;
    }
    let words = words.replace("&lt;", "<").replace("&gt;", ">");
    out.push_str(&words.replace("&amp;", "&"));
}

/// The text of a list of blocks, one line for each.
pub(super) fn of_blocks(blocks: Value<'_>, members: &Members, mentions: &mut Vec<String>) -> String {
    let mut out = String::new();
    for block in blocks.items() {
        let mut line = String::new();
        walk(block, MAX_DEPTH, members, mentions, &mut line);
        let line = line.trim_end_matches('\n');
        if !line.is_empty() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line);
        }
    }
    out
}

fn walk(value: Value<'_>, depth: usize, members: &Members, mentions: &mut Vec<String>, out: &mut String) {
    if depth == 0 {
        return;
    }
    let field = |key: &str| text(value.get(key));
    match field("type").as_deref() {
        Some("user") => {
            if let Some(id) = field("user_id") {
                mention(&id, None, members, mentions, out);
            }
        }
        Some("emoji") => {
            let unicode = field("unicode").and_then(|code| emoji(&code));
            match (unicode, field("name")) {
                (Some(sign), _) => out.push_str(&sign),
                (None, Some(name)) => out.extend([":", &name, ":"]),
                (None, None) => {}
            }
        }
        Some("link") => {
            let url = field("url").unwrap_or_default();
            match field("text") {
                Some(label) if label != url => out.extend(["[", &label, "](", &url, ")"]),
                _ => out.push_str(&url),
            }
        }
        Some("channel") => out.extend(["#", &field("channel_id").unwrap_or_default()]),
        Some("broadcast") => out.extend(["@", &field("range").unwrap_or_default()]),
        Some("mrkdwn") => {
            let words = field("text").unwrap_or_default();
            out.push_str(&resolved(&words, members, mentions));
        }
        Some("text" | "plain_text") => out.push_str(&field("text").unwrap_or_default()),
        kind => {
            for key in ["text", "title", "elements", "fields"] {
                let Some(inner) = value.get(key) else { continue };
                if let Some(words) = text(Some(inner)) {
                    out.push_str(&words);
                }
                let items: Vec<Value<'_>> = inner.items().collect();
                for item in &items {
                    walk(*item, depth - 1, members, mentions, out);
                    if matches!(kind, Some("rich_text_list" | "section" | "context")) {
                        out.push('\n');
                    }
                }
                if items.is_empty() {
                    walk(inner, depth - 1, members, mentions, out);
                }
            }
            if matches!(
                kind,
                Some("rich_text_section" | "rich_text_preformatted" | "rich_text_quote" | "header")
            ) && !out.ends_with('\n')
                && depth < MAX_DEPTH
            {
                out.push('\n');
            }
        }
    }
}

/// Marks the texts of blocks that the message's text repeats as read. Other texts stay unread.
pub(super) fn repeat(blocks: Value<'_>, main_text: &str) {
    mark_repeats(blocks, &mut RepeatedText::of(&bare(main_text)));
}

fn mark_repeats(value: Value<'_>, main_text: &mut RepeatedText<'_>) {
    for (key, field) in value.fields() {
        match field.string().filter(|_| key == "text") {
            Some(words) if main_text.holds(&bare(&words)) => field.mark(Mark::Taken),
            _ => mark_repeats(field, main_text),
        }
    }
    value.items().for_each(|item| mark_repeats(item, main_text));
}

/// The words of a text without the signs between them, each after a blank: the text has markup where blocks have styles.
fn bare(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    plain(text, &mut words);
    let words = words.split(|sign: char| !sign.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .fold(String::from(" "), |bare, word| bare + word + " ")
}

/// An emoji by its code points: `1f44d-1f3fd`.
fn emoji(code: &str) -> Option<String> {
    let point = |code: &str| u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
    code.split('-').map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;

    #[test]
    fn mentions_links_and_entities_are_resolved() {
        let mut members = Members::default();
        members.bot(Some("U1".to_owned()), Some("Ana".to_owned()));
        for (markup, words) in [
            ("Tom &amp; <@U1>: &lt;soon&gt;", "Tom & @Ana: <soon>"),
            ("<@U9|bo> in <#C1|garden> and <#C2>", "@bo in #garden and #C2"),
            (
                "<https://a.example/x?a=1&amp;b=2|the plan>",
                "[the plan](https://a.example/x?a=1&b=2)",
            ),
            (
                "<http://a.example|a.example> <https://b.example/>",
                "http://a.example https://b.example/",
            ),
            ("<mailto:a@b.example|a@b.example>", "a@b.example"),
            (
                "<!here> <!subteam^S1|@team> <!date^1^{date}|5 January>",
                "@here @team 5 January",
            ),
            ("a < b and <unfinished", "a < b and <unfinished"),
            ("&amp;lt;", "&lt;"),
        ] {
            let mut mentions = Vec::new();
            assert_eq!(resolved(markup, &members, &mut mentions), words);
        }
        let mut mentions = Vec::new();
        resolved("<@U1> <@U9> <@U1>", &members, &mut mentions);
        assert_eq!(mentions, ["U1", "U9", "U1"]);
    }

    #[test]
    fn block_texts_that_repeat_the_message_are_read_and_others_are_left() {
        let blocks = r#"[{"elements":[{"type":"text","text":"Low & "},{"type":"text","text":"high water"},{"text":"ow"}]},
            {"text":{"text":"*Low &amp; high* water"},"accessory":{"text":"Close it"}}]"#;
        let document = json::scan(blocks.as_bytes(), 128).unwrap();
        repeat(document.root(), "_Low &amp; high_ water <@U1>");
        let mut left = Vec::new();
        collect(document.root(), &mut left);
        assert_eq!(left, ["ow", "Close it"]);
    }

    fn collect(value: Value<'_>, left: &mut Vec<String>) {
        for (key, field) in value.fields() {
            left.extend(
                field
                    .string()
                    .filter(|_| key == "text" && field.marked() == Mark::Left)
                    .map(Into::into),
            );
            collect(field, left);
        }
        value.items().for_each(|item| collect(item, left));
    }

    #[test]
    fn blocks_are_read_line_by_line_and_no_deeper_than_it_makes_sense() {
        let read = |json: &str| {
            let document = json::scan(json.as_bytes(), 128).unwrap();
            of_blocks(document.root(), &Members::default(), &mut Vec::new())
        };
        let rich = r#"[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"Open "},
            {"type":"emoji","name":"tada","unicode":"1f389"},{"type":"link","url":"https://a.example","text":"here"}]},
            {"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},
            {"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}]}]},
            {"type":"section","text":{"type":"mrkdwn","text":"<https://b.example|b> &amp; c"}}]"#;
        let words = read(rich);
        assert_eq!(
            words.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(),
            [
                "Open \u{1f389}[here](https://a.example)",
                "one",
                "two",
                "[b](https://b.example) & c"
            ]
        );
        let deep = format!("[{}{}]", "{\"elements\":[".repeat(60), "]}".repeat(60));
        assert_eq!(read(&deep), "");
    }
}

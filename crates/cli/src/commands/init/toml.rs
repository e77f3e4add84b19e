//! The text of the pipeline file.

use std::collections::BTreeSet;

use chatmill_diag::visible::visible_json;
use chatmill_dialect::DIALECTS;
use chatmill_engine::source::Proposal;
use chatmill_token::ENCODINGS;

use super::seen::{Seen, day};
use crate::figures::{count, counted};
use crate::output::harmless;

/// Dialects that most people come for; the sources' own are added.
const WANTED: [&str; 3] = ["openai-chat", "anthropic-messages", "gemini-contents"];

/// A pipeline over paths and what was seen below each.
pub(super) fn pipeline(inputs: &[(&str, Seen)]) -> String {
    let name = inputs.first().map_or("chats", |(path, _)| stem(path));
    let mut text = format!(
        "# A pipeline for chatmill, made from what was found. Save it, change what you like, and run it:\n#\n\
         #   chatmill run {}.toml\n\
         #   chatmill export {} --dialect openai-chat --envelope openai-sft --format jsonl --valid --out train\n#\n\
         # Only input and output are needed; everything else has the default that stands here, and every key that is\n\
         # not a comment may go.\n\nname = {}\n",
        harmless(name),
        harmless(&format!("out/{name}")),
        quoted(name)
    );
    text.push_str(
        "\n# What to read: a file, a folder, a glob or an archive. Relative paths start at this file's folder. Formats are\n\
         # detected by what is inside.\n",
    );
    for (path, seen) in inputs {
        text.push_str(&format!("[[input]]\npath = {}\n", quoted(path)));
        for line in seen.lines() {
            text.push_str(&format!("# {line}\n"));
        }
        text.push_str(if is_mapped(seen) {
            "source = \"mapped\"         # by the [field_map] below, which is a guess: look at it\n"
        } else {
            "source = \"auto\"           # or one of `chatmill sources`\n"
        });
        text.push_str(
            "# merge = true           # rows of files that hold the same conversation id are one conversation\n\
             # exclude = [\"*.png\"]    # names that are left out, inside archives too\n",
        );
        text.push_str(
            "# id_prefix = \"eu-\"      # before every conversation id\n\
             # weight = 1.0           # how much of the mix it is to be, beside the other inputs\n\
             # sample = 0.1           # a share of its conversations; limit = 1000 reads so many records\n\n",
        );
    }
    text.push_str(&maps(inputs));
    text.push_str(&select(inputs));
    text.push_str(MIDDLE);
    text.push_str(&render(inputs));
    text.push_str(&encodings());
    text.push_str(&format!(
        "\n# The folder appears when everything is in it. `--out DIR` on the command line wins.\n[output]\npath = {}\n{OUTPUT}",
        quoted(&format!("out/{name}"))
    ));
    text.push_str(&limits(inputs));
    text
}

const TABLE_MAP: &str = "\
# A database or a dump whose tables nobody knows: which table holds the messages, and what its columns are called.
# [table_map.mine]
# table = \"posts\"
# id = \"id\"
# conversation = \"room_id\"
# role = \"author_kind\"
# sender = \"author_id\"
# content = \"body\"
# created_at = \"posted_at\"

";

/// Whether all that was seen is to be read by a field map.
fn is_mapped(seen: &Seen) -> bool {
    seen.sources().next().is_none() && matches!(seen.proposal, Some(Proposal::Fields(_)))
}

/// Maps for tables and files that no source reads: those that the files propose, else one to fill in.
fn maps(inputs: &[(&str, Seen)]) -> String {
    let mut strangers = inputs
        .iter()
        .map(|(_, seen)| seen)
        .filter(|seen| seen.has_strangers());
    let Some(first) = strangers
        .clone()
        .find(|seen| seen.proposal.is_some())
        .or_else(|| strangers.next())
    else {
        return String::new();
    };
    match &first.proposal {
        Some(Proposal::Fields(paths)) => {
            // Where other files are read by their own sources, the map waits for an input of its own.
            let mark = if is_mapped(first) { "" } else { "# " };
            let mut text = format!(
                "# Where in a record the messages are, and where in a message its words. Guessed from the names: look at it.\n\
                 {mark}[field_map]\n"
            );
            for (key, path) in paths {
                text.push_str(&format!("{mark}{key} = {}\n", quoted(path)));
            }
            text.push_str("# roles = { visitor = \"user\", operator = \"assistant\" }\n\n");
            text
        }
        Some(Proposal::Columns(columns, all)) => {
            let all: Vec<String> = all.iter().map(|column| quoted(column)).collect();
            let mut text = format!(
                "# What the columns are called. Guessed from their names: look at it. There are {}.\n[table_map.mine]\n\
                 table = \"messages\"       # the name of the table; a file of rows has none\n",
                all.join(", ")
            );
            for (key, column) in columns {
                text.push_str(&format!("{key} = {}\n", quoted(column)));
            }
            text.push_str("# roles = { visitor = \"user\", operator = \"assistant\" }\n\n");
            text
        }
        Some(Proposal::Rivals(lists)) => format!(
            "# Each of these lists could hold the messages: {}. Say which one does.\n# [field_map]\n# messages = {}\n\n",
            lists.join(", "),
            quoted(lists.first().map_or("$", String::as_str)),
        ),
        None if first.tables.is_empty() => TABLE_MAP.to_owned(),
        None => {
            let tables: Vec<String> = first.tables.iter().map(|table| quoted(table)).collect();
            let table = tables.first().map_or("", String::as_str);
            let map = TABLE_MAP.replace("\"posts\"", table);
            format!("# Tables that were found: {}.\n{map}", tables.join(", "))
        }
    }
}

const MIDDLE: &str = "
# Who is \"the assistant\" in a room with several people and bots: auto (the busiest agent), none, each-agent,
# each-participant, or a list of names and ids.
[perspective]
as = \"auto\"

# How much history a rendering shows: document (what the dialect's document says), all, or a number of messages.
[window]
history = \"document\"

# What to do where a dialect has no place for something. Whatever is lost this way stands in the table `losses`.
[policy]
names = \"auto\"              # auto (native field, else a prefix in rooms) | field | prefix | none
references = \"excerpt\"      # excerpt | quote (all of it) | mark (whose it is) | drop
media = \"keep\"              # keep | placeholder | drop
reasoning = \"drop\"          # keep | drop
orphans = \"repair\"          # repair | drop | reject
control_tokens = \"escape\"   # escape | keep
system = \"source\"           # source | agent (the perspective's instructions) | none
";

const OUTPUT: &str = "\
compression = \"zstd(1)\"
content = \"all\"             # all | none | a list of dialects: the others keep counts and losses without their text
# tables = [\"renderings\"]  # the tables that are written, beside findings, rejects and totals; without it, all
";

/// Commented out: a selection changes what is in the dataset, so it has to be asked for.
fn select(inputs: &[(&str, Seen)]) -> String {
    let spans = inputs.iter().filter_map(|(_, seen)| seen.span());
    let span = spans.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)));
    let (since, until) = span.map_or_else(
        || ("2026-01-01".to_owned(), "2027-01-01".to_owned()),
        |(first, last)| (day(first), day(last)),
    );
    format!(
        "# What to leave out; it is counted as filtered.\n# [select]\n# since = \"{since}\"\n# until = \"{until}\"\n\
         # sample = 0.1           # a tenth, by hash of the conversation id\n# limit = 1000\n"
    )
}

/// The dialects, those not chosen as comments.
fn render(inputs: &[(&str, Seen)]) -> String {
    let own: BTreeSet<&str> = inputs.iter().flat_map(|(_, seen)| seen.sources()).collect();
    let mut text =
        "\n# Which dialects to write. [\"all\"] takes every one of them.\n[render]\ndialects = [\n"
            .to_owned();
    for dialect in DIALECTS {
        let id = dialect.id();
        let mark = if WANTED.contains(&id) || own.contains(id) {
            ""
        } else {
            "# "
        };
        let entry = format!("{mark}{},", quoted(id));
        text.push_str(&format!("    {entry:<24} # {}\n", dialect.about().title));
    }
    text.push_str("]\n");
    text
}

/// The encodings; the first is counted with, as it is without the section.
fn encodings() -> String {
    let mut text =
        "\n# Which tokenizers to count with, exactly and offline.\n[count]\nencodings = [\n".to_owned();
    for (rank, encoding) in ENCODINGS.iter().enumerate() {
        let mark = if rank == 0 { "" } else { "# " };
        let entry = format!("{mark}{},", quoted(encoding.name()));
        text.push_str(&format!("    {entry:<24} # {}\n", encoding.about().models));
    }
    text.push_str("]\n");
    text
}

/// Without rejects the default; else what today's rejects need. What is refused whole nobody gets used to: where there is such
/// an input, the section is a comment.
fn limits(inputs: &[(&str, Seen)]) -> String {
    // What a map reads is refused no more.
    let read = inputs
        .iter()
        .map(|(_, seen)| seen)
        .filter(|seen| !is_mapped(seen));
    let (mut records, mut rejected, mut refused) = (0, 0, 0);
    for seen in read {
        let (more, unreadable) = seen.read();
        records += more;
        rejected += unreadable;
        refused += seen.refused();
    }
    let (ratio, mut why) = if rejected == 0 {
        ("0.0".to_owned(), String::new())
    } else {
        let thousandths = (rejected * 1000).div_ceil(records.max(1));
        (
            format!("{:.3}", thousandths as f64 / 1000.0),
            format!(
                "\n# {} of {} records could not be read when this file was made.",
                count(rejected),
                count(records)
            ),
        )
    };
    let mark = if refused == 0 { "" } else { "# " };
    if refused > 0 {
        let (inputs, verb) = (counted(refused, "input"), if refused == 1 { "is" } else { "are" });
        why.push_str(&format!(
            "\n# {inputs} {verb} refused whole, as no source reads it: leave it out, map it, or say below that it may be so."
        ));
    }
    format!(
        "\n# Records that cannot be read stand in the tables `findings` and `rejects`. A run that rejects a larger share than\n\
         # this still publishes its dataset, and ends with exit code 1.{why}\n{mark}[limits]\n{mark}max_reject_ratio = {ratio}\n\
         # Inputs that may be refused whole, whatever share of the records they are.\n{mark}refused_inputs = {refused}\n\
         # The same for errors in what was read: `findings` has them.\n{mark}max_error_findings = 0\n"
    )
}

/// A name for a path: its last part that is not a pattern, without its endings.
fn stem(path: &str) -> &str {
    let parts = path.split(['/', '\\']).rev();
    let mut names = parts.filter(|part| !part.is_empty() && !part.contains(['*', '?', '[', '{']));
    let name = names
        .find(|part| !part.chars().all(|character| character == '.'))
        .unwrap_or("chats");
    match name.find('.') {
        Some(0) | None => name,
        Some(at) => name.get(..at).unwrap_or(name),
    }
}

/// A TOML string: JSON's escapes are TOML's too, and what JSON leaves hidden is escaped as well.
fn quoted(text: &str) -> String {
    visible_json(&serde_json::Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chatmill_engine::inspect::EntryReport;
    use chatmill_engine::pipeline;

    use super::*;

    fn seen(source: &str, rejected: u64) -> Seen {
        Seen::new(&[EntryReport {
            path: "a".into(),
            source: (!source.is_empty()).then(|| source.to_owned()),
            records: 30,
            rejected,
            ..EntryReport::default()
        }])
    }

    fn parsed(inputs: &[(&str, Seen)]) -> pipeline::Pipeline {
        let text = pipeline(inputs);
        pipeline::parse(&text, &[], Path::new("p.toml")).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn the_file_is_a_pipeline_with_the_sources_own_dialect() {
        let pipeline = parsed(&[
            ("exports/", seen("suna-rows", 0)),
            ("b \"x\"\u{7f}.zip", seen("", 0)),
        ]);
        assert_eq!(pipeline.name, "exports");
        assert_eq!(pipeline.output.path, "out/exports");
        let paths: Vec<&str> = pipeline.input.iter().map(|input| input.path.as_str()).collect();
        assert_eq!(paths, ["exports/", "b \"x\"\u{7f}.zip"]);
        assert_eq!(
            pipeline.render.dialects,
            [
                "suna-rows",
                "openai-chat",
                "anthropic-messages",
                "gemini-contents"
            ]
        );
        assert_eq!(pipeline.limits, chatmill_diag::Limits::default());
        assert_eq!(pipeline.policy, chatmill_dialect::Policy::default());
    }

    #[test]
    fn rejects_that_are_there_already_are_allowed_and_no_more() {
        let pipeline = parsed(&[("a.jsonl", seen("group-chat", 1))]);
        assert!(
            (0.0333..0.0341).contains(&pipeline.limits.max_reject_ratio),
            "{pipeline:?}"
        );
    }

    #[test]
    fn what_is_refused_whole_is_allowed_by_nobody_but_whoever_says_so() {
        let inputs = [("a.jsonl", seen("group-chat", 1)), ("b.jsonl", seen("", 30))];
        assert_eq!(parsed(&inputs).limits, chatmill_diag::Limits::default());
        let text = pipeline(&inputs);
        for said in [
            "# 1 input is refused whole",
            "\n# [limits]\n# max_reject_ratio = 0.034\n",
            "\n# refused_inputs = 1\n",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
    }

    #[test]
    fn every_comment_that_stands_for_a_key_is_one_that_is_known() {
        let text = pipeline(&[("a", seen("", 0))]);
        let uncommented: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(key) if key.starts_with('[') || key.contains(" = ") => format!("{key}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let parsed = pipeline::parse(&uncommented, &[], Path::new("p.toml"));
        assert!(parsed.is_ok(), "{:?}\n{uncommented}", parsed.err());
    }

    #[test]
    fn a_name_is_the_last_part_that_is_no_pattern() {
        let stems = ["exports/", "dumps/*.zip", "a/b.json.gz", "*", "../", "a/.hidden"].map(stem);
        assert_eq!(stems, ["exports", "dumps", "b", "chats", "chats", ".hidden"]);
    }
}

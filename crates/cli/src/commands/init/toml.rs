//! The text of the pipeline file: a template, filled in with what was detected.

use std::collections::BTreeSet;

use chatmill_diag::visible::visible_json;
use chatmill_dialect::DIALECTS;
use chatmill_engine::Proposal;
use chatmill_token::ENCODINGS;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, context};

use super::seen::{Seen, day};
use crate::figures::{count, counted};
use crate::output::harmless;

/// Dialects that most users want; those of the detected sources are added.
const WANTED: [&str; 3] = ["openai-chat", "anthropic-messages", "gemini-contents"];

/// A pipeline over paths, with what was detected below each.
pub(super) fn pipeline(inputs: &[(&str, Seen)]) -> Result<String, Error> {
    let all = || inputs.iter().map(|(_, seen)| seen);
    let own: BTreeSet<&str> = all().flat_map(Seen::sources).collect();
    let dialects = DIALECTS.iter().map(|dialect| {
        let id = dialect.id();
        let is_wanted = WANTED.contains(&id) || own.contains(id);
        vec![if is_wanted { "" } else { "# " }, id, dialect.about().title]
    });
    let encodings = ENCODINGS
        .iter()
        .map(|encoding| vec![encoding.name(), encoding.about().models]);
    let span = all().filter_map(Seen::span);
    let span = span.reduce(|(first, last), (from, to)| (first.min(from), last.max(to)));
    let days = span.map(|(first, last)| (day(first), day(last)));
    let (since, until) = days.unwrap_or_else(|| ("2026-01-01".to_owned(), "2027-01-01".to_owned()));
    // The default if nothing is rejected, else as much as today's rejects need. Inputs that are refused as a whole do not count, since that
    // should not become normal, and inputs that a map reads are no longer refused.
    let (mut records, mut rejected, mut refused) = (0, 0, 0);
    for seen in all().filter(|seen| !is_mapped(seen)) {
        let (more, unreadable) = seen.read();
        records += more;
        rejected += unreadable;
        refused += seen.refused();
    }
    let thousandths = (rejected * 1000).div_ceil(records.max(1)) as f64 / 1000.0;
    let are_several = all().map(Seen::numbered).sum::<usize>() > 1;
    let context = context! {
        name => inputs.first().map_or("chats", |(path, _)| stem(path)),
        inputs => inputs.iter().map(|(path, seen)| context! {
            path => *path,
            lines => seen.lines(),
            is_mapped => is_mapped(seen),
            // A prefix serves a single file; several files of an input would share it.
            prefix => (are_several && seen.numbered() == 1).then(|| prefix(inputs, path)),
            is_numbered => are_several && seen.numbered() > 1,
        }).collect::<Value>(),
        map => map(inputs),
        since,
        until,
        dialects => dialects.collect::<Value>(),
        encodings => encodings.collect::<Value>(),
        records => count(records),
        rejected => (rejected > 0).then(|| count(rejected)),
        ratio => if rejected == 0 { "0.0".to_owned() } else { format!("{thousandths:.3}") },
        refused,
        refused_inputs => counted(refused, "input"),
    };
    environment(TEMPLATE)?.get_template(TEMPLATE.0)?.render(context)
}

/// A prefix for the ids of an input, different from those of the other inputs.
fn prefix(inputs: &[(&str, Seen)], path: &str) -> String {
    let name = stem(path);
    let mut same = inputs.iter().filter(|(other, _)| stem(other) == name);
    match (same.clone().count(), same.position(|(other, _)| *other == path)) {
        (2.., Some(place)) => format!("{name}-{}-", place + 1),
        _ => format!("{name}-"),
    }
}

const TEMPLATE: (&str, &str) = ("pipeline.toml", include_str!("../../../templates/pipeline.toml"));

/// An environment in which every printed value stays on its line, with hidden characters escaped.
pub(super) fn environment(
    (name, template): (&'static str, &'static str),
) -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(|out, _, value| Ok(out.write_str(&harmless(&value.to_string()))?));
    environment.add_filter("quoted", quoted);
    environment.add_template(name, template)?;
    Ok(environment)
}

/// Whether everything that was detected is to be read by a field map.
fn is_mapped(seen: &Seen) -> bool {
    seen.sources().next().is_none() && matches!(seen.proposal, Some(Proposal::Fields(_)))
}

/// A map for tables and files that no source reads: the one that the files propose, or else one to fill in.
fn map(inputs: &[(&str, Seen)]) -> Option<Value> {
    let mut strangers = inputs
        .iter()
        .map(|(_, seen)| seen)
        .filter(|seen| seen.has_strangers());
    let proposed = strangers.clone().find(|seen| seen.proposal.is_some());
    let first = proposed.or_else(|| strangers.next())?;
    let pairs = |pairs: &[(&'static str, String)]| -> Value {
        pairs
            .iter()
            .filter(|(key, _)| *key != "as")
            .map(|(key, value)| vec![Value::from(*key), Value::from(value.as_str())])
            .collect()
    };
    Some(match &first.proposal {
        // If other files are read by their own sources, the map is a comment, since it needs a separate `[[input]]`.
        Some(Proposal::Fields(paths)) => {
            context! { fields => pairs(paths), mark => if is_mapped(first) { "" } else { "# " } }
        }
        Some(Proposal::Columns(guess)) => {
            context! { section => guess.section("messages"), all => guess.described.clone(), has_agents => guess.has_agents() }
        }
        Some(Proposal::Rivals(lists)) => context! { rivals => lists.clone() },
        None => context! { tables => first.tables.iter().map(String::as_str).collect::<Value>() },
    })
}

/// A name for a path: its last part that is not a pattern, without extensions.
pub(super) fn stem(path: &str) -> &str {
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

/// A TOML string. All escapes of JSON are valid in TOML; hidden characters that JSON allows are escaped, too.
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
        let text = pipeline(inputs).unwrap();
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
    fn refused_inputs_are_allowed_only_by_an_explicit_limit() {
        let inputs = [("a.jsonl", seen("group-chat", 1)), ("b.jsonl", seen("", 30))];
        assert_eq!(parsed(&inputs).limits, chatmill_diag::Limits::default());
        let text = pipeline(&inputs).unwrap();
        for expected in [
            "# 1 input is refused, because no source reads it",
            "\n# [limits]\n# max_reject_ratio = 0.034\n",
            "\n# refused_inputs = 1\n",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
    }

    #[test]
    fn inputs_that_number_their_conversations_get_a_prefix_each_and_files_of_one_input_a_hint() {
        let numbered = |files: &[&str], numbered: u64| {
            let entry = |path: &&str| EntryReport {
                path: (*path).to_owned(),
                source: Some("hf-messages".to_owned()),
                conversations: 3,
                numbered,
                ..EntryReport::default()
            };
            Seen::new(&files.iter().map(entry).collect::<Vec<_>>())
        };
        let prefixes = |inputs: &[(&str, Seen)]| -> Vec<String> {
            let sections = parsed(inputs).input.into_iter();
            sections.map(|section| section.id_prefix).collect()
        };
        let both = [
            ("a/tau.jsonl", numbered(&["a/tau.jsonl"], 3)),
            ("b.jsonl", numbered(&["b.jsonl"], 3)),
        ];
        assert_eq!(prefixes(&both), ["tau-", "b-"]);
        let other = [
            ("a.jsonl", numbered(&["a.jsonl"], 3)),
            ("b.jsonl", numbered(&["b.jsonl"], 2)),
        ];
        assert_eq!(prefixes(&other), ["", ""]);
        let folder = [("sets/", numbered(&["sets/a.jsonl", "sets/b.jsonl"], 3))];
        assert_eq!(prefixes(&folder), [""]);
        let same = [
            ("a/x.jsonl", numbered(&["a/x.jsonl"], 3)),
            ("b/x.jsonl", numbered(&["b/x.jsonl"], 3)),
        ];
        assert_eq!(prefixes(&same), ["x-1-", "x-2-"]);
        assert!(
            pipeline(&folder)
                .unwrap()
                .contains("a separate [[input]] with an id_prefix")
        );
    }

    #[test]
    fn every_comment_that_stands_for_a_key_is_one_that_is_known() {
        let text = pipeline(&[("a", seen("", 0))]).unwrap();
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

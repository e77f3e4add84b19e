//! Limits on rendering and counting: windows, perspectives, templates, vocabularies.

use std::sync::atomic::AtomicBool;

use chatmill_diag::Limits;
use chatmill_engine::check::{CheckOptions, Checked, check};
use chatmill_engine::{Plan, PlanError, Silent, Templates};
use chatmill_workshop::{TestDir, rows};

use super::{Milled, chat, lines, message, mill, plain};

#[test]
fn windows_bounds_the_renderings_of_a_conversation() {
    // Each message is one day after the previous one.
    let days: Vec<String> = (1..=5)
        .map(|day| message(day, "").replace("2026-01-01", &format!("2026-01-0{day}")))
        .collect();
    let file = lines(&[plain("a"), chat("long", &days), plain("b")]);
    let cut = |most: u64| {
        mill(
            &[("x.jsonl", &file)],
            &format!("windows = {most}\n[window]\nsession_gap = \"1h\""),
        )
    };
    let at = cut(5);
    assert_eq!(at.found("too-many-windows"), 0);
    assert_eq!(at.texts("renderings", "dialect").len(), 2 * 7);
    let beyond = cut(4);
    assert_eq!((beyond.found("too-many-windows"), beyond.rejected()), (2, 0));
    let out = beyond.shop.path("out");
    let last = rows::numbers(&out, "renderings", "last_position");
    let shown = |days: i64| (0..days).map(Some);
    let expected: Vec<_> = shown(1)
        .chain(shown(1))
        .chain(shown(4))
        .chain(shown(4))
        .chain(shown(1))
        .chain(shown(1))
        .collect();
    assert_eq!(last, expected, "the oldest windows stay");
    assert_eq!(beyond.texts("messages", "text").len(), 7);
}

#[test]
fn perspectives_bounds_the_participants_who_are_the_assistant_in_turn() {
    let people = |count: usize| {
        let details: Vec<String> = (0..count)
            .map(|person| format!(r#""u{person}":{{"full_name":"P{person}","role":"user"}}"#))
            .collect();
        let one = r#""u1":{"full_name":"Ann","role":"user"}"#;
        chat("many", &[message(1, "")]).replace(one, &details.join(","))
    };
    let file = |count| lines(&[plain("a"), people(count), plain("b")]);
    let cut = |count: usize| {
        mill(
            &[("x.jsonl", &file(count))],
            "perspectives = 3\n[perspective]\nas = \"each-participant\"",
        )
    };
    let seen = |milled: &Milled| {
        let out = milled.shop.path("out");
        let dialects = rows::texts(&out, "renderings", "dialect");
        let perspectives = rows::texts(&out, "renderings", "perspective");
        let rows = dialects.into_iter().zip(perspectives);
        let own = rows.filter(|(dialect, _)| dialect.as_deref() == Some("openai-chat"));
        own.map(|(_, perspective)| perspective.unwrap())
            .collect::<Vec<_>>()
    };
    let at = cut(3);
    assert_eq!(at.found("too-many-perspectives"), 0);
    assert_eq!(seen(&at), ["u1", "u0", "u1", "u2", "u1"]);
    let beyond = cut(5);
    assert_eq!((beyond.found("too-many-perspectives"), beyond.rejected()), (2, 0));
    assert_eq!(
        seen(&beyond),
        ["u1", "u0", "u1", "u2", "u1"],
        "the first of the roster"
    );
    assert_eq!(beyond.ids(), ["a", "many", "b"]);
}

#[test]
fn rendering_bounds_the_renderings_of_a_check() {
    let test_dir = TestDir::new();
    let path = test_dir.write("in/x.jsonl", lines(&[plain("a")]));
    let plan = "[render]\ndialects = [\"openai-chat\"]\n[count]\nencodings = []\n";
    test_dir.run("out", plan, 1).unwrap();
    let size = rows::numbers(&test_dir.path("out"), "renderings", "bytes")[0].unwrap();
    let found = |rendering: i64| {
        let options = CheckOptions {
            paths: vec![path.to_string_lossy().into_owned()],
            limits: Limits {
                rendering: u64::try_from(rendering).unwrap(),
                ..Limits::default()
            },
            threads: 1,
            targets: vec![Templates::default().find("openai-chat").unwrap()],
            ..CheckOptions::default()
        };
        let mut names = Vec::new();
        let emit = &mut |checked: Checked| names.push(checked.located.finding.code.name);
        let files = check(&options, &Silent, &AtomicBool::new(false), emit)
            .unwrap()
            .files;
        (names, files.iter().next().unwrap().judgements[0].refused)
    };
    assert_eq!(found(size), (vec![], 0));
    assert_eq!(found(size - 1), (vec!["oversize-rendering"], 1));
}

#[test]
fn rendering_bounds_a_rendering_and_keeps_its_row() {
    let file = lines(&[
        plain("a"),
        chat(
            "long",
            &(0..9).map(|number| message(number, "")).collect::<Vec<_>>(),
        ),
        plain("b"),
    ]);
    let whole = mill(&[("x.jsonl", &file)], "");
    let sizes = rows::numbers(&whole.shop.path("out"), "renderings", "bytes");
    let largest = sizes.iter().flatten().max().unwrap();
    let at = mill(&[("x.jsonl", &file)], &format!("rendering = {largest}"));
    assert_eq!(at.found("oversize-rendering"), 0);
    let beyond = mill(&[("x.jsonl", &file)], &format!("rendering = {}", largest - 1));
    assert_eq!((beyond.found("oversize-rendering"), beyond.rejected()), (1, 0));
    let out = beyond.shop.path("out");
    let contents = rows::texts(&out, "renderings", "content");
    let valid = rows::flags(&out, "renderings", "valid");
    assert_eq!(contents.len(), 6, "the row stays");
    let over = contents.iter().position(Option::is_none).unwrap();
    assert_eq!(sizes[over], Some(*largest));
    assert_eq!(valid[over], Some(false));
    let place = |column: &str| rows::texts(&out, "findings", column);
    let at = place("name")
        .iter()
        .position(|name| name.as_deref() == Some("oversize-rendering"))
        .unwrap();
    assert_eq!(
        place("conversation_id")[at],
        rows::texts(&out, "renderings", "conversation_id")[over]
    );
    assert_eq!(rows::numbers(&out, "findings", "line_number")[at], Some(2));
    let others = rows::texts(&whole.shop.path("out"), "renderings", "content");
    for row in (0..6).filter(|row| *row != over) {
        assert_eq!(
            (&contents[row], valid[row]),
            (&others[row], Some(true)),
            "row {row}"
        );
    }
}

#[test]
fn vocabulary_bounds_the_file_of_an_encoding() {
    let ranks = include_bytes!("../../../../../data-samples/patterns/small.tiktoken");
    let load = |bytes: usize| {
        let shop = TestDir::new();
        shop.write("in/a.jsonl", plain("a"));
        shop.write("small.tiktoken", ranks);
        let text = format!(
            "name = \"test\"\n[[input]]\npath = \"in/**\"\n[output]\npath = \"out\"\n[count]\n\
             encodings = [{{ name = \"small\", ranks = \"small.tiktoken\", pattern = \"gpt2\" }}]\n\
             [limits]\nvocabulary = {bytes}\n"
        );
        Plan::load(&shop.write("pipeline.toml", text), &[], None, &[])
    };
    assert!(load(ranks.len()).is_ok());
    let refused = load(ranks.len() - 1).err().unwrap();
    assert!(refused.to_string().contains("small.tiktoken"), "{refused}");
    assert!(matches!(refused, PlanError::UnreadableVocabulary { .. }));
}

#[test]
fn template_file_bounds_the_file_of_a_template() {
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a", &[message(1, "")]));
    let template = "{{ messages[0]['content'] }}";
    shop.write("turns.jinja", template);
    let load = |limit: usize| {
        let more =
            format!("[templates.mine]\ntemplate = \"turns.jinja\"\n[limits]\ntemplate_file = {limit}\n");
        let pipeline = format!("name = \"t\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n{more}");
        let path = shop.write("pipeline.toml", pipeline);
        Plan::load(&path, &[], None, &[]).map(|_| ())
    };
    assert!(load(template.len()).is_ok(), "{:?}", load(template.len()));
    let error = load(template.len() - 1).err().unwrap();
    assert!(error.to_string().contains("turns.jinja"), "{error}");
}

/// A run with one template and one limit: whether its rendering is valid, or the reason why there is no run.
fn templated(template: &str, limit: &str) -> Result<bool, String> {
    let shop = TestDir::new();
    shop.write("in/a.json", chat("a", &[message(1, "")]));
    shop.write("turns.jinja", template);
    let more = format!(
        "[render]\ndialects = [\"mine\"]\n[templates.mine]\ntemplate = \"turns.jinja\"\n[limits]\n{limit}\n"
    );
    let pipeline = format!("name = \"t\"\n[[input]]\npath = \"in/*\"\n[output]\npath = \"out\"\n{more}");
    let path = shop.write("pipeline.toml", pipeline);
    let plan = Plan::load(&path, &[], None, &[]).map_err(|error| error.to_string())?;
    let options = chatmill_engine::RunOptions::default();
    let summary = chatmill_engine::run(plan, options, &Silent, &AtomicBool::new(false));
    let invalid = |totals: chatmill_engine::summary::RunTotals| {
        totals
            .overview
            .renderings
            .iter()
            .map(|total| total.invalid)
            .sum::<u64>()
    };
    summary
        .map(|summary| invalid(summary.totals) == 0)
        .map_err(|error| error.to_string())
}

#[test]
fn template_bounds_a_template() {
    let text = "{{ messages[0]['content'] }}";
    let at = |limit: usize| templated(text, &format!("template = {limit}"));
    assert_eq!(at(text.len()), Ok(true));
    assert!(at(text.len() - 1).is_err());
}

#[test]
fn template_steps_and_memory_bound_a_rendering() {
    let loops = "{% for i in range(3000) %}{% endfor %}{{ messages[0]['content'] }}";
    assert_eq!(templated(loops, "template_steps = 100000"), Ok(true));
    assert_ne!(templated(loops, "template_steps = 1000"), Ok(true));
    let long = "{% set x = 'a' * 100000 %}{{ messages[0]['content'] }}";
    assert_eq!(templated(long, "template_memory = 1000000"), Ok(true));
    assert_ne!(templated(long, "template_memory = 50000"), Ok(true));
}

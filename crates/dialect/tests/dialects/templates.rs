//! Chat templates as dialects: the templates of `data-samples/templates` on one conversation, byte for byte, and what is
//! said about their output. `BLESS=1` writes the expected texts anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_dialect::policy::{ControlTokens, Reasoning};
use chatmill_dialect::template::{ArgumentStyle, Blueprint, TemplateError};
use chatmill_dialect::{
    Dialect, History, Loss, LossCode, Policy, Rendering, TemplateDialect, View, Violation, auto_perspective,
};
use chatmill_model::{CallStatus, Component, Part, RawJson, Sink, Speaker};
use serde_json::value::RawValue;

use crate::room::Room;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/templates")
}

pub(crate) fn blueprint(source: &str) -> Blueprint {
    Blueprint {
        id: "mine".to_owned(),
        source: source.to_owned(),
        now: Some("2024-07-26".to_owned()),
        variables: BTreeMap::from([("bos_token".to_owned(), "<s>".into())]),
        limits: Limits {
            rendering: 1 << 20,
            ..Limits::default()
        },
        ..Blueprint::default()
    }
}

fn template(source: &str) -> TemplateDialect {
    TemplateDialect::new(blueprint(source)).unwrap()
}

fn dialect(source: &str) -> Dialect {
    template(source).into()
}

fn source(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.jinja"))).unwrap()
}

fn own(name: &str) -> Dialect {
    dialect(&source(name))
}

pub(crate) fn render<R>(
    room: &Room,
    dialect: &Dialect,
    policy: &Policy,
    look: impl FnOnce(&Sink<'_>, &Rendering) -> R,
) -> R {
    let view = View::whole(&room.linked, auto_perspective(&room.linked), policy);
    let (mut look, mut seen) = (Some(look), None);
    dialect.render_each(&view, &mut |sink, rendering| {
        seen = Some(look.take().unwrap()(sink, &rendering));
    });
    seen.unwrap()
}

fn keeping() -> Policy {
    Policy {
        reasoning: Reasoning::Keep,
        ..Policy::default()
    }
}

/// System text, a question, two calls at once, their results, an answer with a thought.
fn room() -> Room {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.system("Be kind.");
    room.say(ann, "  Is <pier 4> \"free\"? 🚢\n");
    room.call(
        bot,
        "Let me look.",
        &[
            (
                "c1",
                "berth",
                r#"{"number":4,"harbour":"North\nCove","tiny":1e-7}"#,
            ),
            ("c2", "berth", r#"{"number":5,"harbour":"Süd"}"#),
        ],
    );
    room.result("c1", "free");
    room.result("c2", r#"{"state":"taken"}"#);
    room.post(
        Some(bot),
        vec![
            Part::Reasoning("Four is free.\nFive is not.".to_owned()),
            Part::Text("Pier 4 is free.".to_owned()),
        ],
    );
    room.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    room.pair(Some((2, 2)), Some((4, 0)), CallStatus::Paired);
    room.linked.conversation.tools.push(RawJson(
        r#"{"type":"function","function":{"name":"berth","description":"State of a \"berth\".","parameters":{"type":"object","properties":{"number":{"type":"integer"}}}}}"#
            .to_owned(),
    ));
    room
}

fn codes(losses: &[Loss]) -> Vec<(&'static str, Option<u32>, u64)> {
    let told = losses
        .iter()
        .filter(|loss| loss.reason.words().contains("template"));
    told.map(|loss| (loss.code.as_str(), loss.position, loss.amount))
        .collect()
}

#[test]
fn our_own_templates_print_what_is_written_down() {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".jinja").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["calls", "dated", "marked", "strict", "text-arguments", "turns"]
    );
    for name in names {
        let printed = render(&room(), &own(&name), &keeping(), |sink, rendering| {
            let losses: Vec<String> = codes(&rendering.losses)
                .into_iter()
                .map(|(code, position, amount)| format!("{code} {position:?} {amount}\n"))
                .collect();
            let violations: Vec<String> = rendering
                .violations
                .iter()
                .map(|rule| format!("{rule}\n"))
                .collect();
            format!(
                "{}\n=====\n{}{}",
                sink.text().to_owned(),
                losses.concat(),
                violations.concat()
            )
        });
        chatmill_golden::assert_golden(&folder().join(format!("{name}.txt")), &printed);
    }
}

#[test]
fn special_tokens_are_control_segments_and_texts_are_content() {
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "Hi");
    room.say(bot, "Hello");
    render(&room, &own("turns"), &Policy::default(), |sink, _| {
        let segments: Vec<_> = sink.stretches().collect();
        let seen: Vec<_> = segments
            .iter()
            .map(|(text, span)| (*text, span.control, span.component))
            .collect();
        let framing = |text| (text, false, Component::Framing);
        let control = |text| (text, true, Component::Framing);
        let content = |text| (text, false, Component::Content);
        assert_eq!(
            seen,
            [
                control("<s>"),
                control("<|im_start|>"),
                framing("user\n"),
                content("Hi"),
                control("<|im_end|>"),
                framing("\n"),
                control("<|im_start|>"),
                framing("assistant\n"),
                content("Hello"),
                control("<|im_end|>"),
                framing("\n"),
            ]
        );
        let own: Vec<&str> = segments
            .iter()
            .filter(|(_, span)| span.voice == Speaker::Perspective)
            .map(|(text, _)| *text)
            .collect();
        assert_eq!(own, ["Hello", "<|im_end|>"]);
    });
}

#[test]
fn calls_and_dumped_json_are_booked_as_tools_and_belong_to_the_assistant() {
    render(&room(), &own("calls"), &Policy::default(), |sink, _| {
        let segments: Vec<_> = sink.stretches().collect();
        let of = |component, voice| -> String {
            let those = segments
                .iter()
                .filter(|(_, span)| span.component == component && span.voice == voice);
            those.map(|(text, _)| *text).collect()
        };
        let called = of(Component::Tools, Speaker::Perspective);
        assert!(called.starts_with("berth{\n \"number\": 4"), "{called}");
        assert!(
            called.contains("North\\nCove") && called.contains("1e-07"),
            "{called}"
        );
        let results = of(Component::Tools, Speaker::Other);
        assert!(
            results.contains("free") && results.contains("{\\\"state\\\":\\\"taken\\\"}"),
            "{results}"
        );
        assert_eq!(
            of(Component::Content, Speaker::Perspective),
            "Let me look.Pier 4 is free."
        );
        assert!(sink.text().contains("State of a \\\"berth\\\"."));
    });
}

#[test]
fn a_template_that_marks_generated_text_says_whose_it_is() {
    render(&room(), &own("marked"), &keeping(), |sink, _| {
        let own: String = sink
            .stretches()
            .filter(|(_, span)| span.voice == Speaker::Perspective)
            .map(|(text, _)| text)
            .collect();
        assert_eq!(own, "Let me look.</Assistant>");
    });
}

#[test]
fn what_a_template_does_not_print_is_declared_with_its_place() {
    render(&room(), &own("dated"), &Policy::default(), |_, rendering| {
        assert_eq!(
            codes(&rendering.losses),
            [
                ("tool-id-dropped", None, 2),
                ("tool-definition-dropped", None, 1),
                ("extra-dropped", None, 1),
                ("date-pinned", None, 1),
                ("whitespace-trimmed", Some(1), 1),
                ("tool-call-dropped", Some(2), 2),
                ("tool-result-dropped", Some(3), 1),
                ("tool-result-dropped", Some(4), 1),
            ]
        );
    });
}

#[test]
fn a_template_that_looks_into_its_texts_is_searched() {
    let source = "{% for m in messages %}{{ m.role }}={{ m.content if not m.content.startswith('Hel') else m.content|upper }};{% endfor %}";
    let mut room = Room::new();
    let (ann, bot) = (room.human("u1", "Ann"), room.agent("b1", "Bot"));
    room.say(ann, "user");
    room.say(bot, "Hello");
    room.say(bot, "Bye");
    render(&room, &dialect(source), &Policy::default(), |sink, rendering| {
        assert_eq!(sink.text().to_owned(), "user=user;assistant=HELLO;assistant=Bye;");
        assert_eq!(codes(&rendering.losses), [("truncated", Some(1), 1)]);
    });
}

#[test]
fn chat_text_never_spells_a_special_token_unless_policy_keeps_it() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "<|im_end|><s> <|other|>");
    render(&room, &own("turns"), &Policy::default(), |sink, rendering| {
        assert!(
            sink.text()
                .contains("\n<\u{200b}|im_end|><\u{200b}s> <|other|><|im_end|>")
        );
        let escaped = |loss: &&Loss| loss.code == LossCode::ReservedTextEscaped;
        let escaped = rendering.losses.iter().find(escaped).unwrap();
        assert_eq!((escaped.position, escaped.amount), (Some(0), 2));
        assert!(rendering.is_valid());
    });
    let policy = Policy {
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    render(&room, &own("turns"), &policy, |sink, rendering| {
        let controls = sink.spans().iter().filter(|span| span.control);
        assert_eq!(controls.count(), 3, "what people wrote is text");
        let rules: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["TPL-01: chat text spells 2 special tokens"]);
    });
}

#[test]
fn a_template_that_refuses_gives_an_empty_and_invalid_row_in_its_own_words() {
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "one");
    room.say(ann, "two");
    render(&room, &own("strict"), &Policy::default(), |sink, rendering| {
        let rules: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["TPL-02: turn 2 is not the assistant's"]);
        assert_eq!(sink.text().to_owned(), "");
        assert_eq!(rendering.messages_rendered, 2);
    });
    render(
        &room,
        &dialect("{{ messages[0].nothing.at.all }}"),
        &Policy::default(),
        |_, rendering| {
            assert!(
                rendering.violations[0]
                    .rule
                    .starts_with("TPL-03: undefined value"),
                "{:?}",
                rendering.violations
            );
        },
    );
}

#[test]
fn an_output_beyond_the_limit_is_one_byte_too_long_and_invalid() {
    let mut small = blueprint("{% for i in range(99) %}{{ messages[0].content }}{% endfor %}");
    let mut room = Room::new();
    let ann = room.human("u1", "Ann");
    room.say(ann, "ten signs!");
    for (limit, length, is_valid) in [(990, 990, true), (989, 990, false), (15, 16, false)] {
        small.limits.rendering = limit;
        let dialect = TemplateDialect::new(small.clone()).unwrap().into();
        render(&room, &dialect, &Policy::default(), |sink, rendering| {
            assert_eq!((sink.text().len(), rendering.is_valid()), (length, is_valid));
        });
    }
}

#[test]
fn a_template_says_by_itself_how_it_wants_arguments() {
    assert_eq!(template(&source("calls")).arguments(), ArgumentStyle::Object);
    assert_eq!(
        template(&source("text-arguments")).arguments(),
        ArgumentStyle::String
    );
    assert_eq!(template(&source("turns")).arguments(), ArgumentStyle::Object);
    let printed = "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}{% endfor %}";
    assert_eq!(template(printed).arguments(), ArgumentStyle::String);
    let mut told = blueprint(printed);
    told.arguments = Some(ArgumentStyle::Object);
    assert_eq!(
        TemplateDialect::new(told).unwrap().arguments(),
        ArgumentStyle::Object
    );
}

#[test]
fn the_template_for_tools_is_used_where_there_are_tools() {
    let mut two = blueprint("plain");
    two.tool_source = Some("tools: {{ tools[0].function.name }}".to_owned());
    let dialect = TemplateDialect::new(two).unwrap().into();
    let said = |room: &Room| {
        render(room, &dialect, &Policy::default(), |sink, _| {
            sink.text().to_owned()
        })
    };
    assert_eq!(said(&room()), "tools: berth");
    let mut bare = room();
    bare.linked.conversation.tools.clear();
    assert_eq!(said(&bare), "plain");
}

#[test]
fn what_cannot_be_a_template_is_refused_when_it_is_made() {
    let refused = |change: fn(&mut Blueprint)| {
        let mut blueprint = blueprint("{{ strftime_now('%Y') }}");
        change(&mut blueprint);
        TemplateDialect::new(blueprint).err()
    };
    assert!(refused(|_| ()).is_none());
    assert!(matches!(
        refused(|it| it.now = None),
        Some(TemplateError::NowMissing)
    ));
    assert!(matches!(
        refused(|it| it.now = Some("today".to_owned())),
        Some(TemplateError::Now(_))
    ));
    for source in ["{% if %}", "{% include 'x' %}", "{{ 'a", "{% generation %}"] {
        let error = TemplateDialect::new(blueprint(source)).err();
        assert!(matches!(error, Some(TemplateError::Syntax(_))), "{source}");
    }
}

#[test]
fn a_broken_template_never_panics() {
    let sources: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jinja"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let pieces = [
        "{{", "}}", "{%", "%}", "-%}", "{#", "'", "|", "(", ")", "[", "-1", "é", " in ", "endfor", "none",
        ".",
    ];
    let room = room();
    let mut state = 7_u64;
    let mut roll = |sides: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let (mut made, mut valid) = (0, 0);
    for _ in 0..400 {
        let mut source: Vec<char> = sources[roll(sources.len())].chars().collect();
        for _ in 0..=roll(2) {
            let at = roll(source.len());
            let to = (at + roll(8)).min(source.len());
            source.splice(at..to, pieces[roll(pieces.len())].chars());
        }
        let source: String = source.into_iter().collect();
        if let Ok(dialect) = TemplateDialect::new(blueprint(&source)) {
            made += 1;
            valid += u32::from(render(
                &room,
                &dialect.into(),
                &Policy::default(),
                |_, rendering| rendering.is_valid(),
            ));
        }
    }
    assert!(made > 20 && valid > 10 && valid < made, "{made} {valid}");
}

#[test]
fn a_template_prints_what_it_prints_of_the_same_messages_as_data() {
    let policy = Policy {
        control_tokens: ControlTokens::Keep,
        ..keeping()
    };
    for name in ["turns", "calls", "marked", "dated", "strict"] {
        let (template, dialect) = (template(&source(name)), own(name));
        for seed in 0..100 {
            let room = crate::laws::room(seed);
            for perspective in [None, Some(0), Some(2), Some(3)] {
                let given = room.render_as("hf-messages", &policy, History::Document, perspective);
                let given: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&given[0].text).unwrap();
                let tools = given.get("tools").map(|tools| tools.get());
                let printed = template.print(given["messages"].get(), tools);
                let view = View::whole(&room.linked, perspective, &policy);
                dialect.render_each(&view, &mut |sink, rendering| {
                    let is_stop = |rule: &&Violation| {
                        rule.rule.starts_with("TPL-0") && !rule.rule.starts_with("TPL-01")
                    };
                    match rendering.violations.iter().find(is_stop) {
                        Some(stop) => assert!(
                            stop.rule.ends_with(&printed.clone().unwrap_err()),
                            "{name} {seed}"
                        ),
                        None => assert_eq!(
                            Ok(sink.text().to_owned()),
                            printed.clone().map(|it| it.text),
                            "{name} {seed}"
                        ),
                    }
                });
            }
        }
    }
}

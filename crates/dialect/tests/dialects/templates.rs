//! Chat templates as dialects: the templates of `data-samples/templates` on one conversation, byte for byte, and the
//! losses and spans of their output. `BLESS=1` writes the expected texts anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chatmill_diag::Limits;
use chatmill_dialect::policy::{ControlTokens, MediaPolicy, Reasoning};
use chatmill_dialect::template::{ArgumentStyle, Blueprint, TemplateError};
use chatmill_dialect::{
    Dialect, History, Loss, LossCode, Policy, Rendering, TemplateDialect, View, Violation, auto_perspective,
};
use chatmill_model::{CallStatus, Component, Part, RawJson, Sink, Speaker};
use serde_json::value::RawValue;

use crate::chat::TestChat;

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
    chat: &TestChat,
    dialect: &Dialect,
    policy: &Policy,
    check: impl FnOnce(&Sink<'_>, &Rendering) -> R,
) -> R {
    let view = View::whole(&chat.linked, auto_perspective(&chat.linked), policy);
    let (mut check, mut seen) = (Some(check), None);
    dialect.render_each(&view, &mut |sink, rendering| {
        seen = Some(check.take().unwrap()(sink, &rendering));
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
fn chat() -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.system("Be kind.");
    chat.write(ann, "  Is <pier 4> \"free\"? 🚢\n");
    chat.call(
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
    chat.result("c1", "free");
    chat.result("c2", r#"{"state":"taken"}"#);
    chat.post(
        Some(bot),
        vec![
            Part::Reasoning("Four is free.\nFive is not.".to_owned()),
            Part::Text("Pier 4 is free.".to_owned()),
        ],
    );
    chat.pair(Some((2, 1)), Some((3, 0)), CallStatus::Paired);
    chat.pair(Some((2, 2)), Some((4, 0)), CallStatus::Paired);
    chat.linked.conversation.tools.push(RawJson(
        r#"{"type":"function","function":{"name":"berth","description":"State of a \"berth\".","parameters":{"type":"object","properties":{"number":{"type":"integer"}}}}}"#
            .to_owned(),
    ));
    chat
}

fn codes(losses: &[Loss]) -> Vec<(&'static str, Option<u32>, u64)> {
    let found = losses
        .iter()
        .filter(|loss| loss.reason.words().contains("template"));
    found
        .map(|loss| (loss.code.as_str(), loss.position, loss.amount))
        .collect()
}

#[test]
fn own_templates_print_the_golden_texts() {
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
        let printed = render(&chat(), &own(&name), &keeping(), |sink, rendering| {
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
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Hi");
    chat.write(bot, "Hello");
    render(&chat, &own("turns"), &Policy::default(), |sink, _| {
        let segments: Vec<_> = sink.span_texts().collect();
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
            .filter(|(_, span)| span.speaker == Speaker::Perspective)
            .map(|(text, _)| *text)
            .collect();
        assert_eq!(own, ["Hello", "<|im_end|>"]);
    });
}

#[test]
fn calls_and_dumped_json_count_as_tools_and_as_the_assistants() {
    render(&chat(), &own("calls"), &Policy::default(), |sink, _| {
        let segments: Vec<_> = sink.span_texts().collect();
        let of = |component, speaker| -> String {
            let those = segments
                .iter()
                .filter(|(_, span)| span.component == component && span.speaker == speaker);
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
fn text_marked_as_generated_is_the_assistants() {
    render(&chat(), &own("marked"), &keeping(), |sink, _| {
        let own: String = sink
            .span_texts()
            .filter(|(_, span)| span.speaker == Speaker::Perspective)
            .map(|(text, _)| text)
            .collect();
        assert_eq!(own, "Let me look.</Assistant>");
    });
}

#[test]
fn what_a_template_does_not_print_is_declared_with_its_place() {
    render(&chat(), &own("dated"), &Policy::default(), |_, rendering| {
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
fn a_template_that_inspects_its_texts_is_searched() {
    let source = "{% for m in messages %}{{ m.role }}={{ m.content if not m.content.startswith('Hel') else m.content|upper }};{% endfor %}";
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "user");
    chat.write(bot, "Hello");
    chat.write(bot, "Bye");
    render(&chat, &dialect(source), &Policy::default(), |sink, rendering| {
        assert_eq!(sink.text().to_owned(), "user=user;assistant=HELLO;assistant=Bye;");
        assert_eq!(codes(&rendering.losses), [("truncated", Some(1), 1)]);
    });
}

#[test]
fn chat_text_never_spells_a_special_token_unless_policy_keeps_it() {
    let mut chat = TestChat::new();
    let ann = chat.human("u1", "Ann");
    chat.write(ann, "<|im_end|><s> <|other|>");
    render(&chat, &own("turns"), &Policy::default(), |sink, rendering| {
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
    render(&chat, &own("turns"), &policy, |sink, rendering| {
        let controls = sink.spans().iter().filter(|span| span.control);
        assert_eq!(controls.count(), 3, "what people wrote is text");
        let rules: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["TPL-01: chat text spells 2 special tokens"]);
    });
}

#[test]
fn a_template_that_refuses_gives_an_empty_and_invalid_row_in_its_own_words() {
    let mut chat = TestChat::new();
    let ann = chat.human("u1", "Ann");
    chat.write(ann, "one");
    chat.write(ann, "two");
    render(&chat, &own("strict"), &Policy::default(), |sink, rendering| {
        let rules: Vec<String> = rendering.violations.iter().map(ToString::to_string).collect();
        assert_eq!(rules, ["TPL-02: turn 2 is not the assistant's"]);
        assert_eq!(sink.text().to_owned(), "");
        assert_eq!(rendering.messages_rendered, 2);
    });
    render(
        &chat,
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
    let mut chat = TestChat::new();
    let ann = chat.human("u1", "Ann");
    chat.write(ann, "ten signs!");
    for (limit, length, is_valid) in [(990, 990, true), (989, 990, false), (15, 16, false)] {
        small.limits.rendering = limit;
        let dialect = TemplateDialect::new(small.clone()).unwrap().into();
        render(&chat, &dialect, &Policy::default(), |sink, rendering| {
            assert_eq!((sink.text().len(), rendering.is_valid()), (length, is_valid));
        });
    }
}

#[test]
fn the_form_of_arguments_is_detected_from_the_template() {
    assert_eq!(template(&source("calls")).arguments(), ArgumentStyle::Object);
    assert_eq!(
        template(&source("text-arguments")).arguments(),
        ArgumentStyle::String
    );
    assert_eq!(template(&source("turns")).arguments(), ArgumentStyle::Object);
    let printed = "{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}{% endfor %}";
    assert_eq!(template(printed).arguments(), ArgumentStyle::String);
    let mut configured = blueprint(printed);
    configured.arguments = Some(ArgumentStyle::Object);
    assert_eq!(
        TemplateDialect::new(configured).unwrap().arguments(),
        ArgumentStyle::Object
    );
}

#[test]
fn the_template_for_tools_is_used_where_there_are_tools() {
    let mut two = blueprint("plain");
    two.tool_source = Some("tools: {{ tools[0].function.name }}".to_owned());
    let dialect = TemplateDialect::new(two).unwrap().into();
    let printed = |chat: &TestChat| {
        render(chat, &dialect, &Policy::default(), |sink, _| {
            sink.text().to_owned()
        })
    };
    assert_eq!(printed(&chat()), "tools: berth");
    let mut bare = chat();
    bare.linked.conversation.tools.clear();
    assert_eq!(printed(&bare), "plain");
}

#[test]
fn an_unusable_template_is_refused_at_construction() {
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
    let config = "\n{\"chat_template\": \"{{ messages }}\"}";
    for source in [
        "{% if %}",
        "{% include 'x' %}",
        "{{ 'a",
        "{% generation %}",
        config,
    ] {
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
    let chat = chat();
    let mut state = 7_u64;
    let mut roll = |sides: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % sides
    };
    let (mut compiled, mut valid) = (0, 0);
    for _ in 0..400 {
        let mut source: Vec<char> = sources[roll(sources.len())].chars().collect();
        for _ in 0..=roll(2) {
            let at = roll(source.len());
            let to = (at + roll(8)).min(source.len());
            source.splice(at..to, pieces[roll(pieces.len())].chars());
        }
        let source: String = source.into_iter().collect();
        if let Ok(dialect) = TemplateDialect::new(blueprint(&source)) {
            compiled += 1;
            valid += u32::from(render(
                &chat,
                &dialect.into(),
                &Policy::default(),
                |_, rendering| rendering.is_valid(),
            ));
        }
    }
    assert!(
        compiled > 20 && valid > 10 && valid < compiled,
        "{compiled} {valid}"
    );
}

#[test]
fn a_template_prints_what_it_prints_of_the_same_messages_as_data() {
    let policy = Policy {
        control_tokens: ControlTokens::Keep,
        // The template gets words instead of pictures.
        media: MediaPolicy::Placeholder,
        ..keeping()
    };
    for name in ["turns", "calls", "marked", "dated", "strict"] {
        let (template, dialect) = (template(&source(name)), own(name));
        for seed in 0..100 {
            let chat = crate::properties::chat(seed);
            for perspective in [None, Some(0), Some(2), Some(3)] {
                let given = chat.render_as("hf-messages", &policy, History::Document, perspective);
                let given: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&given[0].text).unwrap();
                let tools = given.get("tools").map(|tools| tools.get());
                let printed = template.print(given["messages"].get(), tools);
                let view = View::whole(&chat.linked, perspective, &policy);
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

#[test]
fn content_is_null_where_a_template_prints_calls_only_then() {
    let asks = "{% for m in messages %}{% if m.content is none %}{% for c in m.tool_calls %}<{{ c.function.name }}>{% endfor %}\
        {% else %}{{ m.content }}|{% endif %}{% endfor %}";
    let plain = "{% for m in messages %}{{ m.content }}|{% for c in m.tool_calls or [] %}<{{ c.function.name }}>{% endfor %}{% endfor %}";
    for (source, wanted) in [(asks, "hi|<look>x|"), (plain, "hi||<look>x|")] {
        let mut chat = TestChat::new();
        let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
        chat.write(ann, "hi");
        chat.call(bot, "", &[("c1", "look", "{}")]);
        chat.result("c1", "x");
        chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
        render(
            &chat,
            &template(source).into(),
            &Policy::default(),
            |sink, rendering| {
                assert_eq!(sink.text(), wanted);
                assert!(
                    rendering
                        .losses
                        .iter()
                        .all(|loss| loss.code != LossCode::ToolCallDropped)
                );
            },
        );
    }
}

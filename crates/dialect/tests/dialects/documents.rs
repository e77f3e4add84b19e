//! Documents, and media and objects in results: native if a dialect has a place for them, otherwise as words in the right place.

use chatmill_dialect::policy::MediaPolicy;
use chatmill_dialect::{DIALECTS, LossCode, Policy};
use chatmill_model::{CallStatus, Media, MediaKind, MediaSource, Part};

use crate::chat::{Out, TestChat, text};

fn medium(kind: MediaKind, source: MediaSource, media_type: Option<&str>, name: Option<&str>) -> Part {
    Part::Media(Media {
        kind,
        source,
        media_type: media_type.map(str::to_owned),
        name: name.map(str::to_owned),
    })
}

fn bytes() -> MediaSource {
    MediaSource::Inline("aGkh".to_owned())
}

fn has(out: &Out, words: &str) -> bool {
    out.text.contains(words)
}

/// A question about some media, and an answer.
fn asked(parts: Vec<Part>) -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.post(Some(ann), parts);
    chat.write(bot, "Basalt.");
    chat
}

#[test]
fn a_document_of_text_is_text_with_its_title_in_every_dialect() {
    let source = MediaSource::Text("The moon is made of basalt.".to_owned());
    let moon = medium(MediaKind::File, source, Some("text/plain"), Some("Moon"));
    let chat = asked(vec![moon, text("Of what?")]);
    for policy in [MediaPolicy::Keep, MediaPolicy::Placeholder] {
        let policy = Policy {
            media: policy,
            ..Policy::default()
        };
        for dialect in DIALECTS {
            for out in chat.render_with(dialect.id(), &policy, chatmill_dialect::History::Document) {
                let id = dialect.id();
                assert!(
                    has(&out, "Moon") && has(&out, "made of basalt"),
                    "{id}: {}",
                    out.text
                );
                assert!(!has(&out, "[File"), "{id}: {}", out.text);
                assert_eq!(out.lost(LossCode::MediaPlaceholder), [], "{id}");
                assert_eq!(out.lost(LossCode::MediaDropped), [], "{id}");
            }
        }
    }
    let out = chat.only("openai-chat");
    assert!(
        has(&out, r"Moon\n\nThe moon is made of basalt.\nOf what?"),
        "{}",
        out.text
    );
    assert_eq!(out.lost(LossCode::PartFlattened)[0], (Some(0), 1));
    let out = chat.only("anthropic-messages");
    let native = r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"The moon is made of basalt."},"title":"Moon"}"#;
    assert!(has(&out, native), "{}", out.text);
    assert_eq!(
        out.codes_at(0)
            .iter()
            .filter(|code| code.starts_with("part"))
            .count(),
        0
    );
}

/// A call with this text and these media as its result.
fn answered(content: &str, media: Vec<Part>) -> TestChat {
    let mut chat = TestChat::new();
    let (ann, bot) = (chat.human("u1", "Ann"), chat.agent("b1", "Bot"));
    chat.write(ann, "Show me.");
    chat.call(bot, "", &[("c1", "shoot", "{}")]);
    let position = chat.result("c1", content);
    if let Part::ToolResult(result) = &mut chat.message(position).parts[0] {
        result.media = media.len() as u32;
    }
    // The message is the agent's, as in sources with the role `tool` and no sender.
    chat.message(position).sender = Some(bot);
    chat.message(position).parts.extend(media);
    chat.pair(Some((1, 0)), Some((2, 0)), CallStatus::Paired);
    chat.write(bot, "There.");
    chat
}

#[test]
fn a_picture_that_a_tool_answers_stays_in_the_answer() {
    let shot = || medium(MediaKind::Image, bytes(), Some("image/png"), None);
    let chat = answered("shot", vec![shot()]);
    for (dialect, written) in [
        (
            "anthropic-messages",
            r#"{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"shot"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGkh"}}]}"#,
        ),
        (
            "bedrock-converse",
            r#""content":[{"text":"shot"},{"image":{"format":"png","source":{"bytes":"aGkh"}}}]}}"#,
        ),
        (
            "gemini-contents",
            r#""response":{"output":"shot"},"parts":[{"inlineData":{"mimeType":"image/png","data":"aGkh"}}]}}"#,
        ),
        (
            "openai-responses",
            r#""output":[{"type":"input_text","text":"shot"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,aGkh"}]}"#,
        ),
        (
            "openai-chat",
            r#"{"role":"tool","tool_call_id":"c1","content":"shot\n[Image]"}"#,
        ),
        ("hf-messages", r#""name":"shoot","content":"shot\n[Image]"}"#),
        ("suna-llm", r#""content":"shot\n[Image]","message_id""#),
        ("sharegpt", r#"{"from":"observation","value":"shot\n[Image]"}"#),
        ("gryag-gemini", r#"{"text":"shot\n[Image]"}"#),
    ] {
        let out = chat.only(dialect);
        assert!(has(&out, written), "{dialect}: {}", out.text);
        assert_eq!(out.violations, Vec::<String>::new(), "{dialect}");
        assert!(!out.own.contains("[Image]"), "{dialect}: {}", out.own);
    }
    for dialect in DIALECTS.iter().copied().filter(|dialect| !dialect.is_neutral()) {
        for out in chat.render(dialect.id()) {
            assert!(!out.own.contains("[Image]"), "{dialect:?}: {}", out.own);
            assert!(
                out.text.matches("[Image]").count() < 2,
                "{dialect:?}: {}",
                out.text
            );
        }
    }
    let silent = answered("", vec![shot(), shot()]);
    let out = silent.only("anthropic-messages");
    assert!(has(&out, r#""content":[{"type":"image""#), "{}", out.text);
    let out = silent.only("bedrock-converse");
    assert!(
        has(&out, r#""content":[{"image":"#) && !has(&out, "(empty)"),
        "{}",
        out.text
    );
    assert!(has(
        &silent.only("openai-chat"),
        r#""content":"[Image]\n[Image]"}"#
    ));
}

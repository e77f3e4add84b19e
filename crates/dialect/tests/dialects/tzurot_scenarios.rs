//! The scenarios of the Tzurot document, and the vectors of the formatter at the commit of the document that still apply.
//!
//! These vectors of that formatter do not apply, because the document or a ruling differs: markers and control characters stay in quotes of
//! bots (the document removes them everywhere); a request without own text starts with a line break (ruled out); a user called `The user`
//! is always oneself (users are distinguished by id); empty text passes the whole object on, `null` content passes through and an array is
//! not cleaned (defects); a quoted array drops the quote (the model has no such content). Of the 47 vectors of the formatter in the last
//! release of version 2, 40 apply to profile `v2-final`; the others are the same defects, the literal words `undefined` and `null` for a
//! missing author, and a part of unknown type. Vectors of other functions (request ids, embeds, attachments, responses) belong to the
//! capture of requests, not to their form.

use chatmill_dialect::{History, Policy};
use chatmill_model::{MediaKind, Part, RawJson, Role};
use serde_json::Value;

use crate::chat::{TestChat, media, text};

const SCENARIOS: &str = include_str!("../../../../data-samples/dialects/tzurot/scenarios.json");
const V2_FINAL: &str = include_str!("../../../../data-samples/dialects/tzurot/v2-final.json");
const FORMATTER: &str = include_str!("../../../../data-samples/dialects/tzurot/formatter.json");

#[test]
fn the_seventeen_scenarios_come_out_byte_for_byte() {
    assert_eq!(check("tzurot", SCENARIOS, "scenario"), 17);
}

#[test]
fn the_formatter_of_the_documents_commit_agrees_where_the_document_does() {
    assert_eq!(check("tzurot", FORMATTER, "vector"), 17);
}

#[test]
fn the_formatter_of_the_last_release_of_version_2_is_reproduced() {
    assert_eq!(check("tzurot@v2-final", V2_FINAL, "vector"), 40);
}

fn check(dialect: &str, file: &str, label: &str) -> usize {
    let cases: Vec<Value> = serde_json::from_str(file).unwrap();
    for case in &cases {
        // The formatter of the document's day does not know the field name that callers use.
        let names: &[&str] = match dialect {
            "tzurot" => &["displayName"],
            _ => &["displayName", "personalityDisplayName"],
        };
        let chat = chat(&case["input"], names);
        let requests = chat.render_as(dialect, &Policy::default(), History::Document, None);
        let expected = serde_json::to_string(&case["expected"]).unwrap();
        assert_eq!(requests.last().unwrap().text, expected, "{}", case[label]);
    }
    cases.len()
}

/// Returns the conversation that corresponds to an input of the formatter.
fn chat(input: &Value, names: &[&str]) -> TestChat {
    let mut chat = TestChat::new();
    if let Some(personality) = input["currentPersonality"].as_str() {
        let raw = RawJson(serde_json::to_string(personality).unwrap());
        let extra = &mut chat.linked.conversation.extra.0;
        extra.push(("currentPersonality".to_owned(), raw));
    }
    let content = &input["content"];
    if !content.is_object() {
        let user = chat.human(input["userName"].as_str().unwrap_or("The user"), "");
        let position = chat.post(Some(user), parts(content));
        if let Some(is_proxy) = input["isProxyMessage"].as_bool() {
            let raw = RawJson(is_proxy.to_string());
            let extra = &mut chat.message(position).extra.0;
            extra.push(("isProxyMessage".to_owned(), raw));
        }
        return chat;
    }
    let quoted = &content["referencedMessage"];
    let target = quoted
        .is_object()
        .then(|| target(&mut chat, input, quoted, names));
    let name = content["userName"].as_str().unwrap_or("The user");
    let roster = &chat.linked.conversation.participants;
    let known = roster.iter().position(|participant| participant.id == name);
    let user = known.unwrap_or_else(|| chat.human(name, ""));
    let position = chat.post(Some(user), parts(&content["messageContent"]));
    if let Some(target) = target {
        chat.reply(position, target);
    }
    chat
}

/// Posts the quoted message.
fn target(chat: &mut TestChat, input: &Value, quoted: &Value, names: &[&str]) -> u32 {
    let author = quoted["author"].as_str().unwrap();
    let is_bot = quoted["isFromBot"].as_bool().unwrap_or(false);
    let personality = quoted["personalityName"].as_str();
    let sender = match (is_bot, personality) {
        (true, Some(id)) => {
            let registered = input["personalityRegistry"][id]["displayName"].as_str();
            let name = names.iter().find_map(|key| quoted[key].as_str());
            let name = registered.or(name);
            Some(chat.agent(id, name.unwrap_or_default()))
        }
        (true, None) => None,
        (false, _) => Some(chat.human(author, "")),
    };
    let content = quoted["content"].as_str().map(text);
    let media = [("audioUrl", MediaKind::Audio), ("imageUrl", MediaKind::Image)]
        .into_iter()
        .filter_map(|(key, kind)| Some(media(kind, Some(quoted[key].as_str()?), None)));
    let position = chat.post(sender, content.into_iter().chain(media).collect());
    if sender.is_none() {
        let message = chat.message(position);
        let shown = quoted["webhookName"].as_str().unwrap_or(author);
        message.sender_name = Some(shown.to_owned());
        message.role = Role::Assistant;
    }
    position
}

fn parts(content: &Value) -> Vec<Part> {
    match content {
        Value::String(text_only) => vec![text(text_only)],
        Value::Array(elements) => elements
            .iter()
            .map(|element| match element["type"].as_str().unwrap() {
                "text" => text(element["text"].as_str().unwrap()),
                "image_url" => media(MediaKind::Image, element["image_url"]["url"].as_str(), None),
                "audio_url" => media(MediaKind::Audio, element["audio_url"]["url"].as_str(), None),
                other => panic!("{other}"),
            })
            .collect(),
        other => panic!("{other}"),
    }
}

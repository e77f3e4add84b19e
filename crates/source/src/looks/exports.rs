//! Exports of accounts, workspaces and sessions.

use super::{Known, known};

/// High enough to overrule a source that recognises the records.
const SURE: u8 = 97;
/// Near relatives of a source that is as sure as can be of what it reads.
const RELATIVE: u8 = 99;
/// For files that no source recognises.
const PLAIN: u8 = 50;

pub(super) static LOOKS: &[Known] = &[
    known("open-webui", "an Open WebUI export", SURE, |seen| {
        let is_chat = seen.has(&["chat.history"])
            || seen.has(&["history.currentId"])
            || seen.has(&["history.messages", "models"]);
        is_chat.then_some("records have the history of a chat")
    }),
    known("librechat", "a LibreChat export", SURE, |seen| {
        let is_chat = seen.has(&["conversationId", "messages"])
            && (seen.has(&["endpoint"]) || seen.has(&["recursive"]) || seen.has(&["branches"]));
        is_chat.then_some("the record has conversationId, messages and endpoint")
    }),
    known("deepseek", "a DeepSeek account export", RELATIVE, |seen| {
        let is_chat = seen.has(&["mapping", "inserted_at"]);
        is_chat.then_some("the record has a mapping of messages without authors, and inserted_at")
    }),
    known("qwen-code", "a session of Qwen Code", RELATIVE, |seen| {
        let is_line = seen.has(&["sessionId", "message.parts"]);
        is_line.then_some("lines have sessionId and a message with parts")
    }),
    known("chatbot-ui", "a Chatbot UI export", PLAIN, |seen| {
        seen.has(&["history[].messages", "folders"])
            .then_some("the record has history with messages, and folders")
    }),
    known("messenger", "a Messenger or Instagram export", SURE, |seen| {
        seen.has(&[
            "participants",
            "messages[].sender_name",
            "messages[].timestamp_ms",
        ])
        .then_some("messages have sender_name and timestamp_ms")
    }),
    known("matrix", "a Matrix room export", SURE, |seen| {
        let is_room = seen.has(&["room_name", "messages"]) || seen.has(&["messages[].event_id"]);
        is_room.then_some("the record has room_name and events as messages")
    }),
    known("teams", "a Microsoft Teams export", PLAIN, |seen| {
        let is_chat = seen.has(&["conversations[].MessageList"])
            || seen.has(&["body.contentType", "createdDateTime"])
            || seen.has(&["value[].body.contentType"]);
        is_chat.then_some("messages have a body with a content type")
    }),
    known("ai-studio", "a prompt of Google AI Studio", SURE, |seen| {
        let is_prompt = seen.has(&["chunkedPrompt"]) || seen.has(&["runSettings", "chunks"]);
        is_prompt.then_some("the record has chunkedPrompt")
    }),
];

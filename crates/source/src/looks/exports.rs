//! Exports of accounts, workspaces and sessions.

use super::{Known, known};

/// High enough to overrule a source that recognises the records.
const SURE: u8 = 97;
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
    known("chatbot-ui", "a Chatbot UI export", PLAIN, |seen| {
        seen.has(&["history[].messages", "folders"])
            .then_some("the record has history with messages, and folders")
    }),
    known("claude-code", "a session of Claude Code", SURE, |seen| {
        let is_line = seen.has(&["sessionId", "uuid", "message"])
            || seen.has(&["leafUuid", "summary"])
            || seen.has(&["loglines[].message"]);
        is_line.then_some("lines have sessionId, uuid and message")
    }),
    known("codex", "a session of Codex", SURE, |seen| {
        let words = ["session_meta", "response_item", "event_msg", "turn_context"];
        if seen.has(&["payload"]) && seen.says("type", &words) {
            return Some("lines have a payload and are of type session_meta or response_item");
        }
        let is_old = seen.has(&["record_type"])
            || seen.has(&["session.instructions", "items"])
            || seen.has(&["instructions", "git.commit_hash"]);
        is_old.then_some("records are those of a session file")
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

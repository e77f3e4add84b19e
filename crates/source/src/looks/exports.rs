//! Exports of accounts, workspaces and sessions.

use super::{Known, known};

/// High enough to overrule a source that recognises the records.
const SURE: u8 = 97;
/// For files that no source recognises.
const PLAIN: u8 = 50;

pub(super) static LOOKS: &[Known] = &[
    known("chatgpt", "a ChatGPT account export", SURE, |seen| {
        let is_tree = seen.has(&["mapping"])
            && (seen.has(&["current_node"])
                || seen.has_below("mapping.", ".children")
                || seen.has_below("mapping.", ".message"));
        is_tree.then_some("records have mapping, a tree of messages")
    }),
    known("claude-ai", "a Claude.ai account export", SURE, |seen| {
        let is_chat = seen.has(&["chat_messages", "uuid"]) || seen.has(&["chat_messages[].sender"]);
        is_chat.then_some("records have chat_messages")
    }),
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
    known("slack", "a Slack export", SURE, |seen| {
        let is_message = seen.has(&["ts", "text"])
            && (seen.has(&["user"]) || seen.has(&["bot_id"]) || seen.says("type", &["message"]));
        if is_message {
            return Some("records have ts, text and user");
        }
        let is_list = seen.has(&["id", "created", "members"])
            || seen.has(&["id", "team_id", "profile.real_name"])
            || seen.has(&["id", "is_bot", "profile.display_name"]);
        is_list.then_some("records are channels or members of a workspace")
    }),
    known("discord", "a DiscordChatExporter file", SURE, |seen| {
        seen.has(&["guild", "channel", "messages"])
            .then_some("the record has guild, channel and messages")
    }),
    known("telegram", "a Telegram Desktop export", SURE, |seen| {
        let is_chat = seen.has(&["messages[].from_id"])
            || seen.has(&["messages[].date_unixtime"])
            || seen.has(&["chats.list"])
            || seen.has(&["personal_information", "contacts"]);
        is_chat.then_some("messages have from_id or date_unixtime")
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

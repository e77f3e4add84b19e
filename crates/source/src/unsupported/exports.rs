//! Exports of accounts, workspaces and sessions.

use super::{Known, known};

/// High enough to overrule a source that recognises the records.
const SURE: u8 = 97;
/// Near relatives of a source that is as sure as can be of what it reads.
const RELATIVE: u8 = 99;
/// For files that no source recognises.
const PLAIN: u8 = 50;

pub(super) static FORMATS: &[Known] = &[
    known(
        "deepseek",
        "a DeepSeek account export of early 2025",
        RELATIVE,
        |seen| {
            let is_chat = seen.has(&["mapping", "inserted_at"]);
            is_chat.then_some("the record has a mapping of messages without authors, and inserted_at")
        },
    ),
    known(
        "gemini-activity",
        "the activity of Gemini in Google Takeout",
        SURE,
        |seen| {
            let is_activity =
                seen.has(&["header", "title", "time", "products"]) && seen.has(&["safeHtmlItem"]);
            is_activity.then_some("records have header, title, time and safeHtmlItem: answers are HTML")
        },
    ),
    known("zulip", "an export of a Zulip organisation", SURE, |seen| {
        let is_part = seen.has(&["zerver_message"])
            || seen.has(&["zerver_message[].content"])
            || seen.has(&["zerver_userprofile"])
            || seen.has(&["zerver_userprofile[].full_name"]);
        is_part.then_some("the record has tables of Zulip's database")
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

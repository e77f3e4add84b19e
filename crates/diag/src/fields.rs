//! Words that formats call their fields by.
//!
//! A path may lead through a field that somebody made up: a name, an id, an address. Where content must not be quoted, only these
//! words are shown. A field that a format has and that is missing here is hidden, too, which costs a reader a word and nobody a secret.

/// Whether a word is the name of a field in some format.
pub fn is_known(word: &str) -> bool {
    FIELDS.binary_search(&word).is_ok()
}

/// The words, sorted.
#[rustfmt::skip]
static FIELDS: &[&str] = &[
    "_id", "additionalModelRequestFields", "agent", "agentInstructions", "agentName", "agent_id", "agents", "ai",
    "ai_agent", "ai_assistant", "alpaca", "animation", "answer", "anthropic", "anthropic_version", "api", "args",
    "arguments", "assignedAgentName", "assistant", "assistant_message", "assistant_message_id", "attachment",
    "attachments", "audio", "audioUrl", "audio_url", "audios", "author", "authorDiscordId", "authorDisplayName",
    "authorPersonalityId", "authorRole", "authorUsername", "author_id", "author_kind", "bare", "base64", "blobUrl",
    "body", "bot", "bot_id", "bot_ids", "branches", "bytes", "cachePoint", "cache_control", "call", "call_id",
    "channel", "channelId", "channel_id", "chat", "chat_id", "chat_messages", "chat_template_kwargs", "chatbot",
    "chatgpt", "chatml", "chats", "children", "choices", "chosen", "chosen_messages", "chunk", "chunkedPrompt",
    "chunks", "client", "clientId", "clock", "codex", "com", "commit_hash", "company", "completion", "completions",
    "compressed", "compressed_content", "connectionId", "contacts", "content", "contentType", "contents",
    "conversation", "conversationId", "conversation_hash", "conversation_history", "conversation_id",
    "conversation_list", "conversation_meta", "conversations", "converse", "create_time", "created", "createdAt",
    "createdBy", "createdByName", "createdByType", "createdDateTime", "created_at", "created_by_user_id", "csv",
    "currentId", "currentPersonality", "current_node", "custom", "custom_id", "custom_role", "custom_tool_call",
    "custom_tool_call_output", "customer", "data", "date_unixtime", "default", "default_timezone", "deletedAt",
    "deleted_at", "department", "deregister", "description", "detail", "developer", "discord", "discordMessageId",
    "discord_message_id", "displayName", "display_name", "document", "done", "dotted_order", "email", "embedding",
    "end", "end_user", "endpoint", "enduser", "envelope", "ephemeral", "error", "evaluation", "event", "event_id",
    "event_msg", "events", "executionMode", "expected", "external_message_id", "external_user_id", "extra", "field",
    "file", "fileData", "fileUri", "file_data", "file_id", "file_name", "file_type", "file_uri", "file_url",
    "filename", "first", "first_name", "format", "formatted", "from", "fromUsername", "from_id", "full_name",
    "function", "functionCall", "functionResponse", "function_call", "function_call_output", "function_name",
    "function_response", "function_result", "functions", "gemini", "generationConfig", "generation_config", "git",
    "gpt", "group_chat", "group_id", "gryag", "guardContent", "guest", "guild", "history", "human", "id", "ideal",
    "image", "imageUrl", "image_url", "images", "inbound", "incoming", "index", "inferenceConfig", "inlineData",
    "inline_data", "input", "input_audio", "input_file", "input_image", "input_schema", "input_text", "inputs",
    "inside", "instruction", "instructions", "invoke", "isAgent", "isAgentMessage", "isFromBot", "isTaskNotification",
    "is_bot", "is_bot_reply", "is_error", "is_llm", "is_llm_message", "item", "items", "json", "key", "kto_tag",
    "label", "langfuse", "langsmith", "leafUuid", "librechat", "lilith", "link", "list", "llm", "lmsys", "loglines",
    "loss_weight", "machineName", "mapped", "mapping", "matrix", "max_output_tokens", "media", "media_type", "member",
    "members", "mentions", "message", "messageContent", "messageId", "messageMetadata", "message_id",
    "message_metadata", "message_tree_id", "messages", "messenger", "meta", "metadata", "mimeType", "mime_type",
    "mistral", "model", "models", "name", "native", "non_preferred_output", "normalized", "number", "oasst",
    "observation", "observations", "openai", "opentelemetry", "order", "outbound", "outgoing", "output",
    "output_text", "own", "p1", "parallel_tool_calls", "parameter", "params", "parentMessage", "parentMessageId",
    "parsing_details", "partialText", "participants", "parts", "path", "patient", "payload", "pdf", "person",
    "personaId", "persona_id", "personal_information", "personalityDisplayName", "personalityId", "personalityName",
    "personality_id", "photo", "place", "plain", "player", "preferred_output", "previous_response_id", "profile",
    "projectId", "projectIds", "prompt", "prompt_mode", "prompter", "query", "question", "r1", "random_seed",
    "real_name", "reasoning", "reasoningContent", "reasoningText", "reasoning_content", "record_type", "recursive",
    "refer_list", "referencedMessage", "referencedMessages", "refusal", "rejected", "rejected_messages",
    "rejected_response", "reply_excerpt", "reply_to", "reply_to_external_message_id", "reply_to_external_user_id",
    "reply_to_message_id", "reply_to_name", "reply_to_user_id", "reply_to_username", "request", "requester",
    "requests", "resourceSpans", "respondingChain", "response", "responseDepth", "responseId", "response_item",
    "responses", "rest", "result", "robot", "role", "room_name", "row", "rows", "runSettings", "run_type",
    "s3Location", "safe_prompt", "scene", "scene_desc", "schemaVersion", "search_vector", "second", "sender",
    "senderId", "senderName", "senderType", "sender_id", "sender_is_bot", "sender_name", "sender_role", "sender_type",
    "sender_username", "senders", "sending", "sent", "sequence", "session", "sessionId", "session_meta", "sharegpt",
    "sign", "slack", "solo", "source", "source_type", "speaker", "status", "status_type", "sticker", "store",
    "stream_status", "streaming", "student", "success", "suffix", "summary", "suna", "system", "systemInstruction",
    "system_context", "system_instruction", "system_message", "t1", "table", "target", "task", "team", "team_id",
    "teams", "telegram", "text", "text_content", "text_search_vector", "them", "think", "thinking", "thinkingContent",
    "thinking_content", "thought", "thread", "thread_id", "thread_run_id", "time", "timestamp", "timestamp_ms",
    "title", "to", "tool", "toolConfig", "toolResult", "toolUse", "toolUseId", "tool_call", "tool_call_id",
    "tool_calls", "tool_execution", "tool_output", "tool_response", "tool_result", "tool_use", "tool_use_id", "tools",
    "trace", "traceId", "train", "ts", "turn_context", "turns", "type", "typing", "tzurot", "u1", "ultrachat",
    "unknown", "updated", "updated_at", "uploadedBy", "uploaderName", "uri", "url", "user", "userId", "userName",
    "user_details", "user_id", "user_message", "username", "uuid", "v1", "value", "version", "video", "video_url",
    "videos", "virtual_agent", "virtual_assistant", "visitor", "voice", "wanted", "web_search", "webhookName",
    "weight", "whatsapp", "who", "wildchat", "word", "work", "www", "xml", "xml_tool_index", "yes", "youtu",
    "youtube",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_stand_once() {
        assert!(FIELDS.is_sorted_by(|one, other| one < other));
        assert!(is_known("conversation_list") && is_known("tool_calls") && !is_known("ann"));
    }
}

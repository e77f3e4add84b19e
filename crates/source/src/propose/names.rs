//! Names that are common for the columns of tables and the fields of messages, the most probable first.

use crate::base::words;

pub(super) const TEXTS: &[&str] = &words!(text content body message value utterance msg parts);
pub(super) const ROLES: &[&str] = &[
    "role",
    "author.role",
    "from",
    "speaker",
    "sender_type",
    "by.kind",
    "by.role",
    "author_kind",
    "author",
    "sender",
    "who",
    "type",
    "user",
];
pub(super) const TIMES: &[&str] =
    &words!(time timestamp created_at createdAt create_time date ts sent_at posted_at at);
/// Names of numbers that order the messages of a conversation.
pub(super) const ORDERS: &[&str] =
    &words!(order turn turn_id turn_no turn_number turn_index message_index message_no seq sequence position);
pub(super) const IDS: &[&str] = &["id", "uuid", "message_id", "messageId", "_id"];
pub(super) const REPLIES: &[&str] = &words!(reply_to reply_to_id replyTo parent_id parentId in_reply_to);
pub(super) const SENDERS: &[&str] = &[
    "sender",
    "author_id",
    "user_id",
    "sender_id",
    "author.id",
    "user",
    "author",
];
pub(super) const NAMES: &[&str] = &[
    "sender_name",
    "author_name",
    "author.name",
    "user_name",
    "username",
    "display_name",
    "name",
];
pub(super) const TITLES: &[&str] = &words!(title subject topic);
pub(super) const CALLS: &[&str] = &words!(tool_calls toolCalls);
pub(super) const CALL_IDS: &[&str] = &words!(tool_call_id toolCallId);
/// Names of columns with whether a sender is an agent.
pub(super) const IS_AGENT: &[&str] = &words!(is_bot bot is_agent is_ai is_assistant agent);
/// Further names of texts in tables.
pub(super) const TEXTS_OF_TABLES: &[&str] = &words!(utterance line comment post words reply);
/// Further names of senders in tables.
pub(super) const SENDERS_OF_TABLES: &[&str] =
    &words!(from name username nick participant person agent direction handle);
/// Columns next to messages and answers that have no effect on the guess.
pub(super) const HARMLESS: &[&str] =
    &words!(model lang language tokens token_count metadata updated_at category source license);
/// Options to choose from, and ratings or ranks, which are not answers.
pub(super) const OPTIONS: &[&str] =
    &words!(choices options optiona option1 opa choice1 answeridx distractor1 labels);
/// Further names of questions in rows for training.
pub(super) const QUESTIONS: &[&str] =
    &words!(user human q inputs context message_1 question_body user_message input);
/// Further names of answers.
pub(super) const ANSWERS: &[&str] =
    &words!(assistant bot a targets reply solution message_2 bot_message model_output);
/// Further names of the better answer.
pub(super) const BETTER: &[&str] = &words!(accepted preferred_answer better_response win);
/// Further names of the worse answer.
pub(super) const WORSE: &[&str] = &words!(rejected_answer worse_response lose);
/// Names of lists of alternating texts.
pub(super) const CONVERSATIONS: &[&str] =
    &words!(dialog dialogue utterances turns conversation conversations messages data);

//! The table `conversations`: one row per conversation, with its roster.

use crate::parquet::column::kind::{Flag, Json, KeyText, Number, Text, Time, Word};
use crate::parquet::column::{Maybe, One, Structs, record};

/// Description of a row.
pub(super) const ABOUT: &str = "One row per conversation.";

record! {
    /// A row of `conversations`.
    ConversationRow => pub(crate) ConversationColumns {
        conversation_id: One<KeyText> = "id in this dataset, unique",
        source_conversation_id: Maybe<Text> = "id that the source wrote",
        source: One<Word> = "id of the source that read it",
        format_version: Maybe<Word> = "version that the record claims",
        format_shape: Maybe<Word> = "shape that was recognised by structure",
        input: One<Word> = "name of the input",
        entry: One<Word> = "archive member, empty for the file itself",
        record: One<Number> = "number of the record in its entry, from 0",
        title: Maybe<Text> = "title",
        description: Maybe<Text> = "description",
        model: Maybe<Word> = "model that the answers were requested from, where the record names one",
        scene: One<Word> = "`assistant`, `group_chat` or `unknown`",
        message_count: One<Number> = "messages, notices not counted",
        participant_count: One<Number> = "participants in the roster",
        started_at: Maybe<Time> = "earliest usable time",
        ended_at: Maybe<Time> = "latest usable time",
        participants: Structs<ParticipantColumns> = "the roster, in its own order",
        tools: Maybe<Json> = "array of tool definitions",
        extra: Maybe<Json> = "fields without a column, as they were read",
        content_hash: One<Text> = "BLAKE3 of the canonical content",
        cluster: Maybe<Word> = "name shared by conversations that repeat, fork or continue one another; null where there are none or none were looked for",
        duplicate: Maybe<Word> = "`exact` or `near` where it repeats an earlier conversation",
    }
}

record! {
    /// One participant in the column `participants`.
    ParticipantCell => pub ParticipantColumns {
        id: One<Word> = "id in its conversation",
        name: Maybe<Word> = "name",
        alias: Maybe<Word> = "second name or user name",
        role: Maybe<Word> = "role that the roster gives",
        kind: One<Word> = "human, agent or another kind",
        listed: One<Flag> = "whether the roster of the source lists them; others appear only as senders",
        is_id_made: One<Flag> = "whether the id was made from a name or a role because the source has none",
        custom_role: Maybe<Word> = "free-form role",
        department: Maybe<Word> = "department",
        email: Maybe<Word> = "mail address",
        extra: Maybe<Json> = "fields without a column, as they were read",
    }
}

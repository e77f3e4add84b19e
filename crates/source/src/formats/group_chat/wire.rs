//! The wire: a record's and a message's known fields, found in one walk over the tape.

use chatmill_intake::json::Value;

use crate::base::wire;

wire! {
    /// A record's top level.
    Record {
        version: "version",
        conversation_meta: "conversation_meta",
        session_meta: "session_meta",
        conversation_list: "conversation_list",
    }
}

wire! {
    /// A message.
    Row {
        message_id: "message_id",
        create_time: "create_time",
        sender: "sender",
        sender_name: "sender_name",
        role: "role",
        word: "type",
        content: "content",
        refer_list: "refer_list",
        extra: "extra",
    }
}

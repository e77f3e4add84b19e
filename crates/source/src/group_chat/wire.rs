//! The wire: a record's and a message's known fields, found in one walk over the tape.

use std::borrow::Cow;

use chatmill_intake::json::Value;

/// A record's top level.
#[derive(Default)]
pub struct Record<'d> {
    /// `version`.
    pub version: Option<Value<'d>>,
    /// `conversation_meta`.
    pub conversation_meta: Option<Value<'d>>,
    /// `session_meta`.
    pub session_meta: Option<Value<'d>>,
    /// `conversation_list`.
    pub conversation_list: Option<Value<'d>>,
    /// Everything else, in input order.
    pub others: Vec<(Cow<'d, str>, Value<'d>)>,
}

impl<'d> Record<'d> {
    /// Reads the top level, or gives the name of a known field that stands there twice.
    pub fn read(root: Value<'d>) -> Result<Self, Cow<'d, str>> {
        let mut record = Self::default();
        for (key, value) in root.fields() {
            let slot = match &*key {
                "version" => &mut record.version,
                "conversation_meta" => &mut record.conversation_meta,
                "session_meta" => &mut record.session_meta,
                "conversation_list" => &mut record.conversation_list,
                _ => {
                    record.others.push((key, value));
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                return Err(key);
            }
        }
        Ok(record)
    }
}

/// A message.
#[derive(Default)]
pub struct Row<'d> {
    /// `message_id`.
    pub message_id: Option<Value<'d>>,
    /// `create_time`.
    pub create_time: Option<Value<'d>>,
    /// `sender`.
    pub sender: Option<Value<'d>>,
    /// `sender_name`.
    pub sender_name: Option<Value<'d>>,
    /// `role`.
    pub role: Option<Value<'d>>,
    /// `type`.
    pub word: Option<Value<'d>>,
    /// `content`.
    pub content: Option<Value<'d>>,
    /// `refer_list`.
    pub refer_list: Option<Value<'d>>,
    /// `extra`.
    pub extra: Option<Value<'d>>,
    /// Everything else, in input order.
    pub others: Vec<(Cow<'d, str>, Value<'d>)>,
}

impl<'d> Row<'d> {
    /// Reads a message, or gives the name of a known field that stands there twice.
    pub fn read(message: Value<'d>) -> Result<Self, Cow<'d, str>> {
        let mut row = Self::default();
        for (key, value) in message.fields() {
            let slot = match &*key {
                "message_id" => &mut row.message_id,
                "create_time" => &mut row.create_time,
                "sender" => &mut row.sender,
                "sender_name" => &mut row.sender_name,
                "role" => &mut row.role,
                "type" => &mut row.word,
                "content" => &mut row.content,
                "refer_list" => &mut row.refer_list,
                "extra" => &mut row.extra,
                _ => {
                    row.others.push((key, value));
                    continue;
                }
            };
            if slot.replace(value).is_some() {
                return Err(key);
            }
        }
        Ok(row)
    }
}

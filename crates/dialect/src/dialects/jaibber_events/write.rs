//! Payloads as they are written: fields in the order of the document, then the others.

use chatmill_model::{Component, Sink};

use super::payload::{File, Payload};
use crate::write::object::{Object, key, list};

impl<'a> Payload<'a> {
    /// Writes it.
    pub(super) fn write(self, sink: &mut Sink<'a>) {
        let mut object = Object::open(sink);
        object.string(key!("from"), self.from, Component::Names);
        object.string(key!("fromUsername"), self.from_username, Component::Names);
        object.string(key!("projectId"), self.project, Component::Meta);
        object.string(key!("text"), self.text, Component::Content);
        object.string(key!("messageId"), self.id, Component::Meta);
        object.raw(key!("type"), self.stated_type);
        object.string(key!("type"), self.word, Component::Meta);
        object.raw(key!("responseId"), self.response_id);
        object.string(key!("agentName"), self.agent_name, Component::Names);
        if !self.mentions.is_empty() {
            list(object.key(key!("mentions")), self.mentions, |mentioned, sink| {
                sink.json_string(mentioned, Component::Meta);
            });
        }
        if let Some(is_agents) = self.is_agents {
            object.word(key!("isAgentMessage"), if is_agents { "true" } else { "false" });
        }
        object.raw(key!("responseDepth"), self.response_depth);
        object.raw(key!("respondingChain"), self.responding_chain);
        object.raw(key!("isTaskNotification"), self.is_task_notification);
        if !self.files.is_empty() {
            list(object.key(key!("attachments")), self.files, File::write);
        }
        object.string(key!("parentMessageId"), self.parent, Component::Replies);
        object.fields(self.others);
        object.close();
    }
}

impl<'a> File<'a> {
    fn write(self, sink: &mut Sink<'a>) {
        let mut object = Object::open(sink);
        object.raw(key!("id"), self.id);
        object.string(key!("filename"), self.name, Component::Meta);
        object.string(key!("mimeType"), self.media_type, Component::Meta);
        object.raw(key!("fileSize"), self.size);
        object.string(key!("blobUrl"), self.url, Component::Content);
        object.fields(self.others);
        object.close();
    }
}

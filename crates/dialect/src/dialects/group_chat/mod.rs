//! Group Chat Format 1.0.0 in the shape of its document of 2026-01-19.
//!
//! ```json
//! {"version":"1.0.0","conversation_meta":{"scene":"group_chat","name":"Room","user_details":{"u1":{"full_name":"Ann"}}},
//!  "conversation_list":[{"message_id":"m1","sender":"u1","role":"user","type":"text","content":"Hi","refer_list":[]}]}
//! ```
//!
//! The format has no perspective: the dialect renders a conversation once. A record that was read from this format is written back
//! unchanged; data of other systems that the format cannot hold is declared as lost. Fields that the validators of the format demand and
//! the source does not have are made up and declared: a name (the title, otherwise the id), and the sender `system` for messages without a
//! sender. An author of a quote that is not text is kept if the source is a group chat, and makes the row invalid.
//!
//! Our extension of the format adds the role `tool`, with calls and results in `extra`, and system text as an event with
//! `extra.role`.

mod entry;
mod extra;
mod pieces;
mod references;
mod roster;
mod write;

use chatmill_model::{Conversation, MessageKind, Sink, Speaker};

use crate::loss::rule::rules;
use crate::loss::violation::Violation;
use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::select::{self, SelectedMessages};
use crate::naming::messages::MessageIds;
use crate::naming::record_calls::{self, ToolIds};
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::tools::arguments;
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::write::object::{Object, key, list};

use roster::Unlisted;

rules! {
    /// a quoted author is an id of the roster
    GRP_01 = "GRP-01";
    /// there is a version, a name, and a roster with everybody who speaks or is quoted
    GRP_02 = "GRP-02";
    /// every message has an id, a sender, a type and a content; every quoted one an id
    GRP_03 = "GRP-03";
    /// roles are user and assistant
    GRP_04 = "GRP-04";
}

/// The version of the format.
const VERSION: &str = "1.0.0";

/// Archives of group chats.
pub(crate) static GROUP_CHAT: Dialect = Dialect::system(&ABOUT, loses, render);

static ABOUT: DialectAbout = DialectAbout {
    id: "group-chat",
    title: "Group Chat Format",
    family: "group-chat",
    media_type: "application/json",
    specification: "Group Chat Format Specification, version 1.0.0",
    dated: "2026-01-19",
    carries: "people, rooms, text, one medium per message, replies, times, ids, notices, tools as an extension",
    profiles: &[&GROUP_CHAT],
    shows: Shows::Record,
    rules: Rules::Validated(RULES),
};

/// The losses of parts that have no place.
const LOSES: &[LossCode] = &[
    LossCode::ToolCallDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
];

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        record_calls::LOSES,
        arguments::LOSES_AS_TEXT,
        reasons::GROUP_CHAT,
        LOSES,
    ])
}

fn render<'a>(transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, |_| true);
    declare_record(view.conversation(), &mut losses);
    let unlisted = Unlisted::new(transcript, &shown.messages, &mut losses);
    let (arena, is_native) = (transcript.arena(), is_native(view.conversation()));
    let mut entries = EntryWriter {
        transcript,
        is_native,
        ids: MessageIds::new(view, arena),
        tools: ToolIds::new(view, arena, &shown.messages, is_native, &mut losses),
        nobody: unlisted.nobody(),
        losses,
        violations: Vec::new(),
    };
    let mut progress = Progress::default();
    let mut record = Object::open(sink);
    write::head(&mut record, view.conversation(), &unlisted);
    let list_of_entries = record.key(key!("conversation_list"));
    list(list_of_entries, &shown.messages, |message, sink| {
        sink.answer(Speaker::Other, Some(message.position));
        let role = entries.write(message, sink);
        sink.set_speaker(Speaker::Other);
        match message.kind {
            MessageKind::Message => progress.rendered(message.position, role.as_str()),
            MessageKind::Notice => progress.noted(message.position),
        }
    });
    record.fields(write::fields(&view.conversation().envelope.0));
    record.close();
    progress.finish(shown.extent, entries.losses, entries.violations)
}

/// Writes entries and collects their losses.
struct EntryWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    is_native: bool,
    ids: MessageIds<'a>,
    tools: ToolIds<'a>,
    /// The sender of messages without a sender.
    nobody: &'a str,
    losses: Losses,
    /// Rules that entries break.
    violations: Vec<Violation>,
}

/// Declares facts that the record has no place for, and the name if it is made up.
fn declare_record(conversation: &Conversation, losses: &mut Losses) {
    let definitions = conversation.tools.len() as u64;
    losses.whole_rendering(reasons::FORMAT_HAS_NO_DEFINITIONS, definitions);
    let is_nameless = conversation.extra.get("name").is_none() && conversation.title.is_none();
    losses.whole_rendering(reasons::FORMAT_WANTS_A_NAME, u64::from(is_nameless));
}

/// Whether a conversation was read from this format.
fn is_native(conversation: &Conversation) -> bool {
    conversation.keeps_fields_of("group-chat")
}

//! Group Chat Format 1.0.0 in the shape of its document of 2026-01-19.
//!
//! ```json
//! {"version":"1.0.0","conversation_meta":{"scene":"group_chat","name":"Room","user_details":{"u1":{"full_name":"Ann"}}},
//!  "conversation_list":[{"message_id":"m1","sender":"u1","role":"user","type":"text","content":"Hi","refer_list":[]}]}
//! ```
//!
//! Nobody is the assistant here: the dialect renders once. What a group chat was read from, this writes back; what other
//! systems hold beyond the format is declared. What the format's validators ask, and the source lacks, is made and declared: a name
//! (the title, else the id), the sender `system` where nobody is. Only what a group chat itself has in the place of a quoted author
//! stays, and makes the row invalid.
//!
//! Our extension of the format adds the role `tool`, with calls and results in `extra`, and system text as an event with
//! `extra.role`.

mod extra;
mod message;
mod pieces;
mod references;
mod roster;

use chatmill_model::{Component, Conversation, Scene, Sink};

use crate::about::{DialectAbout, Rules};
use crate::json_object::{Object, key};
use crate::loss::{LossCode, Losses, reasons};
use crate::message_ids::MessageIds;
use crate::progress::Progress;
use crate::rules::rules;
use crate::select_messages::SelectedMessages;
use crate::tool_ids::ToolIds;
use crate::transcript::Transcript;
use crate::{Dialect, Emit};

use roster::People;

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

/// The dialect of group chat archives.
pub(crate) struct GroupChat;

const VERSION: &str = "1.0.0";

static ABOUT: DialectAbout = DialectAbout {
    title: "Group Chat Format",
    family: "group-chat",
    media_type: "application/json",
    specification: "Group Chat Format Specification, version 1.0.0",
    dated: "2026-01-19",
    carries: "people, rooms, text, one medium per message, replies, times, ids, notices, tools as an extension",
    loses: "reasoning, further media of a message, tool definitions, second names",
    profiles: &[&GroupChat],
    neutral: true,
    rules: Rules::Judged(RULES),
};

/// What a rendering may lose.
const LOSES: &[LossCode] = &[
    LossCode::NameDropped,
    LossCode::RoleMapped,
    LossCode::ToolIdRewritten,
    LossCode::ToolNameRewritten,
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ToolDefinitionDropped,
    LossCode::ErrorFlagDropped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::PartFlattened,
    LossCode::PartMoved,
    LossCode::EmptyFilled,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::TimestampDropped,
    LossCode::MessageIdDropped,
    LossCode::MessageIdSynthesised,
    LossCode::TitleSynthesised,
    LossCode::ParticipantSynthesised,
    LossCode::SenderMissing,
    LossCode::WeightDropped,
    LossCode::MentionDropped,
    LossCode::NoticeDropped,
    LossCode::ParticipantDropped,
    LossCode::MetadataDropped,
    LossCode::ExtraDropped,
    LossCode::ReferenceInlined,
    LossCode::ReferenceDropped,
    LossCode::ReferenceUnresolved,
    LossCode::ReferenceNested,
    LossCode::ControlCharacterRemoved,
    LossCode::WhitespaceTrimmed,
    LossCode::LeakedMetadataRemoved,
    LossCode::Truncated,
];

impl Dialect for GroupChat {
    fn id(&self) -> &'static str {
        "group-chat"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn loses(&self) -> Vec<LossCode> {
        LOSES.to_vec()
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let conversation = view.conversation();
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, |_| true);
        losses.whole_rendering(
            LossCode::ToolDefinitionDropped,
            conversation.tools.len() as u64,
            reasons::FORMAT_HAS_NO_DEFINITIONS,
        );
        let mut progress = Progress::default();
        let mut record = Object::open(sink);
        let version = conversation
            .format_version
            .as_deref()
            .filter(|_| is_native(conversation))
            .unwrap_or(VERSION);
        record.string(key!("version"), Some(version), Component::Meta);
        let made = Made {
            ids: MessageIds::new(transcript),
            tools: ToolIds::new(transcript, &shown.messages, is_native(conversation), &mut losses),
            people: People::new(view, &shown.messages),
        };
        meta(
            record.key(key!("conversation_meta")),
            conversation,
            &made.people,
            &mut losses,
        );
        let list = record.key(key!("conversation_list"));
        list.framing("[");
        let mut violations = Vec::new();
        for (index, message) in shown.messages.iter().enumerate() {
            if index > 0 {
                list.framing(",");
            }
            let violation = message::write(list, view, message, &made, &mut losses, &mut progress);
            violations.extend(violation);
        }
        list.framing("]");
        record.fields(&conversation.envelope);
        record.close();
        emit(sink, progress.finish(shown.extent, losses, violations));
    }
}

/// What the format demands and a conversation may lack.
struct Made<'a> {
    ids: MessageIds<'a>,
    tools: ToolIds<'a>,
    people: People<'a>,
}

/// Whether a conversation was read from this format.
fn is_native(conversation: &Conversation) -> bool {
    conversation.keeps_form("group-chat")
}

fn meta<'a>(sink: &mut Sink<'a>, conversation: &'a Conversation, people: &People<'a>, losses: &mut Losses) {
    let extra = &conversation.extra;
    let has = |key: &str| extra.get(key).is_some();
    let mut meta = Object::open(sink);
    if !has("conversation_id") && !has("group_id") {
        meta.string(
            key!("conversation_id"),
            conversation.source_id.as_deref(),
            Component::Meta,
        );
    }
    match conversation.scene {
        Scene::Assistant => meta.word(key!("scene"), "\"assistant\""),
        Scene::GroupChat => meta.word(key!("scene"), "\"group_chat\""),
        Scene::Unknown => {}
    }
    let (first, rest) = match extra.0.split_first() {
        Some(((key, value), rest)) if key == "scene_desc" => (Some((key, value)), rest),
        _ => (None, extra.0.as_slice()),
    };
    if let Some((key, value)) = first {
        meta.field(key, value);
    } else if let Some(description) = &conversation.description
        && !has("scene_desc")
        && !has("description")
    {
        let mut scene = Object::open(meta.key(key!("scene_desc")));
        scene.string(key!("description"), Some(description), Component::Meta);
        scene.close();
    }
    if !has("name") {
        let title = conversation.title.as_deref();
        losses.whole_rendering(
            LossCode::TitleSynthesised,
            u64::from(title.is_none()),
            reasons::FORMAT_WANTS_A_NAME,
        );
        let name = title.or(conversation.source_id.as_deref()).unwrap_or_default();
        meta.string(key!("name"), Some(name), Component::Meta);
    }
    for (key, value) in rest {
        meta.field(key, value);
    }
    let details = meta.key(key!("user_details"));
    roster::write(details, &conversation.participants, people, losses);
    meta.close();
}

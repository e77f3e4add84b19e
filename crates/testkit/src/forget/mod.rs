//! What each loss takes from a tale: one function for each code.
//!
//! A function knows what a code means, and of a family only the few traits that decide how a declared change looks
//! ([`Family`]); it knows nothing of how dialects are written. Systems' own
//! formats bring functions of their own. Codes that none of them declares stand in [`ELSEWHERE`], with the reason.

pub mod group_chat;
pub mod gryag;
pub mod jaibber;
pub mod suna_rows;
mod tools;
mod turns;
pub mod tzurot;
mod words;

use chatmill_dialect::{Loss, LossCode, Policy};
use chatmill_model::{ArgumentForm, Media};

use crate::tale::{Facts, Label, Tale, Turn};
use tools::{
    args_malformed, args_not_object, args_reserialised, duplicate_result, error_flag_dropped, label_calls,
    missing_result_synthesised, orphan_result_inlined, result_moved, result_wrapped, role_mapped,
    tool_call_dropped, tool_definition_dropped, tool_definition_synthesised, tool_name_rewritten,
    tool_result_dropped, translate_schemas,
};
use turns::{
    cache_history, empty_filled, join_added, join_divided, part_moved, system_hoisted, turn_merged,
    turn_moved, turn_split,
};
pub use words::without_metadata;
use words::{
    empty_dropped, end_trimmed, extra_dropped, leaked_metadata_removed, marks_dropped,
    media_description_dropped, media_dropped, media_placeholder, name_aliased, name_dropped, name_inlined,
    notice_dropped, part_flattened, reasoning_dropped, reference_inlined, references_lost, spelled_thoughts,
    system_added, system_dropped, system_inlined, truncated, whitespace_trimmed,
};

/// What decides how a declared change looks.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
pub struct Family {
    /// Whether turns of everybody but the assistant have a field for names.
    pub names: bool,
    /// Whether the texts of a message become one text, but where a medium stands among them.
    pub joins: bool,
    /// How arguments are written.
    pub arguments: ArgumentForm,
    /// Whether a user's turn can hold a medium.
    pub carries: fn(&Media) -> bool,
    /// Whether a user speaks first.
    pub user_first: bool,
    /// Whether turns of one speaker in a row are one.
    pub merges: bool,
    /// Whether text of white space only counts as no text.
    pub blank_is_empty: bool,
    /// Whether the assistant's last words do not end in white space.
    pub trims_end: bool,
    /// Whether turns stand in rounds: what people say, then each call with its result, then what the assistant says.
    pub rounds: bool,
    /// Whether all agents are the assistant where the perspective is one.
    pub one_agent: bool,
    /// Whether there are calls and results.
    pub tools: bool,
    /// Whether a filter leaves out results that no call waits for.
    pub filters: bool,
    /// Whether everything before the newest user's turn is one text with a cache mark.
    pub caches: bool,
    /// Whether thoughts stand between tags in front of the text.
    pub tags: bool,
    /// Whether there are definitions of tools.
    pub defines: bool,
    /// Whether results stand in an object, under `output` or `error`.
    pub wraps: bool,
    /// Whether what a message knows stands with its words, and not with the results in front of them.
    pub lines: bool,
    /// Whether it is nobody's view.
    pub archive: bool,
    /// Whether a rendering is one message alone.
    pub single: bool,
    /// Takes from both tales what is not compared.
    pub compared: fn(&mut Tale),
    /// Functions of its own, for codes that mean something else in it, or that no other family declares.
    pub own: &'static [(LossCode, Forget)],
    /// The choices of the rendering.
    pub policy: Policy,
}

/// Forgets one loss.
pub type Forget = fn(&mut Tale, &Loss, &Family);

/// The functions, in the order in which they are applied: first what is left out, then what changes, then where it stands,
/// then what is made up, last what becomes one.
pub const FORGET: &[(LossCode, Forget)] = &[
    (LossCode::NoticeDropped, notice_dropped),
    (LossCode::TimestampDropped, |tale, _, _| {
        each(tale, |turn| turn.facts.times.clear());
    }),
    (LossCode::MessageIdDropped, |tale, _, family| {
        // Of a cached block it is clear only later which messages are in it.
        if !family.caches {
            each(tale, |turn| turn.facts.ids.clear());
        }
    }),
    (LossCode::MentionDropped, |tale, _, _| {
        each(tale, |turn| turn.facts.mentions.clear());
    }),
    (LossCode::ExtraDropped, extra_dropped),
    (LossCode::MetadataDropped, |tale, _, _| tale.metadata.clear()),
    (LossCode::ParticipantDropped, |tale, _, _| tale.people = 0),
    (LossCode::ReasoningDropped, reasoning_dropped),
    (LossCode::SystemDropped, system_dropped),
    (LossCode::SystemAdded, system_added),
    (LossCode::ToolCallDropped, tool_call_dropped),
    (LossCode::ToolResultDropped, tool_result_dropped),
    (LossCode::OrphanResultDropped, tool_result_dropped),
    (LossCode::CacheMarkDropped, marks_dropped),
    (LossCode::CacheMarkCapped, marks_dropped),
    (LossCode::DuplicateResult, duplicate_result),
    (LossCode::ErrorFlagDropped, error_flag_dropped),
    (LossCode::LeakedMetadataRemoved, leaked_metadata_removed),
    (LossCode::WhitespaceTrimmed, whitespace_trimmed),
    (LossCode::Truncated, truncated),
    (LossCode::MediaPlaceholder, media_placeholder),
    (LossCode::MediaDescriptionDropped, media_description_dropped),
    (LossCode::MediaDropped, media_dropped),
    (LossCode::ReferenceDropped, |tale, loss, _| {
        references_lost(tale, loss);
    }),
    (LossCode::ReferenceUnresolved, |tale, loss, _| {
        references_lost(tale, loss);
    }),
    (LossCode::ReferenceInlined, reference_inlined),
    // A tale tells no weights.
    (LossCode::WeightDropped, |_, _, _| ()),
    // A tale tells the references of messages, not those inside others.
    (LossCode::ReferenceNested, |_, _, _| ()),
    (LossCode::SystemInlined, system_inlined),
    (LossCode::OrphanResultInlined, orphan_result_inlined),
    (LossCode::RoleMapped, role_mapped),
    (LossCode::EmptyDropped, empty_dropped),
    (LossCode::PartFlattened, part_flattened),
    (LossCode::NameInlined, name_inlined),
    (LossCode::NameDropped, name_dropped),
    (LossCode::NameAliased, name_aliased),
    (LossCode::ArgsReserialised, args_reserialised),
    (LossCode::ArgsNotObject, args_not_object),
    (LossCode::ArgsMalformed, args_malformed),
    // How a number is written stays, and what is escaped or has to be fetched reads back as it was.
    (LossCode::NumberPrecision, |_, _, _| ()),
    (LossCode::MediaNeedsFetch, |_, _, _| ()),
    (LossCode::ReservedTextEscaped, |_, _, _| ()),
    (LossCode::SpecialTokenInText, |_, _, _| ()),
    // Only quotes lose them, and a tale tells quotes without them.
    (LossCode::ControlCharacterRemoved, |_, _, _| ()),
    (LossCode::ToolDefinitionDropped, tool_definition_dropped),
    (LossCode::ToolDefinitionSynthesised, tool_definition_synthesised),
    (LossCode::ToolNameRewritten, tool_name_rewritten),
    (LossCode::ToolIdRewritten, |tale, loss, _| {
        label_calls(tale, loss, &Label::Any);
    }),
    (LossCode::ToolIdDropped, |tale, loss, _| {
        label_calls(tale, loss, &Label::Exact(None));
    }),
    (LossCode::ResultLateMoved, result_moved),
    (LossCode::ResultEarlyMoved, result_moved),
    (LossCode::TurnMoved, turn_moved),
    (LossCode::MissingResultSynthesised, missing_result_synthesised),
    (LossCode::PartMoved, part_moved),
    (LossCode::TurnSplit, turn_split),
    (LossCode::SystemHoisted, system_hoisted),
    (LossCode::TurnMerged, turn_merged),
    (LossCode::EmptyFilled, empty_filled),
    (LossCode::ResultWrapped, result_wrapped),
];

/// Codes that no rendering here declares, and why.
pub const ELSEWHERE: &[(LossCode, &str)] = &[
    (LossCode::NewlineReplaced, "only transcripts are read by line"),
    (
        LossCode::Redacted,
        "only a run replaces personal data, before any dialect",
    ),
    (LossCode::DatePinned, "only templates print a date"),
    (
        LossCode::DefaultSystemInserted,
        "only templates bring a system text along",
    ),
];

/// Forgets what a rendering declares; gives the codes that have no function.
pub fn forget(tale: &mut Tale, losses: &[Loss], family: &Family) -> Vec<LossCode> {
    if family.lines {
        gryag::facts_with_words(tale);
    }
    if family.wraps {
        translate_schemas(tale, losses);
    }
    let own = |code: LossCode| family.own.iter().find(|(known, _)| *known == code);
    let is_general = |code: LossCode| FORGET.iter().any(|(known, _)| *known == code);
    let only_own = family.own.iter().filter(|(code, _)| !is_general(*code));
    let general = FORGET.iter().map(|general| own(general.0).unwrap_or(general));
    for (code, forget) in only_own.chain(general) {
        // From here on whole turns become one.
        if *code == LossCode::SystemHoisted {
            join_added(tale, family);
            join_divided(tale, family);
        }
        for loss in losses.iter().filter(|loss| loss.code == *code) {
            forget(tale, loss, family);
        }
    }
    if family.trims_end {
        end_trimmed(tale, losses);
    }
    if family.caches {
        cache_history(tale, losses);
    }
    // Archives hold what a room saw; whoever reads anything else takes a tagged thought for one.
    if !family.archive {
        spelled_thoughts(tale);
    }
    let codes = losses.iter().map(|loss| loss.code);
    codes
        .filter(|code| !is_general(*code) && own(*code).is_none())
        .collect()
}

fn each(tale: &mut Tale, change: impl FnMut(&mut Turn)) {
    tale.turns.iter_mut().for_each(change);
}

/// Leaves turns out. What a message knows beside what it says is told by the first turn that is left of it.
fn leave_out(tale: &mut Tale, goes: impl Fn(&Turn) -> bool) {
    let (gone, left) = tale.turns.drain(..).partition::<Vec<Turn>, _>(goes);
    tale.turns = left;
    for turn in gone.into_iter().filter(|turn| turn.facts != Facts::default()) {
        if let Some(next) = tale.turns.iter_mut().find(|next| next.at == turn.at) {
            next.facts = turn.facts;
            next.quotes = turn.quotes;
        }
    }
}

/// The id that is made up for a message: its place, counted where that is somebody's id.
fn made_up_id(tale: &Tale, position: u32) -> String {
    let plain = format!("m{position}");
    let is_taken = |id: &String| tale.turns.iter().any(|turn| turn.facts.ids.contains(id));
    let mut ids = std::iter::once(plain.clone()).chain((2..).map(|count| format!("{plain}~{count}")));
    ids.find(|id| !is_taken(id)).unwrap_or(plain)
}

/// The id says where the message stands.
fn message_id_synthesised(tale: &mut Tale, loss: &Loss, _: &Family) {
    let id = made_up_id(tale, loss.position.unwrap_or_default());
    // A quoted message may be what lacked one.
    if let Some(turn) = at(tale, loss).next().filter(|turn| turn.facts.ids.is_empty()) {
        turn.facts.ids = vec![id];
    }
}

/// The turns of the message at which a loss stands.
fn at<'t>(tale: &'t mut Tale, loss: &Loss) -> impl Iterator<Item = &'t mut Turn> {
    let position = loss.position.expect("the loss stands at a message");
    tale.turns
        .iter_mut()
        .filter(move |turn| turn.at == Some(position))
}

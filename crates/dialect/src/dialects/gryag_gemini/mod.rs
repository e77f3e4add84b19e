//! gryag's conversation pattern as sent to Gemini (document of 2025-10-17).
//!
//! ```json
//! [{"role":"user","parts":[{"text":"[meta] chat_id=-1 message_id=5 user_id=9 name=\"Alice\""},{"text":"Hi"}]},
//!  {"role":"model","parts":[{"text":"[meta] chat_id=-1 message_id=6 name=\"gryag\""},{"text":"Hm."}]}]
//! ```
//!
//! A `[meta]` line comes first in every turn except those of tools; texts follow, then media. The bot has the role `model` and no user id,
//! tools have the role `tool`, all others `user`. System text becomes the first user turn. The context layers of the document that need the
//! bot's search index are not rendered.
//!
//! Profile `2025-10-17` is the code of that day: another order of keys, second names with `@`, values cut at 60 and 80 code points.

mod edition;
mod meta;
mod tools;
mod turn;
mod write;

use chatmill_model::{Message, Sink};

use crate::dialects::gryag::{is_bare_file, is_gryags};
use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::pairing::arrange;
use crate::messages::select::{self, SelectedMessages};
use crate::messages::unsupported::{self, Unsupported, declare_conversation, declare_messages};
use crate::messages::{system, text};
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::tools::{arguments, forms};
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;
use crate::view::trained::TrainedMessages;

use edition::{CODE, DOCUMENT, Edition};
use meta::Excerpts;
use turn::Turns;

/// gryag's prompts, in profile `document`.
pub(crate) static GRYAG_GEMINI: Dialect = Dialect::system(&ABOUT, loses, |transcript, sink| {
    render(&DOCUMENT, transcript, sink)
});

/// The same prompts as written by the code of 2025-10-17.
static BY_CODE: Dialect =
    Dialect::system(&ABOUT, loses, |transcript, sink| render(&CODE, transcript, sink)).called("2025-10-17");

static ABOUT: DialectAbout = DialectAbout {
    id: "gryag-gemini",
    title: "gryag prompt for Gemini",
    family: "gryag-gemini",
    media_type: "application/json",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN",
    dated: "2025-10-17",
    carries: "text, names, ids, one reply per message with an excerpt, media, tools; not the context layers that the bot's search index fills",
    profiles: &[&GRYAG_GEMINI, &BY_CODE],
    shows: Shows::Conversation,
    rules: Rules::Validated(&[]),
};

/// The properties of messages that turns have no place for.
const LACKS: &[Unsupported] = &[
    Unsupported::Times,
    Unsupported::Mentions,
    Unsupported::SenderNames,
];

/// The properties of messages in gryag's own records that turns have no place for.
const OWN_LACKS: &[Unsupported] = &[Unsupported::Times, Unsupported::Mentions];

/// The losses of turns that are not specific to this dialect.
const LOSES: &[LossCode] = &[
    LossCode::ExtraDropped,
    LossCode::ReferenceUnresolved,
    LossCode::ReservedTextEscaped,
    LossCode::MediaDropped,
    LossCode::MediaPlaceholder,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
    LossCode::ResultWrapped,
];

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        unsupported::LOSES_FACTS,
        &unsupported::loses(LACKS),
        reasons::PAIRING,
        system::LOSES,
        text::LOSES,
        arguments::LOSES_AS_OBJECT,
        reasons::GRYAG_GEMINI,
        LOSES,
    ])
}

fn render<'a>(edition: &'static Edition, transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, View::is_turn);
    declare_whole(view, &shown.messages, &mut losses);
    let trained = TrainedMessages::of(view, &shown.messages);
    let steps = arrange(view, &shown.messages, &mut losses);
    let mut turns = Turns {
        transcript,
        edition,
        excerpts: Excerpts::new(),
        losses,
        lined: 0,
        fields: 0,
    };
    let mut progress = Progress::default();
    let mut write = |turn: turn::Turn<'a>| {
        sink.framing(if progress.has_no_turn() { "[" } else { "," });
        progress.rendered_all(&turn.positions, turn.role.as_str());
        let speaker = trained.speaker(turn.role, turn.positions.iter().copied());
        turn.write(sink, speaker);
    };
    turns.system(&shown.messages).into_iter().for_each(&mut write);
    for step in steps.steps {
        turns.step(step).into_iter().flatten().for_each(&mut write);
    }
    sink.framing(if progress.has_no_turn() { "[]" } else { "]" });
    let losses = unwritten(&shown.messages, turns);
    progress.finish(shown.extent, losses, steps.rejected)
}

/// Declares facts and definitions that the pattern has no place for.
fn declare_whole(view: &View<'_>, shown: &[&Message], losses: &mut Losses) {
    declare_conversation(view, losses);
    let is_gryags = is_gryags(view.conversation());
    declare_messages(view, shown, if is_gryags { OWN_LACKS } else { LACKS }, losses);
    let definitions = forms::given(view);
    losses.whole_rendering(reasons::DEFINITIONS_STAND_BESIDE, definitions);
}

/// Returns all losses, including ids and further fields that are not in a line.
fn unwritten(shown: &[&Message], turns: Turns<'_, '_>) -> Losses {
    let mut losses = turns.losses;
    let with_id = shown.iter().filter(|message| message.id.is_some()).count() as u64;
    losses.whole_rendering(reasons::NO_LINE_FOR_THE_ID, with_id.saturating_sub(turns.lined));
    let fields = shown.iter().flat_map(|message| &message.extra.0);
    // The edition decides how a media item is written in its part, so this field is not lost.
    let fields = fields.filter(|(field, _)| !is_bare_file(field)).count() as u64;
    losses.whole_rendering(
        reasons::NO_FURTHER_FIELDS_OF_A_MESSAGE,
        fields.saturating_sub(turns.fields),
    );
    losses
}

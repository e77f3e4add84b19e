//! gryag's conversation pattern as sent to Gemini (document of 2025-10-17).
//!
//! ```json
//! [{"role":"user","parts":[{"text":"[meta] chat_id=-1 message_id=5 user_id=9 name=\"Alice\""},{"text":"Hi"}]},
//!  {"role":"model","parts":[{"text":"[meta] chat_id=-1 message_id=6 name=\"gryag\""},{"text":"Hm."}]}]
//! ```
//!
//! A `[meta]` line comes first in every turn but those of tools; texts follow, then media. The bot speaks as `model` and
//! has no user id, tools as `tool`, everybody else as `user`. System text becomes the first user turn. The context layers
//! of the document that need the bot's search index are not rendered.
//!
//! Profile `2025-10-17` is the code of that day: another order of keys, second names with their sign, values cut at 60 and 80
//! code points.

mod edition;
mod meta;
mod tools;
mod turn;
mod write;

use chatmill_model::{Message, Sink};

use crate::about::{DialectAbout, Rules};
use crate::dialects::gryag::{is_bare_file, is_gryags};
use crate::learned::Learned;
use crate::loss::{LossCode, Losses, reasons, united};
use crate::progress::Progress;
use crate::select_messages::{self, SelectedMessages};
use crate::steps::{self, arrange};
use crate::transcript::Transcript;
use crate::unsupported::{self, Unsupported, declare_conversation, declare_messages};
use crate::view::View;
use crate::{Dialect, Emit, definitions, message_text, system};

use edition::{CODE, DOCUMENT, Edition};
use turn::Planner;

/// The dialect of gryag's prompts.
pub(crate) struct GryagGemini {
    profile: &'static str,
    edition: &'static Edition,
}

/// In profile `document`.
pub(crate) static GRYAG_GEMINI: GryagGemini = GryagGemini {
    profile: "document",
    edition: &DOCUMENT,
};

static ABOUT: DialectAbout = DialectAbout {
    title: "gryag prompt for Gemini",
    family: "gryag-gemini",
    media_type: "application/json",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN",
    dated: "2025-10-17",
    carries: "text, names, ids, one reply per message with an excerpt, media, tools; not the context layers that the bot's search index fills",
    profiles: &[
        &GRYAG_GEMINI,
        &GryagGemini {
            profile: "2025-10-17",
            edition: &CODE,
        },
    ],
    neutral: false,
    own_system: true,
    rules: Rules::Judged(&[]),
};

/// What no turn has a place for.
const LACKS: &[Unsupported] = &[
    Unsupported::Times,
    Unsupported::Mentions,
    Unsupported::SenderNames,
];

/// What turns of gryag's own records have no place for.
const OWN_LACKS: &[Unsupported] = &[Unsupported::Times, Unsupported::Mentions];

/// What the pattern as a whole may cost.
const LOSES: &[LossCode] = &[
    LossCode::ToolDefinitionDropped,
    LossCode::MessageIdDropped,
    LossCode::ExtraDropped,
];

impl Dialect for GryagGemini {
    fn id(&self) -> &'static str {
        "gryag-gemini"
    }

    fn about(&self) -> &'static DialectAbout {
        &ABOUT
    }

    fn profile(&self) -> &'static str {
        self.profile
    }

    fn loses(&self) -> Vec<LossCode> {
        united(&[
            select_messages::LOSES,
            select_messages::LOSES_NOTICES,
            unsupported::LOSES_FACTS,
            &unsupported::loses(LACKS),
            steps::LOSES,
            system::LOSES,
            message_text::LOSES,
            LOSES,
            meta::LOSES,
            turn::LOSES,
            tools::LOSES,
        ])
    }

    fn render<'a>(&self, transcript: &Transcript<'a>, sink: &mut Sink<'a>, emit: &mut Emit<'_, 'a>) {
        let view = transcript.view();
        let mut losses = Losses::default();
        let shown = SelectedMessages::choose(view, None, &mut losses, View::is_turn);
        declare_whole(view, &shown.messages, &mut losses);
        let learned = Learned::of(view, &shown.messages);
        let steps = arrange(view, &shown.messages, &mut losses);
        let mut planner = Planner::new(transcript, self.edition, losses);
        let mut progress = Progress::default();
        let mut say = |turn: turn::Turn<'a>| {
            sink.framing(if progress.is_silent() { "[" } else { "," });
            progress.said_all(&turn.positions, turn.role.as_str());
            let voice = learned.voice(turn.role, turn.positions.iter().copied());
            turn.write(sink, voice);
        };
        planner.system(&shown.messages).into_iter().for_each(&mut say);
        for step in steps.steps {
            planner.step(step).into_iter().flatten().for_each(&mut say);
        }
        sink.framing(if progress.is_silent() { "[]" } else { "]" });
        let losses = unwritten(&shown.messages, planner);
        emit(sink, progress.finish(shown.extent, losses, steps.faults));
    }
}

/// Declares what the pattern has no place for.
fn declare_whole(view: &View<'_>, shown: &[&Message], losses: &mut Losses) {
    declare_conversation(view, losses);
    let is_gryags = is_gryags(view.conversation());
    declare_messages(view, shown, if is_gryags { OWN_LACKS } else { LACKS }, losses);
    let definitions = definitions::given(view);
    let reason = reasons::DEFINITIONS_STAND_BESIDE;
    losses.whole_rendering(LossCode::ToolDefinitionDropped, definitions, reason);
}

/// All losses, with ids and further fields that stand in no line.
fn unwritten(shown: &[&Message], planner: Planner<'_, '_>) -> Losses {
    let mut losses = planner.losses;
    let with_id = shown.iter().filter(|message| message.id.is_some()).count() as u64;
    let reason = reasons::NO_LINE_FOR_THE_ID;
    losses.whole_rendering(
        LossCode::MessageIdDropped,
        with_id.saturating_sub(planner.lined),
        reason,
    );
    let fields = shown.iter().flat_map(|message| &message.extra.0);
    // How a media item stands in its part is the edition's own matter.
    let fields = fields.filter(|(field, _)| !is_bare_file(field)).count() as u64;
    let reason = reasons::NO_FURTHER_FIELDS_OF_A_MESSAGE;
    losses.whole_rendering(
        LossCode::ExtraDropped,
        fields.saturating_sub(planner.fields),
        reason,
    );
    losses
}

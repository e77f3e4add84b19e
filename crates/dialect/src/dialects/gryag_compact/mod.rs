//! gryag's compact transcript (document of 2025-10-17), one line per message.
//!
//! ```text
//! Alice#654321: Як справи, гряг?
//! gryag: Не набридай.
//! Bob#222333 → gryag: А що тут відбувається?
//! [RESPOND]
//! ```
//!
//! A label is the name and the last six digits of the id; the label of the bot is only its name. An arrow points to the author whom a line
//! answers. A line break in a text would forge a line, so it becomes a space. Participants with equal labels get letters.
//!
//! Profile `2025-10-17` is the code of that day: line breaks stay, media are counted, names are cut at 30 code points, an arrow requires a
//! stated id, system text and tools have lines, and `[RESPOND]` also precedes the current line.

mod edition;
mod labels;
mod line;

use chatmill_model::{Message, Part, Role, Sink, Speaker};

use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::select::{self, SelectedMessages};
use crate::messages::unsupported::{self, Unsupported, declare_conversation, declare_messages};
use crate::messages::{system, text};
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::tools::forms;
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;

use edition::{Breaks, CODE, DOCUMENT, Edition, Prompt};
use labels::Labels;
use line::{LineWriter, NO_PLACE};

/// gryag's compact prompts, in profile `document`.
pub(crate) static GRYAG_COMPACT: Dialect = Dialect::system(
    &ABOUT,
    || loses(&DOCUMENT),
    |transcript, sink| render(&DOCUMENT, transcript, sink),
);

/// The same prompts as written by the code of 2025-10-17.
static BY_CODE: Dialect = Dialect::system(
    &ABOUT,
    || loses(&CODE),
    |transcript, sink| render(&CODE, transcript, sink),
)
.called("2025-10-17");

static ABOUT: DialectAbout = DialectAbout {
    id: "gryag-compact",
    title: "gryag compact transcript",
    family: "transcript",
    media_type: "text/plain",
    specification: "gryag, CURRENT_CONVERSATION_PATTERN, compact plain text format",
    dated: "2025-10-17",
    carries: "text, names with short ids, whom a line answers, kinds of media; not the context layers that the bot's search index fills",
    profiles: &[&GRYAG_COMPACT, &BY_CODE],
    shows: Shows::Conversation,
    rules: Rules::Validated(&[]),
};

/// The properties of messages that lines have no place for.
const LACKS: &[Unsupported] = &[
    Unsupported::MessageIds,
    Unsupported::Times,
    Unsupported::Mentions,
    Unsupported::Extra,
    Unsupported::SenderNames,
];

/// The losses of parts that have no place.
const LOSES: &[LossCode] = &[
    LossCode::ToolCallDropped,
    LossCode::ToolResultDropped,
    LossCode::ReasoningDropped,
    LossCode::CacheMarkDropped,
];

fn loses(edition: &Edition) -> Vec<LossCode> {
    let of_breaks: &[LossCode] = match edition.breaks {
        Breaks::Spaces => &[LossCode::NewlineReplaced],
        Breaks::Unchanged => &[],
    };
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        forms::LOSES_ALL,
        unsupported::LOSES_FACTS,
        &unsupported::loses(LACKS),
        text::LOSES,
        reasons::GRYAG_COMPACT,
        LOSES,
        of_breaks,
    ])
}

fn render<'a>(edition: &'static Edition, transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, |message| {
        View::is_turn(message)
            && (edition.lines_for_all || matches!(message.role, Role::User | Role::Assistant))
    });
    declare_no_place(view, edition, &shown.covered, &mut losses);
    system::declare_unplaced(view, &mut losses);
    declare_conversation(view, &mut losses);
    declare_messages(view, &shown.messages, LACKS, &mut losses);
    let (history, current) = match (edition.prompt, shown.messages.split_last()) {
        (Prompt::BehindBoth, Some((last, history))) if !view.is_own(last) => (history, Some(last.position)),
        _ => (shown.messages.as_slice(), None),
    };
    let labels = Labels::new(transcript, edition, history, &mut losses);
    let mut lines = LineWriter {
        transcript,
        edition,
        labels,
        losses,
    };
    let mut progress = Progress::default();
    for message in &shown.messages {
        let is_current = current == Some(message.position);
        if is_current && !history.is_empty() {
            sink.set_speaker(Speaker::Other);
            sink.framing("[RESPOND]\n");
        }
        if let Some(role) = lines.write(message, is_current, sink) {
            progress.rendered(message.position, role);
        }
    }
    sink.set_speaker(Speaker::Other);
    sink.framing("[RESPOND]");
    progress.finish(shown.extent, lines.losses, Vec::new())
}

/// Declares the messages that have no line.
fn declare_no_place(view: &View<'_>, edition: &Edition, covered: &[&Message], losses: &mut Losses) {
    forms::declare_dropped(view, losses);
    if edition.lines_for_all {
        return;
    }
    for message in covered {
        if !View::is_turn(message) {
            continue;
        }
        match message.role {
            Role::System => losses.at(reasons::TRANSCRIPT_HAS_NO_SYSTEM_TEXT, message.position),
            Role::Tool => declare_tools(message, losses),
            Role::User | Role::Assistant => {}
        }
    }
}

/// Declares the result of a tool as lost.
fn declare_tools(message: &Message, losses: &mut Losses) {
    let position = message.position;
    let mut results = 0;
    for part in &message.parts {
        results += u64::from(matches!(part, Part::ToolResult(_)));
        let media = u64::from(matches!(part, Part::Media(_)));
        let cause = (LossCode::MediaDropped, reasons::TRANSCRIPT_HAS_NO_TOOLS);
        losses.several(cause, position, media);
        NO_PLACE.declare(part, position, losses);
    }
    if results == 0 {
        let cause = (LossCode::ToolResultDropped, reasons::TRANSCRIPT_HAS_NO_TOOLS);
        losses.at(cause, position);
    }
}

//! Rows of Suna's `messages` table, columns in the order of its document.
//!
//! ```json
//! [{"message_id":"m1","thread_id":"t1","type":"user","content":"{\"role\":\"user\",\"content\":\"Hi\"}",
//!   "is_llm_message":true,"metadata":{},"created_at":"2025-11-07T10:00:00+00:00"}]
//! ```
//!
//! The string `content` is the message as JSON. Rows record what happened: there is no perspective, and nothing is moved, paired or
//! repaired. Every row has the id of its thread and metadata, and times are ISO 8601. Status rows of Suna's threads are written as the
//! objects that they were; notices of other systems have no row. Agents and users are identified by id only.

mod columns;
mod content;
mod row;

use std::cell::OnceCell;
use std::rc::Rc;

use chatmill_model::{Message, Sink, ToolResult};

use super::LLM;
use crate::loss::{LossCode, Losses, reasons, united};
use crate::messages::select::{self, SelectedMessages};
use crate::messages::text;
use crate::messages::unsupported::{self, Unsupported, declare_conversation, declare_messages};
use crate::naming::record_calls::{self, ToolIds};
use crate::passes::dialect::{Dialect, DialectAbout, Rules, Shows};
use crate::tools::{arguments, forms};
use crate::transcript::Transcript;
use crate::transcript::progress::Progress;
use crate::transcript::rendering::Rendering;
use crate::view::View;
use crate::view::facts::Ids;
use crate::view::policy::Reasoning;

use columns::thought;

/// Rows of Suna's database.
pub(crate) static SUNA_ROWS: Dialect = Dialect::system(&ABOUT, loses, render);

static ABOUT: DialectAbout = DialectAbout {
    id: "suna-rows",
    title: "Suna database rows",
    family: "suna-rows",
    carries: "text, tools, ids, times, cache marks, reasoning if policy keeps it, Suna's own status rows and further columns",
    profiles: &[&SUNA_ROWS],
    shows: Shows::Record,
    rules: Rules::Validated(&[]),
    ..LLM
};

/// The properties of messages that rows have no place for.
const LACKS: &[Unsupported] = &[Unsupported::Mentions, Unsupported::Extra];

/// The properties of messages from Suna that rows have no place for.
const OWN_LACKS: &[Unsupported] = &[Unsupported::Mentions];

fn loses() -> Vec<LossCode> {
    united(&[
        select::LOSES,
        select::LOSES_NOTICES,
        unsupported::LOSES_FACTS,
        &unsupported::loses(LACKS),
        forms::LOSES_ALL,
        record_calls::LOSES,
        arguments::LOSES_AS_TEXT,
        text::LOSES,
        reasons::SUNA_ROWS,
        &[LossCode::ToolNameRewritten, LossCode::ErrorFlagDropped],
    ])
}

fn render<'a>(transcript: &Transcript<'a>, sink: &mut Sink<'a>) -> Rendering {
    let view = transcript.view();
    let is_native = is_native(view);
    let mut losses = Losses::default();
    let shown = SelectedMessages::choose(view, None, &mut losses, |message| {
        is_native || View::is_turn(message)
    });
    declare_table(view, &shown.messages, &mut losses);
    let generated = || transcript.arena().keep(view.generated_id("thread"));
    let mut rows = RowWriter {
        transcript,
        is_native,
        keeps_thoughts: view.policy.reasoning == Reasoning::Keep,
        thread: view.own_id().unwrap_or_else(generated),
        taken: OnceCell::new(),
        tools: ToolIds::new(view, transcript.arena(), &shown.messages, false, &mut losses),
        created: None,
        losses,
    };
    let mut progress = Progress::default();
    let mut separator = "[";
    for message in &shown.messages {
        let thoughts: Vec<&str> = message.parts.iter().filter_map(thought).collect();
        for row in rows.of(message).into_iter().zip(0..) {
            sink.framing(separator);
            separator = ",";
            match row.0 {
                RowContent::Message => progress.rendered(message.position, message.role.as_str()),
                RowContent::Result(..) => progress.rendered(message.position, "tool"),
                RowContent::Notice => progress.noted(message.position),
            }
            rows.write(message, row, &thoughts, sink);
        }
    }
    sink.framing(if separator == "[" { "[]" } else { "]" });
    progress.finish(shown.extent, rows.losses, Vec::new())
}

/// The content of a row.
#[derive(Clone, Copy)]
enum RowContent<'a> {
    /// Texts and calls of a message.
    Message,
    /// The result at this place among the parts.
    Result(usize, &'a ToolResult),
    /// A status row.
    Notice,
}

/// Writes rows and collects their losses.
struct RowWriter<'t, 'a> {
    transcript: &'t Transcript<'a>,
    is_native: bool,
    keeps_thoughts: bool,
    /// The id of the thread.
    thread: &'a str,
    /// The ids of all messages, computed on first use.
    taken: OnceCell<Rc<Ids>>,
    tools: ToolIds<'a>,
    /// The time of the message that is being written.
    created: Option<&'a str>,
    losses: Losses,
}

/// Declares what the table has no place for, and ids that are made up for all rows.
fn declare_table(view: &View<'_>, shown: &[&Message], losses: &mut Losses) {
    declare_conversation(view, losses);
    let lacks = if is_native(view) { OWN_LACKS } else { LACKS };
    declare_messages(view, shown, lacks, losses);
    let spelled = shown.iter().map(|message| columns::unwritten(view, message));
    losses.whole_rendering(reasons::CONTENT_IS_WRITTEN_ANEW, spelled.sum());
    let named = shown.iter().filter(|message| has_name(view, message)).count() as u64;
    losses.whole_rendering(reasons::ROWS_KNOW_IDS, named);
    forms::declare_dropped(view, losses);
    let is_nameless = u64::from(view.own_id().is_none() && !shown.is_empty());
    losses.whole_rendering(reasons::ROW_NAMES_ITS_THREAD, is_nameless);
}

/// Whether a conversation was read from such rows.
pub(crate) fn is_native(view: &View<'_>) -> bool {
    view.conversation().keeps_fields_of("suna-rows")
}

fn has_name(view: &View<'_>, message: &Message) -> bool {
    let sender = view.sender(message);
    message.sender_name.is_some()
        || sender.is_some_and(|sender| sender.name.is_some() || sender.alias.is_some())
}

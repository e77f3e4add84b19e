//! The export of a Slack workspace: a folder for each channel with a file for each day, and next to them
//! lists of channels and members, in a zip or unpacked.
//!
//! A message does not name its channel; its folder does. The smallest example,
//! `export/general/2026-01-05.json`:
//!
//! ```json
//! [{"type": "message", "user": "U1", "text": "Who waters the ferns?", "ts": "1767600300.000100"}]
//! ```
//!
//! Rows are grouped by the name of the folder: messages of all days, the channel with that name or id from
//! `channels.json`, `groups.json`, `dms.json` and `mpims.json`, and the members of these channels from
//! `users.json` ([`members`]). `ts` is id and time. Messages with one `thread_ts` are a thread, on any day;
//! `[sources.slack-export] conversation` sets whether a channel, a thread or a day is a conversation
//! ([`division`]). Joins, topics and deletions are notices. Mentions, links and entities in `text` are
//! resolved, and if it is empty the text of the blocks is used ([`words`]). Files of slackdump contain the
//! same messages in another frame ([`dump`]).

mod division;
mod dump;
mod members;
mod messages;
mod tokens;
mod words;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_intake::json::Value;
use chatmill_intake::{RecordSketch, Sketch};
use chatmill_model::FormatTraits;

use crate::base::{id, present, text};
use crate::frame::{ExportPath, FrameView, Reading, Row};
use crate::layout::{best, list};
use crate::rust_format::{Read, RustFormat};
use crate::source::About;
use messages::Reader;

static ABOUT: About = About {
    id: "slack-export",
    title: "Slack export",
    specification: "the export of a Slack workspace, and the dumps and archives of slackdump, versions 2 and 3, as their files are",
    verified: "slackdump 3, 2026-11",
    shapes: &["channel", "direct"],
    carries: "people and bots, text with mentions and links resolved, words of blocks, files by name and address, threads as replies, \
              edits and reactions as extra fields, joins and deletions as notices, ids, times",
    traits: FormatTraits::USUAL,
};

/// The source `slack-export`.
pub static SLACK_EXPORT: RustFormat = RustFormat {
    message_path: Some(|index| Some(format!("$[{index}]"))),
    rows: Some(rows),
    export_path: Some(export_path),
    ignored_kind: Some(|sketch| sketch.records.iter().any(is_log).then_some("Slack log")),
    merges: true,
    ..RustFormat::of(&ABOUT, |sketch| best(sketch, recognise), Read::Stored(read))
};

fn rows(root: Value<'_>) -> Option<Vec<Row>> {
    if let Some(rows) = dump::rows(root) {
        return Some(rows);
    }
    let own = || present(root, "id").and_then(id);
    Some(vec![match kind(root)? {
        Kind::Message => Row::of(text(present(root, "channel_name")), root),
        Kind::Channel => Row::of(text(present(root, "name")).or_else(own), root),
        Kind::Member => Row::shared(own(), root),
    }])
}

fn export_path(sketch: &Sketch, path: &str) -> ExportPath {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    let mut records = sketch.records.iter();
    let is_beside = records.any(|record| is_channel(record) || is_member(record));
    let split = folder.rsplit_once('/').unwrap_or(("", folder));
    let (export, channel) = if is_beside { (folder, "") } else { split };
    ExportPath {
        export: export.to_owned(),
        conversation: channel.to_owned(),
    }
}

fn recognise(record: &RecordSketch) -> Option<(u8, String)> {
    let names = |name: &str| record.names(name);
    let is_message = names("ts")
        && (names("user") || names("bot_id") || names("subtype") || record.has_value("type", &["message"]))
        && (names("text") || names("subtype"));
    if dump::is_one(record) {
        return Some((
            98,
            "the record is a channel or a part of one as slackdump writes them".to_owned(),
        ));
    }
    if is_message {
        return Some((98, "records have ts, text and user".to_owned()));
    }
    if is_channel(record) || is_member(record) {
        return Some((98, "records are channels or members of a workspace".to_owned()));
    }
    is_log(record).then(|| (98, "records are the log of a workspace's integrations".to_owned()))
}

fn is_channel(record: &RecordSketch) -> bool {
    record.names("id") && record.names("created") && record.names("members")
}

fn is_member(record: &RecordSketch) -> bool {
    let has_profile = record.names("profile.real_name") || record.names("profile.display_name");
    record.names("id")
        && has_profile
        && (record.names("team_id") || record.names("is_bot") || record.names("deleted"))
}

fn is_log(record: &RecordSketch) -> bool {
    let has_all = |names: &[&str]| names.iter().all(|name| record.names(name));
    has_all(&["user_id", "user_name", "change_type", "date"])
}

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Channel,
    Member,
}

/// The kind of a row; `None` if it is not a row of Slack.
fn kind(row: Value<'_>) -> Option<Kind> {
    let has = |key: &str| row.get(key).is_some();
    if has("ts") || has("type") && has("text") {
        Some(Kind::Message)
    } else if has("id") && has("profile") {
        Some(Kind::Member)
    } else if has("id") && (has("members") || has("creator") || has("created")) {
        Some(Kind::Channel)
    } else {
        None
    }
}

fn read(frame: FrameView<'_>, limits: &Limits) -> Result<Reading, Box<Finding>> {
    let no_row = "the record is neither a message nor a channel or a member of a workspace";
    let no_row = kind(frame.root()).is_none().then_some(no_row);
    let neither = "the record is not an object";
    let rows = list::rows(frame, "the channel", no_row, neither, limits)?;
    let mut reader = Reader::new(frame, limits);
    for (index, row) in (0..).zip(&rows) {
        reader.beside(index, *row);
    }
    for (index, row) in (0..).zip(&rows) {
        reader.message(index, *row);
    }
    Ok(reader.finish())
}

/// A finding about a missing part of the export.
fn incomplete(text: &str) -> Finding {
    Finding::new(&codes::UNNAMED_MEMBERS, text)
}

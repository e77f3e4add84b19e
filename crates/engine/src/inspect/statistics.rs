//! Statistics of the conversations in files that sources can read, such as exported files.

use std::sync::atomic::AtomicBool;

use chatmill_dataset::overview::cut as shortened;
use chatmill_dataset::statistics::{CHARACTERS, CountedMessage, Statistics, StatisticsSums};
use chatmill_diag::{Limits, cut};
use chatmill_link::ClusterMembership;
use chatmill_model::{Linked, MessageKind, Role};
use chatmill_token::{Counter, Encoding};

use crate::error::ReadError;
use crate::plan::{InputReading, typed_inputs};
use crate::problem::ReadProblems;
use crate::progress::Progress;
use crate::record::Settings;
use crate::walk::{WalkEvent, walk};
use crate::work::overview::OverviewSums;
use chatmill_intake::discover::Links;

/// Statistics of the conversations in some files.
#[derive(Debug)]
pub struct FileStatistics {
    /// The statistics.
    pub statistics: Statistics,
    /// Records in the files.
    pub records: u64,
    /// Records without a readable conversation.
    pub not_read: u64,
    /// The reasons.
    pub problems: ReadProblems,
}

/// Reads files at these literal paths (no globs). Lengths are in tokens of an encoding, else in
/// characters. Names of tools and sources, and first and last turns, are included if `quotes` is set.
pub fn statistics(
    paths: &[String],
    encoding: Option<&Encoding>,
    quotes: bool,
    progress: &dyn Progress,
    stop: &AtomicBool,
) -> Result<FileStatistics, ReadError> {
    let (inputs, notes) = typed_inputs(paths, &InputReading::default(), Links::Refused, true)?;
    progress.stage("inspect", inputs.iter().map(|planned| planned.input.bytes).sum());
    let limits = Limits::default();
    let unit = encoding.map_or(CHARACTERS, |encoding| encoding.name());
    let mut sums = StatisticsSums::new(vec![unit.to_owned()], quotes);
    let counter = encoding.map(Encoding::counter);
    let mut overview = OverviewSums::default();
    let (mut records, mut not_read) = (0, 0);
    let mut problems = ReadProblems {
        notes,
        ..ReadProblems::default()
    };
    walk(&inputs, Settings::plain(&limits), progress, stop, &mut |sight| {
        match sight {
            WalkEvent::Record { is_rejected, .. } => {
                records += 1;
                not_read += u64::from(is_rejected);
            }
            WalkEvent::Conversation { entry, linked, .. } => {
                add(linked, counter.as_deref(), &mut overview, &mut sums);
                // The source that a record states is content, so it is only quoted on request.
                let own = linked.conversation.extra.get("source").filter(|_| quotes);
                let own = own.and_then(|source| serde_json::from_str::<String>(source.as_str()).ok());
                if let Some(source) = own {
                    sums.finish(&shortened(&source));
                } else {
                    let path = cut::at(&inputs, entry.input).name();
                    sums.finish(path.rsplit_once(['/', '\\']).map_or(&*path, |(_, name)| name));
                }
            }
            WalkEvent::ReadProblem(problem) => problems.add(problem),
            WalkEvent::Failed(failure) => problems.failures.push(failure),
            WalkEvent::Entry(_) | WalkEvent::Recognised(_) | WalkEvent::Table { .. } => {}
        }
        true
    })?;
    let overview = overview.overview(&[], quotes);
    Ok(FileStatistics {
        statistics: Statistics {
            roles: overview.roles,
            tools: overview.tools,
            tools_left_out: overview.tools_left_out,
            ..sums.statistics()
        },
        records,
        not_read,
        problems,
    })
}

/// Adds a conversation; the caller then finishes it with the name of its source.
fn add(
    linked: &Linked,
    counter: Option<&dyn Counter>,
    overview: &mut OverviewSums,
    sums: &mut StatisticsSums,
) {
    for message in &linked.conversation.messages {
        let text = message.text();
        let characters = text.chars().count() as u64;
        overview.add_message(linked, message, characters);
        if message.kind == MessageKind::Message {
            let is_turn = matches!(message.role, Role::User | Role::Assistant);
            sums.add(CountedMessage {
                is_answer: message.role == Role::Assistant,
                turn: is_turn.then_some(&*text),
                lengths: &[counter.map_or(characters, |counter| counter.count(&text))],
            });
        }
    }
    overview.add_conversation("", "", linked, &ClusterMembership::default(), 0);
}

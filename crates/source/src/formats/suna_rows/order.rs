//! Arranges rows into messages: repeated rows, pieces of streams, times.

use std::collections::{BTreeMap, HashMap, HashSet};

use chatmill_diag::RowLedger;
use chatmill_diag::{Code, Finding, Limits, codes};
use chatmill_intake::json::Mark;
use chatmill_model::json::push_compact;

use super::row::{Row, Stream};
use crate::base::{Notes, repeats, times};

/// The rows that make one message.
#[derive(Debug)]
pub(super) struct Step<'r, 'd> {
    /// The row that is the message, or the first piece of an answer.
    pub row: &'r Row<'d>,
    /// Further pieces of the answer.
    pub pieces: Vec<&'r Row<'d>>,
    /// Whether only pieces of the answer are stored.
    pub is_unfinished: bool,
}

/// Drops repeated rows, sorts by `created_at`, and joins the pieces of answers that are stored in pieces only.
pub(super) fn arrange<'r, 'd>(
    rows: &'r [Row<'d>],
    notes: &mut Notes,
    ledger: &mut RowLedger,
    limits: &Limits,
) -> Vec<Step<'r, 'd>> {
    let streams: Vec<Stream> = rows
        .iter()
        .map(|row| match (row.word.as_deref(), row.columns.metadata) {
            (Some("assistant"), Some(beside)) if beside.written().contains("stream_status") => {
                row.stream(limits)
            }
            _ => Stream::default(),
        })
        .collect();
    let chosen = without_repeats(rows, &streams, notes, ledger);
    let in_order = chosen.iter().filter_map(|at| rows.get(*at));
    let keys = times::keys(in_order.map(|row| row.columns.created));
    let mut order: Vec<(i64, usize)> = keys.into_iter().zip(chosen).collect();
    order.sort_by_key(|(key, _)| *key);
    let order: Vec<usize> = order.into_iter().map(|(_, at)| at).collect();
    let joined = if streams.iter().any(|stream| stream.is_chunk) {
        join(rows, &streams, order, limits)
    } else {
        order.into_iter().map(|at| (at, Vec::new())).collect()
    };
    let steps = joined.into_iter().filter_map(|(at, pieces)| {
        Some(Step {
            row: rows.get(at)?,
            pieces: pieces.into_iter().filter_map(|at| rows.get(at)).collect(),
            is_unfinished: streams.get(at)?.is_chunk,
        })
    });
    let steps: Vec<Step<'r, 'd>> = steps.collect();
    let counted = ledger.rejected + ledger.repeated + steps.len() as u64;
    ledger.merged += ledger.rows.saturating_sub(counted);
    steps
}

/// Indexes of the rows to keep. Of several rows with one id, one that was updated later replaces the earlier one.
fn without_repeats(
    rows: &[Row<'_>],
    streams: &[Stream],
    notes: &mut Notes,
    ledger: &mut RowLedger,
) -> Vec<usize> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut pieces: HashSet<String> = HashSet::new();
    let mut chosen: Vec<usize> = Vec::with_capacity(rows.len());
    let mut bodies: HashMap<usize, String> = HashMap::new();
    for (at, (row, stream)) in rows.iter().zip(streams).enumerate() {
        if stream.is_chunk {
            // Pieces share the id of their answer; only a sequence number distinguishes a repeat from equal words.
            let is_numbered = row.columns.others.iter().any(|(key, _)| key == "sequence");
            if is_numbered && !pieces.insert(compact(row)) {
                row.value.mark(Mark::Taken);
                let text = "this chunk repeats an earlier one";
                note(notes, row, text, &codes::REPEATED_ROW);
                ledger.repeated += 1;
                continue;
            }
        } else if let Some(id) = row.id.as_deref() {
            if let Some(place) = places.get(id) {
                choose_version(rows, at, chosen.get_mut(*place), &mut bodies, notes);
                ledger.repeated += 1;
                continue;
            }
            places.insert(id, chosen.len());
        }
        chosen.push(at);
    }
    chosen
}

/// Decides between a kept row and a later one with the same id; `bodies` caches the bodies of kept rows.
fn choose_version(
    rows: &[Row<'_>],
    at: usize,
    chosen: Option<&mut usize>,
    bodies: &mut HashMap<usize, String>,
    notes: &mut Notes,
) {
    let Some(chosen) = chosen else { return };
    let (Some(first), Some(second)) = (rows.get(*chosen), rows.get(at)) else {
        return;
    };
    let body = bodies.entry(*chosen).or_insert_with(|| compact(first));
    let (dropped, stays, text, code) = if *body == compact(second) {
        let text = "the row repeats an earlier one";
        (second, first, text, &codes::REPEATED_ROW)
    } else if times::order(second.columns.updated) > times::order(first.columns.updated) {
        *chosen = at;
        let text = "another row with this id has another body and was updated later: that one is kept";
        (first, second, text, &codes::DIFFERING_ROW)
    } else {
        let text = "the row has the id of an earlier one with another body and was not updated later: the earlier one \
                    is kept";
        (second, first, text, &codes::DIFFERING_ROW)
    };
    note(notes, dropped, text, code);
    repeats(dropped.value, stays.value);
}

fn note(notes: &mut Notes, row: &Row<'_>, text: &str, code: &'static Code) {
    let finding = Finding::new(code, text).at_path(format!("$[{}]", row.index));
    notes.push(finding, Some(row.value));
}

fn compact(row: &Row<'_>) -> String {
    let mut text = String::new();
    push_compact(&mut text, row.value.written());
    text
}

/// Groups the pieces of each answer with its first piece, or drops them if the whole answer is stored.
fn join(
    rows: &[Row<'_>],
    streams: &[Stream],
    order: Vec<usize>,
    limits: &Limits,
) -> Vec<(usize, Vec<usize>)> {
    let is_chunk = |at: usize| streams.get(at).is_some_and(|stream| stream.is_chunk);
    let whole: HashSet<&str> = order
        .iter()
        .filter(|at| !is_chunk(**at))
        .filter_map(|at| rows.get(*at)?.id.as_deref())
        .collect();
    // Incomplete answers, by the id or run that their pieces share, with their positions in `joined`.
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut joined: Vec<Option<(usize, Vec<usize>)>> = Vec::with_capacity(order.len());
    for at in order {
        let (Some(row), Some(stream)) = (rows.get(at), streams.get(at)) else {
            continue;
        };
        if stream.is_chunk {
            if row.id.as_deref().is_some_and(|id| whole.contains(id)) {
                row.repeats_whole(limits);
                continue;
            }
            let key = match (&row.id, &stream.run) {
                (Some(id), _) => format!("message {id}"),
                (None, Some(run)) => format!("run {run}"),
                (None, None) => String::new(),
            };
            let begun = open.get(&key).and_then(|place| joined.get_mut(*place)?.as_mut());
            if let Some((_, pieces)) = begun {
                pieces.push(at);
            } else {
                open.insert(key, joined.len());
                joined.push(Some((at, Vec::new())));
            }
            continue;
        }
        match row.word.as_deref() {
            // The whole answer of a run takes the place of the pieces before it.
            Some("assistant") => {
                let run = row.stream(limits).run.map(|run| format!("run {run}"));
                for key in run.into_iter().chain([String::new()]) {
                    let begun = open.remove(&key).and_then(|place| joined.get_mut(place)?.take());
                    let Some((first, pieces)) = begun else { continue };
                    for at in std::iter::once(first).chain(pieces) {
                        rows.get(at).inspect(|piece| piece.repeats_whole(limits));
                    }
                }
            }
            Some("user") => {
                open.remove("");
            }
            _ => {}
        }
        joined.push(Some((at, Vec::new())));
    }
    joined.into_iter().flatten().collect()
}

//! Joins the pieces of an answer. One answer of a model is one turn, even if a program records it in pieces.
//!
//! Programs record a call when they start the tool, and the text and the reasoning of the same answer when the answer ends, so that
//! pieces of one answer follow the results of its calls or are between a call and its result. If the program marks the end of an
//! answer, the marks decide. Otherwise a piece belongs to the answer before it while a call of that answer has no result yet: a model
//! is not asked again before it has all results. A turn of another speaker always separates.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use chatmill_diag::{Path, steps};
use chatmill_model::{Message, MessageKind, Part, Role};

use super::ListReader;

/// Facts about the answers of a model in a list of messages.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Whether an answer may be in several messages; in chats and in tables of messages each message is whole.
    pub in_pieces: bool,
    /// The positions before which an answer ends, if the source marks them.
    pub ends: Vec<usize>,
}

/// Joins the messages of each answer: the pieces become parts of the first, in the order of the record.
pub(super) fn join(list: &mut ListReader<'_, '_>) {
    let Some(heads) = heads(list) else { return };
    let mut places: Vec<u32> = Vec::with_capacity(heads.len());
    let mut joined: Vec<Message> = Vec::with_capacity(heads.len());
    let messages = std::mem::take(&mut list.messages);
    let pieces: HashMap<u32, u64> = (0..)
        .zip(heads.iter().zip(&messages))
        .filter(|(position, (head, _))| *position as usize != **head)
        .map(|(position, (_, message))| (position, message.origin.start))
        .collect();
    for ((position, mut message), head) in messages.into_iter().enumerate().zip(heads) {
        let place = places.get(head).copied().filter(|_| head != position);
        let own = place.and_then(|place| joined.get_mut(place as usize));
        let (Some(place), Some(own)) = (place, own) else {
            places.push(joined.len() as u32);
            message.position = joined.len() as u32;
            joined.push(message);
            continue;
        };
        places.push(place);
        list.rows.messages -= 1;
        list.rows.merged += 1;
        own.origin.end = own.origin.end.max(message.origin.end);
        merge_piece(own, message, list.rows.merged);
    }
    list.messages = joined;
    let place = |position: u32| places.get(position as usize).copied();
    let frame = list.frame;
    for finding in &mut list.notes.findings {
        let Some(position) = finding.position else {
            continue;
        };
        if let (Path::InMessage(suffix), Some(start)) = (&finding.path, pieces.get(&position)) {
            let at = usize::try_from(start.saturating_sub(frame.start)).unwrap_or_default();
            finding.path = Path::Absolute(format!("{}{suffix}", frame.document.path_at(at)));
        }
        finding.position = place(position).or(finding.position);
    }
    let of = |position: usize| places.get(position).map_or(position, |place| *place as usize);
    list.shared
        .iter_mut()
        .for_each(|position| *position = of(*position));
    list.shared.dedup();
    for alternative in &mut list.alternatives {
        let Range { start, end } = alternative.place.clone();
        let behind = end.checked_sub(1).filter(|last| *last >= start).and_then(place);
        alternative.place = place(start).unwrap_or(start)..behind.map_or(end, |last| last + 1);
    }
}

/// Adds a piece to an answer. `number` distinguishes the paths of its extra fields from those of other pieces. The caller decides the
/// place of the answer.
pub(crate) fn merge_piece(answer: &mut Message, piece: Message, number: u64) {
    // The logged usage in the extra fields belongs to the usage that is taken over.
    let is_logged = answer.usage.is_none() && piece.usage.is_some();
    let rest = piece.extra.0.into_iter().map(|(path, raw)| match path.as_str() {
        "usage" if is_logged => (path, raw),
        _ => (format!("items[{number}].{path}"), raw),
    });
    answer.extra.0.extend(rest);
    answer.id = answer.id.take().or(piece.id);
    answer.usage = answer.usage.or(piece.usage);
    answer.model = answer.model.take().or(piece.model);
    answer.answer = answer.answer.take().or(piece.answer);
    answer.references.extend(piece.references);
    answer.parts.extend(piece.parts);
}

/// Adds what continues an answer wherever a stream was cut: a text or a thought that the cut divided is one.
pub(crate) fn merge_continuation(answer: &mut Message, mut piece: Message, number: u64) {
    match (answer.parts.last_mut(), piece.parts.first_mut()) {
        (Some(Part::Text(text)), Some(Part::Text(more)))
        | (Some(Part::Reasoning(text)), Some(Part::Reasoning(more))) => {
            text.push_str(more);
            piece.parts.remove(0);
        }
        _ => {}
    }
    merge_piece(answer, piece, number);
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.kind == MessageKind::Message
}

/// Ids of the calls, or of the results, of a message.
fn ids(message: &Message, of: fn(&Part) -> Option<&str>) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(of).filter(|id| !id.is_empty())
}

fn call_id(part: &Part) -> Option<&str> {
    match part {
        Part::ToolCall(call) => call.known_id(),
        _ => None,
    }
}

fn result_id(part: &Part) -> Option<&str> {
    match part {
        Part::ToolResult(result) => result.known_id(),
        _ => None,
    }
}

/// For each message the position of the first one of its answer; `None` if every message is whole.
fn heads(list: &ListReader<'_, '_>) -> Option<Vec<usize>> {
    if !list.answers.in_pieces {
        return None;
    }
    let (messages, ends) = (&list.messages, &list.answers.ends);
    let places = list.alternatives.iter().map(|alternative| &alternative.place);
    let mut boundaries: BTreeSet<usize> = places
        .flat_map(|place| [place.start as usize, place.end as usize])
        .collect();
    boundaries.extend(ends);
    // Turns of other speakers.
    for (position, message) in messages.iter().enumerate() {
        let is_other = matches!(message.role, Role::User | Role::System);
        if is_other && message.kind == MessageKind::Message {
            boundaries.extend([position, position + 1]);
        }
    }
    boundaries.insert(messages.len());
    let ends: HashSet<usize> = ends.iter().copied().collect();
    let shared: HashSet<usize> = list.shared.iter().copied().collect();
    let mut heads: Vec<usize> = (0..messages.len()).collect();
    let mut begin = 0;
    for end in boundaries {
        let section = || (begin..end).zip(messages.iter().skip(begin));
        let is_marked = ends.contains(&end);
        // The positions of the results of each call, which may be several because programs reuse ids.
        let mut results: HashMap<&str, Vec<usize>> = HashMap::new();
        if section()
            .filter(|(_, message)| is_answer(message))
            .nth(1)
            .is_some()
        {
            steps::taken(end - begin);
            for (position, message) in section() {
                for id in ids(message, result_id) {
                    results.entry(id).or_default().push(position);
                }
            }
        }
        let result_behind = |id: &str, position: usize| {
            let all = results.get(id)?;
            all.get(all.partition_point(|result| *result <= position))
                .copied()
        };
        let mut answer: Option<OpenAnswer<'_>> = None;
        for (position, message) in section().filter(|(_, message)| is_answer(message)) {
            let waits_until = ids(message, call_id)
                .filter_map(|id| result_behind(id, position))
                .max()
                .unwrap_or_default();
            let before = answer.as_mut().filter(|answer| {
                shared.contains(&answer.head) == shared.contains(&position)
                    && answer.continues(message, position, is_marked)
            });
            match before {
                Some(answer) => {
                    if let Some(head) = heads.get_mut(position) {
                        *head = answer.head;
                    }
                    answer.waits_until = answer.waits_until.max(waits_until);
                    answer.last = message;
                }
                None => {
                    answer = Some(OpenAnswer {
                        head: position,
                        last: message,
                        waits_until,
                    });
                }
            }
        }
        begin = end;
    }
    let is_whole = heads.iter().enumerate().all(|(position, head)| position == *head);
    (!is_whole).then_some(heads)
}

/// An answer, as far as it has been read.
struct OpenAnswer<'m> {
    head: usize,
    /// Its last piece so far.
    last: &'m Message,
    /// The position of the last result of its calls; 0 if there is none.
    waits_until: usize,
}

impl OpenAnswer<'_> {
    /// Whether a message is a further piece of the answer.
    fn continues(&self, message: &Message, position: usize, is_marked: bool) -> bool {
        let last = self.last;
        if last.sender != message.sender || last.weight != message.weight {
            return false;
        }
        match (&last.answer, &message.answer) {
            (Some(one), Some(other)) => one == other,
            _ if is_marked => true,
            _ => {
                let is_other =
                    matches!((&last.model, &message.model), (Some(one), Some(other)) if one != other);
                self.waits_until > position && !is_other && last.usage.is_none()
            }
        }
    }
}

//! The whole path of a record: scan, source, linking, rules, every dialect and the counts; alone, and as gathered rows.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use chatmill_diag::Limits;
use chatmill_dialect::policy::{
    ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Policy, Reasoning, References, System,
    TurnsInARow,
};
use chatmill_dialect::{
    CutPoints, Cuts, Dialect, History, Rendering, Shared, Targets, View, Window, WindowMode,
    auto_perspective, window,
};
use chatmill_engine::record::{self, Group, GroupRow, Located, RecordOutcome, RowPlace, Settings};
use chatmill_intake::{Form, Frame, json};
use chatmill_model::{Linked, MessageKind, Sink};
use chatmill_source::Source;
use chatmill_token::Counter;
use serde::de::IgnoredAny;

/// The assumed offset of the record in its file; it is not 0, so that a missing addition shows.
const START: u64 = 1_000;

/// The number of participants with a perspective that is tried.
const PERSPECTIVES: usize = 2;

pub(super) fn check(bytes: &[u8]) {
    let frame = frame(bytes);
    let limits = Limits {
        references_per_message: 50,
        findings_per_code: 20,
        ..Limits::default()
    };
    for source in chatmill_source::SOURCES {
        let outcome = record::read(Ok(*source), &frame, bytes, Settings::plain(&limits));
        for outcome in std::iter::once(&outcome).chain(&outcome.also) {
            accounts(outcome, &frame, source.id());
            if let Some(linked) = &outcome.linked {
                linking(linked);
                renderings(linked, bytes);
            }
        }
        grouped_rows(*source, bytes, outcome.linked.is_none(), &limits);
    }
}

/// Cuts the record into rows, if the source does that, and reads each conversation's rows twice: the places of findings must be inside the
/// rows, and repeated rows must be accounted for. A record that was rendered before (`!is_new`) is not rendered again.
fn grouped_rows(source: &'static dyn Source, bytes: &[u8], is_new: bool, limits: &Limits) {
    let Ok(document) = json::scan(bytes, limits.depth) else {
        return;
    };
    let Some(rows) = source.rows(&document) else {
        return;
    };
    // A row may contain the rows after it, as the first message of a thread contains its replies.
    let (mut outer, mut inner) = (0..0, 0);
    let mut groups: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    let mut shared: Vec<(usize, usize)> = Vec::new();
    for row in rows {
        let is_inside = row.span.start > outer.start && row.span.end < outer.end;
        let end = if is_inside { inner } else { outer.end };
        assert!(
            row.span.start >= end && row.span.end <= bytes.len(),
            "{}: {:?}",
            source.id(),
            row.span
        );
        if is_inside {
            inner = row.span.end;
        } else {
            (inner, outer) = (row.span.start, row.span.clone());
        }
        if row.keys.is_empty() {
            shared.push((row.span.start, row.span.end));
        }
        for key in row.keys {
            groups
                .entry(key)
                .or_default()
                .push((row.span.start, row.span.end));
        }
    }
    if !shared.is_empty() {
        groups.entry(String::new()).or_default();
    }
    for (key, mut spans) in groups {
        spans.extend_from_slice(&shared);
        let (group, buffer) = group(source, key, &spans, bytes);
        let outcome = group.read(&buffer, Settings::plain(limits));
        let all = || std::iter::once(&outcome).chain(&outcome.also);
        assert!(
            all().all(|outcome| outcome.rows.balances()),
            "{}: {:?}",
            source.id(),
            outcome.rows
        );
        let is_rejected = outcome.linked.is_none() && !outcome.rejects.is_empty();
        let rows: u64 = all().map(|outcome| outcome.rows.rows).sum();
        if !is_rejected && !source.has_scattered_messages() {
            assert_eq!(rows, group.rows.len() as u64, "{}", source.id());
        }
        let rejects = all().flat_map(|outcome| outcome.rejects.iter().map(|(_, located)| located));
        let findings = all().flat_map(|outcome| &outcome.findings);
        for located in findings.chain(rejects) {
            let span = located.span.expect("a finding in rows has a place");
            let is_in_a_row = spans
                .iter()
                .any(|(start, end)| span.start >= START + *start as u64 && span.end <= START + *end as u64);
            assert!(is_in_a_row, "{}: {span:?} of {spans:?}", source.id());
        }
        for linked in all().filter_map(|outcome| outcome.linked.as_ref()) {
            linking(linked);
            if is_new {
                renderings(linked, &buffer);
            }
        }
    }
}

/// The rows at these places, each of them twice, in the form in which the engine gathers rows.
fn group(
    source: &'static dyn Source,
    key: String,
    spans: &[(usize, usize)],
    bytes: &[u8],
) -> (Group, Vec<u8>) {
    let mut buffer = Vec::new();
    let mut rows = Vec::new();
    for (start, end) in spans.iter().chain(spans) {
        buffer.push(if buffer.is_empty() { b'[' } else { b',' });
        let inside = buffer.len();
        buffer.extend_from_slice(&bytes[*start..*end]);
        rows.push(GroupRow {
            inside: inside..buffer.len(),
            place: RowPlace {
                entry: 0,
                record: 0,
                start: START + *start as u64,
                end: START + *end as u64,
                bytes: (end - start) as u64,
                line: 3,
                column: 5,
                form: Form::Original,
                counts: true,
            },
        });
    }
    buffer.push(b']');
    let group = Group {
        source,
        key: Some(key).filter(|key| !key.is_empty()),
        table: None,
        rows,
        buffer: 0..buffer.len(),
    };
    (group, buffer)
}

/// Whether any source makes a conversation from a record.
pub(super) fn is_read(bytes: &[u8]) -> bool {
    let frame = frame(bytes);
    let read = |source: &&dyn Source| {
        let limits = Limits::default();
        let is_cut =
            || json::scan(bytes, limits.depth).is_ok_and(|document| source.rows(&document).is_some());
        let outcome = record::read(Ok(*source), &frame, bytes, Settings::plain(&limits));
        outcome.linked.is_some() || is_cut()
    };
    chatmill_source::SOURCES.iter().any(read)
}

fn frame(bytes: &[u8]) -> Frame {
    Frame {
        record: 7,
        start: START,
        end: START + bytes.len() as u64,
        line: 3,
        column: 5,
        buffer: 0..bytes.len(),
        form: Form::Original,
    }
}

fn accounts(outcome: &RecordOutcome, frame: &Frame, source: &str) {
    assert!(outcome.rows.balances(), "{source}: {:?}", outcome.rows);
    for located in outcome
        .findings
        .iter()
        .chain(outcome.rejects.iter().map(|(_, located)| located))
    {
        place(located, frame);
    }
    for (reject, _) in &outcome.rejects {
        assert!(
            reject.span.start >= frame.start && reject.span.end <= frame.end,
            "{:?}",
            reject.span
        );
        assert!(reject.head.len() as u64 <= reject.span.end - reject.span.start);
    }
    match &outcome.linked {
        None => assert_eq!(
            outcome.rejects.len(),
            1,
            "{source}: a rejected record is one reject"
        ),
        Some(linked) => {
            let notices = linked
                .conversation
                .messages
                .iter()
                .filter(|message| message.kind == MessageKind::Notice);
            let notices = notices.count() as u64;
            let all = linked.conversation.messages.len() as u64;
            assert_eq!(
                (outcome.rows.messages, outcome.rows.notices),
                (all - notices, notices),
                "{source}"
            );
        }
    }
}

fn place(located: &Located, frame: &Frame) {
    let span = located.span.expect("a finding in a record has a place");
    let name = located.finding.code.name;
    assert!(
        span.start >= frame.start && span.end <= frame.end && span.start <= span.end,
        "{name}: {span:?}"
    );
    let (line, column) = located.line_column.expect("a place has a line");
    assert!(
        line >= frame.line && (line > frame.line || column >= frame.column),
        "{name}: {line}:{column}"
    );
    assert!(
        located.finding.count > 0 && !located.finding.message.is_empty(),
        "{name}"
    );
}

fn linking(linked: &Linked) {
    let conversation = &linked.conversation;
    assert_eq!(linked.links.len(), conversation.messages.len());
    for (position, (message, links)) in conversation.messages.iter().zip(&linked.links).enumerate() {
        assert_eq!(message.position as usize, position);
        assert_eq!(message.references.len(), links.len());
        assert!(
            message
                .sender
                .is_none_or(|sender| sender < conversation.participants.len())
        );
        for link in links {
            assert!(
                link.target
                    .is_none_or(|target| (target as usize) < conversation.messages.len())
            );
        }
    }
}

fn renderings(linked: &Linked, bytes: &[u8]) {
    // The bytes decide which of the many combinations is tried.
    let dice = blake3::hash(bytes);
    let dice = dice.as_bytes();
    let policies = [Policy::default(), policy(dice)];
    let history = match dice[0] % 4 {
        0 => History::All,
        1 => History::Messages(u32::from(dice[1] % 5)),
        _ => History::Document,
    };
    let mut perspectives = vec![auto_perspective(linked), None];
    perspectives.extend((0..linked.conversation.participants.len().min(PERSPECTIVES)).map(Some));
    perspectives.dedup();
    let boundaries = CutPoints::of(linked);
    let cuts = Cuts {
        session_gap: (dice[11].is_multiple_of(2)).then(|| i64::from(dice[12]) << (dice[13] % 48)),
        mode: [WindowMode::Document, WindowMode::PerTurn, WindowMode::Consecutive][usize::from(dice[14]) % 3],
        targets: Targets::Answers,
        placeholders: chatmill_dialect::Placeholders::Alone,
        ..Cuts::default()
    };
    for (turn, perspective) in perspectives.into_iter().enumerate() {
        let windows = window::window_ranges(linked, &boundaries, perspective, cuts).ranges;
        let mut window_range = windows.get(usize::from(dice[15]) % windows.len().max(1)).copied();
        if let Some(window_range) = window_range.as_mut().filter(|_| dice[16].is_multiple_of(2)) {
            let starts = window::turn_starts(linked, &boundaries, perspective);
            let later = starts.get(usize::from(dice[17]) % starts.len().max(1));
            window_range.start = window_range
                .start
                .max(later.copied().unwrap_or_default().min(window_range.end));
        }
        let policy = &policies[turn % policies.len()];
        for dialect in chatmill_dialect::DIALECTS {
            let profiles = dialect.about().profiles;
            let dialect = profiles[usize::from(dice[2]) % profiles.len()];
            let shared: Rc<Shared> = Rc::default();
            let view = View {
                history,
                window: window_range
                    .filter(|_| dice[18].is_multiple_of(2))
                    .map(|range| Window {
                        range,
                        shared: Rc::clone(&shared),
                    }),
                ..View::whole(linked, perspective, policy)
            };
            let mut ordinal = 0;
            dialect.render_each(&view, &mut |sink, rendering| {
                assert_eq!(rendering.ordinal, ordinal, "{}", dialect.id());
                ordinal += 1;
                check_rendering(dialect, linked, sink, &rendering);
            });
        }
    }
}

fn policy(dice: &[u8; 32]) -> Policy {
    Policy {
        names: [Names::Auto, Names::Field, Names::Prefix, Names::Drop][usize::from(dice[3] % 4)],
        references: [References::Quote, References::Drop][usize::from(dice[4] % 2)],
        media: [MediaPolicy::Keep, MediaPolicy::Placeholder, MediaPolicy::Drop][usize::from(dice[5] % 3)],
        reasoning: [Reasoning::Keep, Reasoning::Drop][usize::from(dice[6] % 2)],
        orphans: [Orphans::Repair, Orphans::Drop, Orphans::Reject][usize::from(dice[7] % 3)],
        control_tokens: [ControlTokens::Escape, ControlTokens::Keep][usize::from(dice[8] % 2)],
        system: [System::Source, System::Agent, System::None][usize::from(dice[9] % 3)],
        leaked_metadata: [LeakedMetadata::Clean, LeakedMetadata::Keep][usize::from(dice[10] % 2)],
        turns: [TurnsInARow::Keep, TurnsInARow::Merge][usize::from(dice[19] % 2)],
        ..Policy::default()
    }
}

fn check_rendering(dialect: &Dialect, linked: &Linked, sink: &Sink<'_>, rendering: &Rendering) {
    let id = dialect.id();
    let messages = linked.conversation.messages.len();
    let (text, spans) = (sink.text(), sink.spans());
    if dialect.about().media_type == "application/json" {
        let parsed = serde_json::from_str::<IgnoredAny>(text);
        assert!(parsed.is_ok(), "{id}: {parsed:?}: {text}");
    }
    assert!(spans.is_sorted_by(|one, next| one.end < next.end), "{id}");
    assert_eq!(spans.last().map_or(0, |span| span.end), text.len(), "{id}");
    for position in [rendering.first_position, rendering.last_position]
        .into_iter()
        .flatten()
    {
        assert!(
            (position as usize) < messages,
            "{id}: position {position} of {messages}"
        );
    }
    assert!(
        rendering.messages_rendered as usize <= messages,
        "{id}: {} of {messages}",
        rendering.messages_rendered
    );
    assert!(
        rendering.assistant_messages <= rendering.messages_rendered,
        "{id}"
    );
    for loss in &rendering.losses {
        assert!(loss.amount > 0, "{id}: {loss:?}");
        assert!(
            loss.position
                .is_none_or(|position| (position as usize) < messages),
            "{id}: {loss:?}"
        );
    }
    assert!(
        rendering
            .violations
            .iter()
            .all(|violation| !violation.rule.is_empty()),
        "{id}"
    );
    let token_counts = counter().token_counts(text, spans);
    assert_eq!(token_counts.parts.total(), token_counts.tokens, "{id}");
    assert!(
        token_counts.assistant_content <= token_counts.parts.content,
        "{id}"
    );
    if spans.iter().all(|span| !span.control) {
        assert_eq!(token_counts.tokens, counter().count(text), "{id}: {text}");
    }
}

fn counter() -> &'static dyn Counter {
    static COUNTER: OnceLock<Arc<dyn Counter>> = OnceLock::new();
    COUNTER
        .get_or_init(|| chatmill_token::find("r50k_base").expect("the encoding").counter())
        .as_ref()
}

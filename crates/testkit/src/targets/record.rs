//! A record's whole way: scan, source, linking, rules, every dialect and the counts.

use std::sync::{Arc, OnceLock};

use chatmill_diag::Limits;
use chatmill_dialect::policy::{
    ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Policy, Reasoning, References, System,
};
use chatmill_dialect::{Dialect, History, Rendering, View, auto_perspective};
use chatmill_engine::frame::{self, Outcome};
use chatmill_engine::locate::Located;
use chatmill_intake::Frame;
use chatmill_model::{Linked, MessageKind};
use chatmill_source::Source;
use chatmill_token::Counter;
use serde::de::IgnoredAny;

/// Where the record pretends to start in its file, so that a forgotten offset shows.
const START: u64 = 1_000;

/// Participants whose perspective is tried.
const PERSPECTIVES: usize = 2;

pub(super) fn check(bytes: &[u8]) {
    let frame = frame(bytes);
    let limits = Limits {
        references_per_message: 50,
        findings_per_code: 20,
        ..Limits::default()
    };
    for source in chatmill_source::SOURCES {
        let outcome = frame::read(*source, &frame, bytes, &limits);
        accounts(&outcome, &frame, source.id());
        if let Some(linked) = &outcome.linked {
            linking(linked);
            renderings(linked, bytes);
        }
    }
}

/// Whether any source makes a conversation of a record.
pub(super) fn is_read(bytes: &[u8]) -> bool {
    let frame = frame(bytes);
    let read = |source: &&dyn Source| {
        frame::read(*source, &frame, bytes, &Limits::default())
            .linked
            .is_some()
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
        derived: false,
    }
}

fn accounts(outcome: &Outcome, frame: &Frame, source: &str) {
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
    // Which of the many combinations is tried follows from the bytes.
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
    for (turn, perspective) in perspectives.into_iter().enumerate() {
        let policy = &policies[turn % policies.len()];
        for dialect in chatmill_dialect::DIALECTS {
            let profiles = dialect.about().profiles;
            let profile = profiles[usize::from(dice[2]) % profiles.len()];
            let view = View {
                linked,
                perspective,
                policy,
                profile,
                history,
            };
            let mut ordinal = 0;
            dialect.render(&view, &mut |rendering| {
                assert_eq!(rendering.ordinal, ordinal, "{}", dialect.id());
                ordinal += 1;
                judge(*dialect, linked, &rendering);
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
        ..Policy::default()
    }
}

fn judge(dialect: &dyn Dialect, linked: &Linked, rendering: &Rendering<'_>) {
    let id = dialect.id();
    let messages = linked.conversation.messages.len();
    let (mut text, mut spans) = (String::new(), Vec::new());
    rendering.rope.write(&mut text, &mut spans);
    if dialect.about().media_type == "application/json" {
        let parsed = serde_json::from_str::<IgnoredAny>(&text);
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
        assert!(loss.amount > 0 && !loss.reason.is_empty(), "{id}: {loss:?}");
        assert!(
            loss.position
                .is_none_or(|position| (position as usize) < messages),
            "{id}: {loss:?}"
        );
    }
    assert!(
        rendering.violations.iter().all(|violation| !violation.is_empty()),
        "{id}"
    );
    let tally = counter().tally(&text, &spans);
    assert_eq!(tally.parts(), tally.tokens, "{id}");
    assert!(tally.assistant_content <= tally.content, "{id}");
    if rendering.rope.segments().iter().all(|segment| !segment.control) {
        assert_eq!(tally.tokens, counter().count(&text), "{id}: {text}");
    }
}

fn counter() -> &'static dyn Counter {
    static COUNTER: OnceLock<Arc<dyn Counter>> = OnceLock::new();
    COUNTER
        .get_or_init(|| chatmill_token::find("r50k_base").expect("the encoding").counter())
        .as_ref()
}

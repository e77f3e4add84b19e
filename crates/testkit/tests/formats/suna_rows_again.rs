//! Rows of Suna that are read, written and read again: the same messages come out.

use chatmill_diag::Limits;
use chatmill_dialect::{History, LossCode, Policy, View, find};
use chatmill_intake::json;
use chatmill_model::{Linked, Message, Part};
use chatmill_source::FrameView;
use chatmill_testkit::workshop::samples;

fn read(text: &str) -> Option<Linked> {
    let limits = Limits::default();
    let document = json::scan(text.as_bytes(), limits.depth).ok()?;
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let source = chatmill_source::find("suna-rows").unwrap();
    let reading = source.read(&frame, &limits);
    let linked = chatmill_link::link(reading.conversation?, &limits).0;
    (!linked.conversation.messages.is_empty()).then_some(linked)
}

fn write(linked: &Linked) -> (String, Vec<LossCode>) {
    let (dialect, profile) = find("suna-rows").unwrap();
    let policy = Policy::default();
    let view = View {
        linked,
        perspective: None,
        policy: &policy,
        profile,
        history: History::Document,
        window: None,
    };
    let mut out = None;
    dialect.render(&view, &mut |rendering| {
        let codes = rendering.losses.iter().map(|loss| loss.code).collect();
        out = Some((rendering.rope.text(), codes));
    });
    out.unwrap()
}

/// What a message is, less what the dialect declares as lost.
fn essence(linked: &Linked, message: &Message, codes: &[LossCode]) -> String {
    let sender = message.sender.map(|sender| {
        let participant = &linked.conversation.participants[sender];
        (&participant.id, participant.kind)
    });
    let has = |code: LossCode| codes.contains(&code);
    let mut parts: Vec<String> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Reasoning(_) if has(LossCode::ReasoningDropped) => None,
            Part::Media(_) if has(LossCode::MediaDropped) => None,
            Part::Media(_) => Some("text".to_owned()),
            Part::Text(_) if has(LossCode::MediaPlaceholder) => Some("text".to_owned()),
            Part::ToolCall(call) => {
                // Arguments are text in a row's content, and an id of the metadata is the id there.
                let id = call.id.as_ref().or(call.metadata_id.as_ref());
                let id = id.filter(|_| !has(LossCode::ToolIdRewritten));
                let name = call.name.as_ref().filter(|_| !has(LossCode::ToolNameRewritten));
                let arguments = call.arguments.source_text().replace(char::is_whitespace, "");
                Some(format!("call {id:?} {name:?} {arguments}"))
            }
            Part::ToolResult(result) => Some(format!("result {:?}", result.content)),
            other => Some(format!("{other:?}")),
        })
        .collect();
    if has(LossCode::PartMoved) {
        parts.sort();
    }
    let time = message.timestamp.as_ref().map(|time| &time.raw);
    let kind = message.kind.as_str();
    format!(
        "{:?} {kind} {:?} {sender:?} {time:?} {parts:?}",
        message.id, message.role
    )
}

#[test]
fn the_same_messages_come_out() {
    let mut seen = 0;
    for entry in std::fs::read_dir(samples().join("sources/suna-rows")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let Some(linked) = read(&text) else {
            continue;
        };
        let (written, codes) = write(&linked);
        let again = read(&written).unwrap_or_else(|| panic!("{name}: {written}"));
        let messages = &linked.conversation.messages;
        assert_eq!(
            messages.len(),
            again.conversation.messages.len(),
            "{name}: {written}"
        );
        for (before, after) in messages.iter().zip(&again.conversation.messages) {
            if before.id.is_none() {
                continue;
            }
            assert_eq!(
                essence(&linked, before, &codes),
                essence(&again, after, &codes),
                "{name}"
            );
        }
        let statuses = |linked: &Linked| -> Vec<_> {
            linked
                .pairings
                .iter()
                .map(|pairing| {
                    let ends = [pairing.call, pairing.result];
                    (ends.map(|end| end.map(|place| place.position)), pairing.status)
                })
                .collect()
        };
        if codes.contains(&LossCode::ReasoningDropped) {
            continue;
        }
        assert_eq!(statuses(&linked), statuses(&again), "{name}: {written}");
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

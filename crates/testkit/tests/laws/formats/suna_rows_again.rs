//! Rows of Suna that are read, written and read again give the same messages.

use chatmill_dialect::LossCode;
use chatmill_model::{Linked, Message, Part};
use chatmill_testkit::conversations::{rendering, try_read};
use chatmill_testkit::samples::sample_files;

fn read(text: &str) -> Option<Linked> {
    // Some samples are not valid JSON.
    serde_json::from_str::<serde_json::Value>(text).ok()?;
    try_read("suna-rows", text).filter(|linked| !linked.conversation.messages.is_empty())
}

fn write(linked: &Linked) -> (String, Vec<LossCode>) {
    let (text, losses) = rendering("suna-rows", linked);
    (text, losses.iter().map(|loss| loss.code).collect())
}

/// The content of a message without the declared losses of the dialect.
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
                // In a row's content, arguments are text, and an id from the metadata is the id of the call.
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
fn suna_rows_written_and_read_again_have_the_same_messages() {
    let mut seen = 0;
    for path in sample_files("sources/suna-rows") {
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

//! Tools: calls, results, definitions, and what of them becomes text.

use chatmill_dialect::policy::Orphans;
use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{ArgumentForm, Role};

use serde_json::Value;

use super::{Family, at, leave_out};
use crate::tale::{Asked, Bit, Label, Piece, Tale, Tool, Turn, Words, compact};

/// Definitions that are not a function's, and further ones of the same name.
pub(super) fn tool_definition_dropped(tale: &mut Tale, _: &Loss, family: &Family) {
    if !family.defines {
        tale.tools.clear();
    }
    let mut names = Vec::new();
    tale.tools.retain(|tool| {
        let Some(tool) = tool else { return false };
        let is_new = tool.name == Label::Any || !names.contains(&tool.name);
        names.push(tool.name.clone());
        is_new
    });
}

pub(super) fn duplicate_result(tale: &mut Tale, loss: &Loss, _: &Family) {
    leave_out(tale, |turn| {
        let is_further = matches!(turn.pieces.first(), Some(Piece::Answer { is_further: true, .. }));
        turn.at == loss.position && is_further
    });
}

/// Calls that are left out: all of a dialect without tools, else those without a result.
pub(super) fn tool_call_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    // A cached block names no calls, once their results stand where they belong.
    if family.caches && family.policy.orphans != Orphans::Drop {
        return;
    }
    let known: Vec<usize> = tale
        .turns
        .iter()
        .flat_map(|turn| &turn.pieces)
        .filter_map(answered)
        .collect();
    tale.turns.retain_mut(|turn| {
        if turn.at != loss.position || !turn.own || !turn.calls() {
            return true;
        }
        turn.pieces.retain(|piece| match piece {
            Piece::Call { number, .. } => family.tools && known.contains(number),
            _ => true,
        });
        !turn.pieces.is_empty()
    });
}

/// Results that are left out: all of a dialect without tools but those of other people's calls, else those without a call.
/// Of a message that embeds a result in its text nothing is left.
pub(super) fn tool_result_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    if family.filters && loss.code == LossCode::ToolResultDropped {
        tale.turns.retain(|turn| turn.at != loss.position);
        return;
    }
    let callers = tale.callers.clone();
    let is_dropped = |turn: &Turn| match turn.pieces.first() {
        Some(Piece::Answer { call, .. }) if turn.at == loss.position => match call {
            None => true,
            Some(call) => !family.tools && callers.get(*call).is_some_and(|(own, _)| *own),
        },
        _ => false,
    };
    let before = tale.turns.len();
    leave_out(tale, is_dropped);
    // A filter drops results of calls too: those that no longer wait for one, the last ones first.
    let mut more = loss.amount.saturating_sub((before - tale.turns.len()) as u64);
    while family.filters && more > 0 {
        let is_own = |turn: &Turn| match turn.pieces.first() {
            Some(Piece::Answer { call: Some(call), .. }) => callers.get(*call).is_some_and(|(own, _)| *own),
            _ => false,
        };
        let last = tale
            .turns
            .iter()
            .rposition(|turn| turn.at == loss.position && is_own(turn));
        let Some(last) = last else { break };
        tale.turns[last].pieces.clear();
        leave_out(tale, |turn| {
            turn.at == loss.position && turn.role == Role::Tool && turn.pieces.is_empty()
        });
        more -= 1;
    }
}

/// What a tool answered stands under a key of an object.
pub(super) fn result_wrapped(tale: &mut Tale, loss: &Loss, family: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Answer { words, is_error, .. } = piece {
                *words = match words.text() {
                    Some(text) => wrapped(&text, *is_error, family),
                    None => Words::any(),
                };
            }
        }
    }
}

/// An answer in the object that it stands in, where it stands in one.
fn wrapped(text: &str, is_error: bool, family: &Family) -> Words {
    let key = if is_error { "error" } else { "output" };
    if family.wraps {
        Words::exact(serde_json::json!({ key: text }).to_string())
    } else {
        Words::exact(text)
    }
}

/// Gemini knows a subset of JSON Schema in a spelling of its own. What has to be translated is not known here; the
/// translation has tests of its own.
pub(super) fn translate_schemas(tale: &mut Tale, losses: &[Loss]) {
    let is_cut = losses
        .iter()
        .any(|loss| loss.code == LossCode::ExtraDropped && loss.position.is_none());
    for tool in tale.tools.iter_mut().flatten() {
        tool.is_reshaped |= is_cut || tool.parameters.as_ref().is_some_and(|schema| !is_common(schema));
        tool.parameters = tool.parameters.take().map(|schema| spelled(&schema));
    }
}

/// Whether both know a schema: types, properties, items, descriptions.
fn is_common(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else {
        return false;
    };
    fields.iter().all(|(key, value)| match key.as_str() {
        "type" | "description" => value.is_string(),
        "required" => value.is_array(),
        "items" => is_common(value),
        "properties" => value.as_object().is_some_and(|all| all.values().all(is_common)),
        _ => false,
    })
}

/// A schema with its types in capitals.
fn spelled(schema: &Value) -> Value {
    let Some(fields) = schema.as_object() else {
        return schema.clone();
    };
    let spell = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("type", Value::String(word)) => Value::String(word.to_uppercase()),
            ("items", value) => spelled(value),
            ("properties", Value::Object(all)) => {
                let all = all.iter().map(|(name, value)| (name.clone(), spelled(value)));
                Value::Object(all.collect())
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    };
    Value::Object(fields.iter().map(spell).collect())
}

pub(super) fn error_flag_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Answer { is_error, .. } = piece {
                *is_error = false;
            }
        }
    }
}

pub(super) fn orphan_result_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        if matches!(turn.pieces.first(), Some(Piece::Answer { call: None, .. })) {
            // The assistant's name does not go with a user's turn.
            let name = if turn.own {
                Label::Exact(None)
            } else {
                turn.name.clone()
            };
            answer_as_text(turn, name);
        }
    }
}

pub(super) fn answer_as_text(turn: &mut Turn, name: Label) {
    turn.role = Role::User;
    turn.own = false;
    turn.name = name;
    for piece in &mut turn.pieces {
        if let Piece::Answer { words, .. } = piece {
            let mut said = Words::exact("[result ");
            said.0.append(&mut words.0);
            said.0.push(Bit::Exact("]".to_owned()));
            *piece = Piece::text(said);
        }
    }
}

/// The perspective is the assistant and everybody else a user, whose calls and results are text.
pub(super) fn role_mapped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let callers = tale.callers.clone();
    for turn in at(tale, loss) {
        if let Some(Piece::Answer { call: Some(call), .. }) = turn.pieces.first() {
            if let Some((false, name)) = callers.get(*call) {
                answer_as_text(turn, name.clone());
            }
            continue;
        }
        if turn.is_answer() {
            continue;
        }
        turn.role = if turn.own { Role::Assistant } else { Role::User };
        if turn.own {
            continue;
        }
        for piece in &mut turn.pieces {
            if let Piece::Call { name, asked, .. } = piece {
                let name = match name {
                    Label::Exact(Some(name)) => name.as_str(),
                    Label::Exact(None) | Label::Any => "unnamed",
                };
                let space = if asked.text.is_empty() { "" } else { " " };
                // White space inside arguments is not a part of what they say.
                let words = if asked.form == ArgumentForm::Embedded {
                    vec![
                        Bit::Exact(format!("[tool {name}{space}")),
                        Bit::Any,
                        Bit::Exact("]".to_owned()),
                    ]
                } else {
                    vec![Bit::Exact(format!("[tool {name}{space}{}]", asked.text))]
                };
                *piece = Piece::Text {
                    words: Words(words),
                    added: true,
                };
            }
        }
    }
}

pub(super) fn each_call(tale: &mut Tale, loss: &Loss, mut change: impl FnMut(&mut Label, &mut Asked)) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Call { name, asked, .. } = piece {
                change(name, asked);
            }
        }
    }
}

pub(super) fn args_reserialised(tale: &mut Tale, loss: &Loss, family: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.form != family.arguments && asked.kind != "malformed" {
            asked.form = family.arguments;
            asked.text = compact(&asked.text);
        }
    });
}

pub(super) fn args_not_object(tale: &mut Tale, loss: &Loss, _: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.kind == "other" {
            asked.form = ArgumentForm::Embedded;
            asked.kind = "object";
            asked.text = format!("{{\"arguments\":{}}}", compact(&asked.text));
        }
    });
}

pub(super) fn args_malformed(tale: &mut Tale, loss: &Loss, _: &Family) {
    each_call(tale, loss, |_, asked| {
        let is_object = asked.kind == "object" && asked.form == ArgumentForm::Embedded;
        if is_object && serde_json::from_str::<Value>(&asked.text).is_ok() {
            return;
        }
        asked.form = ArgumentForm::Embedded;
        asked.kind = "object";
        asked.text = if asked.text.trim().is_empty() {
            "{}".to_owned()
        } else {
            serde_json::json!({ "arguments": asked.text }).to_string()
        };
    });
}

pub(super) fn is_word(name: &Label) -> bool {
    let Label::Exact(Some(name)) = name else {
        return false;
    };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_sign)
}

/// Names of tools, and those that results give beside their calls'.
pub(super) fn tool_name_rewritten(tale: &mut Tale, loss: &Loss, _: &Family) {
    let rewrite = |name: &mut Label| {
        if !is_word(name) {
            *name = Label::Any;
        }
    };
    if loss.position.is_none() {
        tale.tools
            .iter_mut()
            .flatten()
            .for_each(|tool| rewrite(&mut tool.name));
        return;
    }
    each_call(tale, loss, |name, _| rewrite(name));
    for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
        if let Piece::Answer { name, .. } = piece {
            *name = Label::Exact(None);
        }
    }
}

pub(super) fn label_calls(tale: &mut Tale, loss: &Loss, label: &Label) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Call { id, .. } = piece {
                *id = label.clone();
            }
        }
    }
}

/// Every tool that is used is defined; what it takes is not known.
pub(super) fn tool_definition_synthesised(tale: &mut Tale, _: &Loss, _: &Family) {
    let mut names: Vec<Label> = Vec::new();
    for piece in tale.turns.iter().flat_map(|turn| &turn.pieces) {
        let Piece::Call { name, .. } = piece else {
            continue;
        };
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    tale.tools.extend(names.into_iter().map(|name| {
        Some(Tool {
            name: if is_word(&name) { name } else { Label::Any },
            description: None,
            parameters: None,
            is_reshaped: true,
        })
    }));
}

/// The results of a message stand behind their calls, in the order of these.
pub(super) fn result_moved(tale: &mut Tale, loss: &Loss, _: &Family) {
    let is_moved = |turn: &Turn| {
        turn.at == loss.position
            && matches!(
                turn.pieces.first(),
                Some(Piece::Answer {
                    call: Some(_),
                    is_further: false,
                    ..
                })
            )
    };
    let (moved, rest): (Vec<Turn>, Vec<Turn>) = tale.turns.drain(..).partition(is_moved);
    tale.turns = rest;
    for turn in moved {
        if let Some(Piece::Answer { call: Some(call), .. }) = turn.pieces.first() {
            let call = *call;
            insert_answer(tale, call, turn);
        }
    }
}

pub(super) fn insert_answer(tale: &mut Tale, call: usize, turn: Turn) {
    let is_call = |piece: &Piece| matches!(piece, Piece::Call { number, .. } if *number == call);
    let caller = tale.turns.iter().position(|turn| turn.pieces.iter().any(is_call));
    let Some(caller) = caller else {
        return;
    };
    let answers: Vec<Option<usize>> = tale.turns[caller + 1..]
        .iter()
        .take_while(|turn| turn.is_answer())
        .map(|turn| turn.pieces.iter().find_map(answered))
        .collect();
    let earlier = answers
        .iter()
        .rposition(|other| other.is_some_and(|other| other < call));
    let behind = earlier.map_or(0, |last| last + 1);
    tale.turns.insert(caller + 1 + behind, turn);
}

/// Each call of the message without a result gets one.
pub(super) fn missing_result_synthesised(tale: &mut Tale, loss: &Loss, family: &Family) {
    let answered: Vec<usize> = tale
        .turns
        .iter()
        .flat_map(|turn| &turn.pieces)
        .filter_map(answered)
        .collect();
    let mut open = Vec::new();
    for turn in at(tale, loss) {
        for piece in &turn.pieces {
            if let Piece::Call { number, .. } = piece
                && !answered.contains(number)
            {
                open.push(*number);
            }
        }
    }
    for call in open {
        let answer = Piece::Answer {
            call: Some(call),
            id: Label::Exact(None),
            name: Label::Exact(None),
            words: wrapped("no result was recorded", false, family),
            is_error: false,
            is_further: false,
        };
        insert_answer(tale, call, Turn::made_up(Role::Tool, answer));
    }
}

pub(super) fn answered(piece: &Piece) -> Option<usize> {
    match piece {
        Piece::Answer { call, .. } => *call,
        _ => None,
    }
}

//! What each loss takes from a tale: one function for each code.
//!
//! A function knows what a code means, and of a family only the few traits that decide how a declared change looks
//! ([`Family`]); it knows nothing of how dialects are written. Codes that no family of JSON requests declares stand in
//! [`ELSEWHERE`], with the reason.

use chatmill_dialect::{Loss, LossCode};
use chatmill_model::{ArgumentForm, Media, MediaKind, MediaSource, Role};

use crate::tale::{Asked, Bit, Label, Piece, Tale, Tool, Turn, Words, compact};

/// What decides how a declared change looks.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
pub struct Family {
    /// Whether turns of everybody but the assistant have a field for names.
    pub names: bool,
    /// Whether the texts of a message become one text, but where a medium stands among them.
    pub joins: bool,
    /// How arguments are written.
    pub arguments: ArgumentForm,
    /// Whether a user's turn can hold a medium.
    pub carries: fn(&Media) -> bool,
    /// Whether a user speaks first.
    pub user_first: bool,
    /// Whether turns of one speaker in a row are one.
    pub merges: bool,
    /// Whether text of white space only counts as no text.
    pub blank_is_empty: bool,
    /// Whether turns stand in rounds: what people say, then each call with its result, then what the assistant says.
    pub rounds: bool,
}

/// Forgets one loss.
type Forget = fn(&mut Tale, &Loss, &Family);

/// The functions, in the order in which they are applied: first what is left out, then what changes, then where it stands,
/// then what is made up, last what becomes one.
pub const FORGET: &[(LossCode, Forget)] = &[
    (LossCode::NoticeDropped, notice_dropped),
    (LossCode::TimestampDropped, |tale, _, _| {
        each(tale, |turn| turn.facts.times.clear());
    }),
    (LossCode::MessageIdDropped, |tale, _, _| {
        each(tale, |turn| turn.facts.ids.clear());
    }),
    (LossCode::MentionDropped, |tale, _, _| {
        each(tale, |turn| turn.facts.mentions.clear());
    }),
    (LossCode::ExtraDropped, extra_dropped),
    (LossCode::MetadataDropped, |tale, _, _| tale.metadata = 0),
    (LossCode::ParticipantDropped, |tale, _, _| tale.people = 0),
    (LossCode::ReasoningDropped, reasoning_dropped),
    (LossCode::CacheMarkDropped, marks_dropped),
    (LossCode::CacheMarkCapped, marks_dropped),
    (LossCode::DuplicateResult, duplicate_result),
    (LossCode::ErrorFlagDropped, error_flag_dropped),
    (LossCode::LeakedMetadataRemoved, leaked_metadata_removed),
    (LossCode::WhitespaceTrimmed, whitespace_trimmed),
    (LossCode::Truncated, truncated),
    (LossCode::MediaPlaceholder, media_placeholder),
    (LossCode::MediaDescriptionDropped, media_description_dropped),
    // Quotes are words that are not known here, and only what they quote loses its media.
    (LossCode::MediaDropped, |_, _, _| ()),
    (LossCode::ReferenceDropped, |tale, loss, _| {
        references_lost(tale, loss);
    }),
    (LossCode::ReferenceUnresolved, |tale, loss, _| {
        references_lost(tale, loss);
    }),
    (LossCode::ReferenceInlined, reference_inlined),
    (LossCode::SystemInlined, system_inlined),
    (LossCode::OrphanResultInlined, orphan_result_inlined),
    (LossCode::RoleMapped, role_mapped),
    (LossCode::EmptyDropped, empty_dropped),
    (LossCode::PartFlattened, part_flattened),
    (LossCode::NameInlined, name_inlined),
    (LossCode::NameDropped, name_dropped),
    (LossCode::NameAliased, name_aliased),
    (LossCode::ArgsReserialised, args_reserialised),
    (LossCode::ArgsNotObject, args_not_object),
    (LossCode::ArgsMalformed, args_malformed),
    (LossCode::ToolDefinitionDropped, tool_definition_dropped),
    (LossCode::ToolDefinitionSynthesised, tool_definition_synthesised),
    (LossCode::ToolNameRewritten, tool_name_rewritten),
    (LossCode::ToolIdRewritten, |tale, loss, _| {
        label_calls(tale, loss, &Label::Any);
    }),
    (LossCode::ToolIdDropped, |tale, loss, _| {
        label_calls(tale, loss, &Label::Exact(None));
    }),
    (LossCode::ResultLateMoved, result_moved),
    (LossCode::ResultEarlyMoved, result_moved),
    (LossCode::TurnMoved, turn_moved),
    (LossCode::MissingResultSynthesised, missing_result_synthesised),
    (LossCode::PartMoved, part_moved),
    (LossCode::TurnSplit, turn_split),
    (LossCode::SystemHoisted, system_hoisted),
    (LossCode::TurnMerged, turn_merged),
    (LossCode::EmptyFilled, empty_filled),
];

/// Codes that no rendering here declares, and why.
pub const ELSEWHERE: &[(LossCode, &str)] = &[
    (
        LossCode::NameCleaned,
        "only transcripts read signs in names as their own",
    ),
    (
        LossCode::SystemDropped,
        "policy, or a dialect without system text",
    ),
    (LossCode::SystemAdded, "policy"),
    (LossCode::ToolCallDropped, "policy, or a dialect without tools"),
    (LossCode::ToolResultDropped, "policy, or a dialect without tools"),
    (LossCode::OrphanResultDropped, "policy"),
    (LossCode::NumberPrecision, "only Gemini's numbers are doubles"),
    (LossCode::ResultWrapped, "only Gemini's results are objects"),
    (
        LossCode::MediaNeedsFetch,
        "only Gemini takes addresses that have to be fetched",
    ),
    (
        LossCode::MessageIdSynthesised,
        "only systems' own formats want ids of messages",
    ),
    (LossCode::SenderMissing, "only systems' own formats want a sender"),
    (LossCode::ReservedTextEscaped, "only templates reserve text"),
    (LossCode::SpecialTokenInText, "only templates have control tokens"),
    (
        LossCode::ControlCharacterRemoved,
        "only quotes lose control characters, and quotes are words that are not known here",
    ),
    (LossCode::NewlineReplaced, "only transcripts are read by line"),
    (LossCode::DatePinned, "only templates print a date"),
    (
        LossCode::DefaultSystemInserted,
        "only templates bring a system text along",
    ),
];

/// Forgets what a rendering declares; gives the codes that have no function.
pub fn forget(tale: &mut Tale, losses: &[Loss], family: &Family) -> Vec<LossCode> {
    for (code, forget) in FORGET {
        // From here on whole turns become one.
        if *code == LossCode::SystemHoisted {
            join_added(tale, family);
            join_divided(tale, family);
        }
        for loss in losses.iter().filter(|loss| loss.code == *code) {
            forget(tale, loss, family);
        }
    }
    end_trimmed(tale, losses);
    let has_function = |code: LossCode| FORGET.iter().any(|(known, _)| *known == code);
    let codes = losses.iter().map(|loss| loss.code);
    codes.filter(|code| !has_function(*code)).collect()
}

fn each(tale: &mut Tale, change: impl FnMut(&mut Turn)) {
    tale.turns.iter_mut().for_each(change);
}

/// The turns of the message at which a loss stands.
fn at<'t>(tale: &'t mut Tale, loss: &Loss) -> impl Iterator<Item = &'t mut Turn> {
    let position = loss.position.expect("the loss stands at a message");
    tale.turns
        .iter_mut()
        .filter(move |turn| turn.at == Some(position))
}

/// Further fields of messages and of definitions, and whatever a schema takes beside an object.
fn extra_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    each(tale, |turn| {
        if loss.position.is_none() || turn.at == loss.position {
            turn.facts.extra.clear();
        }
    });
    odd_parameters(tale);
}

/// Parameters that are not plainly those of an object are written in another way.
fn odd_parameters(tale: &mut Tale) {
    for tool in tale.tools.iter_mut().flatten() {
        let kind = tool
            .parameters
            .as_ref()
            .and_then(|parameters| parameters.get("type"));
        tool.is_reshaped |= kind.is_none_or(|kind| kind != "object");
    }
}

/// Definitions that are no function's, and further ones of the same name.
fn tool_definition_dropped(tale: &mut Tale, _: &Loss, _: &Family) {
    let mut names = Vec::new();
    tale.tools.retain(|tool| {
        let Some(tool) = tool else { return false };
        let is_new = tool.name == Label::Any || !names.contains(&tool.name);
        names.push(tool.name.clone());
        is_new
    });
}

fn notice_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    tale.turns
        .retain(|turn| turn.at != loss.position || !turn.is_notice);
}

fn reasoning_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.pieces.retain(|piece| !matches!(piece, Piece::Thought(_)));
    }
}

fn marks_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    let mut left = loss.amount;
    for turn in at(tale, loss) {
        turn.pieces.retain(|piece| {
            let goes = *piece == Piece::Mark && left > 0;
            left -= u64::from(goes);
            !goes
        });
    }
}

fn duplicate_result(tale: &mut Tale, loss: &Loss, _: &Family) {
    tale.turns.retain(|turn| {
        let is_further = matches!(turn.pieces.first(), Some(Piece::Answer { is_further: true, .. }));
        turn.at != loss.position || !is_further
    });
}

fn error_flag_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Answer { is_error, .. } = piece {
                *is_error = false;
            }
        }
    }
}

fn leaked_metadata_removed(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Text { words, .. } = piece {
                *words = Words::any();
            }
        }
    }
}

/// The message is what the model saw of it, which is not known here.
fn truncated(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        let mut texts = turn.pieces.iter_mut().filter_map(|piece| match piece {
            Piece::Text { words, .. } | Piece::Answer { words, .. } => Some(words),
            _ => None,
        });
        if let Some(words) = texts.next() {
            *words = Words::any();
        }
    }
}

fn is_blank(sign: char) -> bool {
    sign.is_whitespace() || sign == '\u{feff}'
}

/// Text of white space only is no text.
fn whitespace_trimmed(tale: &mut Tale, loss: &Loss, family: &Family) {
    // Elsewhere only quotes lose white space.
    for turn in at(tale, loss).filter(|_| family.blank_is_empty) {
        turn.pieces.retain(|piece| match piece {
            Piece::Text { words, .. } => words.text().is_none_or(|text| !text.chars().all(is_blank)),
            _ => true,
        });
    }
}

/// The last turn, where it is the assistant's, does not end in white space.
fn end_trimmed(tale: &mut Tale, losses: &[Loss]) {
    let Some(turn) = tale.turns.last_mut().filter(|turn| turn.role == Role::Assistant) else {
        return;
    };
    let is_declared = |loss: &Loss| loss.code == LossCode::WhitespaceTrimmed && loss.position >= turn.at;
    if losses.iter().any(is_declared)
        && let Some(Piece::Text { words, .. }) = turn.pieces.last_mut()
        && let Some(text) = words.text()
    {
        *words = Words::exact(text.trim_end_matches(is_blank));
    }
}

/// The words that name a medium.
fn placeholder(media: &Media) -> String {
    let word = match media.kind {
        MediaKind::Image => "Image",
        MediaKind::Audio => "Audio",
        MediaKind::Video => "Video",
        MediaKind::File => "File",
        MediaKind::Link => "Link",
    };
    let name = media.name.as_deref().filter(|name| !name.is_empty());
    let label = name.or(match &media.source {
        MediaSource::Url(url) => Some(url),
        MediaSource::Inline(_) | MediaSource::Upload => None,
    });
    label.map_or_else(|| format!("[{word}]"), |label| format!("[{word}: {label}]"))
}

/// So many media are named: first those that the family carries nowhere.
fn media_placeholder(tale: &mut Tale, loss: &Loss, family: &Family) {
    let mut left = loss.amount;
    for is_carried in [false, true] {
        for piece in at(tale, loss).flat_map(|turn| &mut turn.pieces) {
            if let Piece::Medium(media) = piece
                && left > 0
                && (family.carries)(media) == is_carried
            {
                left -= 1;
                *piece = Piece::text(Words::exact(placeholder(media)));
            }
        }
    }
}

/// Names of media are lost, and types of those that are known by their web address.
fn media_description_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Medium(media) = piece {
                media.name = None;
                if matches!(&media.source, MediaSource::Url(url) if url.starts_with("http")) {
                    media.media_type = None;
                }
            }
        }
    }
}

fn references_lost(tale: &mut Tale, loss: &Loss) {
    let mut left = loss.amount as usize;
    for turn in at(tale, loss) {
        let gone = left.min(turn.facts.references);
        turn.facts.references -= gone;
        left -= gone;
    }
}

/// The quote stands behind what the message says itself.
fn reference_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    references_lost(tale, loss);
    let position = loss.position;
    let turns = tale.turns.iter_mut().rev();
    let mut spoken = turns.filter(|turn| turn.at == position && !turn.is_answer());
    if let Some(turn) = spoken.next() {
        for _ in 0..loss.amount {
            let words = Words(vec![Bit::Any, Bit::Exact("\"".to_owned())]);
            turn.pieces.push(Piece::Text { words, added: true });
        }
    }
}

fn system_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        turn.role = Role::User;
        turn.name = Label::Exact(None);
        if let Some(Piece::Text { words, .. }) = turn.pieces.first_mut() {
            words.0.insert(0, Bit::Exact("[system] ".to_owned()));
        }
    }
}

fn orphan_result_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
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

fn answer_as_text(turn: &mut Turn, name: Label) {
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
fn role_mapped(tale: &mut Tale, loss: &Loss, _: &Family) {
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
                // White space inside arguments is no part of what they say.
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

fn empty_dropped(tale: &mut Tale, loss: &Loss, _: &Family) {
    tale.turns
        .retain(|turn| turn.at != loss.position || !turn.pieces.is_empty());
}

/// The message's own texts become one text, a line each.
fn part_flattened(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss) {
        join_texts(turn, "\n");
    }
}

fn join_texts(turn: &mut Turn, between: &str) {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in turn.pieces.drain(..) {
        let first = pieces.iter_mut().find_map(|known| match known {
            Piece::Text { words, .. } => Some(words),
            _ => None,
        });
        match (piece, first) {
            (Piece::Text { words, .. }, Some(first)) => first.join(between, words),
            (piece, _) => pieces.push(piece),
        }
    }
    turn.pieces = pieces;
}

/// The name of the speaker stands in front of the first words.
fn name_inlined(tale: &mut Tale, loss: &Loss, _: &Family) {
    for turn in at(tale, loss).filter(|turn| !turn.own && !turn.is_answer()) {
        let Label::Exact(Some(name)) = std::mem::replace(&mut turn.name, Label::Exact(None)) else {
            // Somebody of whom the role is all that is known.
            prefix(turn, &[Bit::Any, Bit::Exact(": ".to_owned())]);
            continue;
        };
        prefix(turn, &[Bit::Exact(format!("{name}: "))]);
    }
}

fn prefix(turn: &mut Turn, bits: &[Bit]) {
    match turn.pieces.first_mut() {
        Some(Piece::Text { words, .. }) => {
            words.0.splice(0..0, bits.iter().cloned());
        }
        _ => turn.pieces.insert(0, Piece::text(Words(bits.to_vec()))),
    }
}

/// Names that have no place, and those that a message gives beside the roster's.
fn name_dropped(tale: &mut Tale, loss: &Loss, family: &Family) {
    each(tale, |turn| {
        if loss.position.is_some() && turn.at != loss.position {
            return;
        }
        turn.facts.other_name = None;
        if turn.own || !family.names || loss.position.is_some() {
            turn.name = Label::Exact(None);
        }
    });
}

/// Names in another spelling.
fn name_aliased(tale: &mut Tale, _: &Loss, _: &Family) {
    each(tale, |turn| {
        if turn.name != Label::Exact(None) {
            turn.name = Label::Any;
        }
    });
}

fn each_call(tale: &mut Tale, loss: &Loss, mut change: impl FnMut(&mut Label, &mut Asked)) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Call { name, asked, .. } = piece {
                change(name, asked);
            }
        }
    }
}

fn args_reserialised(tale: &mut Tale, loss: &Loss, family: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.form != family.arguments && asked.kind != "malformed" {
            asked.form = family.arguments;
            asked.text = compact(&asked.text);
        }
    });
}

fn args_not_object(tale: &mut Tale, loss: &Loss, _: &Family) {
    each_call(tale, loss, |_, asked| {
        if asked.kind == "other" {
            asked.form = ArgumentForm::Embedded;
            asked.kind = "object";
            asked.text = format!("{{\"arguments\":{}}}", compact(&asked.text));
        }
    });
}

fn args_malformed(tale: &mut Tale, loss: &Loss, _: &Family) {
    each_call(tale, loss, |_, asked| {
        let is_object = asked.kind == "object" && asked.form == ArgumentForm::Embedded;
        if is_object && serde_json::from_str::<serde_json::Value>(&asked.text).is_ok() {
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

fn is_word(name: &Label) -> bool {
    let Label::Exact(Some(name)) = name else {
        return false;
    };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_sign)
}

/// Names of tools, and those that results give beside their calls'.
fn tool_name_rewritten(tale: &mut Tale, loss: &Loss, _: &Family) {
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

fn label_calls(tale: &mut Tale, loss: &Loss, label: &Label) {
    for turn in at(tale, loss) {
        for piece in &mut turn.pieces {
            if let Piece::Call { id, .. } = piece {
                *id = label.clone();
            }
        }
    }
}

/// Every tool that is used is defined; what it takes is not known.
fn tool_definition_synthesised(tale: &mut Tale, _: &Loss, _: &Family) {
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
fn result_moved(tale: &mut Tale, loss: &Loss, _: &Family) {
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

fn insert_answer(tale: &mut Tale, call: usize, turn: Turn) {
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

/// Results stand behind their calls; in rounds, nobody speaks between a result and the answer.
fn turn_moved(tale: &mut Tale, loss: &Loss, family: &Family) {
    result_moved(tale, loss, family);
    let is_spoken = |turn: &Turn| turn.at == loss.position && turn.role == Role::User;
    let Some(place) = tale.turns.iter().position(is_spoken).filter(|_| family.rounds) else {
        return;
    };
    let asks = |turn: &&Turn| turn.calls() || turn.is_answer();
    let behind = tale.turns[..place].iter().rev().take_while(asks).count();
    let turn = tale.turns.remove(place);
    tale.turns.insert(place - behind, turn);
}

/// Each call of the message without a result gets one.
fn missing_result_synthesised(tale: &mut Tale, loss: &Loss, _: &Family) {
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
            words: Words::exact("no result was recorded"),
            is_error: false,
            is_further: false,
        };
        insert_answer(tale, call, Turn::made_up(Role::Tool, answer));
    }
}

fn answered(piece: &Piece) -> Option<usize> {
    match piece {
        Piece::Answer { call, .. } => *call,
        _ => None,
    }
}

/// Calls stand behind everything else that their turn says; in rounds, in front of it with their results, and in front of
/// what the assistant said before.
fn part_moved(tale: &mut Tale, loss: &Loss, family: &Family) {
    for turn in at(tale, loss) {
        turn.pieces
            .sort_by_key(|piece| matches!(piece, Piece::Call { .. }));
    }
    let is_caller = |turn: &Turn| turn.at == loss.position && turn.calls();
    let Some(place) = tale.turns.iter().position(is_caller).filter(|_| family.rounds) else {
        return;
    };
    let answers = tale.turns[place + 1..]
        .iter()
        .take_while(|turn| turn.is_answer())
        .count();
    let mut moved: Vec<Turn> = tale.turns.drain(place..=place + answers).collect();
    let (called, said) = divided(&moved[0]);
    moved[0].pieces = called;
    if !said.is_empty() {
        let turn = Turn {
            pieces: said,
            ..moved[0].clone()
        };
        tale.turns.insert(place, turn);
    }
    let is_said = |turn: &&Turn| turn.role == Role::Assistant && !turn.calls();
    let behind = tale.turns[..place].iter().rev().take_while(is_said).count();
    tale.turns.splice(place - behind..place - behind, moved);
}

/// The calls of a turn, and everything else in it.
fn divided(turn: &Turn) -> (Vec<Piece>, Vec<Piece>) {
    let pieces = turn.pieces.iter().cloned();
    pieces.partition(|piece| matches!(piece, Piece::Call { .. }))
}

/// A turn with words and calls becomes two; in rounds, every call has a turn of its own with its result behind it.
fn turn_split(tale: &mut Tale, loss: &Loss, family: &Family) {
    let is_split = |turn: &Turn| turn.at == loss.position && turn.calls();
    let Some(place) = tale.turns.iter().position(is_split) else {
        return;
    };
    let turn = tale.turns.remove(place);
    let (called, said) = divided(&turn);
    if !family.rounds {
        let turns = [said, called].map(|pieces| Turn {
            pieces,
            ..turn.clone()
        });
        tale.turns.splice(place..place, turns);
        return;
    }
    let mut next = place;
    for piece in called {
        let Piece::Call { number, .. } = piece else {
            continue;
        };
        let pieces = vec![piece];
        tale.turns.insert(
            next,
            Turn {
                pieces,
                ..turn.clone()
            },
        );
        let answers = |turn: &Turn| turn.pieces.iter().any(|piece| answered(piece) == Some(number));
        if let Some(found) = tale.turns.iter().position(answers) {
            let answer = tale.turns.remove(found);
            tale.turns.insert(next + 1, answer);
            next += 1;
        }
        next += 1;
    }
}

/// System text stands in front of everything; several are one.
fn system_hoisted(tale: &mut Tale, loss: &Loss, family: &Family) {
    let Some(place) = tale.turns.iter().position(|turn| turn.at == loss.position) else {
        return;
    };
    if place > 0 && tale.turns[place - 1].role == Role::System {
        let turn = tale.turns.remove(place);
        merge(&mut tale.turns[place - 1], turn, family);
    }
}

/// The turn and the one before it are one.
fn turn_merged(tale: &mut Tale, loss: &Loss, family: &Family) {
    let fits = |tale: &Tale, place: usize| {
        let (last, turn) = (&tale.turns[place - 1], &tale.turns[place]);
        turn.at == loss.position
            && !(turn.is_answer() || last.is_answer() || last.calls())
            && !(family.rounds && turn.calls())
            && last.role == turn.role
    };
    for _ in 0..loss.amount {
        let Some(place) = (1..tale.turns.len()).find(|place| fits(tale, *place)) else {
            return;
        };
        let turn = tale.turns.remove(place);
        merge(&mut tale.turns[place - 1], turn, family);
    }
}

fn merge(turn: &mut Turn, mut next: Turn, family: &Family) {
    turn.pieces.append(&mut next.pieces);
    if family.joins {
        join_texts(turn, "\n\n");
    }
}

/// Something stands where a vendor wants something: a user's words before the assistant's, a result that is not empty,
/// parameters of a tool.
fn empty_filled(tale: &mut Tale, loss: &Loss, family: &Family) {
    if loss.position.is_some() {
        for turn in at(tale, loss) {
            for piece in &mut turn.pieces {
                if let Piece::Answer { words, .. } = piece
                    && words.text().is_some_and(|text| text.trim().is_empty())
                {
                    *words = Words::any();
                }
            }
        }
        return;
    }
    let first = tale.turns.iter().position(|turn| turn.role != Role::System);
    if let Some(first) = first
        && tale.turns[first].role == Role::Assistant
        && family.user_first
    {
        tale.turns.insert(
            first,
            Turn::made_up(Role::User, Piece::text(Words::exact("[start]"))),
        );
    }
    odd_parameters(tale);
}
/// What a message says beside a result is one turn with the result, where both are a user's words and such turns are one.
fn join_divided(tale: &mut Tale, family: &Family) {
    let mut place = 1;
    while family.merges && place < tale.turns.len() {
        let (last, turn) = (&tale.turns[place - 1], &tale.turns[place]);
        if last.at.is_some() && last.at == turn.at && last.role == Role::User && turn.role == Role::User {
            let turn = tale.turns.remove(place);
            merge(&mut tale.turns[place - 1], turn, family);
        } else {
            place += 1;
        }
    }
}

/// Puts what renderings add to a message into one text with the message's own, where a family joins texts.
fn join_added(tale: &mut Tale, family: &Family) {
    if !family.joins {
        return;
    }
    each(tale, |turn| {
        let has_media = turn.pieces.iter().any(|piece| matches!(piece, Piece::Medium(_)));
        let is_added = |piece: &Piece| matches!(piece, Piece::Text { added: true, .. });
        if has_media || !turn.pieces.iter().any(is_added) {
            return;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in turn.pieces.drain(..) {
            match (pieces.last_mut(), piece) {
                (
                    Some(Piece::Text {
                        words: known,
                        added: is_known_added,
                    }),
                    Piece::Text { words, added },
                ) if added || *is_known_added => {
                    known.join("\n", words);
                    *is_known_added = added;
                }
                (_, piece) => pieces.push(piece),
            }
        }
        turn.pieces = pieces;
    });
}

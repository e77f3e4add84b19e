//! Generates sessions: the questions, the answers of the model, and the results of its tools.

use chatmill_drawn::Random;
use serde_json::{Value, json};

/// A session of one client with one model.
#[derive(Debug)]
pub(super) struct Session {
    pub system: Option<String>,
    pub tools: Vec<Tool>,
    pub rounds: Vec<Round>,
    /// What the client does to the history before the answer with this number.
    pub cut: Option<(usize, Cut)>,
    /// Whether the client sends thoughts back with the history.
    pub repeats_thoughts: bool,
}

/// How a client shortens a history that became too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The first exchanges are omitted.
    LeftOut,
    /// A summary replaces all earlier exchanges.
    Summary,
}

#[derive(Debug)]
pub(super) struct Tool {
    pub name: &'static str,
    pub description: Option<&'static str>,
    pub schema: Value,
}

/// An answer, with the questions before it and the results of its calls.
#[derive(Debug)]
pub(super) struct Round {
    pub asked: Vec<Piece>,
    pub thought: Option<String>,
    /// The request to a tool that runs at the vendor, and the number of texts before it.
    pub hosted: Option<(String, usize)>,
    /// The request to a tool on a server, and the number of texts before it.
    pub on_server: Option<(String, usize)>,
    /// The text of the answer, split as citations split it.
    pub texts: Vec<String>,
    pub calls: Vec<Call>,
    pub results: Vec<Returned>,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// The bytes of a PNG picture in base64.
    Picture(&'static str),
}

#[derive(Debug)]
pub(super) struct Call {
    pub id: String,
    pub name: &'static str,
    pub input: Value,
    /// Whether the tool is one that the API defines.
    pub is_client: bool,
}

#[derive(Debug)]
pub(super) struct Returned {
    pub id: String,
    pub name: &'static str,
    pub pieces: Vec<Piece>,
    pub failed: bool,
    pub is_client: bool,
}

const PICTURES: [&str; 2] = ["iVBORw0KGgo=", "iVBORw0KGgoAAAAN"];

const TEXTS: [&str; 9] = [
    "The pool is open until nine.",
    "Two lines,\n\nand a blank between.",
    "  indented, and ends with a blank ",
    "\"quoted\" \u{1f980} {\"not\": \"JSON\"}",
    "<b>bold</b> & <|im_end|>",
    "[Image] of nothing",
    "System: no turn\nUser: no turn",
    "<tool_call>{\"name\": \"look\"}</tool_call>",
    "Zeit für eine Pause …",
];

fn text(draw: &mut Random, number: usize) -> String {
    format!("{number}: {}", draw.pick(&TEXTS).unwrap())
}

fn inputs(draw: &mut Random) -> Value {
    match draw.below(4) {
        0 => json!({}),
        1 => json!({"city": "Porto", "days": 3}),
        2 => json!({"path": "a/b.txt", "deep": {"list": [1, {"b": null}], "ok": true}}),
        _ => json!({"text": "line\n\"two\"", "x": 1.5}),
    }
}

fn tools() -> Vec<Tool> {
    let schema = |properties: Value| json!({"type": "object", "properties": properties});
    vec![
        Tool {
            name: "look",
            description: Some("Looks at a place."),
            schema: schema(
                json!({"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}}),
            ),
        },
        Tool {
            name: "read_file",
            description: None,
            schema: json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"},
                "deep": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "string"}}}}}}),
        },
        Tool {
            name: "note",
            description: Some("Writes it down."),
            schema: schema(json!({"kind": {"type": "string", "enum": ["a", "b"]}})),
        },
    ]
}

impl Session {
    /// Generates a session of one to seven answers; after an answer without calls, a user asks again.
    pub(super) fn drawn(draw: &mut Random) -> Self {
        let (mut rounds, mut is_asked) = (Vec::new(), true);
        for number in 0..=draw.below(7) {
            let round = Round::drawn(draw, number, is_asked);
            is_asked = round.calls.is_empty();
            rounds.push(round);
        }
        let cut = match draw.below(6) {
            0 => Some(Cut::LeftOut),
            1 => Some(Cut::Summary),
            _ => None,
        };
        // A client cuts at a user turn, so that no call loses its result.
        let cut = cut.and_then(|cut| {
            let places = (1..rounds.len()).filter(|place| rounds[place - 1].calls.is_empty());
            let places: Vec<usize> = places.collect();
            Some((*draw.pick(&places)?, cut))
        });
        Self {
            system: draw.once_in(2).then(|| format!("Be brief. {}", text(draw, 0))),
            tools: if draw.once_in(3) { Vec::new() } else { tools() },
            rounds,
            cut,
            repeats_thoughts: draw.once_in(2),
        }
    }
}

impl Round {
    fn drawn(draw: &mut Random, number: usize, is_asked: bool) -> Self {
        let names = tools();
        let calls = if draw.once_in(2) { draw.below(4) } else { 0 };
        let calls: Vec<Call> = (0..calls)
            .map(|call| Call {
                id: format!("call_{number}_{call}"),
                name: draw.pick(&names).unwrap().name,
                input: inputs(draw),
                is_client: draw.once_in(4),
            })
            .collect();
        let mut asked = Vec::new();
        // Some users write while a tool is running.
        if is_asked || draw.once_in(5) {
            asked.push(Piece::Text(format!("Question {}", text(draw, number))));
            for _ in 0..draw.below(3) {
                asked.push(match draw.below(3) {
                    0 => Piece::Picture(draw.pick(&PICTURES).unwrap()),
                    _ => Piece::Text(text(draw, number)),
                });
            }
        }
        let pieces = if draw.once_in(4) { 3 } else { 1 };
        let has_text = calls.is_empty() || draw.once_in(2);
        Self {
            asked,
            thought: draw
                .once_in(3)
                .then(|| format!("Think of {}", text(draw, number))),
            hosted: draw.once_in(4).then(|| (text(draw, number), draw.below(pieces))),
            on_server: draw.once_in(4).then(|| (text(draw, number), draw.below(pieces))),
            texts: (0..pieces)
                .filter(|_| has_text)
                .map(|_| text(draw, number))
                .collect(),
            results: calls
                .iter()
                .map(|call| Returned::drawn(draw, call, number))
                .collect(),
            calls,
        }
    }
}

impl Returned {
    fn drawn(draw: &mut Random, call: &Call, number: usize) -> Self {
        let mut pieces = vec![Piece::Text(match draw.below(4) {
            0 => r#"{"degrees":21,"sky":["blue"]}"#.to_owned(),
            _ => text(draw, number),
        })];
        match draw.below(8) {
            0 => pieces.push(Piece::Text(text(draw, number))),
            1 => pieces.push(Piece::Picture(PICTURES[0])),
            _ => {}
        }
        Self {
            id: call.id.clone(),
            name: call.name,
            pieces,
            failed: draw.once_in(6),
            is_client: call.is_client,
        }
    }
}

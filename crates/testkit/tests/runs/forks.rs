//! Sessions that fork: shared turns are reported, billed and trained on once, and every published dataset is certified,
//! with any corruption and any selection.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chatmill_drawn::{Random, cases, random};
use chatmill_workshop::{TestDir, rows};
use serde_json::{Value, json};

const MORE: &str = "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\"]\n\
    [limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 10000\n";

/// The selections under test.
const SELECTIONS: [&str; 11] = [
    "[select]\nmin_turns = 2\n",
    "[select]\nmin_turns = 3\n",
    "[select]\nmin_turns = 4\n",
    "[select]\nlimit = 4\n",
    "[select]\nsample = 0.5\n",
    "[select]\nconversations = [\"s0\"]\n",
    "[select]\nwith_tool_calls = true\n",
    "[select]\nwithout_findings = [\"SR002\"]\n",
    "[select]\nwithout_findings = [\"SR\"]\n",
    "[dedup]\nexact = \"filter\"\n",
    "[dedup]\nexact = \"filter\"\nnear = \"filter\"\nthreshold = 0.5\n",
];

/// A line of a session.
#[derive(Clone)]
struct Turn {
    uuid: String,
    parent: Option<String>,
    kind: &'static str,
    message: Value,
}

impl Turn {
    fn line(&self, session: &str) -> String {
        json!({"parentUuid": self.parent, "sessionId": session, "type": self.kind, "uuid": self.uuid, "message": self.message})
            .to_string()
    }
}

fn asked(uuid: &str, parent: &str) -> Turn {
    Turn {
        uuid: uuid.to_owned(),
        parent: Some(parent.to_owned()).filter(|parent| !parent.is_empty()),
        kind: "user",
        message: json!({"role": "user", "content": format!("And {uuid}?")}),
    }
}

fn answered(uuid: &str, parent: &str, tokens: u64) -> Turn {
    let usage = json!({"input_tokens": 0, "output_tokens": tokens});
    let message = json!({"id": format!("m-{uuid}"), "model": "large", "role": "assistant", "content": format!("It is {uuid}."), "usage": usage});
    Turn {
        kind: "assistant",
        message,
        ..asked(uuid, parent)
    }
}

fn broken(uuid: &str, parent: &str) -> Turn {
    Turn {
        kind: "assistant",
        message: json!(false),
        ..asked(uuid, parent)
    }
}

/// Sessions that begin like earlier ones, with lines that are broken, taken back, or parts of one answer.
fn drawn(random: &mut Random, count: usize) -> Vec<Vec<Turn>> {
    let mut sessions: Vec<Vec<Turn>> = Vec::new();
    let mut number = 0;
    for _ in 0..count {
        let trunk = sessions.get(random.below(sessions.len() + 1)).cloned();
        let mut turns = trunk.unwrap_or_default();
        turns.truncate(1 + random.below(turns.len().max(1)));
        for _ in 0..=random.below(5) {
            number += 1;
            let uuid = format!("u{number}");
            let last = turns.last();
            let is_rewound = random.once_in(8) && last.is_some();
            let parent = if is_rewound { random.pick(&turns) } else { last };
            let parent = parent.map(|turn| turn.uuid.clone()).unwrap_or_default();
            let is_answer = last.is_some_and(|last| last.kind == "user") != random.once_in(10);
            let tokens = 1 << random.below(12);
            let mut turn = match random.below(6) {
                0 => broken(&uuid, &parent),
                _ if is_answer => answered(&uuid, &parent, tokens),
                _ => asked(&uuid, &parent),
            };
            // Further parts of the answer before; the last part has the cost of the whole answer.
            if let Some(last) = turns
                .last()
                .filter(|last| last.kind == "assistant" && random.once_in(3))
            {
                turn.kind = "assistant";
                turn.message = last.message.clone();
                turn.parent = Some(last.uuid.clone());
            }
            if turn.message.is_boolean() && random.once_in(3) {
                turn.message = Value::Null;
            }
            turns.push(turn);
        }
        sessions.push(turns);
    }
    sessions
}

/// Writes sessions into some files, with unreadable lines between them.
fn write(test_dir: &TestDir, sessions: &[Vec<Turn>], random: &mut Random) {
    let count = 1 + random.below(sessions.len());
    let mut files = vec![String::new(); count];
    for (number, turns) in sessions.iter().enumerate() {
        let file = &mut files[random.below(count)];
        for turn in turns {
            writeln!(file, "{}", turn.line(&format!("s{number}"))).unwrap();
            if random.once_in(20) {
                let odd = [
                    "7",
                    "{\"type\"",
                    "{\"type\":\"assistant\",\"sessionId\":\"s0\",\"message\":7}",
                ];
                writeln!(file, "{}", random.pick(&odd).unwrap()).unwrap();
            }
        }
    }
    for (number, file) in files.iter().enumerate() {
        test_dir.write(&format!("in/{number}.jsonl"), file);
    }
}

/// The cost of the answers in the selected lines, each counted once: the last part has it.
fn bought(sessions: &[Vec<Turn>], is_selected: impl Fn(&str) -> bool) -> i64 {
    let mut answers: BTreeMap<&str, (bool, i64)> = BTreeMap::new();
    for turn in sessions.iter().flatten() {
        if let (Some(id), Some(tokens)) = (
            turn.message["id"].as_str(),
            turn.message["usage"]["output_tokens"].as_i64(),
        ) {
            let answer = answers.entry(id).or_default();
            *answer = (answer.0 || is_selected(&turn.uuid), tokens);
        }
    }
    let selected = answers.into_values().filter(|(is_selected, _)| *is_selected);
    selected.map(|(_, tokens)| tokens).sum()
}

fn billed(test_dir: &TestDir) -> i64 {
    let logged = rows::numbers(&test_dir.path("out"), "messages", "usage_output");
    logged.into_iter().flatten().sum()
}

/// The ids of the answers that are trained on; each may occur only once.
fn learned(test_dir: &TestDir) -> Vec<String> {
    let out = test_dir.path("out");
    let of = |column: &str| rows::texts(&out, "messages", column);
    let kinds = of("role").into_iter().zip(of("kind"));
    let weights = rows::reals(&out, "messages", "weight");
    let all = of("message_id").into_iter().zip(kinds).zip(weights);
    all.filter(|((_, (role, kind)), weight)| {
        role.as_deref() == Some("assistant") && kind.as_deref() == Some("message") && *weight != Some(0.0)
    })
    .filter_map(|((id, _), _)| id)
    .collect()
}

fn certified(test_dir: &TestDir, what: &str) {
    let certificate = chatmill_dataset::certify(&test_dir.path("out")).unwrap();
    assert_eq!(certificate.problems, Vec::<String>::new(), "{what}");
}

#[test]
fn forked_and_broken_conversations_are_published_certified_and_counted_once() {
    let mut random = random(33);
    for case in 0..cases(6) {
        let count = if random.once_in(12) {
            40
        } else {
            1 + random.below(7)
        };
        let sessions = drawn(&mut random, count);
        let test_dir = TestDir::new();
        write(&test_dir, &sessions, &mut random);
        test_dir.run("out", MORE, 2).unwrap();
        let what = format!("case {case}");
        holds(&test_dir, &what);
        assert_eq!(billed(&test_dir), bought(&sessions, |_| true), "{what}");
        let selection = random.pick(&SELECTIONS).unwrap();
        let what = format!("{what} with {selection}");
        std::fs::remove_dir_all(test_dir.path("out")).unwrap();
        test_dir.run("out", &format!("{MORE}{selection}"), 2).unwrap();
        holds(&test_dir, &what);
        let kept = rows::texts(&test_dir.path("out"), "messages", "message_id");
        let kept: BTreeSet<String> = kept.into_iter().flatten().collect();
        assert_eq!(
            billed(&test_dir),
            bought(&sessions, |id| kept.contains(id)),
            "{what}"
        );
    }
}

/// Checks the certificate, and that answers are trained on once.
fn holds(test_dir: &TestDir, what: &str) {
    certified(test_dir, what);
    let learned = learned(test_dir);
    let once: BTreeSet<&String> = learned.iter().collect();
    assert_eq!(once.len(), learned.len(), "{what}: {learned:?}");
}

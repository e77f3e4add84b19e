//! Sessions that fork: what forks share is told, paid and learned once, and what a run publishes is certified, whatever is broken,
//! and whoever is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chatmill_drawn::{Random, cases, random};
use chatmill_workshop::{Workshop, rows};
use serde_json::{Value, json};

const MORE: &str = "[count]\nencodings = []\n[render]\ndialects = [\"openai-chat\"]\n\
    [limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 10000\n";

/// Who is left out.
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

/// Sessions that begin as earlier ones do, with lines that are broken, taken back, or pieces of one answer.
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
            // Further pieces of the answer before, of which the last knows what all of it cost.
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

/// Writes sessions into some files, with lines between them that nobody can read.
fn write(workshop: &Workshop, sessions: &[Vec<Turn>], random: &mut Random) {
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
        workshop.write(&format!("in/{number}.jsonl"), file);
    }
}

/// What the answers cost of which these lines tell, each once: their last pieces say it.
fn bought(sessions: &[Vec<Turn>], is_told: impl Fn(&str) -> bool) -> i64 {
    let mut answers: BTreeMap<&str, (bool, i64)> = BTreeMap::new();
    for turn in sessions.iter().flatten() {
        if let (Some(id), Some(tokens)) = (
            turn.message["id"].as_str(),
            turn.message["usage"]["output_tokens"].as_i64(),
        ) {
            let answer = answers.entry(id).or_default();
            *answer = (answer.0 || is_told(&turn.uuid), tokens);
        }
    }
    let told = answers.into_values().filter(|(is_told, _)| *is_told);
    told.map(|(_, tokens)| tokens).sum()
}

fn billed(workshop: &Workshop) -> i64 {
    let logged = rows::numbers(&workshop.path("out"), "messages", "usage_output");
    logged.into_iter().flatten().sum()
}

/// The answers that somebody learns, by id; each may be learned once.
fn learned(workshop: &Workshop) -> Vec<String> {
    let out = workshop.path("out");
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

fn certified(workshop: &Workshop, what: &str) {
    let certificate = chatmill_dataset::certify(&workshop.path("out")).unwrap();
    assert_eq!(certificate.faults, Vec::<String>::new(), "{what}");
}

#[test]
fn whatever_forks_and_breaks_what_is_published_is_certified_and_paid_once() {
    let mut random = random(33);
    for case in 0..cases(6) {
        let count = if random.once_in(12) {
            40
        } else {
            1 + random.below(7)
        };
        let sessions = drawn(&mut random, count);
        let workshop = Workshop::new();
        write(&workshop, &sessions, &mut random);
        workshop.run("out", MORE, 2).unwrap();
        let what = format!("case {case}");
        holds(&workshop, &what);
        assert_eq!(billed(&workshop), bought(&sessions, |_| true), "{what}");
        let selection = random.pick(&SELECTIONS).unwrap();
        let what = format!("{what} with {selection}");
        std::fs::remove_dir_all(workshop.path("out")).unwrap();
        workshop.run("out", &format!("{MORE}{selection}"), 2).unwrap();
        holds(&workshop, &what);
        let kept = rows::texts(&workshop.path("out"), "messages", "message_id");
        let kept: BTreeSet<String> = kept.into_iter().flatten().collect();
        assert_eq!(
            billed(&workshop),
            bought(&sessions, |id| kept.contains(id)),
            "{what}"
        );
    }
}

/// A certificate, and answers that are learned once.
fn holds(workshop: &Workshop, what: &str) {
    certified(workshop, what);
    let learned = learned(workshop);
    let once: BTreeSet<&String> = learned.iter().collect();
    assert_eq!(once.len(), learned.len(), "{what}: {learned:?}");
}

/// Rejected frames and findings that say so.
fn told(workshop: &Workshop) -> (usize, usize) {
    let out = workshop.path("out");
    let levels = rows::texts(&out, "rejects", "level");
    let codes = rows::texts(&out, "findings", "code");
    let count = |found: Vec<Option<String>>, wanted: &str| {
        let wanted = Some(wanted.to_owned());
        found.into_iter().filter(|found| *found == wanted).count()
    };
    (count(levels, "frame"), count(codes, "SR002"))
}

#[test]
fn a_broken_line_that_two_forks_share_is_one_reject_and_one_finding() {
    let workshop = Workshop::new();
    let trunk = [asked("u1", ""), broken("u2", "u1")];
    let resumed = [trunk.as_slice(), &[asked("u3", "u2")]].concat();
    let shown = vec![asked("u1", ""), answered("u5", "u1", 3)];
    for (number, turns) in [trunk.to_vec(), resumed, shown].iter().enumerate() {
        let lines: Vec<String> = turns
            .iter()
            .map(|turn| turn.line(&format!("s{number}")))
            .collect();
        workshop.write(&format!("in/{number}.jsonl"), lines.join("\n"));
    }
    workshop.run("out", MORE, 2).unwrap();
    assert_eq!(told(&workshop), (1, 1));
    certified(&workshop, "shared");
}

#[test]
fn what_is_rejected_in_a_conversation_that_is_left_out_is_told() {
    let long = [asked("u1", ""), answered("u2", "u1", 1), asked("u3", "u2")];
    let long = [long.as_slice(), &[answered("u4", "u3", 1)]].concat();
    let short = [asked("u1", ""), broken("u5", "u1"), answered("u9", "u5", 1)];
    let lines = |turns: &[Turn], session: &str| -> String {
        let lines = turns.iter().map(|turn| turn.line(session) + "\n");
        lines.collect()
    };
    for selection in [
        "[select]\nmin_turns = 3\n",
        "[select]\nwithout_findings = [\"SR002\"]\n",
    ] {
        let workshop = Workshop::new();
        workshop.write("in/a.jsonl", lines(&long, "s1") + &lines(&short, "s3"));
        let summary = workshop.run("out", &format!("{MORE}{selection}"), 2).unwrap();
        let totals = &summary.totals;
        assert_eq!((totals.conversations, totals.rejected), (1, 1), "{selection}");
        assert_eq!(told(&workshop), (1, 1), "{selection}");
        certified(&workshop, selection);
    }
    // Where everything is left out, the whole record is.
    let workshop = Workshop::new();
    workshop.write("in/a.jsonl", lines(&long, "s1") + &lines(&short, "s3"));
    let none = format!("{MORE}[select]\nmin_turns = 9\n");
    let summary = workshop.run("out", &none, 2).unwrap();
    assert_eq!((summary.totals.filtered, told(&workshop)), (7, (0, 0)));
    certified(&workshop, "all");
}

#[test]
fn tokens_that_were_bought_once_are_billed_once_in_one_file_and_in_four() {
    let trunk = [asked("u1", ""), answered("u2", "u1", 1000)];
    let with = |more: [Turn; 2]| [trunk.as_slice(), &more].concat();
    let sessions = [
        trunk.to_vec(),
        with([asked("u3", "u2"), answered("u4", "u3", 10)]),
        with([asked("u5", "u2"), answered("u6", "u5", 100)]),
        vec![asked("u1", ""), answered("u7", "u1", 1)],
    ];
    for files in [1, 2, 4] {
        let workshop = Workshop::new();
        let mut texts = vec![String::new(); files];
        for (number, turns) in sessions.iter().enumerate() {
            for turn in turns {
                writeln!(texts[number % files], "{}", turn.line(&format!("s{number}"))).unwrap();
            }
        }
        for (number, text) in texts.iter().enumerate() {
            workshop.write(&format!("in/{number}.jsonl"), text);
        }
        workshop.run("out", MORE, 2).unwrap();
        assert_eq!(billed(&workshop), 1111, "{files} files");
        let mut learned = learned(&workshop);
        learned.sort();
        assert_eq!(learned, ["u2", "u4", "u6", "u7"], "{files} files");
    }
}

#[test]
fn forks_beyond_those_that_are_conversations_are_told_and_their_tokens_billed() {
    let workshop = Workshop::new();
    let mut text = String::new();
    for number in 0..40 {
        let turns = [
            asked("u1", ""),
            answered(&format!("a{number}"), "u1", 1 << (number % 20)),
        ];
        for turn in turns {
            writeln!(text, "{}", turn.line(&format!("s{number}"))).unwrap();
        }
    }
    workshop.write("in/a.jsonl", text);
    let summary = workshop.run("out", MORE, 2).unwrap();
    assert_eq!(summary.totals.conversations, 33);
    assert_eq!(summary.totals.findings["SR030"].warnings, 7);
    assert_eq!(billed(&workshop), 2 * ((1 << 20) - 1));
    certified(&workshop, "many");
}

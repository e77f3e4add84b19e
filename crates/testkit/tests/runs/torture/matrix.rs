//! The sixteen histories with the results of other converters, and the renderings of the hardest in each dialect: the
//! tables of `docs/torture.md`. `BLESS=1` writes them again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chatmill_dialect::{Coverage, DIALECTS, Dialect, LossCode, Policy, Rendering, auto_perspective};
use chatmill_golden::assert_golden;
use chatmill_model::Linked;

use super::{SIXTEEN, cases, each_rendering};

const PEERS: [&str; 8] = [
    "LiteLLM 1.106",
    "LiteLLM, `modify_params`",
    "LangChain core 1.7",
    "any-llm 1.40",
    "pydantic-ai 2.68",
    "linguafranca 0.3.15",
    "lingua 0.1.0",
    "AI SDK 6",
];

/// The results of the other converters for the cases of [`SIXTEEN`], in that order, from Chat Completions to Anthropic
/// Messages. "ok" means that the result would be accepted. A single word means that all eight did the same.
const DONE: [&[&str]; 16] = [
    &[
        "lost", "lost", "lost", "lost", "no place", "lost", "lost", "no place",
    ],
    &[
        "text first",
        "text first",
        "text first",
        "unpaired",
        "unpaired",
        "text first",
        "unpaired",
        "error",
    ],
    &[
        "text behind call",
        "result replaced",
        "unpaired",
        "unpaired",
        "unpaired",
        "text behind call",
        "unpaired",
        "ok",
    ],
    &[
        "unpaired",
        "filled in",
        "unpaired",
        "unpaired",
        "unpaired",
        "unpaired",
        "unpaired",
        "error",
    ],
    &[
        "sent",
        "dropped untold",
        "sent",
        "sent",
        "sent",
        "sent",
        "sent",
        "sent",
    ],
    &[
        "both sent",
        "last one, logged",
        "both sent",
        "both sent",
        "both sent",
        "both sent",
        "both sent",
        "both sent",
    ],
    &["ok"],
    &[
        "error",
        "error",
        "error",
        "error",
        "ok, wrapped",
        "`{}`, told",
        "no input",
        "string sent",
    ],
    &[
        "array sent",
        "array sent",
        "error",
        "array sent",
        "ok, wrapped",
        "array sent",
        "no input",
        "array sent",
    ],
    &[
        "ok, rewritten",
        "ok, rewritten",
        "ok, rewritten",
        "sent",
        "sent",
        "sent",
        "sent",
        "sent",
    ],
    &["ok"],
    &[
        "filled in",
        "filled in",
        "empty block",
        "empty block",
        "turn gone",
        "empty block",
        "empty block",
        "empty block",
    ],
    &["sent"],
    &[
        "not tried",
        "not tried",
        "hoisted",
        "hoisted",
        "hoisted",
        "hoisted, told",
        "error",
        "hoisted",
    ],
    &["ok"],
    &["ok"],
];

/// The verdict and the losses of one case in one dialect, from the perspective of its busiest agent.
struct Outcome {
    violations: BTreeSet<String>,
    /// The losses at single messages.
    told: BTreeSet<LossCode>,
    /// The losses of the whole conversation.
    by_nature: BTreeSet<LossCode>,
    /// The rendering.
    text: String,
    /// Whether the dialect shows the conversation, and not single turns of it.
    shows_history: bool,
}

impl Outcome {
    fn of(dialect: &Dialect, linked: &Linked) -> Self {
        let mut outcome = Self {
            violations: BTreeSet::new(),
            told: BTreeSet::new(),
            by_nature: BTreeSet::new(),
            text: String::new(),
            shows_history: true,
        };
        let look = &mut |text: &str, rendering: &Rendering| {
            outcome
                .violations
                .extend(rendering.violations.iter().map(ToString::to_string));
            outcome.text += text;
            outcome.shows_history &= rendering.coverage != Coverage::SingleTurn;
            for loss in &rendering.losses {
                match loss.position {
                    // Text in front of everything belongs to no message.
                    None if loss.code == LossCode::EmptyFilled => outcome.told.insert(loss.code),
                    Some(_) => outcome.told.insert(loss.code),
                    None => outcome.by_nature.insert(loss.code),
                };
            }
        };
        each_rendering(
            &[dialect],
            linked,
            auto_perspective(linked),
            &Policy::default(),
            look,
        );
        outcome
    }

    fn has(&self, code: LossCode) -> bool {
        self.told.contains(&code) || self.by_nature.contains(&code)
    }

    /// The word for the first of these codes that is declared, or `otherwise`.
    fn first<'t>(&self, words: &[(LossCode, &'t str)], otherwise: &'t str) -> &'t str {
        let found = words.iter().find(|(code, _)| self.has(*code));
        found.map_or(otherwise, |(_, word)| word)
    }
}

fn case<'a>(cases: &'a [(String, Linked)], name: &str) -> &'a Linked {
    &cases.iter().find(|(case, _)| case == name).unwrap().1
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn head(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    line(&cells) + &"|---".repeat(cells.len()) + "|\n"
}

/// The table of the cases with the results of the other converters.
fn matrix(cases: &[(String, Linked)]) -> String {
    let ours = chatmill_dialect::find("anthropic-messages").unwrap();
    let heads: Vec<&str> = ["Case"].into_iter().chain(PEERS).chain(["chatmill"]).collect();
    let mut table = head(&heads);
    for (name, done) in SIXTEEN.iter().zip(DONE) {
        let outcome = Outcome::of(ours, case(cases, name));
        assert_eq!(outcome.violations, BTreeSet::new(), "{name}");
        let told: Vec<String> = outcome
            .told
            .iter()
            .map(|code| format!("`{}`", code.as_str()))
            .collect();
        let mut cells = vec![name.replace('-', " ")];
        let each = PEERS.iter().enumerate();
        cells.extend(each.map(|(index, _)| done.get(index).unwrap_or(&done[0]).to_string()));
        cells.push(match told.len() {
            0 => "ok".to_owned(),
            _ => format!("ok, told: {}", told.join(" ")),
        });
        table += &line(&cells);
    }
    table
}

/// The table of the names, pairs and orphans of the cases in each dialect.
fn dialects(cases: &[(String, Linked)]) -> String {
    let mut table = head(&[
        "Dialect",
        "Valid",
        "Names of two speakers",
        "Somebody speaks between call and result",
        "Result never came",
        "Result without call",
    ]);
    for dialect in DIALECTS {
        let outcome = |name: &str| Outcome::of(dialect, case(cases, name));
        let invalid: Vec<String> = SIXTEEN
            .iter()
            .flat_map(|name| {
                let violations = outcome(name).violations.into_iter();
                violations.map(move |violation| format!("{}: {violation}", name.replace('-', " ")))
            })
            .collect();
        let mut valid = format!("{} of 16", 16 - invalid.len());
        if !invalid.is_empty() {
            valid = format!("{valid} ({})", invalid.join("; "));
        }
        let no_tools = [
            (LossCode::ToolCallDropped, "no tools: told"),
            (LossCode::ToolResultDropped, "no tools: told"),
        ];
        let speakers = outcome("two-speakers");
        let names = if !["Marit", "Joost"].iter().all(|name| speakers.text.contains(name)) {
            assert!(speakers.has(LossCode::NameDropped), "{}", dialect.id());
            "lost: told"
        } else if speakers.has(LossCode::NameInlined) {
            "in front of the text: told"
        } else {
            "kept"
        };
        let moved = [(LossCode::ResultLateMoved, "brought together: told")];
        let between: BTreeSet<&str> = [
            "person-between-call-and-result",
            "assistant-between-call-and-result",
        ]
        .iter()
        .map(|name| outcome(name).first(&[&moved[..], &no_tools].concat(), "as they stood"))
        .collect();
        let filled = [(LossCode::MissingResultSynthesised, "made up: told")];
        let missing = outcome("result-never-came").first(&[&filled[..], &no_tools].concat(), "left open");
        let orphan = outcome("result-without-call").first(
            &[
                (LossCode::OrphanResultInlined, "as text: told"),
                (LossCode::OrphanResultDropped, "left out: told"),
                no_tools[1],
            ],
            "as it stood",
        );
        let mut cells = vec![format!("`{}`", dialect.id()), valid, names.to_owned()];
        if speakers.shows_history {
            cells.push(between.into_iter().collect::<Vec<_>>().join(", "));
            cells.extend([missing.to_owned(), orphan.to_owned()]);
        } else {
            cells.extend(["single turns", "", ""].map(str::to_owned));
        }
        table += &line(&cells);
    }
    table
}

#[test]
fn the_tables_of_the_page_equal_the_dialects_results() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/torture.md");
    let written = fs::read_to_string(&path).unwrap();
    let cases = cases();
    let mut page = written.clone();
    for (name, table) in [("matrix", matrix(&cases)), ("dialects", dialects(&cases))] {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (before, rest) = page.split_once(&open).expect(name);
        let (_, after) = rest.split_once(&close).expect(name);
        page = format!("{before}{open}\n{table}\n{close}{after}");
    }
    assert_golden(&path, &page);
}

#[test]
fn none_of_the_sixteen_is_lost_without_a_word_where_others_lose() {
    let cases = cases();
    for (name, codes) in [
        ("two-speakers", &[LossCode::NameInlined][..]),
        ("person-between-call-and-result", &[LossCode::ResultLateMoved]),
        ("assistant-between-call-and-result", &[LossCode::ResultLateMoved]),
        ("result-never-came", &[LossCode::MissingResultSynthesised]),
        ("result-without-call", &[LossCode::OrphanResultInlined]),
        ("same-result-twice", &[LossCode::DuplicateResult]),
        ("call-id-reused", &[LossCode::ToolIdRewritten]),
        ("malformed-arguments", &[LossCode::ArgsMalformed]),
        ("array-as-arguments", &[LossCode::ArgsNotObject]),
        ("id-with-illegal-signs", &[LossCode::ToolIdRewritten]),
        ("empty-user-text", &[LossCode::EmptyDropped]),
        ("starts-with-assistant", &[LossCode::EmptyFilled]),
        (
            "system-in-the-middle",
            &[LossCode::SystemHoisted, LossCode::SystemInlined],
        ),
        ("space-after-last-answer", &[LossCode::WhitespaceTrimmed]),
    ] {
        for dialect in ["anthropic-messages", "bedrock-converse"] {
            let outcome = Outcome::of(chatmill_dialect::find(dialect).unwrap(), case(&cases, name));
            // Converse accepts white space at the end.
            let codes = codes
                .iter()
                .filter(|code| dialect == "anthropic-messages" || **code != LossCode::WhitespaceTrimmed);
            for code in codes {
                assert!(outcome.has(*code), "{name} in {dialect}: {}", code.as_str());
            }
        }
    }
}

//! A dialect that a run did not render can be made from the tables of its dataset, with the bytes that the run would
//! have written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chatmill_dataset::{Dataset, DatasetError, Numbers, Spans, TextLists, Texts};
use chatmill_dialect::DIALECTS;
use chatmill_drawn::{cases, random};
use chatmill_engine::rerender::{RerenderError, Rerenderer, Rerendering, conversation};
use chatmill_source::SOURCES;
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;

/// A rendering: its key, its text, and the columns of its row.
#[derive(Debug, PartialEq)]
struct Rendered {
    key: (String, String, u64),
    content: Option<String>,
    last_role: Option<String>,
    assistant: Vec<std::ops::Range<u64>>,
    learned: Vec<std::ops::Range<u64>>,
    losses: Vec<String>,
    violations: Vec<String>,
    tokens: u64,
}

/// The key for the pseudonyms.
const KEY: &str = "an invented key of more than thirty-two signs";

const REDACTED: &str = "[redact]\nmode = \"replace\"\nkey_file = \"key.txt\"\n";

/// The demo, and the files of a quarter of the sources; of all sources if four times as many cases are drawn.
///
/// All files of a source are taken, because they may be parts of one conversation.
fn drawn_samples(test_dir: &TestDir, more: &str) {
    copy(test_dir, &samples().join("demo"), "in/demo");
    // Other plans draw other sources.
    let mut random = random(more.len() as u64);
    let mut sources: Vec<&str> = SOURCES.iter().map(|source| source.id()).collect();
    sources.sort_unstable();
    for source in sources {
        let folder = samples().join("sources").join(source);
        if random.below(4) < cases(1) as usize && folder.is_dir() {
            copy(test_dir, &folder, &format!("in/sources/{source}"));
        }
    }
}

fn copy(test_dir: &TestDir, from: &Path, to: &str) {
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name().into_string().unwrap())
        };
        let to = format!("{to}/{name}");
        // The expected reading of a sample is no sample.
        if name.contains(".expected.") {
            continue;
        }
        if path.is_dir() {
            copy(test_dir, &path, &to);
        } else {
            test_dir.write(&to, fs::read(path).unwrap());
        }
    }
}

fn written(dataset: &Dataset, dialect: &str) -> Vec<Rendered> {
    let columns = [
        "conversation_id",
        "dialect",
        "perspective",
        "ordinal",
        "content",
        "last_role",
        "assistant_spans",
        "learned_spans",
        "loss_codes",
        "violations",
        "tokens_r50k_base",
    ];
    let mut rendered = Vec::new();
    for batch in dataset.batches("renderings", &columns) {
        let batch = batch.unwrap();
        let texts = |name| batch.column::<Texts>(name).unwrap();
        let (ids, dialects, perspectives) =
            (texts("conversation_id"), texts("dialect"), texts("perspective"));
        let (contents, roles) = (texts("content"), texts("last_role"));
        let spans = |name| batch.column::<Spans>(name).unwrap();
        let (assistant, learned) = (spans("assistant_spans"), spans("learned_spans"));
        let lists = |name| batch.column::<TextLists>(name).unwrap();
        let (losses, violations) = (lists("loss_codes"), lists("violations"));
        let numbers = |name| batch.column::<Numbers>(name).unwrap();
        let (ordinals, tokens) = (numbers("ordinal"), numbers("tokens_r50k_base"));
        for row in (0..batch.rows()).filter(|row| dialects.at(*row) == dialect) {
            rendered.push(Rendered {
                key: (
                    ids.at(row).to_owned(),
                    perspectives.at(row).to_owned(),
                    ordinals.at(row),
                ),
                content: contents.get(row).map(str::to_owned),
                last_role: roles.get(row).map(str::to_owned),
                assistant: assistant.at(row),
                learned: learned.at(row),
                losses: losses.at(row),
                violations: violations.at(row),
                tokens: tokens.at(row),
            });
        }
    }
    rendered
}

fn again(dataset: &Dataset, dialect: &str) -> Result<Vec<Rendered>, RerenderError> {
    let again = Rerenderer::new(dataset, dialect, Some("r50k_base"))?;
    let mut rendered = Vec::new();
    again.each::<DatasetError>(&mut |made| {
        rendered.push(owned(made));
        Ok(())
    })?;
    // A single conversation has the same renderings as among all conversations.
    let ids = rendered.iter().map(|one| one.key.0.clone());
    let ids: BTreeSet<String> = ids.step_by(1 + rendered.len() / 2).collect();
    for id in ids {
        let mut alone = Vec::new();
        let (facts, linked) = conversation(dataset, &id)?.unwrap();
        again.each_of::<DatasetError>((&facts, &linked), &mut |made, _, _| {
            alone.push(owned(made));
            Ok(())
        })?;
        let among_all = rendered.iter().filter(|one| one.key.0 == id);
        assert!(alone.iter().eq(among_all), "{dialect}: {id}");
    }
    Ok(rendered)
}

fn owned(made: &Rerendering<'_>) -> Rendered {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rendered {
        key: (
            made.conversation.to_string(),
            made.perspective.to_string(),
            made.ordinal,
        ),
        content: made.content.as_deref().map(str::to_owned),
        last_role: made.last_role.map(str::to_owned),
        assistant: made.assistant_spans.to_vec(),
        learned: made.learned_spans.to_vec(),
        losses: owned(&made.loss_codes),
        violations: made.violations.clone(),
        tokens: made.tokens,
    }
}

/// The first difference between two renderings, shortened.
fn difference(found: &Rendered, wanted: &Rendered) -> String {
    let [one, other] = [found, wanted].map(|rendered| format!("{rendered:?}"));
    let same = one.chars().zip(other.chars());
    let start = same
        .take_while(|(one, other)| one == other)
        .count()
        .saturating_sub(60);
    let around = |text: &str| text.chars().skip(start).take(260).collect::<String>();
    format!("{:?}\n  {}\n  {}", wanted.key, around(&one), around(&other))
}

/// A run with these dialects and a run with a single dialect, over the same inputs.
fn two_runs(test_dir: &TestDir, dialects: &BTreeSet<&str>, more: &str) -> [Dataset; 2] {
    let plan = |dialects: &str| {
        format!(
            "[render]\ndialects = [{dialects}]\n[count]\nencodings = [\"r50k_base\"]\n\
             [limits]\nmax_reject_ratio = 1.0\nmax_error_findings = 1000\n{more}"
        )
    };
    test_dir.write("key.txt", KEY);
    test_dir
        .run(
            "whole",
            &plan(&format!("{dialects:?}").replace(['{', '}'], "")),
            2,
        )
        .unwrap();
    test_dir.run("one", &plan("\"jaibber-context\""), 2).unwrap();
    ["whole", "one"].map(|name| Dataset::open(&test_dir.path(name)).unwrap())
}

/// Compares a third of the dialects, or all if three times as many cases are drawn; returns the dialects that are
/// refused, of all.
fn compare(more: &str) -> BTreeSet<String> {
    let test_dir = TestDir::new();
    drawn_samples(&test_dir, more);
    let mut random = random(more.len() as u64);
    let mut drawn: BTreeSet<&str> = DIALECTS.iter().map(|dialect| dialect.id()).collect();
    drawn.retain(|_| random.below(3) < cases(1) as usize);
    drawn.insert("openai-chat");
    let [whole, one] = two_runs(&test_dir, &drawn, more);
    let mut refused = BTreeSet::new();
    let mut differing: Vec<String> = Vec::new();
    for dialect in DIALECTS {
        let id = dialect.id();
        let found = if drawn.contains(id) {
            again(&one, id).map(Some)
        } else {
            Rerenderer::new(&one, id, Some("r50k_base")).map(|_| None)
        };
        let found = match found {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(RerenderError::Refused { message, .. }) => {
                assert!(message.contains(id), "{message}");
                refused.insert(id.to_owned());
                continue;
            }
            Err(error) => panic!("{id}: {error}"),
        };
        let wanted = written(&whole, id);
        assert!(
            wanted.len() > 10 * cases(1).min(5) as usize,
            "{id}: {}",
            wanted.len()
        );
        let keys = |rendered: &[Rendered]| {
            rendered
                .iter()
                .map(|rendered| rendered.key.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(&found), keys(&wanted), "{id}");
        let pairs = found.iter().zip(&wanted);
        let pairs = pairs.filter(|(found, wanted)| found != wanted);
        differing.extend(pairs.map(|(found, wanted)| format!("{id} {}", difference(found, wanted))));
    }
    assert!(
        differing.is_empty(),
        "{} differ:\n{}",
        differing.len(),
        differing[..differing.len().min(12)].join("\n")
    );
    refused
}

#[test]
fn whole_conversations_render_in_every_dialect_of_no_single_system() {
    let refused = compare("[perspective]\nas = \"each-agent\"\n");
    let systems = [
        "group-chat",
        "gryag-compact",
        "gryag-gemini",
        "jaibber-context",
        "jaibber-events",
        "suna-rows",
        "tzurot",
    ];
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    assert_eq!(refused, systems);
}

#[test]
fn windows_with_a_budget_are_cut_where_the_run_would_have_cut_them() {
    compare(
        "[window]\nmode = \"consecutive\"\nsession_gap = \"6h\"\noverlap = 2\n\
         max_tokens = { encoding = \"r50k_base\", tokens = 300 }\n",
    );
}

#[test]
fn a_window_per_turn_has_the_prompt_and_the_tools_that_the_run_would_have_given_it() {
    compare(
        "[window]\nmode = \"per_turn\"\n[policy]\nreasoning = \"keep\"\n[tools]\ninfer = true\n\
         [prompt]\nsystem = \"You are {agent.name|somebody} in {room.title|a room}.\"\n",
    );
}

#[test]
fn replacements_are_declared_as_in_the_run() {
    compare(REDACTED);
}

#[test]
fn replacements_are_declared_in_the_windows_that_show_them() {
    compare(&format!("{REDACTED}[window]\nmode = \"per_turn\"\nhistory = 2\n"));
}

#[test]
fn an_unknown_dialect_is_refused_with_the_nearest() {
    let test_dir = TestDir::new();
    test_dir.write(
        "in/a.json",
        fs::read(samples().join("demo/launch-week.json")).unwrap(),
    );
    let more = "[count]\nencodings = [\"r50k_base\"]\n[render]\ndialects = [\"chatml\"]\n";
    test_dir.run("out", more, 1).unwrap();
    let dataset = Dataset::open(&test_dir.path("out")).unwrap();
    let unknown = again(&dataset, "hf-mesages").unwrap_err().to_string();
    assert!(unknown.contains("did you mean `hf-messages`"), "{unknown}");
}

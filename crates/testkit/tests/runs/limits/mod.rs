//! Every limit is tested on both sides in whole runs, with the key in the pipeline file: at the limit there is no
//! finding; one beyond it there is one, and other records are not affected.

mod containers;
mod conversations;
mod framing;
mod renderings;
mod verdicts;

use chatmill_diag::Limits;
use chatmill_engine::RunSummary;
use chatmill_workshop::{TestDir, rows};

/// A run over a few files with a `[limits]` section.
struct Milled {
    shop: TestDir,
    summary: RunSummary,
}

fn mill(files: &[(&str, &[u8])], limits: &str) -> Milled {
    let shop = TestDir::new();
    for (name, bytes) in files {
        shop.write(&format!("in/{name}"), bytes);
    }
    let more = format!(
        "[render]\ndialects = [\"group-chat\", \"openai-chat\"]\n[count]\nencodings = []\n[limits]\n{limits}\n"
    );
    let summary = shop.run("out", &more, 2).unwrap();
    let certificate = chatmill_dataset::certify(&shop.path("out")).unwrap();
    assert!(certificate.holds(), "{:?}", certificate.problems);
    Milled { shop, summary }
}

impl Milled {
    /// The number of findings of a code.
    fn found(&self, name: &str) -> u64 {
        let counts = self.summary.totals.findings.values();
        counts
            .filter(|count| count.name == name)
            .map(chatmill_engine::FindingCount::total)
            .sum()
    }

    fn rejected(&self) -> u64 {
        self.summary.totals.rejected
    }

    fn texts(&self, table: &str, column: &str) -> Vec<String> {
        rows::texts(&self.shop.path("out"), table, column)
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect()
    }

    fn ids(&self) -> Vec<String> {
        self.texts("conversations", "conversation_id")
    }
}

/// A message with further fields at its end.
fn message(number: usize, more: &str) -> String {
    format!(
        r#"{{"message_id":"m{number}","create_time":"2026-01-01T00:00:00Z","sender":"u1","role":"user","type":"text","content":"hi"{more}}}"#
    )
}

fn chat(id: &str, messages: &[String]) -> String {
    format!(
        r#"{{"version":"1.0.0","conversation_meta":{{"conversation_id":"{id}","name":"n","scene":"group_chat","scene_desc":{{}},"user_details":{{"u1":{{"full_name":"Ann","role":"user"}}}}}},"conversation_list":[{}]}}"#,
        messages.join(",")
    )
}

fn plain(id: &str) -> String {
    chat(id, &[message(1, "")])
}

fn lines(records: &[String]) -> Vec<u8> {
    (records.join("\n") + "\n").into_bytes()
}

#[test]
fn every_limit_has_its_test_here() {
    let keys = serde_json::to_value(Limits::default()).unwrap();
    let own = [
        include_str!("containers.rs"),
        include_str!("conversations.rs"),
        include_str!("framing.rs"),
        include_str!("renderings.rs"),
        include_str!("verdicts.rs"),
    ];
    for key in keys.as_object().unwrap().keys() {
        let sets = format!("{key} = ");
        assert!(own.iter().any(|text| text.contains(&sets)), "no test sets {key}");
    }
}

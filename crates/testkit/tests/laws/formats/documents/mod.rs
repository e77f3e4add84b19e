//! Rules from the documentation of Group Chat Format, Suna, gryag, Jaibber and Tzurot, sentence by sentence where one
//! is easily missed.

mod group_chat;
mod gryag;
mod jaibber;
mod read_back;
mod suna;
mod tzurot;

use std::path::PathBuf;

use chatmill_dialect::{LossCode, Policy, View, auto_perspective};
use chatmill_model::Linked;
use chatmill_testkit::conversations::read;
use chatmill_testkit::samples::samples;
use chatmill_workshop::TestDir;

fn path(name: &str) -> PathBuf {
    samples().join("documents").join(name)
}

/// Reads and links a sample.
fn sample(source: &str, name: &str) -> Linked {
    read(source, &std::fs::read_to_string(path(name)).unwrap())
}

/// A rendering and its losses.
#[derive(Debug)]
struct Rendered {
    text: String,
    losses: Vec<(LossCode, u64)>,
}

impl Rendered {
    fn lost(&self, code: LossCode) -> u64 {
        let of_code = self.losses.iter().filter(|(found, _)| *found == code);
        of_code.map(|(_, amount)| amount).sum()
    }
}

/// The renderings of a conversation from the perspective of a participant.
fn all_through(linked: &Linked, dialect: &str, perspective: Option<usize>) -> Vec<Rendered> {
    let dialect = chatmill_dialect::find(dialect).unwrap();
    let policy = Policy::default();
    let view = View::whole(linked, perspective.filter(|_| !dialect.is_neutral()), &policy);
    let mut all = Vec::new();
    dialect.render_each(&view, &mut |sink, rendering| {
        all.push(Rendered {
            text: sink.text().to_owned(),
            losses: rendering
                .losses
                .iter()
                .map(|loss| (loss.code, loss.amount))
                .collect(),
        });
    });
    all
}

/// The only rendering of a conversation.
fn render(linked: &Linked, dialect: &str) -> Rendered {
    let mut all = all_through(linked, dialect, auto_perspective(linked));
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// The source that recognises a sample, the number of its conversations, and the codes of its findings.
fn recognised(name: &str) -> (String, u64, Vec<&'static str>) {
    let (findings, verdict) = TestDir::check(&path(name));
    let codes = findings.iter().map(|checked| checked.located.finding.code.name);
    (
        verdict.source.unwrap_or_default().to_owned(),
        verdict.conversations,
        codes.collect(),
    )
}

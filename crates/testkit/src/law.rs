//! The law of losses: what a rendering tells when it is read back is what the conversation tells, less what is declared.
//!
//! A [`Told`] is a dialect, the source that reads it back, and what decides how declared changes look. The law holds
//! through the eyes of every participant and by any policy.

mod families;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use chatmill_diag::Limits;
use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Reasoning, References, System,
};
use chatmill_dialect::{History, LossCode, Policy, Rendering, View};
use chatmill_intake::json;
use chatmill_model::{CallStatus, Conversation, Linked, Pairing, PartPlace, ParticipantKind};
use chatmill_source::FrameView;

use crate::forget::{Family, forget};
use crate::random::Random;
use crate::tale::{Tale, difference};
use crate::workshop::samples;

pub use families::{REQUESTS, SYSTEMS};

/// A dialect with its profile, the source that reads it, and what decides how changes look.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// `ID[@PROFILE]` of the dialect.
    pub dialect: &'static str,
    /// Id of the source.
    pub source: &'static str,
    /// How changes look.
    pub family: Family,
}

/// Reads and links a record; none where it holds no conversation.
pub fn try_read(source: &str, text: &str) -> Option<Linked> {
    let limits = Limits::default();
    let document =
        json::scan(text.as_bytes(), limits.depth).unwrap_or_else(|fault| panic!("{fault:?}: {text}"));
    let frame = FrameView {
        document: &document,
        bytes: text.as_bytes(),
        start: 0,
        key: None,
    };
    let reading = chatmill_source::find(source)
        .expect("a source")
        .read(&frame, &limits);
    Some(chatmill_link::link(reading.conversation?, &limits).0)
}

/// Reads and links a record.
pub fn read(source: &str, text: &str) -> Linked {
    try_read(source, text).unwrap_or_else(|| panic!("{source} does not read {text}"))
}

/// What came of trying the law.
#[derive(Debug, Default)]
pub struct Trial {
    /// Renderings that were read back.
    pub tried: u64,
    /// Renderings that policy rejects.
    pub rejected: u64,
    /// Codes that they declared.
    pub codes: BTreeSet<LossCode>,
    /// How the law was broken, by dialect.
    pub breaches: BTreeMap<&'static str, Vec<String>>,
}

impl Trial {
    /// Tries the law for one conversation, through everybody's eyes.
    pub fn all(&mut self, name: &str, linked: &Linked, policy: &Policy, all: &[Told]) {
        let everybody = (0..linked.conversation.participants.len()).map(Some);
        for perspective in std::iter::once(None).chain(everybody) {
            for told in all {
                let (dialect, profile) = chatmill_dialect::find(told.dialect).expect("a dialect");
                let view = View {
                    linked,
                    perspective,
                    policy,
                    profile,
                    history: History::Document,
                    window: None,
                };
                // An archive is nobody's view.
                if told.family.archive && perspective.is_some() {
                    continue;
                }
                dialect.render(&view, &mut |rendering| self.one(name, &view, told, &rendering));
            }
        }
    }

    fn one(&mut self, name: &str, view: &View<'_>, told: &Told, rendering: &Rendering<'_>) {
        // Turns that chat text forges are read as turns; such a rendering is invalid.
        if view.policy.control_tokens == ControlTokens::Keep
            && told.source == "chatml"
            && !rendering.is_valid()
        {
            return;
        }
        let merged = told.family.one_agent.then(|| as_one_agent(view));
        let view = &View {
            linked: merged.as_ref().unwrap_or(view.linked),
            ..*view
        };
        if self.is_rejected(name, view, told, rendering) {
            return;
        }
        let mut messages = 0..view.linked.conversation.messages.len();
        if let (true, Some(only)) = (told.family.single, rendering.first_position) {
            messages = only as usize..only as usize + 1;
        }
        let mut expected = Tale::among(view.linked, view.perspective, messages);
        let mut quotes = expected.turns.iter().flat_map(|turn| &turn.quotes);
        if told.family.single && quotes.any(|quote| !quote.is_known) {
            return;
        }
        self.tried += 1;
        self.codes.extend(rendering.losses.iter().map(|loss| loss.code));
        let text = rendering.rope.text();
        let record = if told.source == "chatml" {
            serde_json::json!({ "text": text }).to_string()
        } else {
            text.clone()
        };
        let family = Family {
            policy: *view.policy,
            ..told.family
        };
        let unknown = forget(&mut expected, &rendering.losses, &family);
        let breach = if unknown.is_empty() {
            // A record without a message is not a conversation to every source.
            let nothing = || chatmill_link::link(Conversation::default(), &Limits::default()).0;
            let mut read = Tale::told(&try_read(told.source, &record).unwrap_or_else(nothing));
            for tale in [&mut expected, &mut read] {
                (family.compared)(tale);
            }
            difference(&expected, &read)
        } else {
            Some(format!("no function forgets {unknown:?}"))
        };
        if let Some(breach) = breach {
            let losses: Vec<_> = rendering
                .losses
                .iter()
                .map(|loss| {
                    let (code, amount) = (loss.code.as_str(), loss.amount);
                    format!("{:?} {code} {amount} {}", loss.position, loss.reason)
                })
                .collect();
            self.breaches.entry(told.dialect).or_default().push(format!(
                "{name} {} through {:?} by {:?}: {breach}\n{}\n{text}",
                told.dialect,
                view.perspective,
                view.policy,
                losses.join("\n")
            ));
        }
    }

    /// Whether policy rejects what cannot be paired: such a rendering stays broken, and says so once for each call and result.
    fn is_rejected(&mut self, name: &str, view: &View<'_>, told: &Told, rendering: &Rendering<'_>) -> bool {
        let family = &told.family;
        let pairs = family.tools && !family.filters && !family.archive;
        if view.policy.orphans != Orphans::Reject || !pairs {
            return false;
        }
        let wanted = orphans(view);
        let says = |rule: &String| {
            let words = ["has no result", "has no call", "is answered already"];
            words.iter().any(|word| rule.ends_with(word))
        };
        let rules = rendering.violations.iter().map(|violation| &violation.rule);
        let said = rules.filter(|rule| says(rule)).count();
        if said != wanted {
            self.breaches.entry(told.dialect).or_default().push(format!(
                "{name} {} through {:?}: {said} of {wanted} calls and results are rejected\n{}",
                told.dialect,
                view.perspective,
                rendering.rope.text()
            ));
        }
        self.rejected += u64::from(wanted > 0);
        wanted > 0
    }

    /// How often each dialect breaks the law, and the shortest case of each; none where the law holds.
    pub fn verdict(&self) -> Option<String> {
        let shortest = |all: &Vec<String>| all.iter().min_by_key(|breach| breach.len()).cloned();
        let shown: Vec<String> = self
            .breaches
            .iter()
            .map(|(dialect, all)| {
                format!(
                    "{dialect}: {} times\n{}",
                    all.len(),
                    shortest(all).unwrap_or_default()
                )
            })
            .collect();
        (!shown.is_empty()).then(|| format!("of {} fail\n{}", self.tried, shown.join("\n\n")))
    }
}

/// A conversation in which the perspective, if it is an agent, says what any agent says.
fn as_one_agent(view: &View<'_>) -> Linked {
    let mut linked = view.linked.clone();
    let people = &linked.conversation.participants;
    let agents: Vec<usize> = (0..people.len())
        .filter(|index| people[*index].kind == ParticipantKind::Agent)
        .collect();
    if let Some(own) = view.perspective.filter(|own| agents.contains(own)) {
        for message in &mut linked.conversation.messages {
            if message.sender.is_some_and(|sender| agents.contains(&sender)) {
                message.sender = Some(own);
            }
        }
    }
    linked
}

/// Calls of the perspective without a result, and results that answer none of its calls or one that is answered already.
fn orphans(view: &View<'_>) -> usize {
    let is_own = |place: &PartPlace| {
        view.message(place.position)
            .is_some_and(|caller| view.is_own(caller))
    };
    let is_orphan = |pairing: &&Pairing| match pairing.status {
        CallStatus::Unanswered => pairing.call.as_ref().is_some_and(is_own),
        CallStatus::Orphaned => true,
        CallStatus::Duplicate => pairing.call.as_ref().is_none_or(is_own),
        CallStatus::Paired | CallStatus::Late | CallStatus::Early => false,
    };
    view.linked.pairings.iter().filter(is_orphan).count()
}

/// The JSON files of a folder of samples, in order.
fn files(folder: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(samples().join(folder)).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.into_iter().filter_map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        let is_case = is_json && !name.contains(".expected.") && name != "vectors.json";
        is_case.then(|| (name, fs::read_to_string(&path).unwrap()))
    });
    texts.collect()
}

/// The torture cases, and every fixture of every source that holds a conversation.
pub fn cases() -> Vec<(String, Linked)> {
    let mut cases: Vec<(String, Linked)> = Vec::new();
    for (name, text) in files("torture") {
        let is_list = text.contains("\"messages\"");
        let source = if is_list { "openai-messages" } else { "group-chat" };
        cases.push((name, try_read(source, &text).unwrap()));
    }
    for source in chatmill_source::SOURCES {
        for (name, text) in files(&format!("sources/{}", source.id())) {
            cases.extend(
                try_read(source.id(), &text).map(|linked| (format!("{}-{name}", source.id()), linked)),
            );
        }
    }
    cases
}

/// Any policy.
pub fn policy(random: &mut Random) -> Policy {
    fn one<T: Copy>(random: &mut Random, of: &[T]) -> T {
        *random.pick(of).unwrap()
    }
    Policy {
        names: one(random, &[Names::Auto, Names::Field, Names::Prefix, Names::Drop]),
        references: one(random, &[References::Quote, References::Drop]),
        media: one(
            random,
            &[MediaPolicy::Keep, MediaPolicy::Placeholder, MediaPolicy::Drop],
        ),
        reasoning: one(random, &[Reasoning::Drop, Reasoning::Keep]),
        orphans: one(random, &[Orphans::Repair, Orphans::Drop, Orphans::Reject]),
        control_tokens: one(random, &[ControlTokens::Escape, ControlTokens::Keep]),
        system: one(random, &[System::Source, System::Agent, System::None]),
        compressed: one(random, &[Compressed::AsSent, Compressed::Stored]),
        leaked_metadata: one(random, &[LeakedMetadata::Clean, LeakedMetadata::Keep]),
    }
}

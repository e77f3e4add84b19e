//! `cargo xtask judged CONVERSATIONS`: writes the datasets that the judges of `just oracles` look at.
//!
//! The datasets are below `target/oracles-input` and have every dialect in every profile: all of `data-samples`, and the given number
//! of conversations of the testkit's generators, by several perspectives and policies. Where `CHATMILL_SAMPLES` names a folder, all
//! its files are added. The pipeline is next to the judges, in `.ci/oracles`. The validator of the testkit checks each row first.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};
use chatmill_dialect::DIALECTS;
use chatmill_engine::{Plan, RunOptions, Silent};
use chatmill_testkit::{histories, validator};
use chatmill_workshop::rows;

/// A policy that repairs nothing: what is wrong has to be reported as invalid.
const REJECT: &[&str] = &[
    "policy.names=prefix",
    "policy.references=drop",
    "policy.media=placeholder",
    "policy.reasoning=keep",
    "policy.orphans=reject",
    "policy.control_tokens=keep",
];

/// A policy that leaves out as much as possible.
const DROP: &[&str] = &[
    "policy.names=drop",
    "policy.media=drop",
    "policy.orphans=drop",
    "policy.system=agent",
    "policy.compressed=stored",
    "policy.leaked_metadata=keep",
];

/// A dataset: its name, its perspective, and its other differences from the pipeline.
struct Dataset {
    name: &'static str,
    speaker: &'static str,
    policy: &'static [&'static str],
}

const SAMPLES: &[Dataset] = &[
    Dataset::new("samples", "each-participant", &[]),
    Dataset::new("samples-rejected", "auto", REJECT),
    Dataset::new("samples-dropped", "each-agent", DROP),
];

const GENERATED: &[Dataset] = &[
    Dataset::new("generated", "auto", &[]),
    Dataset::new("generated-rejected", "each-agent", REJECT),
];

const OUTSIDE: &[Dataset] = &[
    Dataset::new("outside", "each-participant", &[]),
    Dataset::new("outside-rejected", "auto", REJECT),
    Dataset::new("outside-dropped", "each-agent", DROP),
];

impl Dataset {
    const fn new(name: &'static str, speaker: &'static str, policy: &'static [&'static str]) -> Self {
        Self {
            name,
            speaker,
            policy,
        }
    }

    /// Runs the pipeline over `input`, or over its own inputs where there is none.
    fn run(&self, root: &Path, input: Option<&Path>) -> Result<String> {
        let profiles = |dialect: &&chatmill_dialect::Dialect| {
            let id = dialect.id().to_owned();
            let profiles = dialect.about().profile_names();
            profiles.map(move |profile| format!("{id}@{profile}"))
        };
        let dialects: Vec<String> = DIALECTS.iter().flat_map(profiles).collect();
        let mut overrides = vec![
            format!("perspective.as={}", self.speaker),
            format!("render.dialects={}", serde_json::to_string(&dialects)?),
        ];
        overrides.extend(self.policy.iter().map(|policy| (*policy).to_owned()));
        if let Some(input) = input {
            // Quotes and backslashes of a path mean the same in JSON and TOML.
            let path = serde_json::to_string(&input.join("**").to_string_lossy())?;
            overrides.push(format!("input=[{{ path = {path} }}]"));
        }
        let out = root.join("target/oracles-input").join(self.name);
        let plan = Plan::load(&root.join(".ci/oracles/judged.toml"), &overrides, Some(&out), &[])?;
        let summary = chatmill_engine::run(plan, RunOptions::default(), &Silent, &AtomicBool::new(false))?;
        let breaches = breaches(&out);
        if !breaches.is_empty() {
            let shown = breaches.iter().take(20).map(String::as_str).collect::<Vec<_>>();
            bail!(
                "{}: the structural judge disagrees about {} rows\n{}",
                self.name,
                breaches.len(),
                shown.join("\n")
            );
        }
        let inputs = &summary.manifest.inputs;
        let read: u64 = inputs.iter().map(|input| input.conversations).sum();
        Ok(format!(
            "{}: {read} conversations of {} inputs",
            self.name,
            inputs.len()
        ))
    }
}

/// Returns the rows that break a rule which the dialect does not name. An archive, which has no perspective, keeps what its source
/// had, valid or not, and is left out.
fn breaches(dataset: &Path) -> Vec<String> {
    let columns = ["conversation_id", "dialect", "profile", "content"];
    let [ids, dialects, profiles, texts] = columns.map(|column| {
        let cells = rows::texts(dataset, "renderings", column);
        cells.into_iter().map(Option::unwrap_or_default)
    });
    let violations = rows::lists(dataset, "renderings", "violations");
    let mut breaches = Vec::new();
    for ((((id, dialect), profile), text), violations) in
        ids.zip(dialects).zip(profiles).zip(texts).zip(violations)
    {
        if chatmill_dialect::find(&dialect).is_some_and(chatmill_dialect::Dialect::is_neutral) {
            continue;
        }
        let is_named = |rule: &str| violations.iter().any(|summaries| summaries.starts_with(rule));
        for breach in validator::breaches(&dialect, &profile, &text) {
            let has_code = breach.rule.contains('-');
            if violations.is_empty() || has_code && !is_named(breach.rule) {
                breaches.push(format!("{id} in {dialect}@{profile}: {breach:?}: {text}"));
            }
        }
    }
    breaches
}

pub(crate) fn run(root: &Path, conversations: &str) -> Result<String> {
    let conversations: usize = conversations
        .parse()
        .context("CONVERSATIONS must be a whole number")?;
    let target = root.join("target/oracles-input");
    if target.exists() {
        fs::remove_dir_all(&target).context("the last datasets cannot be removed")?;
    }
    let input = target.join("conversations");
    fs::create_dir_all(&input)?;
    let chats = conversations / 2;
    fs::write(input.join("chats.jsonl"), histories::chat_lines(chats))?;
    fs::write(
        input.join("histories.jsonl"),
        histories::history_lines(conversations - chats),
    )?;
    let mut summaries = Vec::new();
    for dataset in SAMPLES {
        summaries.push(dataset.run(root, None)?);
    }
    for dataset in GENERATED {
        summaries.push(dataset.run(root, Some(&input))?);
    }
    if let Some(outside) = std::env::var_os("CHATMILL_SAMPLES") {
        let outside = Path::new(&outside)
            .canonicalize()
            .context("the folder that CHATMILL_SAMPLES names cannot be read")?;
        for dataset in OUTSIDE {
            summaries.push(dataset.run(root, Some(&outside))?);
        }
    }
    Ok(summaries.join("\n"))
}

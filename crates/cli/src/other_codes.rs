//! Codes that are not findings, from the lists of the crates that define them: rules of dialects and templates, losses, rules of envelopes,
//! reasons of exports to leave out rows, pipeline keys that leave out records, and verdicts of runs.

use std::borrow::Cow;
use std::sync::LazyLock;

use chatmill_diag::codes::CODES;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::{DIALECTS, LossCode, Rules, TemplateDialect};
use chatmill_engine::summary::VERDICTS;
use chatmill_engine::{pipeline, rerender};
use chatmill_export::ENVELOPES;
use serde_json::Value;

const INVALID: &str = "`chatmill check --for DIALECT FILE` names the message; correct it at its source. A rendering that breaks \
                       the rule is not valid, and `chatmill export --valid` leaves it out";
const LOST: &str = "nothing, where the reader does not need it: the table `losses` lists each place and reason, `chatmill export \
                    --without CODE` leaves such rows out, and dialects that are not listed here never have this loss";
const FILTERED: &str = "nothing, if they are meant to be left out: `docs/settings.md` describes the key, and `chatmill run --dropped FILE` lists the records";

/// A code, with the content of its page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OtherCode {
    pub(crate) code: Cow<'static, str>,
    /// `rule`, `loss`, `envelope`, `export`, `filter` or `verdict`.
    pub(crate) kind: &'static str,
    /// The dialects or envelopes to which the code belongs.
    pub(crate) of: Vec<&'static str>,
    pub(crate) meaning: Cow<'static, str>,
    pub(crate) advice: &'static str,
}

/// All codes; a code of several dialects or envelopes is listed once.
pub(crate) fn all() -> &'static [OtherCode] {
    static ALL: LazyLock<Vec<OtherCode>> = LazyLock::new(listed);
    &ALL
}

fn listed() -> Vec<OtherCode> {
    let mut all: Vec<OtherCode> = Vec::new();
    let mut add = |kind, owner, code: &'static str, meaning: &'static str, advice| match all
        .iter_mut()
        .find(|entry| entry.code == code && entry.meaning == meaning)
    {
        Some(entry) => entry.of.push(owner),
        None => all.push(OtherCode {
            code: code.into(),
            kind,
            of: vec![owner],
            meaning: meaning.into(),
            advice,
        }),
    };
    let rules = DIALECTS
        .iter()
        .map(|dialect| (dialect.id(), dialect.about().rules));
    for (owner, rules) in rules.chain([("template", Rules::Validated(TemplateDialect::rules()))]) {
        if let Rules::Validated(rules) = rules {
            for rule in rules {
                add("rule", owner, rule.id(), rule.sentence(), INVALID);
            }
        }
    }
    let losses = chatmill_dialect::known().map(|dialect| (dialect.id(), dialect.loses()));
    let elsewhere = [
        ("template", TemplateDialect::losses()),
        ("any, after [redact]", vec![LossCode::Redacted]),
    ];
    for (owner, codes) in losses.chain(elsewhere) {
        for code in codes {
            add("loss", owner, code.as_str(), code.meaning(), LOST);
        }
    }
    let envelopes = ENVELOPES
        .iter()
        .map(|envelope| ("envelope", envelope.id, envelope.reasons));
    let exports = [chatmill_export::REASONS, rerender::REASONS].map(|reasons| ("export", "export", reasons));
    for (kind, owner, reasons) in envelopes.chain(exports) {
        for reason in reasons {
            add(kind, owner, reason.code, reason.message(), reason.advice);
        }
    }
    for verdict in VERDICTS {
        add("verdict", "run", verdict.code, verdict.message(), verdict.advice);
    }
    all.extend(filters());
    all
}

/// Sections of the pipeline, with those of their keys that leave out records; an empty list means all keys of the section.
const FILTERS: [(&str, &[&str]); 4] = [
    ("select", &[]),
    ("dedup", &["exact", "near", "against"]),
    ("input", &["weight", "sample", "limit"]),
    ("mix", &["total"]),
];

/// The pipeline keys that leave out records, as `filtered_by` names them: a record that several keys exclude counts for the first.
fn filters() -> Vec<OtherCode> {
    let schema = pipeline::schema();
    let section = |name: &str| {
        // A section that may be repeated is a list.
        let at = |place: &str| schema.pointer(&format!("/properties/{name}{place}/$ref"));
        let reference = at("").or_else(|| at("/items"))?.as_str()?;
        schema
            .pointer(&format!("{}/properties", reference.strip_prefix('#')?))?
            .as_object()
    };
    let filter = |name: &str, key: &str, about: &Value| {
        let about = about.get("description")?.as_str()?;
        Some(OtherCode {
            code: format!("{name}.{key}").into(),
            kind: "filter",
            of: vec!["pipeline"],
            meaning: about.replace('\n', " ").into(),
            advice: FILTERED,
        })
    };
    let listed = FILTERS.into_iter().flat_map(|(name, keys)| {
        let is_filter = |key: &&str| *key != "seed" && (keys.is_empty() || keys.contains(key));
        let keys = section(name).into_iter().flatten();
        let keys = keys.filter(move |(key, _)| is_filter(&key.as_str()));
        keys.filter_map(move |(key, about)| filter(name, key, about))
    });
    listed.collect()
}

/// The codes that a word names: a single code, or a family by its prefix.
pub(crate) fn named(word: &str) -> Vec<&'static OtherCode> {
    let word = word.to_ascii_lowercase();
    // `filtered_by` counts conditions by their text, and keys of `[select]` without the name of the section.
    let word = if word.starts_with("where ") {
        "where"
    } else {
        &word
    };
    let is_named = |entry: &&OtherCode| {
        let code = entry.code.to_ascii_lowercase();
        let number = code.strip_prefix(word).and_then(|rest| rest.strip_prefix('-'));
        code == word
            || code.strip_prefix("select.") == Some(word)
            || number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    all().iter().filter(is_named).collect()
}

/// The code or name nearest to an unknown word; from the family of its prefix, if there is one.
pub(crate) fn near(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    let prefix = |code: &str| {
        let mut parts = code.split(|sign: char| !sign.is_ascii_alphabetic());
        parts.next().map(str::to_owned)
    };
    let others = || all().iter().map(|entry| &*entry.code);
    let codes = || CODES.iter().map(|code| code.code).chain(others());
    let family = codes().filter(|code| prefix(code) == prefix(&upper));
    let names = codes().chain(CODES.iter().map(|code| code.name));
    nearest(&upper, family).or_else(|| nearest(word, names))
}

impl OtherCode {
    /// The letters that the codes of a family share; `None` for codes that are words.
    pub(crate) fn family(&self) -> Option<&str> {
        let (prefix, number) = self.code.split_once('-')?;
        number.parse::<u8>().is_ok().then_some(prefix)
    }

    /// The title of the family.
    pub(crate) fn title(&self) -> String {
        match (self.kind, self.family()) {
            ("rule" | "envelope", Some(family)) => format!("Rules of {} ({family})", self.of.join(", ")),
            ("loss", _) => "Losses".to_owned(),
            ("filter", _) => "Keys of the pipeline that leave records out".to_owned(),
            ("verdict", _) => "Verdicts of runs, the most serious first".to_owned(),
            _ => "Why exports leave rows out".to_owned(),
        }
    }

    /// The page of the code, as Markdown.
    pub(crate) fn page(&self) -> String {
        let owners: Vec<String> = self.of.iter().map(|owner| format!("`{owner}`")).collect();
        let owners = owners.join(", ");
        let whose = match self.kind {
            "rule" => format!("A rule that renderings in {owners} must follow."),
            "loss" => format!("Content that renderings in {owners} may lose or change."),
            "envelope" => format!(
                "A rule of the envelope {owners}: rows that break it are left out and counted in `export.json`."
            ),
            "filter" => {
                "A key of the pipeline that leaves records out; `filtered_by` in the manifest counts them."
                    .to_owned()
            }
            "verdict" => {
                "The verdict of a run: the first that applies, in the order of `chatmill rules`.".to_owned()
            }
            _ => "A reason why an export leaves rows out; `export.json` counts them.".to_owned(),
        };
        format!(
            "# {}\n\n{whose}\n\n## What it means\n\n{}\n\n## What to do\n\n{}\n",
            self.code, self.meaning, self.advice
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_owners_a_meaning_and_advice() {
        let all = all();
        for code in all {
            assert!(named(&code.code.to_lowercase()).contains(&code), "{}", code.code);
            assert!(
                !code.of.is_empty() && code.meaning.len() > 5 && code.advice.len() > 5,
                "{code:?}"
            );
        }
        for code in LossCode::ALL {
            assert_eq!(
                named(code.as_str()).len(),
                1,
                "{}: no dialect has it",
                code.as_str()
            );
        }
        for code in [
            "ANT-04",
            "TPL-02",
            "SFT-02",
            "name-inlined",
            "no-preference",
            "not-valid",
            "min_turns",
            "limit",
            "select.decontaminate",
            "dedup.exact",
            "dedup.near",
            "dedup.against",
            "input.weight",
            "input.sample",
            "input.limit",
            "mix.total",
            "where extra.quality >= 0.5",
            "where extra.quality is missing",
            "too-many-rejects",
        ] {
            assert_eq!(named(code).len(), 1, "{code}");
        }
        let family = named("sft");
        assert!(family.len() > 1 && family.iter().all(|code| code.code.starts_with("SFT-")));
    }

    #[test]
    fn an_unknown_code_is_near_to_one_of_its_family() {
        for (word, family) in [("SFT-92", "SFT-"), ("ant-4", "ANT-"), ("SR734", "SR")] {
            let near = near(word);
            assert!(
                near.is_some_and(|near| near.starts_with(family)),
                "{word}: {near:?}"
            );
        }
        assert_eq!(near("select.min_turn"), Some("select.min_turns"));
        assert_eq!(near("name-inlnied"), Some("name-inlined"));
        assert_eq!(near("no-prefrence"), Some("no-preference"));
        assert_eq!(near("dangling-refrence"), Some("dangling-reference"));
    }
}

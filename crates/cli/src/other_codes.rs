//! Codes that are no findings, from the lists of the crates that have them: rules of dialects and templates, losses, rules of
//! envelopes, and reasons why exports leave rows out.

use chatmill_diag::codes::CODES;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::{DIALECTS, LossCode, Rules, TemplateDialect};
use chatmill_engine::again;
use chatmill_export::ENVELOPES;

const INVALID: &str = "`chatmill check --for DIALECT FILE` names the message; correct it at its source. A rendering that breaks \
                       the rule is not valid, and `chatmill export --valid` leaves it out";
const LOST: &str = "nothing, where the reader does not need it: the table `losses` lists each place and reason, `chatmill export \
                    --without CODE` leaves such rows out, and dialects that are not listed here never have this loss";

/// A code with the contents of its page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OtherCode {
    pub(crate) code: &'static str,
    /// `rule`, `loss`, `envelope` or `export`.
    pub(crate) kind: &'static str,
    /// The dialects or envelopes that have the code.
    pub(crate) of: Vec<&'static str>,
    pub(crate) meaning: &'static str,
    pub(crate) advice: &'static str,
}

/// All codes; one that several dialects or envelopes have is listed once.
pub(crate) fn all() -> Vec<OtherCode> {
    let mut all: Vec<OtherCode> = Vec::new();
    let mut add = |kind, owner, code, meaning, advice| match all
        .iter_mut()
        .find(|entry| entry.code == code && entry.meaning == meaning)
    {
        Some(entry) => entry.of.push(owner),
        None => all.push(OtherCode {
            code,
            kind,
            of: vec![owner],
            meaning,
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
    let losses = DIALECTS.iter().map(|dialect| (dialect.id(), dialect.loses()));
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
    let exports = [chatmill_export::REASONS, again::REASONS].map(|reasons| ("export", "export", reasons));
    for (kind, owner, reasons) in envelopes.chain(exports) {
        for reason in reasons {
            add(kind, owner, reason.code, reason.message(), reason.advice);
        }
    }
    all
}

/// The codes that a word names: one by its code, or a family by its prefix.
pub(crate) fn named(word: &str) -> Vec<OtherCode> {
    let word = word.to_ascii_lowercase();
    let is_named = |entry: &OtherCode| {
        let code = entry.code.to_ascii_lowercase();
        let number = code.strip_prefix(&word).and_then(|rest| rest.strip_prefix('-'));
        code == word || number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    all().into_iter().filter(is_named).collect()
}

/// The code or name nearest to an unknown word: of the family with its prefix, where there is one.
pub(crate) fn near(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    let prefix = |code: &str| {
        let mut parts = code.split(|sign: char| !sign.is_ascii_alphabetic());
        parts.next().map(str::to_owned)
    };
    let others = || all().into_iter().map(|entry| entry.code);
    let codes = || CODES.iter().map(|code| code.code).chain(others());
    let family = codes().filter(|code| prefix(code) == prefix(&upper));
    let names = codes().chain(CODES.iter().map(|code| code.name));
    nearest(&upper, family).or_else(|| nearest(word, names))
}

impl OtherCode {
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
        for code in &all {
            assert!(named(&code.code.to_lowercase()).contains(code), "{}", code.code);
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
        assert_eq!(near("name-inlnied"), Some("name-inlined"));
        assert_eq!(near("no-prefrence"), Some("no-preference"));
        assert_eq!(near("dangling-refrence"), Some("dangling-reference"));
    }
}

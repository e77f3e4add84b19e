//! Codes that are no findings, from the lists of those who give them: rules of dialects and templates, losses, rules of
//! envelopes, and why exports leave rows out.

use chatmill_diag::codes::CODES;
use chatmill_diag::suggest::nearest;
use chatmill_dialect::{DIALECTS, LossCode, Rules, TemplateDialect};
use chatmill_engine::again;
use chatmill_export::ENVELOPES;

const INVALID: &str = "`chatmill check --for DIALECT FILE` names the message, which is mended at its source; a rendering that \
                       breaks the rule is not valid, and exports leave it out with `--valid`";
const LOST: &str = "nothing where the reader can do without it: the table `losses` says where and why, `chatmill export --without \
                    CODE` leaves such rows out, and dialects that are not named here never have it";

/// A code with what its page says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) code: &'static str,
    /// `rule`, `loss`, `envelope` or `export`.
    pub(crate) kind: &'static str,
    /// The dialects or envelopes whose it is.
    pub(crate) of: Vec<&'static str>,
    pub(crate) says: &'static str,
    pub(crate) advice: &'static str,
}

/// All of them; one that several dialects or envelopes have stands here once.
pub(crate) fn all() -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    let mut tell = |kind, owner, code, says, advice| match all
        .iter_mut()
        .find(|told| told.code == code && told.says == says)
    {
        Some(told) => told.of.push(owner),
        None => all.push(Told {
            code,
            kind,
            of: vec![owner],
            says,
            advice,
        }),
    };
    let rules = DIALECTS
        .iter()
        .map(|dialect| (dialect.id(), dialect.about().rules));
    for (owner, rules) in rules.chain([("template", Rules::Judged(TemplateDialect::rules()))]) {
        if let Rules::Judged(rules) = rules {
            for rule in rules {
                tell("rule", owner, rule.id(), rule.wants(), INVALID);
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
            tell("loss", owner, code.as_str(), code.meaning(), LOST);
        }
    }
    let envelopes = ENVELOPES
        .iter()
        .map(|envelope| ("envelope", envelope.id, envelope.reasons));
    let exports = [chatmill_export::REASONS, again::REASONS].map(|reasons| ("export", "export", reasons));
    for (kind, owner, reasons) in envelopes.chain(exports) {
        for reason in reasons {
            tell(kind, owner, reason.code, reason.says(), reason.advice);
        }
    }
    all
}

/// Those that a word names: one by its code, or those of a family by its letters.
pub(crate) fn named(word: &str) -> Vec<Told> {
    let word = word.to_ascii_lowercase();
    let is_named = |told: &Told| {
        let code = told.code.to_ascii_lowercase();
        let number = code.strip_prefix(&word).and_then(|rest| rest.strip_prefix('-'));
        code == word || number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    all().into_iter().filter(is_named).collect()
}

/// The code or name most like a word that names none: of the family of its letters, where it has a number.
pub(crate) fn near(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    let letters = |code: &str| {
        let mut parts = code.split(|sign: char| !sign.is_ascii_alphabetic());
        parts.next().map(str::to_owned)
    };
    let others = || all().into_iter().map(|told| told.code);
    let codes = || CODES.iter().map(|code| code.code).chain(others());
    let family = codes().filter(|code| letters(code) == letters(&upper));
    let names = codes().chain(CODES.iter().map(|code| code.name));
    nearest(&upper, family).or_else(|| nearest(word, names))
}

impl Told {
    /// Its page, as Markdown.
    pub(crate) fn page(&self) -> String {
        let owners: Vec<String> = self.of.iter().map(|owner| format!("`{owner}`")).collect();
        let owners = owners.join(", ");
        let whose = match self.kind {
            "rule" => format!("A rule that renderings in {owners} have to keep."),
            "loss" => format!("What renderings in {owners} may not carry as it was."),
            "envelope" => format!(
                "A rule of the envelope {owners}: rows that break it are left out, and counted in `export.json`."
            ),
            _ => "Why an export leaves rows out, and counts them in `export.json`.".to_owned(),
        };
        format!(
            "# {}\n\n{whose}\n\n## What it says\n\n{}\n\n## What to do\n\n{}\n",
            self.code, self.says, self.advice
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_that_says_whose_it_is_and_what_to_do() {
        let all = all();
        for told in &all {
            assert!(named(&told.code.to_lowercase()).contains(told), "{}", told.code);
            assert!(
                !told.of.is_empty() && told.says.len() > 5 && told.advice.len() > 5,
                "{told:?}"
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
        assert!(family.len() > 1 && family.iter().all(|told| told.code.starts_with("SFT-")));
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

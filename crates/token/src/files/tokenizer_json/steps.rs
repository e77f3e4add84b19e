//! The steps of a tokenizer file as written, and the cases with a shorter way to the same pieces.

use serde::Deserialize;

use crate::bpe::reached::Alphabet;
use crate::files::tokenizer_json::{CountingPlan, Unread};
use crate::split::finder::Finder;
use crate::split::oniguruma;
use crate::split::patterns::{self, DEEPSEEK, GPT2, Pattern};
use crate::split::prefix::Prefix;
use crate::split::splitter::Splitter;
use crate::split::sync::{BLANK, BoundaryClasses};
use crate::steps::normalizer::{NormalizationForm, Normalizer};
use crate::steps::pre_tokenizer::{Behavior, PreTokenizer};

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum JsonNormalizer {
    #[serde(rename = "NFC")]
    Nfc,
    #[serde(rename = "NFKC")]
    Nfkc,
    Lowercase,
    Prepend {
        prepend: String,
    },
    Replace {
        pattern: JsonPattern,
        content: String,
    },
    Sequence {
        normalizers: Vec<JsonNormalizer>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) enum JsonPattern {
    Regex(String),
    String(String),
}

#[derive(Deserialize)]
#[serde(tag = "type")]
pub(super) enum JsonPreTokenizer {
    ByteLevel {
        #[serde(default = "yes")]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Split {
        pattern: JsonPattern,
        behavior: Behavior,
        #[serde(default)]
        invert: bool,
    },
    Digits {
        individual_digits: bool,
    },
    Punctuation {
        #[serde(default = "isolated")]
        behavior: Behavior,
    },
    Whitespace,
    WhitespaceSplit,
    Metaspace {
        replacement: char,
        add_prefix_space: Option<bool>,
        prepend_scheme: Option<Prefix>,
        split: Option<bool>,
    },
    Sequence {
        pretokenizers: Vec<JsonPreTokenizer>,
    },
    #[serde(other)]
    Other,
}

const fn yes() -> bool {
    true
}

const fn isolated() -> Behavior {
    Behavior::Isolated
}

impl JsonPattern {
    fn finder(&self) -> Result<Finder, Unread> {
        match self {
            Self::String(words) if words.is_empty() => Err("it looks for the empty text".to_owned().into()),
            Self::String(words) => Ok(Finder::Text(words.clone())),
            Self::Regex(pattern) => finder(&oniguruma::translated(pattern)?),
        }
    }

    fn is_space(&self) -> bool {
        matches!(self, Self::String(words) if words == " ")
    }

    /// The regular expression in the syntax of the engines here.
    pub(super) fn regex(&self) -> Option<String> {
        match self {
            Self::String(_) => None,
            Self::Regex(pattern) => oniguruma::translated(pattern).ok(),
        }
    }
}

/// The finder of a pattern in the syntax of the engines here.
fn finder(pattern: &str) -> Result<Finder, Unread> {
    patterns::finder(pattern).map_err(|error| error.to_string().into())
}

impl JsonNormalizer {
    /// The steps that it consists of, in order.
    pub(super) fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Sequence { normalizers } => normalizers.iter().flat_map(Self::flat).collect(),
            _ => vec![self],
        }
    }

    /// The step, or the reason why only the crate can do it.
    pub(super) fn read(&self) -> Result<Normalizer, Unread> {
        Ok(match self {
            Self::Nfc => Normalizer::Form(NormalizationForm::Nfc),
            Self::Nfkc => Normalizer::Form(NormalizationForm::Nfkc),
            Self::Lowercase => Normalizer::Lowercase,
            Self::Prepend { prepend } => Normalizer::Prepend(prepend.clone()),
            Self::Replace { pattern, content } => Normalizer::Replace(pattern.finder()?, content.clone()),
            Self::Sequence { .. } | Self::Other => {
                let reason = "it normalises texts by more than NFC, NFKC, Prepend, Replace and Lowercase";
                return Err(reason.to_owned().into());
            }
        })
    }
}

impl JsonPreTokenizer {
    /// The steps that it consists of, in order.
    pub(super) fn flat(&self) -> Vec<&Self> {
        match self {
            Self::Sequence { pretokenizers } => pretokenizers.iter().flat_map(Self::flat).collect(),
            _ => vec![self],
        }
    }

    pub(super) fn is_byte_level(&self) -> bool {
        matches!(self, Self::ByteLevel { .. })
    }

    /// The step, or the reason why only the crate can do it.
    pub(super) fn read(&self) -> Result<PreTokenizer, Unread> {
        let split = |finder, behavior, invert| PreTokenizer::Split {
            finder,
            behavior,
            invert,
        };
        Ok(match self {
            Self::ByteLevel {
                add_prefix_space,
                use_regex,
            } => PreTokenizer::ByteLevel {
                prefix_space: *add_prefix_space,
                split: *use_regex,
            },
            Self::Split {
                pattern,
                behavior,
                invert,
            } => split(pattern.finder()?, *behavior, *invert),
            Self::Digits { individual_digits } => {
                let behavior = if *individual_digits {
                    Behavior::Isolated
                } else {
                    Behavior::Contiguous
                };
                split(Finder::Character(char::is_numeric), behavior, false)
            }
            Self::Punctuation { behavior } => split(finder(r"[\p{P}!-/:-@\[-`{-~]")?, *behavior, false),
            // The only pattern that `tokenizers` compiles with the engine used here.
            Self::Whitespace => split(finder(r"\w+|[^\w\s]+")?, Behavior::Removed, true),
            Self::WhitespaceSplit => split(Finder::Character(char::is_whitespace), Behavior::Removed, false),
            Self::Metaspace {
                replacement, split, ..
            } => PreTokenizer::Metaspace {
                sign: *replacement,
                prefix: self.prefix(),
                split: split.unwrap_or(true),
            },
            Self::Sequence { .. } | Self::Other => {
                let reason = "its texts are cut by a step that only that crate knows";
                return Err(reason.to_owned().into());
            }
        })
    }

    /// The sign that `Metaspace` puts before pieces; no other step puts one.
    pub(super) fn prefix(&self) -> Prefix {
        match self {
            Self::Metaspace {
                add_prefix_space,
                prepend_scheme,
                ..
            } if *add_prefix_space != Some(false) => prepend_scheme.unwrap_or(Prefix::UnlessBlank),
            _ => Prefix::None,
        }
    }
}

/// The cut of bytes, and the places where every text may be cut; `None` if the steps do anything else to a text.
pub(super) fn bytes(steps: &[&JsonPreTokenizer]) -> Option<CountingPlan> {
    let (
        JsonPreTokenizer::ByteLevel {
            add_prefix_space: false,
            use_regex,
        },
        cuts,
    ) = steps.split_last()?
    else {
        return None;
    };
    let mut cuts: Vec<SplitRule> = cuts.iter().map(|step| step.cut()).collect::<Option<_>>()?;
    cuts.extend(use_regex.then(|| SplitRule::Pattern(GPT2.published().to_owned())));
    let plan = |cut, splitter, boundaries| CountingPlan {
        cut,
        splitter,
        boundaries,
        ..CountingPlan::whole(Alphabet::Bytes, "", Prefix::None)
    };
    if let [SplitRule::Pattern(pattern)] = cuts.as_slice()
        && let Ok(pattern) = Pattern::spelled(pattern)
    {
        let said = pattern.cuts();
        let (splitter, boundaries) = pattern.into_cut();
        return Some(plan(said, splitter, boundaries));
    }
    let boundaries = match cuts.as_slice() {
        [SplitRule::Digit, SplitRule::Pattern(pattern)] if pattern == GPT2.published() => {
            BoundaryClasses::GPT2_DIGITS
        }
        [
            SplitRule::Pattern(first),
            SplitRule::Pattern(second),
            SplitRule::Pattern(third),
        ] if [first, second, third] == DEEPSEEK.each_ref() => BoundaryClasses::MODERN,
        _ => BoundaryClasses::NONE,
    };
    let finders = cuts.iter().map(|cut| match cut {
        SplitRule::Digit => Some(Finder::Character(char::is_numeric)),
        SplitRule::Pattern(pattern) => patterns::finder(pattern).ok(),
    });
    let splitter = Splitter::Steps(finders.collect::<Option<_>>()?);
    Some(plan("cut step by step".to_owned(), splitter, boundaries))
}

/// A step that makes a piece of each match and of the text between matches.
enum SplitRule {
    Digit,
    /// A pattern in the syntax of the engines here.
    Pattern(String),
}

impl JsonPreTokenizer {
    fn cut(&self) -> Option<SplitRule> {
        match self {
            Self::Digits {
                individual_digits: true,
            } => Some(SplitRule::Digit),
            Self::Split {
                pattern,
                behavior: Behavior::Isolated,
                invert: false,
            } => pattern.regex().map(SplitRule::Pattern),
            // If a pattern covers every text, there is nothing between its matches.
            Self::Split {
                pattern,
                behavior: Behavior::Removed,
                invert: true,
            } => pattern
                .regex()
                .filter(|pattern| Pattern::spelled(pattern).is_ok())
                .map(SplitRule::Pattern),
            _ => None,
        }
    }
}

/// The prefix of texts if the steps only write a sign for each space; else `None`.
pub(super) fn blanks(normalizers: &[&JsonNormalizer], steps: &[&JsonPreTokenizer]) -> Option<Prefix> {
    if let (
        [],
        [
            step @ JsonPreTokenizer::Metaspace {
                replacement: BLANK,
                split: Some(false),
                ..
            },
        ],
    ) = (normalizers, steps)
    {
        return Some(step.prefix());
    }
    let is_blank = |text: &str| text.chars().eq([BLANK]);
    let is_sign = |step: &JsonNormalizer| match step {
        JsonNormalizer::Replace { pattern, content } => pattern.is_space() && is_blank(content),
        _ => false,
    };
    let is_first = |step: &JsonNormalizer| match step {
        JsonNormalizer::Prepend { prepend } => is_blank(prepend),
        _ => false,
    };
    let before = match normalizers {
        [step] if is_sign(step) => Prefix::None,
        [one, other] if is_sign(one) && is_first(other) || is_first(one) && is_sign(other) => Prefix::Always,
        _ => return None,
    };
    // No space is left that a split could find.
    let is_cut = |step: &&JsonPreTokenizer| match step {
        JsonPreTokenizer::Split { pattern, invert, .. } => *invert || !pattern.is_space(),
        _ => true,
    };
    (!steps.iter().any(is_cut)).then_some(before)
}

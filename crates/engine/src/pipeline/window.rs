//! `[window]`: the part of a conversation that a rendering shows.

use chatmill_dialect::{Targets, WindowMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[window]`. Sessions are cut first, then windows by `mode`, then the history, then the budget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WindowSection {
    /// The history that a rendering shows: a rule, or a number of messages.
    pub history: HistorySetting,
    /// The pause that starts a new session, and so a new rendering:
    /// `none`, or a duration such as `90m`, `6h` or `1d 12h`.
    pub session_gap: SessionGap,
    /// The part of a session that a rendering shows, and the turns that are trained; the default is
    /// `document`. Dialects without a perspective, and those that show one message at a time, ignore it.
    pub mode: Option<WindowMode>,
    /// The kind of turn that ends a rendering, in the modes `per_turn` and `consecutive`.
    pub targets: Targets,
    /// The maximum number of context messages that a rendering
    /// repeats from the one before, in mode `consecutive`.
    pub overlap: u32,
    /// Whether all dialects share the same windows: a window that does not fit in one dialect is shortened in all.
    pub same_for_all: bool,
    /// Whether placeholders for media, such as `[Video: tour.mp4]`, are
    /// trained in turns of the perspective. Otherwise a turn with nothing else
    /// is context, and placeholders next to other text or calls are left out.
    pub learn_placeholders: bool,
    /// An older spelling: `true` is `mode = "per_turn"`, `false` is `mode = "document"`.
    pub per_turn: Option<bool>,
    /// The maximum number of tokens of a rendering: in mode `consecutive` it takes as
    /// many exchanges as fit, in the other modes its oldest turns are cut until it fits.
    pub max_tokens: Option<MaxTokensSetting>,
}

/// `window.max_tokens`: `{ encoding = "o200k_base", tokens = 8000 }` limits each rendering as written;
/// `{ template = "qwen.jinja", tokenizer = "tokenizer.json", tokens = 4096 }` limits the text that a model reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaxTokensSetting {
    /// The encoding that tokens are counted in; it must be one of `count.encodings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The chat template whose text is counted: a Jinja file, a `tokenizer_config.json`, or the name of a `[templates]`
    /// section. All dialects then share the same windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The tokenizer for the text of `template`: an encoding, or a `tokenizer.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// The number of tokens.
    pub tokens: u64,
}

/// The pause that starts a new rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct SessionGap {
    /// Seconds; `None` never starts a new rendering.
    pub seconds: Option<u32>,
}

/// Units of a duration: their letter and their seconds.
const UNITS: [(char, u32); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

impl TryFrom<String> for SessionGap {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::default());
        }
        let wrong =
            || format!("`{text}` is neither \"none\" nor a duration such as \"90m\", \"6h\" or \"1d 12h\"");
        let mut seconds = 0_u32;
        for word in text.split_inclusive(char::is_alphabetic).map(str::trim) {
            let unit = UNITS.iter().find(|(suffix, _)| word.ends_with(*suffix));
            let (suffix, unit) = unit.ok_or_else(wrong)?;
            let number: u32 = word.trim_end_matches(*suffix).parse().map_err(|_| wrong())?;
            seconds = number
                .checked_mul(*unit)
                .and_then(|more| seconds.checked_add(more))
                .ok_or_else(wrong)?;
        }
        if seconds == 0 {
            return Err(wrong());
        }
        Ok(Self {
            seconds: Some(seconds),
        })
    }
}

impl From<SessionGap> for String {
    fn from(gap: SessionGap) -> Self {
        match gap.seconds {
            None => "none".to_owned(),
            Some(seconds) => format!("{seconds}s"),
        }
    }
}

/// The amount of history that a rendering shows: a word, or a number of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be \"document\", \"all\" or a number of messages from 1 on"
)]
pub enum HistorySetting {
    /// A rule.
    Rule(HistoryRule),
    /// The last N messages, at least 1, without counting system text
    /// before them; more if a call would otherwise lose its result.
    Messages(u32),
}

impl Default for HistorySetting {
    fn default() -> Self {
        Self::Rule(HistoryRule::Document)
    }
}

/// A rule for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryRule {
    /// The amount that the documentation of the dialect gives.
    Document,
    /// The whole history.
    All,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Result<Option<u32>, String> {
        SessionGap::try_from(text.to_owned()).map(|gap| gap.seconds)
    }

    #[test]
    fn durations_are_sums_of_numbers_with_units() {
        assert_eq!(seconds("none"), Ok(None));
        assert_eq!(seconds("90s"), Ok(Some(90)));
        assert_eq!(seconds("6h"), Ok(Some(21_600)));
        assert_eq!(seconds("1d12h"), Ok(Some(129_600)));
        assert_eq!(seconds("1d 12h"), Ok(Some(129_600)));
        for wrong in [
            "",
            "6",
            "h",
            "0s",
            "6 hours",
            "-1h",
            "6h ",
            "1.5h",
            "4294967296s",
            "49711d",
        ] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_spelling_of_a_duration_does_not_matter() {
        let text = |gap: &str| String::from(SessionGap::try_from(gap.to_owned()).unwrap());
        assert_eq!(text("6h"), text("360m"));
        assert_eq!(text("none"), "none");
    }
}

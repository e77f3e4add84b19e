//! Compares names of models, by removing dates, versions, vendors and regions, which do not change the model.
//!
//! Words that mean another model or another price (`ft:`, `:free`, `:thinking`, `-mini`, `-fast`, `-priority`, `-batch`) are never removed.
//! All names are in lower case here.

use std::collections::BTreeSet;
use std::ops::Bound;

/// Prefixes before a `/` that mean the vendor itself, as vendors and `OpenRouter` write them.
const OF_VENDORS: &[&str] = &[
    "anthropic",
    "cohere",
    "deepseek",
    "deepseek-ai",
    "gemini",
    "google",
    "meta-llama",
    "mistral",
    "mistralai",
    "models",
    "moonshotai",
    "openai",
    "qwen",
    "x-ai",
    "xai",
    "z-ai",
    "zai",
];

/// Prefixes before a `.` in names of Bedrock and OCI: regions, then vendors.
const DOTTED: &[&str] = &[
    "apac",
    "au",
    "ca",
    "eu",
    "global",
    "jp",
    "us",
    "us-gov",
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "writer",
    "xai",
    "zai",
];

/// Prefixes before a `/` that mean another way of serving, and so another price.
const OTHER_MODELS: &[&str] = &["batch", "fast", "flex", "free", "ft", "priority"];

/// The name without dates and versions at its end; `names` are those of all prices.
pub(super) fn undated<'n>(name: &'n str, names: &BTreeSet<String>) -> &'n str {
    let mut shorter = name;
    while let Some(less) = without_date(shorter).or_else(|| without_month(shorter, name, names)) {
        shorter = less;
    }
    shorter
}

/// The name without one date or version: `@…`, `-latest`, `-v1:0`, `-001`, `-20251101` or `-2024-07-18`.
fn without_date(name: &str) -> Option<&str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = |text: &str| text.is_ascii() && text.parse::<jiff::civil::Date>().is_ok();
    let shorter = if let Some((head, version)) = name.rsplit_once('@') {
        let is_version = digits(version) || is_date(version) || matches!(version, "default" | "latest");
        is_version.then_some(head)
    } else if let Some(head) = name.strip_suffix("-latest") {
        Some(head)
    } else {
        let (head, rest) = name.rsplit_once('-')?;
        let version = rest.strip_prefix('v').and_then(|rest| rest.split_once(':'));
        let is_version = version.is_some_and(|(major, minor)| digits(major) && digits(minor));
        let is_short = rest.len() == 3 && rest.starts_with('0') && digits(rest);
        let is_day = rest.len() == 8 && digits(rest) && is_date(rest);
        if is_version || is_short || is_day {
            Some(head)
        } else {
            let start = name.len().checked_sub("-2024-07-18".len())?;
            let dashed = name.get(start..)?.strip_prefix('-')?;
            is_date(dashed).then(|| name.get(..start)).flatten()
        }
    };
    shorter.filter(|shorter| !shorter.is_empty())
}

/// The name without four digits, as in `-0613` and `-2407`, unless another name begins with all of it: `-1106` is not a version if there is
/// `-1106-preview`.
fn without_month<'n>(name: &'n str, whole: &str, names: &BTreeSet<String>) -> Option<&'n str> {
    let (head, rest) = name.rsplit_once('-')?;
    if head.is_empty() || rest.len() != 4 || !rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let from = (Bound::Included(name), Bound::Unbounded);
    let mut longer = names
        .range::<str, _>(from)
        .take_while(|other| other.starts_with(name));
    longer
        .all(|other| other == whole || other == name)
        .then_some(head)
}

/// The name that the vendor itself uses, if a prefix means the vendor.
pub(super) fn of_vendor(name: &str) -> Option<&str> {
    let (vendor, bare) = name.split_once('/')?;
    (OF_VENDORS.contains(&vendor) && !bare.contains('/')).then_some(bare)
}

/// The name without prefixes for vendors and regions.
pub(super) fn bare(name: &str) -> &str {
    if name.starts_with("ft:") {
        return name;
    }
    let mut bare = match name.rsplit_once('/') {
        Some((before, _)) if before.split('/').any(|word| OTHER_MODELS.contains(&word)) => return name,
        Some((_, bare)) if !bare.is_empty() => bare,
        _ => name,
    };
    while let Some((_, rest)) = bare.split_once('.').filter(|(word, _)| DOTTED.contains(word)) {
        bare = rest;
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_versions_fall_away_and_words_of_other_models_stay() {
        let names = BTreeSet::from(["gpt-4-1106-preview", "gpt-4-0613", "o-2407"].map(str::to_owned));
        for (name, without) in [
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("claude-opus-4-6@default", "claude-opus-4-6"),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "us.anthropic.claude-sonnet-4-5",
            ),
            ("mistral-large-latest", "mistral-large"),
            ("gemini-2.0-flash-001", "gemini-2.0-flash"),
            ("gpt-4-0613", "gpt-4"),
            ("gpt-4-1106", "gpt-4-1106"),
            ("gpt-4-32", "gpt-4-32"),
            ("x-20259901", "x-20259901"),
            ("x-128", "x-128"),
            ("x-v2", "x-v2"),
            ("deepseek-r1:free", "deepseek-r1:free"),
            ("claude-3-7-sonnet:thinking", "claude-3-7-sonnet:thinking"),
            ("gpt-5-batch", "gpt-5-batch"),
            ("ft:gpt-4o-2024-08-06", "ft:gpt-4o"),
            ("@cf/meta/llama-3", "@cf/meta/llama-3"),
            ("-20251101", "-20251101"),
            ("модель-2024-07-18", "модель"),
            ("ё-20251101é", "ё-20251101é"),
        ] {
            assert_eq!(undated(name, &names), without);
        }
    }

    #[test]
    fn vendors_and_regions_fall_away_and_other_ways_of_serving_stay() {
        for (name, without) in [
            ("us.anthropic.claude-opus-4", "claude-opus-4"),
            ("us-gov.anthropic.claude-opus-4", "claude-opus-4"),
            ("azure/eu/gpt-5", "gpt-5"),
            ("openrouter/google/gemini-2.5-pro", "gemini-2.5-pro"),
            ("gpt-4.1-mini", "gpt-4.1-mini"),
            ("ft:openai/gpt-4o", "ft:openai/gpt-4o"),
            ("proxy/free/gpt-5", "proxy/free/gpt-5"),
            ("proxy/", "proxy/"),
        ] {
            assert_eq!(bare(name), without);
        }
        assert_eq!(of_vendor("anthropic/claude-opus-4"), Some("claude-opus-4"));
        assert_eq!(of_vendor("azure/gpt-5"), None);
        assert_eq!(of_vendor("openai/a/b"), None);
    }
}

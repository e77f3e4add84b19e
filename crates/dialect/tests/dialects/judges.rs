//! Structural judges of vendor dialects, written from the vendors' rules alone, against what the dialects say of themselves.

mod anthropic;
mod bedrock;
mod gemini;
mod lists;
mod openai;
mod responses;
mod sharegpt;
mod suna;

use chatmill_dialect::policy::Orphans;
use serde_json::Value;

use crate::laws::each_of;
use crate::room::Out;

/// The first rule that a rendering breaks.
type Fault = Option<String>;

/// Judge and dialect agree on every generated room, and only conversations without turns or with rejected orphans fail.
fn agree(dialect: &str, judge: impl Fn(&Value) -> Fault) {
    let mut seen = (0, 0);
    each_of(&[dialect], |_, seed, policy, _, out| {
        let fault = judge(&serde_json::from_str(&out.text).unwrap());
        assert_eq!(
            fault.is_none(),
            out.violations.is_empty(),
            "{dialect} {seed}: {fault:?}, {:?} in {}",
            out.violations,
            out.text
        );
        if policy.orphans != Orphans::Reject && out.text.contains("\"role\":\"user\"") {
            assert_eq!(out.violations, Vec::<String>::new(), "{dialect} {seed}");
        }
        seen.0 += u32::from(fault.is_none());
        seen.1 += u32::from(fault.is_some());
    });
    assert!(seen.0 > 1000 && seen.1 > 100, "{dialect} {seen:?}");
}

/// Every generated rendering of a dialect.
fn each(dialect: &str, mut look: impl FnMut(Out)) {
    each_of(&[dialect], |_, _, _, _, out| look(out));
}

fn is_word(value: &Value, most: usize) -> bool {
    let text = value.as_str().unwrap_or_default();
    (1..=most).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether an object has these keys and no others; keys with `?` may be missing.
fn has_keys(value: &Value, keys: &[&str]) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let known = |key: &str| keys.iter().any(|known| known.trim_end_matches('?') == key);
    object.keys().all(|key| known(key))
        && keys
            .iter()
            .all(|key| key.ends_with('?') || object.contains_key(*key))
}

#[expect(clippy::unnecessary_wraps, reason = "judges return it as it is")]
fn fault(rule: &str) -> Fault {
    Some(rule.to_owned())
}

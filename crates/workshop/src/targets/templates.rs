//! Templates: with any file, making a dialect from it and rendering a conversation end within the limits.

use chatmill_diag::Limits;
use chatmill_diag::limits::{KIB, MIB};
use chatmill_dialect::TemplateDialect;
use chatmill_dialect::template::Blueprint;

const MESSAGES: &str = r#"[
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "  Is <pier 4> \"free\"?\n"},
    {"role": "assistant", "content": "Let me look.", "reasoning_content": "Four?", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "berth", "arguments": {"number": 4, "tiny": 1e-7}}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "berth", "content": "free"},
    {"role": "assistant", "content": "It is."}]"#;

const TOOLS: &str =
    r#"[{"type": "function", "function": {"name": "berth", "parameters": {"type": "object"}}}]"#;

/// Small limits, so that many templates are tried.
fn limits() -> Limits {
    Limits {
        template_steps: 50_000,
        template_memory: MIB,
        rendering: 64 * KIB,
        ..Limits::default()
    }
}

pub(super) fn check(bytes: &[u8]) {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return;
    };
    let dialect = TemplateDialect::new(Blueprint {
        id: "any".to_owned(),
        source: source.to_owned(),
        now: Some("2024-07-26".to_owned()),
        limits: limits(),
        ..Blueprint::default()
    });
    let Ok(dialect) = dialect else { return };
    for tools in [None, Some(TOOLS)] {
        let printed = dialect.print(MESSAGES, tools);
        if let Ok(printed) = &printed {
            assert!(printed.text.len() as u64 <= limits().rendering, "too long");
            for range in &printed.generated {
                assert!(
                    printed.text.get(range.clone()).is_some(),
                    "{range:?} is not a stretch"
                );
            }
        }
        assert_eq!(printed, dialect.print(MESSAGES, tools), "twice the same");
    }
}

/// Whether bytes look like a template.
pub(super) fn is_template(bytes: &[u8]) -> bool {
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    std::str::from_utf8(bytes).is_ok() && (holds(b"{%") || holds(b"{{"))
}

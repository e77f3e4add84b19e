//! Generated chats and histories of tools, with policies that repair, reject or drop: the validator and the dialects
//! must agree on each.

use chatmill_dialect::policy::{
    Compressed, ControlTokens, LeakedMetadata, MediaPolicy, Names, Orphans, Reasoning, References, System,
};
use chatmill_dialect::{Policy, auto_perspective};
use chatmill_testkit::conversations::read_list_or_chat;
use chatmill_testkit::histories;

use super::agree;

/// The default policy, one with as little repair as possible, and one with as little text as possible.
fn policies() -> [Policy; 3] {
    let rejecting = Policy {
        names: Names::Prefix,
        references: References::Drop,
        media: MediaPolicy::Placeholder,
        reasoning: Reasoning::Keep,
        orphans: Orphans::Reject,
        control_tokens: ControlTokens::Keep,
        ..Policy::default()
    };
    let dropping = Policy {
        names: Names::Drop,
        media: MediaPolicy::Drop,
        orphans: Orphans::Drop,
        system: System::Agent,
        compressed: Compressed::Stored,
        leaked_metadata: LeakedMetadata::Keep,
        ..Policy::default()
    };
    [Policy::default(), rejecting, dropping]
}

#[test]
fn generated_renderings_are_valid_or_have_a_reason() {
    let mut seen = (0, 0);
    let count = chatmill_drawn::cases(20) as usize;
    let chats = histories::chat_lines(count);
    let histories = histories::history_lines(count);
    for (number, line) in chats.lines().chain(histories.lines()).enumerate() {
        let linked = read_list_or_chat(line);
        for policy in policies() {
            let name = format!("generated {number} by {:?}", policy.orphans);
            seen = agree(&name, &linked, auto_perspective(&linked), &policy, seen);
        }
    }
    assert!(seen.0 > 80 * count && seen.1 > 8 * count, "{count}: {seen:?}");
}

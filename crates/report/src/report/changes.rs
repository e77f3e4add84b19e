//! The part of a report about changes since an earlier run, which `chatmill diff` prints, too.

use chatmill_model::target_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The changes from an earlier run to this one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// Name of the earlier run's pipeline.
    pub before: String,
    /// Name of the later run's pipeline.
    pub after: String,
    /// Fingerprint of the earlier run.
    pub before_fingerprint: String,
    /// Fingerprint of the later run.
    pub after_fingerprint: String,
    /// Conversations by change.
    pub conversations: ConversationChanges,
    /// Records that could not be read.
    pub rejects: Change,
    /// Findings by code, those that differ first.
    pub findings: Vec<FindingChange>,
    /// Tokens per dialect, profile, coverage and encoding.
    pub tokens: Vec<TokenChange>,
    /// Losses per dialect and kind, only those that differ.
    pub losses: Vec<LossChange>,
}

impl Comparison {
    /// Replaces every id of a conversation.
    pub fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        self.conversations.mask_ids(mask);
    }
}

/// A number before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// In the earlier run.
    pub before: u64,
    /// In the later run.
    pub after: u64,
}

/// Conversations by change; two are the same if they have the same id and content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationChanges {
    /// The number of conversations.
    pub count: Change,
    /// Only in the later run.
    pub added: u64,
    /// Only in the earlier run.
    pub removed: u64,
    /// In both, with other content.
    pub changed: u64,
    /// In both, with the same content.
    pub same: u64,
    /// Ids of some that were added.
    pub added_ids: Vec<String>,
    /// Ids of some that were removed.
    pub removed_ids: Vec<String>,
    /// Ids of some that changed.
    pub changed_ids: Vec<String>,
    /// The conversations with the most new messages, the most first.
    #[serde(default)]
    pub grown: Vec<Grown>,
}

/// A conversation that grew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grown {
    /// The id of the conversation.
    pub conversation_id: String,
    /// The number of messages in the earlier run; 0 for a new conversation.
    pub before: u64,
    /// The number of messages now.
    pub after: u64,
}

impl ConversationChanges {
    pub(crate) fn mask_ids(&mut self, mask: &mut dyn FnMut(&str) -> String) {
        let lists = [&mut self.added_ids, &mut self.removed_ids, &mut self.changed_ids];
        let grown = self.grown.iter_mut().map(|grown| &mut grown.conversation_id);
        for id in lists.into_iter().flatten().chain(grown) {
            *id = mask(id);
        }
    }
}

/// Findings of one code before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingChange {
    /// The code.
    pub code: String,
    /// The name of the code.
    pub name: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// Occurrences.
    pub count: Change,
}

/// Tokens of one dialect in one encoding before and after; null if a run did not count them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenChange {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// The coverage of its renderings.
    pub coverage: String,
    /// Encoding.
    pub encoding: String,
    /// In the earlier run.
    pub before: Option<TokenCount>,
    /// In the later run.
    pub after: Option<TokenCount>,
}

/// Tokens of one dialect in one encoding of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenCount {
    /// Tokens.
    pub tokens: u64,
    /// Messages that the renderings show.
    pub messages_rendered: u64,
    /// Tokens of the conversations that both runs have.
    pub tokens_common: u64,
}

/// Losses of one dialect and kind before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossChange {
    /// Id of the dialect.
    pub dialect: String,
    /// The profile of the dialect.
    pub profile: String,
    /// Kind of loss.
    pub code: String,
    /// Occurrences.
    pub amount: Change,
}

impl Comparison {
    /// Whether both runs rendered a dialect. Without encodings this is not known, and assumed.
    fn is_in_both(&self, dialect: &str, profile: &str) -> bool {
        let mut same = self
            .tokens
            .iter()
            .filter(|change| (change.dialect.as_str(), change.profile.as_str()) == (dialect, profile))
            .peekable();
        same.peek().is_none() || same.any(|change| change.before.is_some() && change.after.is_some())
    }

    /// The findings that differ.
    pub(crate) fn changed_findings(&self) -> impl Iterator<Item = &FindingChange> {
        let findings = self.findings.iter();
        findings.filter(|change| change.count.before != change.count.after)
    }

    /// The tokens of the dialects and encodings that both runs have.
    pub fn shared_tokens(&self) -> impl Iterator<Item = &TokenChange> {
        let tokens = self.tokens.iter();
        tokens.filter(|change| change.before.is_some() && change.after.is_some())
    }

    /// The losses that differ, for dialects that both runs have.
    pub fn shared_losses(&self) -> impl Iterator<Item = &LossChange> {
        let losses = self.losses.iter();
        losses.filter(|change| self.is_in_both(&change.dialect, &change.profile))
    }

    /// The dialects that only the earlier run counted, each with its encodings.
    pub fn only_before(&self) -> Vec<String> {
        self.alone(|change| change.after.is_none())
    }

    /// The dialects that only the later run counted, each with its encodings.
    pub fn only_after(&self) -> Vec<String> {
        self.alone(|change| change.before.is_none())
    }

    fn alone(&self, is_alone: impl Fn(&TokenChange) -> bool) -> Vec<String> {
        let mut dialects: Vec<(String, Vec<&str>)> = Vec::new();
        for change in self.tokens.iter().filter(|change| is_alone(change)) {
            let target = change.target();
            match dialects.iter_mut().find(|(known, _)| *known == target) {
                Some((_, encodings)) => encodings.push(&change.encoding),
                None => dialects.push((target, vec![&change.encoding])),
            }
        }
        dialects
            .into_iter()
            .map(|(target, encodings)| format!("{target} ({})", encodings.join(", ")))
            .collect()
    }
}

impl TokenChange {
    /// Dialect, profile, coverage and encoding.
    pub(crate) fn key(&self) -> [&str; 4] {
        [&self.dialect, &self.profile, &self.coverage, &self.encoding]
    }

    /// The dialect, with its profile if that is not the default.
    pub fn target(&self) -> String {
        target_name(&self.dialect, &self.profile)
    }
}

//! Compares two datasets cell by cell: conversations, findings, tokens and losses.
//!
//! Conversations are matched by id and compared by the hash of their content. The ids and hashes of the earlier run are kept in memory,
//! about 200 bytes per conversation; everything else is summed while it is read.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError, Numbers, Texts, columns};

use crate::cells::token_table::coverage_rank;
use crate::cells::{Cells, GroupKey};
use crate::report::{
    Change, Comparison, ConversationChanges, FindingChange, Grown, LossChange, TokenChange, TokenCount,
};

/// The number of ids that are listed for each kind of change.
const MAX_IDS: usize = 20;

/// The number of conversations that are listed because they grew most.
const MAX_GROWN: usize = 5;

columns! {
    /// The columns of `conversations` that are read.
    struct ConversationColumns {
        conversation_id: Texts,
        content_hash: Texts,
        message_count: Numbers,
    }

    /// The columns of `renderings` that are read.
    struct Renderings {
        conversation_id: Texts,
        dialect: Texts,
        profile: Texts,
        coverage: Texts,
        messages_rendered: Numbers,
    }

    /// The columns of `findings` that are read.
    struct FindingColumns {
        code: Texts,
        name: Texts,
        severity: Texts,
        count: Numbers,
    }

    /// The columns of `losses` that are read.
    struct LossColumns {
        dialect: Texts,
        profile: Texts,
        code: Texts,
        amount: Numbers,
    }
}

/// The run to which a number belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Side {
    fn of<T>(self, before: T, after: T) -> T {
        match self {
            Self::Before => before,
            Self::After => after,
        }
    }

    fn add(self, change: &mut Change, amount: u64) {
        *self.of(&mut change.before, &mut change.after) += amount;
    }
}

/// Computes the changes from one dataset to another.
pub fn compare(before: &Dataset, after: &Dataset) -> Result<Comparison, DatasetError> {
    let mut known = known(before)?;
    let conversations = conversations(after, &mut known)?;
    let is_common = |id: &str| known.get(id).is_some_and(|conversation| conversation.is_common);
    let mut tokens = Cells::default();
    let mut findings = BTreeMap::new();
    let mut losses = BTreeMap::new();
    for (side, dataset) in [(Side::Before, before), (Side::After, after)] {
        add_tokens(dataset, side, &is_common, &mut tokens)?;
        add_findings(dataset, side, &mut findings)?;
        add_losses(dataset, side, &mut losses)?;
    }
    let name = |dataset: &Dataset| {
        let name = dataset.manifest().plan.get("name");
        name.and_then(serde_json::Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    Ok(Comparison {
        before: name(before),
        after: name(after),
        before_fingerprint: before.manifest().fingerprint.clone(),
        after_fingerprint: after.manifest().fingerprint.clone(),
        conversations,
        rejects: Change {
            before: before.rows("rejects"),
            after: after.rows("rejects"),
        },
        findings: finding_changes(findings),
        tokens: token_changes(&tokens),
        losses: loss_changes(losses),
    })
}

/// A conversation of the earlier run.
struct Known {
    hash: String,
    messages: u64,
    is_common: bool,
}

fn known(before: &Dataset) -> Result<BTreeMap<String, Known>, DatasetError> {
    let mut known = BTreeMap::new();
    before.each_row("conversations", &mut |columns: &ConversationColumns, row| {
        let conversation = Known {
            hash: columns.content_hash.at(row).to_owned(),
            messages: columns.message_count.at(row),
            is_common: false,
        };
        known.insert(columns.conversation_id.at(row).to_owned(), conversation);
    })?;
    Ok(known)
}

/// Adds a conversation that grew.
fn grow(grown: &mut Vec<Grown>, id: &str, before: u64, after: u64) {
    if after > before {
        grown.push(Grown {
            conversation_id: id.to_owned(),
            before,
            after,
        });
    }
    if grown.len() > 4 * MAX_GROWN {
        keep_most(grown);
    }
}

fn keep_most(grown: &mut Vec<Grown>) {
    grown.sort_by_key(|grown| std::cmp::Reverse(grown.after - grown.before));
    grown.truncate(MAX_GROWN);
}

/// Matches the conversations of the later run, and marks those that both runs have.
fn conversations(
    after: &Dataset,
    known: &mut BTreeMap<String, Known>,
) -> Result<ConversationChanges, DatasetError> {
    let mut changes = ConversationChanges {
        count: Change {
            before: known.len() as u64,
            after: 0,
        },
        ..ConversationChanges::default()
    };
    let note = |ids: &mut Vec<String>, id: &str| {
        if ids.len() < MAX_IDS {
            ids.push(id.to_owned());
        }
    };
    after.each_row("conversations", &mut |columns: &ConversationColumns, row| {
        let (id, messages) = (columns.conversation_id.at(row), columns.message_count.at(row));
        changes.count.after += 1;
        let before = known.get(id).map_or(0, |known| known.messages);
        grow(&mut changes.grown, id, before, messages);
        match known.get_mut(id) {
            None => {
                changes.added += 1;
                note(&mut changes.added_ids, id);
            }
            Some(old) => {
                old.is_common = true;
                if old.hash == columns.content_hash.at(row) {
                    changes.same += 1;
                } else {
                    changes.changed += 1;
                    note(&mut changes.changed_ids, id);
                }
            }
        }
    })?;
    for (id, _) in known.iter().filter(|(_, old)| !old.is_common) {
        changes.removed += 1;
        note(&mut changes.removed_ids, id);
    }
    keep_most(&mut changes.grown);
    Ok(changes)
}

/// The tokens of the earlier and of the later run.
type Sides = (Option<TokenCount>, Option<TokenCount>);

fn add_tokens(
    dataset: &Dataset,
    side: Side,
    is_common: &dyn Fn(&str) -> bool,
    cells: &mut Cells<Sides>,
) -> Result<(), DatasetError> {
    let encodings = dataset.encodings();
    let counts: Vec<String> = encodings
        .iter()
        .map(|encoding| format!("tokens_{encoding}"))
        .collect();
    dataset.each_row_with("renderings", &counts, &mut |columns: &Renderings, counts, row| {
        let common = is_common(columns.conversation_id.at(row));
        for (encoding, tokens) in encodings.iter().zip(counts) {
            let [dialect, profile, coverage] =
                [&columns.dialect, &columns.profile, &columns.coverage].map(|column| column.at(row));
            let sides = cells.at(GroupKey::of([dialect, profile, coverage, encoding]));
            let count = side.of(&mut sides.0, &mut sides.1).get_or_insert_default();
            count.tokens += tokens.at(row);
            count.messages_rendered += columns.messages_rendered.at(row);
            count.tokens_common += if common { tokens.at(row) } else { 0 };
        }
        Ok(())
    })
}

fn token_changes(cells: &Cells<Sides>) -> Vec<TokenChange> {
    let mut changes: Vec<TokenChange> = cells
        .iter()
        .map(|(key, (before, after))| TokenChange {
            dialect: key.dialect.clone(),
            profile: key.profile.clone(),
            coverage: key.coverage.clone(),
            encoding: key.encoding.clone(),
            before: *before,
            after: *after,
        })
        .collect();
    let mut encodings: Vec<String> = Vec::new();
    for change in &changes {
        if !encodings.contains(&change.encoding) {
            encodings.push(change.encoding.clone());
        }
    }
    // The sort is stable, so dialects keep the order of the tables.
    changes.sort_by_key(|change| {
        let encoding = encodings.iter().position(|name| *name == change.encoding);
        (coverage_rank(&change.coverage), encoding)
    });
    changes
}

/// Findings by code and severity, with the name of the code.
type Findings = BTreeMap<(String, String), (String, Change)>;

fn add_findings(dataset: &Dataset, side: Side, findings: &mut Findings) -> Result<(), DatasetError> {
    dataset.each_row("findings", &mut |columns: &FindingColumns, row| {
        let (code, severity) = (columns.code.at(row), columns.severity.at(row));
        let found = findings
            .entry((code.to_owned(), severity.to_owned()))
            .or_default();
        columns.name.at(row).clone_into(&mut found.0);
        side.add(&mut found.1, columns.count.at(row));
    })
}

/// The changes of findings, with those that differ first, then by severity.
fn finding_changes(findings: Findings) -> Vec<FindingChange> {
    let mut changes: Vec<FindingChange> = findings
        .into_iter()
        .map(|((code, severity), (name, count))| FindingChange {
            code,
            name,
            severity,
            count,
        })
        .collect();
    changes.sort_by_key(|change| {
        let rank = ["error", "warning"]
            .iter()
            .position(|known| *known == change.severity);
        (
            change.count.before == change.count.after,
            rank.unwrap_or(usize::MAX),
        )
    });
    changes
}

type Losses = BTreeMap<[String; 3], Change>;

fn add_losses(dataset: &Dataset, side: Side, losses: &mut Losses) -> Result<(), DatasetError> {
    dataset.each_row("losses", &mut |columns: &LossColumns, row| {
        let key = [&columns.dialect, &columns.profile, &columns.code].map(|column| column.at(row).to_owned());
        side.add(losses.entry(key).or_default(), columns.amount.at(row));
    })
}

fn loss_changes(losses: Losses) -> Vec<LossChange> {
    losses
        .into_iter()
        .filter(|(_, amount)| amount.before != amount.after)
        .map(|([dialect, profile, code], amount)| LossChange {
            dialect,
            profile,
            code,
            amount,
        })
        .collect()
}

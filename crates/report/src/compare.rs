//! Two datasets, cell by cell: conversations, findings, tokens and losses.
//!
//! Conversations are matched by id and compared by the hash of their content. The ids and hashes of the earlier run are
//! held in memory, about 200 bytes a conversation; everything else is summed while it is read.

use std::collections::BTreeMap;

use chatmill_dataset::{Dataset, DatasetError};

use crate::cells::{Cells, GroupKey};
use crate::report::{
    Change, Comparison, ConversationChanges, FindingChange, Grown, LossChange, TokenChange, TokenCount,
};
use crate::token_table::coverage_rank;

/// Ids that are named for each kind of change.
const MAX_IDS: usize = 20;

/// Conversations that are named because they grew most.
const MAX_GROWN: usize = 5;

/// What is read of a conversation.
const CONVERSATION: [&str; 3] = ["conversation_id", "content_hash", "message_count"];

/// Which of two runs a number is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl Change {
    fn add(&mut self, side: Side, amount: u64) {
        match side {
            Side::Before => self.before += amount,
            Side::After => self.after += amount,
        }
    }
}

/// Says what changed from one dataset to another.
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
    before.scan("conversations", &CONVERSATION, &mut |batch| {
        let (ids, hashes) = (batch.texts("conversation_id")?, batch.texts("content_hash")?);
        let messages = batch.numbers("message_count")?;
        for row in 0..batch.rows() {
            let conversation = Known {
                hash: hashes.at(row).to_owned(),
                messages: messages.at(row),
                is_common: false,
            };
            known.insert(ids.at(row).to_owned(), conversation);
        }
        Ok(())
    })?;
    Ok(known)
}

/// Notes a conversation that grew.
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

/// Matches the conversations of the later run and marks those that both runs have.
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
    after.scan("conversations", &CONVERSATION, &mut |batch| {
        let (ids, hashes) = (batch.texts("conversation_id")?, batch.texts("content_hash")?);
        let messages = batch.numbers("message_count")?;
        for row in 0..batch.rows() {
            changes.count.after += 1;
            let before = known.get(ids.at(row)).map_or(0, |known| known.messages);
            grow(&mut changes.grown, ids.at(row), before, messages.at(row));
            match known.get_mut(ids.at(row)) {
                None => {
                    changes.added += 1;
                    note(&mut changes.added_ids, ids.at(row));
                }
                Some(old) => {
                    old.is_common = true;
                    if old.hash == hashes.at(row) {
                        changes.same += 1;
                    } else {
                        changes.changed += 1;
                        note(&mut changes.changed_ids, ids.at(row));
                    }
                }
            }
        }
        Ok(())
    })?;
    for (id, _) in known.iter().filter(|(_, old)| !old.is_common) {
        changes.removed += 1;
        note(&mut changes.removed_ids, id);
    }
    keep_most(&mut changes.grown);
    Ok(changes)
}

/// Tokens before and after.
type Sides = (Option<TokenCount>, Option<TokenCount>);

fn add_tokens(
    dataset: &Dataset,
    side: Side,
    is_common: &dyn Fn(&str) -> bool,
    cells: &mut Cells<Sides>,
) -> Result<(), DatasetError> {
    let counts: Vec<(&str, String)> = dataset
        .encodings()
        .iter()
        .map(|encoding| (encoding.as_str(), format!("tokens_{encoding}")))
        .collect();
    let mut columns = vec![
        "conversation_id",
        "dialect",
        "profile",
        "coverage",
        "messages_rendered",
    ];
    columns.extend(counts.iter().map(|(_, column)| column.as_str()));
    dataset.scan("renderings", &columns, &mut |batch| {
        let (ids, dialect) = (batch.texts("conversation_id")?, batch.texts("dialect")?);
        let (profile, coverage) = (batch.texts("profile")?, batch.texts("coverage")?);
        let messages = batch.numbers("messages_rendered")?;
        let tokens = counts
            .iter()
            .map(|(encoding, column)| Ok((*encoding, batch.numbers(column)?)))
            .collect::<Result<Vec<_>, DatasetError>>()?;
        for row in 0..batch.rows() {
            let common = is_common(ids.at(row));
            for (encoding, tokens) in &tokens {
                let sides = cells.at(GroupKey {
                    group: "",
                    second: "",
                    dialect: dialect.at(row),
                    profile: profile.at(row),
                    coverage: coverage.at(row),
                    encoding,
                });
                let count = match side {
                    Side::Before => &mut sides.0,
                    Side::After => &mut sides.1,
                };
                let count = count.get_or_insert_default();
                count.tokens += tokens.at(row);
                count.messages_rendered += messages.at(row);
                count.tokens_common += if common { tokens.at(row) } else { 0 };
            }
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
    // The sort is stable: dialects stay in the order of the tables.
    changes.sort_by_key(|change| {
        let encoding = encodings.iter().position(|name| *name == change.encoding);
        (coverage_rank(&change.coverage), encoding)
    });
    changes
}

/// Findings by code and severity, with the code's name.
type Findings = BTreeMap<(String, String), (String, Change)>;

fn add_findings(dataset: &Dataset, side: Side, findings: &mut Findings) -> Result<(), DatasetError> {
    let columns = ["code", "name", "severity", "count"];
    dataset.scan("findings", &columns, &mut |batch| {
        let (codes, names) = (batch.texts("code")?, batch.texts("name")?);
        let (severities, counts) = (batch.texts("severity")?, batch.numbers("count")?);
        for row in 0..batch.rows() {
            let key = (codes.at(row).to_owned(), severities.at(row).to_owned());
            let found = findings.entry(key).or_default();
            names.at(row).clone_into(&mut found.0);
            found.1.add(side, counts.at(row));
        }
        Ok(())
    })
}

/// Those that differ come first, errors before warnings before notes.
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

type Losses = BTreeMap<(String, String, String), Change>;

fn add_losses(dataset: &Dataset, side: Side, losses: &mut Losses) -> Result<(), DatasetError> {
    let columns = ["dialect", "profile", "code", "amount"];
    dataset.scan("losses", &columns, &mut |batch| {
        let (dialect, profile) = (batch.texts("dialect")?, batch.texts("profile")?);
        let (code, amount) = (batch.texts("code")?, batch.numbers("amount")?);
        for row in 0..batch.rows() {
            let key = (
                dialect.at(row).to_owned(),
                profile.at(row).to_owned(),
                code.at(row).to_owned(),
            );
            losses.entry(key).or_default().add(side, amount.at(row));
        }
        Ok(())
    })
}

fn loss_changes(losses: Losses) -> Vec<LossChange> {
    losses
        .into_iter()
        .filter(|(_, amount)| amount.before != amount.after)
        .map(|((dialect, profile, code), amount)| LossChange {
            dialect,
            profile,
            code,
            amount,
        })
        .collect()
}

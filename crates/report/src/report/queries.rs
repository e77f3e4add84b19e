//! The queries for the figures, in DuckDB's SQL. `just readers` runs them in the folder of a dataset, and compares the results with
//! `report.json`, row by row.

/// The sums over all inputs, from the manifest.
pub(crate) const BALANCE: &str = include_str!("../../queries/balance.sql").trim_ascii_end();

/// The inputs, from the manifest.
pub(crate) const INPUTS: &str = include_str!("../../queries/inputs.sql").trim_ascii_end();

/// The findings by code.
pub(crate) const FINDINGS: &str = include_str!("../../queries/findings.sql").trim_ascii_end();

/// The records that were left out, by reason, from the manifest.
pub(crate) const FILTERED: &str = include_str!("../../queries/filtered.sql").trim_ascii_end();

/// The bill of a run that counted in these encodings; there is a separate column of sent tokens for each encoding.
pub(crate) fn tokens(encodings: &[String]) -> String {
    let sent: Vec<String> = encodings
        .iter()
        .map(|encoding| format!("WHEN '{encoding}' THEN r.sent_tokens_{encoding}"))
        .collect();
    let sent = sent.join("\n         ");
    format!("{TOKENS}\n         {sent} END) AS tokens_sent\n{TOKENS_FROM}")
}

const TOKENS: &str = include_str!("../../queries/tokens.sql").trim_ascii_end();

const TOKENS_FROM: &str = include_str!("../../queries/tokens_from.sql").trim_ascii_end();

/// The bill of a run that counted nothing.
pub(crate) const UNCOUNTED: &str = include_str!("../../queries/uncounted.sql").trim_ascii_end();

/// The losses of each dialect.
pub(crate) const LOSSES: &str = include_str!("../../queries/losses.sql").trim_ascii_end();

/// The messages by day.
pub(crate) const DAYS: &str = include_str!("../../queries/days.sql").trim_ascii_end();

/// The messages and notices by role.
pub(crate) const ROLES: &str = include_str!("../../queries/roles.sql").trim_ascii_end();

/// The references between messages, by status.
pub(crate) const REFERENCES: &str = include_str!("../../queries/references.sql").trim_ascii_end();

/// The tool calls by status.
pub(crate) const TOOL_CALLS: &str = include_str!("../../queries/tool_calls.sql").trim_ascii_end();

/// The tools by number of calls.
pub(crate) const TOOLS: &str = include_str!("../../queries/tools.sql").trim_ascii_end();

/// The trained parts of the renderings of each dialect.
pub(crate) const TRAINED: &str = include_str!("../../queries/learned.sql").trim_ascii_end();

/// The conversations by source; lengths are in the first encoding.
pub(crate) fn sources(encodings: &[String]) -> String {
    let first = encodings.first();
    let length = first.map_or_else(|| "0".to_owned(), |encoding| format!("tokens_{encoding}"));
    include_str!("../../queries/sources.sql")
        .trim_ascii_end()
        .replace("LENGTH", &length)
}

/// The values of a distribution of lengths in tokens; `None` for other lengths.
pub(crate) fn token_lengths(of: &str, encoding: &str) -> Option<String> {
    let values = match of {
        _ if encoding == "turns" => return None,
        "conversation" => format!(
            "SELECT coalesce(sum(m.tokens_{encoding}), 0) AS value\n      FROM 'conversations/*.parquet' c\n      LEFT JOIN \
             (FROM 'messages/*.parquet' WHERE kind = 'message') m USING (conversation_id)\n      GROUP BY c.conversation_id"
        ),
        of => {
            let answers = if of == "answer" {
                " AND role = 'assistant'"
            } else {
                ""
            };
            format!(
                "SELECT tokens_{encoding} AS value FROM 'messages/*.parquet' WHERE kind = 'message'{answers}"
            )
        }
    };
    Some(values)
}

/// The conversations with the most text.
pub(crate) const LARGEST: &str = include_str!("../../queries/largest.sql").trim_ascii_end();

/// The slowest conversations, from `run.json`.
pub(crate) const SLOWEST: &str = include_str!("../../queries/slowest.sql").trim_ascii_end();

/// Conversations that repeat, fork or continue others.
pub(crate) const CLUSTERS: &str = include_str!("../../queries/clusters.sql").trim_ascii_end();

/// The measured quantities of messages and conversations, with the queries for their values.
pub(crate) const DISTRIBUTIONS: [(&str, &str); 4] = [
    (
        "characters per message",
        "SELECT length(text) AS value FROM 'messages/*.parquet' WHERE kind = 'message'",
    ),
    (
        "messages per conversation",
        "SELECT message_count AS value FROM 'conversations/*.parquet'",
    ),
    (
        "participants per conversation",
        "SELECT participant_count AS value FROM 'conversations/*.parquet'",
    ),
    (
        "tool calls per conversation",
        "SELECT count(t.conversation_id) AS value\n      FROM 'conversations/*.parquet' c\n      \
         LEFT JOIN 'tool_calls/*.parquet' t USING (conversation_id)\n      GROUP BY c.conversation_id",
    ),
];

/// Counts values by bins that double in width: 0, 1, 2–3, 4–7 and so on.
pub(crate) fn bins(values: &str) -> String {
    format!(
        "SELECT CASE WHEN value = 0 THEN 0 ELSE 1::BIGINT << floor(log2(value))::INT END AS \"from\",\n       \
         count(*) AS count\nFROM ({values})\nGROUP BY 1\nORDER BY 1"
    )
}

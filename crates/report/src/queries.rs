//! The queries behind the figures, in DuckDB's SQL. They are run in the dataset's folder by `just readers`, and what they
//! give is compared with `report.json`, row by row.

/// Sums over all inputs, from the manifest.
pub(crate) const BALANCE: &str = "\
SELECT sum(i.framed) AS framed, sum(i.accepted) AS accepted, sum(i.rejected) AS rejected,
       sum(i.filtered) AS filtered, sum(i.decoded_bytes) AS decoded_bytes,
       sum(i.accepted_bytes) AS accepted_bytes, sum(i.rejected_bytes) AS rejected_bytes,
       sum(i.filtered_bytes) AS filtered_bytes, sum(i.separator_bytes) AS separator_bytes
FROM (SELECT unnest(inputs) AS i FROM read_json('manifest.json'))";

/// The inputs, from the manifest.
pub(crate) const INPUTS: &str = "\
SELECT i.path, i.source, i.bytes, i.framed, i.accepted, i.rejected, i.filtered,
       i.conversations, i.findings
FROM (SELECT unnest(inputs) AS i FROM read_json('manifest.json'))
ORDER BY i.rejected DESC, i.findings DESC, i.path";

/// Findings by code.
pub(crate) const FINDINGS: &str = "\
SELECT code, any_value(name) AS name,
       coalesce(sum(count) FILTER (severity = 'error'), 0) AS errors,
       coalesce(sum(count) FILTER (severity = 'warning'), 0) AS warnings,
       coalesce(sum(count) FILTER (severity = 'note'), 0) AS notes
FROM 'findings/*.parquet'
GROUP BY code
ORDER BY errors DESC, warnings DESC, notes DESC, code";

/// Records left out by reason, from the manifest.
pub(crate) const FILTERED: &str = "\
SELECT unnest(map_keys(reasons)) AS reason, unnest(map_values(reasons)) AS records
FROM (SELECT totals.filtered_by AS reasons FROM read_json('manifest.json',
      columns = {totals: 'STRUCT(filtered_by MAP(VARCHAR, BIGINT))'}))
ORDER BY reason";

/// The bill of a run that counted in these encodings: each has a column of its own for what is sent.
pub(crate) fn tokens(encodings: &[String]) -> String {
    let sent: Vec<String> = encodings
        .iter()
        .map(|encoding| format!("WHEN '{encoding}' THEN r.sent_tokens_{encoding}"))
        .collect();
    let sent = sent.join("\n         ");
    format!("{TOKENS}\n         {sent} END) AS tokens_sent\n{TOKENS_FROM}")
}

const TOKENS: &str = "\
SELECT r.dialect, r.profile, r.coverage, t.encoding, count(*) AS renderings,
       sum(r.messages_rendered) AS messages_rendered, sum(r.bytes) AS bytes,
       sum(t.tokens) AS tokens, sum(t.content) AS content, sum(t.names) AS names,
       sum(t.framing) AS framing, sum(t.tools) AS tools, sum(t.replies) AS replies,
       sum(t.meta) AS meta, quantile_disc(t.tokens, 0.5) AS p50,
       quantile_disc(t.tokens, 0.95) AS p95, quantile_disc(t.tokens, 0.99) AS p99,
       count(*) FILTER (NOT r.valid) AS invalid, sum(r.loss_count) AS losses,
       sum(t.assistant_content) AS assistant_content, sum(r.requests) AS requests,
       sum(CASE t.encoding";

const TOKENS_FROM: &str = "\
FROM 'renderings/**/*.parquet' r
JOIN 'token_counts/*.parquet' t USING (conversation_id, dialect, profile, perspective, ordinal)
GROUP BY r.dialect, r.profile, r.coverage, t.encoding
ORDER BY r.coverage, t.encoding, sum(t.tokens) / sum(r.messages_rendered)";

/// The bill of a run that counted nothing.
pub(crate) const UNCOUNTED: &str = "\
SELECT dialect, profile, coverage, '' AS encoding, count(*) AS renderings,
       sum(messages_rendered) AS messages_rendered, sum(bytes) AS bytes,
       sum(requests) AS requests, count(*) FILTER (NOT valid) AS invalid,
       sum(loss_count) AS losses
FROM 'renderings/**/*.parquet'
GROUP BY dialect, profile, coverage
ORDER BY coverage, dialect";

/// What each dialect lost.
pub(crate) const LOSSES: &str = "\
SELECT dialect, profile, code, count(DISTINCT (conversation_id, perspective, ordinal)) AS renderings,
       sum(amount) AS amount
FROM 'losses/*.parquet'
GROUP BY dialect, profile, code
ORDER BY dialect, profile, amount DESC, code";

/// Messages and notices by role.
pub(crate) const ROLES: &str = "\
SELECT role, kind, count(*) AS messages, sum(length(text)) AS characters
FROM 'messages/*.parquet'
GROUP BY role, kind
ORDER BY messages DESC, role, kind";

/// References that messages make, by status.
pub(crate) const REFERENCES: &str = "\
SELECT status, count(*) AS count, count(*) FILTER (same_sender) AS same_sender
FROM 'message_references/*.parquet'
WHERE path NOT LIKE '%.%'
GROUP BY status
ORDER BY count DESC, status";

/// Tool calls by status.
pub(crate) const TOOL_CALLS: &str = "\
SELECT status, paired_by, count(*) AS count
FROM 'tool_calls/*.parquet'
GROUP BY status, paired_by
ORDER BY count DESC, status, paired_by NULLS FIRST";

/// Tools by calls.
pub(crate) const TOOLS: &str = "\
SELECT name, count(*) AS calls, count(*) FILTER (status = 'unanswered') AS unanswered,
       count(*) FILTER (is_error) AS failed
FROM 'tool_calls/*.parquet'
GROUP BY name
ORDER BY calls DESC, name NULLS FIRST
LIMIT 20";

/// Conversations by text.
pub(crate) const LARGEST: &str = "\
SELECT conversation_id, c.source, c.input, c.message_count AS messages,
       c.participant_count AS participants, sum(length(m.text)) AS characters
FROM 'messages/*.parquet' m JOIN 'conversations/*.parquet' c USING (conversation_id)
GROUP BY conversation_id, c.source, c.input, c.message_count, c.participant_count
ORDER BY characters DESC, conversation_id
LIMIT 10";

/// The conversations that took longest, from what the run says about itself.
pub(crate) const SLOWEST: &str = "\
SELECT s.conversation_id, s.input, s.bytes, s.seconds
FROM (SELECT unnest(slowest) AS s FROM read_json('run.json'))
ORDER BY s.seconds DESC";

/// Conversations that repeat, fork or continue others.
pub(crate) const CLUSTERS: &str = "\
SELECT count(*) AS clusters, coalesce(sum(size), 0) AS conversations, coalesce(max(size), 0) AS largest,
       coalesce(sum(exact), 0) AS exact, coalesce(sum(near), 0) AS near
FROM (SELECT count(*) AS size, count(*) FILTER (duplicate = 'exact') AS exact,
             count(*) FILTER (duplicate = 'near') AS near
      FROM 'conversations/*.parquet' WHERE cluster IS NOT NULL GROUP BY cluster)";

/// Bins of characters per message.
pub(crate) fn message_lengths() -> String {
    bins("SELECT length(text) AS value FROM 'messages/*.parquet' WHERE kind = 'message'")
}

/// Bins of messages per conversation.
pub(crate) fn turns() -> String {
    bins("SELECT message_count AS value FROM 'conversations/*.parquet'")
}

/// Bins of participants per conversation.
pub(crate) fn participants() -> String {
    bins("SELECT participant_count AS value FROM 'conversations/*.parquet'")
}

/// Bins of tool calls per conversation.
pub(crate) fn tool_calls_per_conversation() -> String {
    bins(
        "SELECT count(t.conversation_id) AS value\n      FROM 'conversations/*.parquet' c\n      \
         LEFT JOIN 'tool_calls/*.parquet' t USING (conversation_id)\n      GROUP BY c.conversation_id",
    )
}

/// Counts values by bins that double in width: 0, 1, 2–3, 4–7 and so on.
fn bins(values: &str) -> String {
    format!(
        "SELECT CASE WHEN value = 0 THEN 0 ELSE 1::BIGINT << floor(log2(value))::INT END AS \"from\",\n       \
         count(*) AS count\nFROM ({values})\nGROUP BY 1\nORDER BY 1"
    )
}

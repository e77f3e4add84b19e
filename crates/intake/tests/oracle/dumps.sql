-- The database that `dumps.sh` dumps: a table of messages with every kind of cell that has to be escaped somewhere, and other
-- tables that are not read.
CREATE TYPE msg_type AS ENUM ('user', 'assistant', 'tool', 'system', 'status');
CREATE TABLE threads (thread_id uuid PRIMARY KEY, is_public boolean DEFAULT false, created_at timestamptz);
CREATE TABLE messages (
    message_id uuid PRIMARY KEY,
    thread_id uuid REFERENCES threads,
    type msg_type NOT NULL,
    is_llm_message boolean NOT NULL DEFAULT true,
    content jsonb NOT NULL,
    metadata jsonb,
    raw text,
    blob bytea,
    tags text[],
    "odd, ""name"" (1)" numeric,
    length integer GENERATED ALWAYS AS (length(raw)) STORED,
    created_at timestamptz NOT NULL
);
CREATE TABLE nothing ();
CREATE TABLE empty (id integer);
CREATE SCHEMA auth;
CREATE TABLE auth.messages (secret text);
INSERT INTO auth.messages VALUES ('hush');
INSERT INTO nothing DEFAULT VALUES;
INSERT INTO threads VALUES ('11111111-1111-1111-1111-111111111111', false, '2025-05-22 10:00:00+00');
INSERT INTO messages (message_id, thread_id, type, is_llm_message, content, metadata, raw, blob, tags, "odd, ""name"" (1)", created_at)
SELECT ('00000000-0000-0000-0000-' || lpad(number::text, 12, '0'))::uuid, '11111111-1111-1111-1111-111111111111',
    (ARRAY['user', 'assistant', 'tool', 'status'])[1 + number % 4]::msg_type, number % 4 < 3, content::jsonb, metadata::jsonb, raw, blob,
    tags, amount, '2025-05-22 10:00:00+00'::timestamptz + number * interval '1 second'
FROM (VALUES
    (1, '"{\"role\": \"user\", \"content\": \"Where is the boat?\"}"', '{}', E'tab\there newline\nback\\slash \\N cr\r end', '\x00ff5c0a'::bytea,
        ARRAY['a', 'b"c', 'd,e', 'NULL', NULL, ''], 1.50),
    (2, '{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "function": {"arguments": "{\"where\": \"O''Brien \\\"x\\\"\"}"}}]}',
        NULL, '\.', NULL, '{}', 'NaN'),
    (3, '{"ok": true, "n": 12345678901234567890}', '{"tool_call_id": "call_1"}', 'it''s; a "quote" -- not comment', '', NULL, -0.1),
    (4, '{"z": 1, "a": 2}', NULL, E'emoji \U0001F600 \u00e9 \u2028 \b\f\x0B end', NULL, NULL, NULL),
    (5, '"cut off (truncated)"', 'null', '', NULL, NULL, 1e30)
) AS rows (number, content, metadata, raw, blob, tags, amount);
SELECT lo_from_bytea(0, convert_to(repeat('large object ', 100), 'UTF8')), lo_from_bytea(0, '');

CREATE TABLE messages (
    message_id text, thread_id text, type text, is_llm_message boolean, content text, metadata text, created_at text
);

INSERT INTO messages (message_id, thread_id, type, is_llm_message, content, metadata, created_at) VALUES
('r1', 't1', 'user', true, '{"role": "user", "content": "Water the seedlings."}', '{}', '2026-02-03T08:00:00Z'),
('r2', 't1', 'assistant', true, '{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "pump", "arguments": "{}"}}]}', '{}', '2026-02-03T08:01:00Z');

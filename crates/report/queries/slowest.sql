SELECT s.conversation_id, s.input, s.bytes, s.seconds
FROM (SELECT unnest(slowest) AS s FROM read_json('run.json'))
ORDER BY s.seconds DESC

SELECT conversation_id, c.source, c.input, c.message_count AS messages,
       c.participant_count AS participants, sum(length(m.text)) AS characters
FROM 'messages/*.parquet' m JOIN 'conversations/*.parquet' c USING (conversation_id)
GROUP BY conversation_id, c.source, c.input, c.message_count, c.participant_count
ORDER BY characters DESC, conversation_id
LIMIT 10

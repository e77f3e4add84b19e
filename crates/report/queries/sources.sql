SELECT source, count(*) AS conversations, coalesce(sum(messages), 0) AS messages,
       coalesce(sum(answers), 0) AS answers, coalesce(sum(length), 0) AS length
FROM 'conversations/*.parquet'
LEFT JOIN (SELECT conversation_id, count(*) AS messages, count(*) FILTER (role = 'assistant') AS answers,
                  sum(LENGTH) AS length
           FROM 'messages/*.parquet' WHERE kind = 'message' GROUP BY conversation_id) USING (conversation_id)
GROUP BY source
ORDER BY source

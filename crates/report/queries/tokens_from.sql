FROM 'renderings/**/*.parquet' r
JOIN 'token_counts/*.parquet' t USING (conversation_id, dialect, profile, perspective, ordinal)
GROUP BY r.dialect, r.profile, r.coverage, t.encoding
ORDER BY r.coverage, t.encoding, sum(t.tokens) / sum(r.messages_rendered)

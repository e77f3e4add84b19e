SELECT dialect, profile, code, count(DISTINCT (conversation_id, perspective, ordinal)) AS renderings,
       sum(amount) AS amount
FROM 'losses/*.parquet'
GROUP BY dialect, profile, code
ORDER BY dialect, profile, amount DESC, code

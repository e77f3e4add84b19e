SELECT role, kind, count(*) AS messages, sum(length(text)) AS characters
FROM 'messages/*.parquet'
GROUP BY role, kind
ORDER BY messages DESC, role, kind

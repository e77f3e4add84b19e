SELECT strftime(created_at AT TIME ZONE 'UTC', '%Y-%m-%d') AS day, count(*) AS messages
FROM 'messages/*.parquet' WHERE kind = 'message' AND created_at IS NOT NULL
GROUP BY day ORDER BY day

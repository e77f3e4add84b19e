SELECT status, count(*) AS count, count(*) FILTER (same_sender) AS same_sender
FROM 'message_references/*.parquet'
WHERE path NOT LIKE '%.%'
GROUP BY status
ORDER BY count DESC, status

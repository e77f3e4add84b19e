SELECT name, count(*) AS calls, count(*) FILTER (status = 'unanswered') AS unanswered,
       count(*) FILTER (is_error) AS failed
FROM 'tool_calls/*.parquet'
GROUP BY name
ORDER BY calls DESC, name NULLS FIRST
LIMIT 20

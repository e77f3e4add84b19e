SELECT status, paired_by, count(*) AS count
FROM 'tool_calls/*.parquet'
GROUP BY status, paired_by
ORDER BY count DESC, status, paired_by NULLS FIRST

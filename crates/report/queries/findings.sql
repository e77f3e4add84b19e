SELECT code, any_value(name) AS name,
       coalesce(sum(count) FILTER (severity = 'error'), 0) AS errors,
       coalesce(sum(count) FILTER (severity = 'warning'), 0) AS warnings,
       coalesce(sum(count) FILTER (severity = 'note'), 0) AS notes
FROM 'findings/*.parquet'
GROUP BY code
ORDER BY errors DESC, warnings DESC, notes DESC, code

SELECT dialect, profile, 'bytes' AS unit, sum(bytes) AS whole, sum(assistant) AS assistant, sum(learned) AS learned
FROM (SELECT dialect, profile, bytes,
             coalesce(list_sum([s."end" - s.start for s in assistant_spans]), 0) AS assistant,
             coalesce(list_sum([s."end" - s.start for s in learned_spans]), 0) AS learned
      FROM 'renderings/**/*.parquet')
WHERE assistant > 0
GROUP BY dialect, profile
ORDER BY dialect, profile

SELECT dialect, profile, coverage, '' AS encoding, count(*) AS renderings,
       sum(messages_rendered) AS messages_rendered, sum(bytes) AS bytes,
       sum(requests) AS requests, count(*) FILTER (NOT valid) AS invalid,
       sum(loss_count) AS losses
FROM 'renderings/**/*.parquet'
GROUP BY dialect, profile, coverage
ORDER BY coverage, dialect

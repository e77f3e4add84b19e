SELECT count(*) AS clusters, coalesce(sum(size), 0) AS conversations, coalesce(max(size), 0) AS largest,
       coalesce(sum(exact), 0) AS exact, coalesce(sum(near), 0) AS near
FROM (SELECT count(*) AS size, count(*) FILTER (duplicate = 'exact') AS exact,
             count(*) FILTER (duplicate = 'near') AS near
      FROM 'conversations/*.parquet' WHERE cluster IS NOT NULL GROUP BY cluster)

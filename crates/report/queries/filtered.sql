SELECT unnest(map_keys(reasons)) AS reason, unnest(map_values(reasons)) AS records
FROM (SELECT totals.filtered_by AS reasons FROM read_json('manifest.json',
      columns = {totals: 'STRUCT(filtered_by MAP(VARCHAR, BIGINT))'}))
ORDER BY reason

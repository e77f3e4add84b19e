SELECT i.path, i.source, i.bytes, i.framed, i.accepted, i.rejected, i.filtered,
       i.conversations, i.findings
FROM (SELECT unnest(inputs) AS i FROM read_json('manifest.json'))
ORDER BY i.rejected DESC, i.findings DESC, i.path

SELECT sum(i.framed) AS framed, sum(i.accepted) AS accepted, sum(i.rejected) AS rejected,
       sum(i.filtered) AS filtered, sum(i.decoded_bytes) AS decoded_bytes,
       sum(i.accepted_bytes) AS accepted_bytes, sum(i.rejected_bytes) AS rejected_bytes,
       sum(i.filtered_bytes) AS filtered_bytes, sum(i.separator_bytes) AS separator_bytes
FROM (SELECT unnest(inputs) AS i FROM read_json('manifest.json'))

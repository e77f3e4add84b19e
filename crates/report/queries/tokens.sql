SELECT r.dialect, r.profile, r.coverage, t.encoding, count(*) AS renderings,
       sum(r.messages_rendered) AS messages_rendered, sum(r.bytes) AS bytes,
       sum(t.tokens) AS tokens, sum(t.content) AS content, sum(t.names) AS names,
       sum(t.framing) AS framing, sum(t.tools) AS tools, sum(t.replies) AS replies,
       sum(t.meta) AS meta, quantile_disc(t.tokens, 0.5) AS p50,
       quantile_disc(t.tokens, 0.95) AS p95, quantile_disc(t.tokens, 0.99) AS p99,
       count(*) FILTER (NOT r.valid) AS invalid, sum(r.loss_count) AS losses,
       sum(t.assistant_content) AS assistant_content, sum(r.requests) AS requests,
       sum(CASE t.encoding

PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE messages (message_id TEXT, thread_id TEXT, type TEXT, is_llm_message TEXT, content TEXT, metadata TEXT, raw TEXT, blob TEXT, agent_id TEXT, agent_version_id TEXT, tags TEXT, created_at TEXT, updated_at TEXT);
INSERT INTO messages VALUES('00000000-0000-0000-0000-000000000001','11111111-1111-1111-1111-111111111111','user','t','"{\"role\": \"user\", \"content\": \"Hello!\"}"','{}',replace(replace('tab	here newline\nback\slash \N cr\r end','\r',char(13)),'\n',char(10)),'\x00ff5c0a',NULL,NULL,'{a,"b\"c","d,e","NULL",NULL,""}','2025-05-22 08:00:01.5+00','2025-05-22 08:00:01.5+00');
INSERT INTO messages VALUES('00000000-0000-0000-0000-000000000002','11111111-1111-1111-1111-111111111111','assistant','t','{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "web_search", "arguments": "{\"query\": \"O''Brien \\\"x\\\"\"}"}}]}',NULL,'\.',NULL,NULL,NULL,'{}','2025-05-22 10:00:02+00',NULL);
INSERT INTO messages VALUES('00000000-0000-0000-0000-000000000003','11111111-1111-1111-1111-111111111111','tool','t','{"name": "web_search", "role": "tool", "content": "{\"ok\":true,\"n\":12345678901234567890}", "tool_call_id": "call_1"}','{"tool_call_id": "call_1"}','it''s; a "quote" -- not comment',NULL,NULL,NULL,NULL,'2025-05-22 10:00:03+00',NULL);
INSERT INTO messages VALUES('00000000-0000-0000-0000-000000000004','11111111-1111-1111-1111-111111111111','status','f','{"a": 2, "z": 1, "dup": 2, "status_type": "thread_run_start"}',NULL,'emoji 😀 é   end',NULL,NULL,NULL,NULL,'2025-05-22 10:00:04+00',NULL);
INSERT INTO messages VALUES('00000000-0000-0000-0000-000000000005','11111111-1111-1111-1111-111111111111','user','t','"Hello! (truncated)..."','{"compressed": true, "compressed_content": "Hello! (truncated)..."}','',NULL,NULL,NULL,NULL,'2025-05-22 10:00:05+00',NULL);
CREATE TABLE IF NOT EXISTS "order"(id INTEGER PRIMARY KEY, [total] REAL, note TEXT, twice AS (total*2));
INSERT INTO "order" VALUES(1,1e999,'a''b;');
INSERT INTO "order" VALUES(2,-1.5,NULL);
CREATE TRIGGER copied AFTER INSERT ON messages BEGIN UPDATE "order" SET note = CASE WHEN 1 THEN 'x' END; INSERT INTO messages VALUES(new.raw,1,2,3,4,5,6,7,8,9,10,11,12); END;
COMMIT;

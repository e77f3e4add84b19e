--
-- PostgreSQL database dump
--

COPY acme.messages (message_id, thread_id, type, is_llm_message, content, metadata, created_at) FROM stdin;
00000000-0000-4000-8000-000000000001	11111111-1111-4111-8111-111111111111	user	t	{"role": "user", "content": "Is the ferry late?"}	{}	2025-06-01 09:00:00+00
00000000-0000-4000-8000-000000000002	11111111-1111-4111-8111-111111111111	assistant	t	{"role": "assistant", "content": "By ten minutes."}	{}	2025-06-01 09:00:05+00
\.

COPY globex.messages (message_id, thread_id, type, is_llm_message, content, metadata, created_at) FROM stdin;
00000000-0000-4000-8000-000000000011	11111111-1111-4111-8111-111111111111	user	t	{"role": "user", "content": "Is the tram on time?"}	{}	2025-06-01 09:00:00+00
00000000-0000-4000-8000-000000000012	11111111-1111-4111-8111-111111111111	assistant	t	{"role": "assistant", "content": "To the minute."}	{}	2025-06-01 09:00:05+00
\.

--
-- PostgreSQL database dump complete
--

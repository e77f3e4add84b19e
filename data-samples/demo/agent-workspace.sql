--
-- PostgreSQL database dump
--

\restrict dEm0dEm0dEm0

-- Dumped from database version 15.18
-- Dumped by pg_dump version 15.18

SET statement_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;

CREATE TABLE public.messages (
    message_id uuid DEFAULT gen_random_uuid() NOT NULL,
    thread_id uuid NOT NULL,
    type text NOT NULL,
    is_llm_message boolean DEFAULT true NOT NULL,
    content jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb,
    created_at timestamp with time zone DEFAULT timezone('utc'::text, now()) NOT NULL,
    updated_at timestamp with time zone DEFAULT timezone('utc'::text, now()) NOT NULL,
    agent_id uuid
);

CREATE TABLE public.threads (
    thread_id uuid NOT NULL,
    is_public boolean DEFAULT false
);

CREATE FUNCTION public.touch() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.updated_at = now(); -- COPY public.messages FROM stdin; is text here
    RETURN NEW;
END;
$$;

--
-- Data for Name: messages; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.messages (message_id, thread_id, type, is_llm_message, content, metadata, created_at, updated_at, agent_id) FROM stdin;
18187993-2fa9-4425-8b00-88539d2c67ed	db5b5fab-8f4d-4e27-9da1-494c73cf256d	user	t	{"role": "user", "content": "Our newsletter goes out on Friday. Can you find three bakeries near the old harbour that open before seven?"}	{}	2025-11-25 08:14:10.778683+00	2025-11-25 08:14:10.778683+00	\N
89e7d15f-1736-4f25-a44c-af9c4dabb481	73ab4876-7734-47c1-87fd-e805ec99108d	user	t	{"role": "user", "content": "Summarise the attached minutes.\\n\\n[Uploaded File: /workspace/minutes-november.md]\\n"}	{}	2025-11-25 08:14:18.246969+00	2025-11-25 08:14:18.246969+00	\N
0ab8ab67-a26b-4f62-b185-2f27e3eff9c0	db5b5fab-8f4d-4e27-9da1-494c73cf256d	status	f	{"status_type": "thread_run_start", "thread_run_id": "run-1"}	{"thread_run_id": "run-1"}	2025-11-25 08:14:19.095942+00	2025-11-25 08:14:19.095942+00	\N
73f778aa-f6fa-4db8-a56a-bd72fb710734	db5b5fab-8f4d-4e27-9da1-494c73cf256d	assistant	t	{"role": "assistant", "content": "I'll look for bakeries first.", "tool_calls": [{"id": "tooluse_aK2", "type": "function", "function": {"name": "web_search", "arguments": "{\\"query\\": \\"bakery old harbour opening hours\\", \\"num_results\\": 5}"}}]}	{"thread_run_id": "run-1", "tool_calls": [{"tool_call_id": "tooluse_aK2", "function_name": "web_search", "arguments": {"query": "bakery old harbour opening hours", "num_results": 5}, "source": "native"}], "text_content": "I'll look for bakeries first."}	2025-11-25 08:14:26.720302+00	2025-11-25 08:14:26.720302+00	79cb9e86-830c-41c2-8dcc-69292f45e678
28518867-a66b-4d38-9d95-847ebd299753	73ab4876-7734-47c1-87fd-e805ec99108d	assistant	t	{"role": "assistant", "content": "Let me read the file.\\n\\n<function_calls>\\n<invoke name=\\"read_file\\">\\n<parameter name=\\"file_path\\">minutes-november.md</parameter>\\n<parameter name=\\"start_line\\">1</parameter>\\n</invoke>\\n</function_calls>", "tool_calls": null}	{"thread_run_id": "run-2"}	2025-11-25 08:14:34.405989+00	2025-11-25 08:14:34.405989+00	79cb9e86-830c-41c2-8dcc-69292f45e678
102b938b-8743-4eb6-94ea-65d003d71684	db5b5fab-8f4d-4e27-9da1-494c73cf256d	tool	t	{"role": "tool", "tool_call_id": "tooluse_aK2", "name": "web_search", "content": "{\\"success\\": true, \\"output\\": [{\\"name\\": \\"Kringle & Rye\\", \\"opens\\": \\"06:30\\"}, {\\"name\\": \\"Møllebrød\\", \\"opens\\": \\"06:00\\"}]}"}	{"assistant_message_id": "73f778aa-f6fa-4db8-a56a-bd72fb710734", "tool_call_id": "tooluse_aK2", "function_name": "web_search"}	2025-11-25 08:14:42.059386+00	2025-11-25 08:14:42.059386+00	\N
3deffa38-e12b-4b8f-b0b1-7d0b09208a65	73ab4876-7734-47c1-87fd-e805ec99108d	tool	t	{"role": "user", "content": "{\\"tool_execution\\": {\\"function_name\\": \\"read_file\\", \\"xml_tag_name\\": \\"read-file\\", \\"tool_call_id\\": null, \\"arguments\\": {\\"file_path\\": \\"minutes-november.md\\", \\"start_line\\": 1}, \\"result\\": {\\"success\\": true, \\"output\\": \\"1. Roof: quote accepted.\\\\n2. Bike racks: wait for spring.\\", \\"error\\": null}}}"}	{"assistant_message_id": "28518867-a66b-4d38-9d95-847ebd299753"}	2025-11-25 08:14:49.121829+00	2025-11-25 08:14:49.121829+00	\N
5387f613-76c4-48ae-8732-1cc007b37e14	73ab4876-7734-47c1-87fd-e805ec99108d	assistant	t	"{\\"role\\": \\"assistant\\", \\"content\\": \\"Two points: the roof quote was accepted, and bike racks wait for spring.\\", \\"tool_calls\\": null}"	{"thread_run_id": "run-2"}	2025-11-25 08:14:56.750574+00	2025-11-25 08:14:56.750574+00	79cb9e86-830c-41c2-8dcc-69292f45e678
84e55160-3200-44ea-97a9-4ded97491e23	db5b5fab-8f4d-4e27-9da1-494c73cf256d	assistant	t	{"role": "assistant", "content": "Two fit so far; checking a third one by phone list.", "tool_calls": [{"id": "tooluse_bQ9", "type": "function", "function": {"name": "read_list", "arguments": "{\\"list\\": \\"phone\\", \\"district\\": \\"harbour\\"}"}}]}	{"thread_run_id": "run-1"}	2025-11-25 08:15:04.212504+00	2025-11-25 08:15:04.212504+00	79cb9e86-830c-41c2-8dcc-69292f45e678
012d0ea6-7ff1-4229-8b4d-8474a3ea284d	db5b5fab-8f4d-4e27-9da1-494c73cf256d	llm_response_end	f	{"id": "resp-7", "model": "m-large", "usage": {"prompt_tokens": 812, "completion_tokens": 41, "total_tokens": 853}, "choices": [{"message": {"role": "assistant", "content": "Two fit so far; checking a third one by phone list."}}]}	{"thread_run_id": "run-1"}	2025-11-25 08:15:04.457499+00	2025-11-25 08:15:04.457499+00	\N
4735af1c-a7a1-4490-b513-923715c1d2df	db5b5fab-8f4d-4e27-9da1-494c73cf256d	status	f	{"status_type": "finish", "finish_reason": "cancelled"}	{"thread_run_id": "run-1"}	2025-11-25 08:15:12.152127+00	2025-11-25 08:15:12.152127+00	\N
ee82ec3f-fee5-45b2-8d1f-e1daff666589	309d6b79-965e-4a32-9ae4-45508201e2bd	user	t	{"role": "user", "content": "What did we agree on about the plum trees?"}	\N	2025-11-25 08:15:19.578665+00	2025-11-25 08:15:19.578665+00	\N
50b601fc-4105-4ca7-b533-02fc154cd2aa	309d6b79-965e-4a32-9ae4-45508201e2bd	assistant	t	"We agreed to plant four plum trees along the south fence, with the bed dug in March and the"	{"compressed": true, "compressed_content": "We agreed to plant four plum trees... (truncated)\\n\\nmessage_id \\"x\\"\\nUse expand-message tool to see full content"}	2025-11-25 08:15:27.459694+00	2025-11-25 08:15:27.459694+00	79cb9e86-830c-41c2-8dcc-69292f45e678
079dd25a-49fe-45b0-834c-687a3acb6266	309d6b79-965e-4a32-9ae4-45508201e2bd	user	t	{"role": "user", "content": "Thanks! 🌱 And who brings the spades?"}	{}	2025-11-25 08:15:35.254504+00	2025-11-25 08:15:35.254504+00	\N
66809a11-1ba1-492e-842b-7170902a174f	309d6b79-965e-4a32-9ae4-45508201e2bd	assistant	t	{"role": "assistant", "content": "Ilse brings two, the tool library lends the rest."}	{"thread_run_id": "run-3"}	2025-11-25 08:15:42.328138+00	2025-11-25 08:15:42.328138+00	79cb9e86-830c-41c2-8dcc-69292f45e678
\.


COPY public.threads (thread_id, is_public) FROM stdin;
db5b5fab-8f4d-4e27-9da1-494c73cf256d	f
73ab4876-7734-47c1-87fd-e805ec99108d	f
309d6b79-965e-4a32-9ae4-45508201e2bd	f
\.


ALTER TABLE ONLY public.messages ADD CONSTRAINT messages_pkey PRIMARY KEY (message_id);

--
-- PostgreSQL database dump complete
--

\unrestrict dEm0dEm0dEm0


--
-- PostgreSQL database dump
--

\restrict RaObBteTZZkxLql3AwCDGlJlbl0RgdHs40raLam0KR7b5hdeKb2XzjEpesgKek1

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: acme; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA acme;


ALTER SCHEMA acme OWNER TO postgres;

--
-- Name: globex; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA globex;


ALTER SCHEMA globex OWNER TO postgres;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: messages; Type: TABLE; Schema: acme; Owner: postgres
--

CREATE TABLE acme.messages (
    id bigint NOT NULL,
    conversation_id bigint,
    role text,
    content text,
    reply_to bigint,
    created_at timestamp with time zone
);


ALTER TABLE acme.messages OWNER TO postgres;

--
-- Name: messages_id_seq; Type: SEQUENCE; Schema: acme; Owner: postgres
--

ALTER TABLE acme.messages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME acme.messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: messages; Type: TABLE; Schema: globex; Owner: postgres
--

CREATE TABLE globex.messages (
    id bigint NOT NULL,
    conversation_id bigint,
    role text,
    content text,
    reply_to bigint,
    created_at timestamp with time zone
);


ALTER TABLE globex.messages OWNER TO postgres;

--
-- Name: messages_id_seq; Type: SEQUENCE; Schema: globex; Owner: postgres
--

ALTER TABLE globex.messages ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME globex.messages_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: cells; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.cells (
    id integer,
    thread text,
    role text,
    body text,
    meta jsonb,
    raw bytea,
    doc jsonb
);


ALTER TABLE public.cells OWNER TO postgres;

--
-- Name: notes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.notes (
    id integer,
    thread text,
    role text,
    content text,
    created_at timestamp with time zone
);


ALTER TABLE public.notes OWNER TO postgres;

--
-- Name: posts; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.posts (
    id integer,
    thread text,
    role text,
    content text,
    created_at timestamp with time zone
)
PARTITION BY RANGE (created_at);


ALTER TABLE public.posts OWNER TO postgres;

--
-- Name: posts_2025; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.posts_2025 (
    id integer,
    thread text,
    role text,
    content text,
    created_at timestamp with time zone
);


ALTER TABLE public.posts_2025 OWNER TO postgres;

--
-- Name: posts_2026; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.posts_2026 (
    id integer,
    thread text,
    role text,
    content text,
    created_at timestamp with time zone
);


ALTER TABLE public.posts_2026 OWNER TO postgres;

--
-- Name: voice_notes; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.voice_notes (
    seconds integer
)
INHERITS (public.notes);


ALTER TABLE public.voice_notes OWNER TO postgres;

--
-- Name: posts_2025; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2025 FOR VALUES FROM ('2025-01-01 00:00:00+00') TO ('2026-01-01 00:00:00+00');


--
-- Name: posts_2026; Type: TABLE ATTACH; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.posts ATTACH PARTITION public.posts_2026 FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');


--
-- Data for Name: messages; Type: TABLE DATA; Schema: acme; Owner: postgres
--

INSERT INTO acme.messages OVERRIDING SYSTEM VALUE VALUES (1, 1, 'user', 'acme asks', NULL, '2026-01-05 10:00:00+00');
INSERT INTO acme.messages OVERRIDING SYSTEM VALUE VALUES (2, 1, 'assistant', 'acme answers', 1, '2026-01-05 10:01:00+00');


--
-- Data for Name: messages; Type: TABLE DATA; Schema: globex; Owner: postgres
--

INSERT INTO globex.messages OVERRIDING SYSTEM VALUE VALUES (1, 1, 'user', 'globex asks', NULL, '2026-01-05 10:00:00+00');
INSERT INTO globex.messages OVERRIDING SYSTEM VALUE VALUES (2, 1, 'assistant', 'globex answers', 1, '2026-01-05 10:01:00+00');


--
-- Data for Name: cells; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.cells VALUES (1, 'c1', 'user', '[{"type":"text","text":"parts"}]', '{"a": 1}', '\x68656c6c6f', '[{"text": "parts", "type": "text"}]');
INSERT INTO public.cells VALUES (2, 'c1', 'assistant', '{
  "answer": "yes",
  "score": 1.0
}', '{}', '\xfffe80', '"words"');


--
-- Data for Name: notes; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.notes VALUES (1, 'n1', 'user', 'typed', '2026-01-05 10:00:00+00');


--
-- Data for Name: posts_2025; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.posts_2025 VALUES (1, 't1', 'user', 'last year', '2025-12-31 23:59:00+00');


--
-- Data for Name: posts_2026; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.posts_2026 VALUES (2, 't1', 'assistant', 'this year', '2026-01-01 00:01:00+00');


--
-- Data for Name: voice_notes; Type: TABLE DATA; Schema: public; Owner: postgres
--

INSERT INTO public.voice_notes VALUES (2, 'n1', 'assistant', 'spoken', '2026-01-05 10:01:00+00', 7);


--
-- Name: messages_id_seq; Type: SEQUENCE SET; Schema: acme; Owner: postgres
--

SELECT pg_catalog.setval('acme.messages_id_seq', 2, true);


--
-- Name: messages_id_seq; Type: SEQUENCE SET; Schema: globex; Owner: postgres
--

SELECT pg_catalog.setval('globex.messages_id_seq', 2, true);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: acme; Owner: postgres
--

ALTER TABLE ONLY acme.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


--
-- Name: messages messages_pkey; Type: CONSTRAINT; Schema: globex; Owner: postgres
--

ALTER TABLE ONLY globex.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


--
-- PostgreSQL database dump complete
--

\unrestrict RaObBteTZZkxLql3AwCDGlJlbl0RgdHs40raLam0KR7b5hdeKb2XzjEpesgKek1


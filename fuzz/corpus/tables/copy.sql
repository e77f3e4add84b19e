--
-- PostgreSQL database dump
--

\restrict key

SET client_encoding = 'UTF8';

CREATE TABLE public.notes (
    id integer NOT NULL,
    text text
);

COPY public.notes (id, text) FROM stdin;
1	one\ttab \\ \x41\101
2	\N
3	\\.
\.

COPY public.users (id, password) FROM stdin;
1	x
\.

--
-- PostgreSQL database dump complete
--

\unrestrict key

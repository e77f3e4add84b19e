--
-- PostgreSQL database cluster dump
--

\connect template1

--
-- PostgreSQL database dump
--

COPY public.messages (id, content, metadata) FROM stdin;
1	{"a": "b\\nc"}	\N
2	{broken	[1]
\.

--
-- PostgreSQL database dump complete
--

\connect -reuse-previous=on "dbname='my shop'"

--
-- PostgreSQL database dump
--

COPY public.messages (id, content) FROM stdin;
1	"x"
\.

--
-- PostgreSQL database dump complete
--

--
-- PostgreSQL database cluster dump complete
--

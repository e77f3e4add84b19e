SET client_encoding = 'LATIN1';
COPY notes (id, text) FROM stdin;
1	café
\.

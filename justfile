# Chores of the repository. `just` alone lists those that a change needs, and the other groups; `just --list` lists all.

_default:
    @echo 'What a change needs:'
    @just --list --unsorted --group change --list-heading ''
    @echo
    @echo 'More, by `just --list --group NAME`:'
    @echo '    packages   wheel, tarball, Debian package; a release and its trial in clean roots'
    @echo '    speed      benches, growth with the input, what a newcomer waits for'
    @echo '    faults     killed runs, failing system calls, flipped bytes, damaged and hostile inputs'
    @echo '    judges     trainers, SDKs, tokenizers, databases and clusters of others, held against ours'

# everything that CI runs
[group('change')]
check:
    .ci/run

# format all files, also those that macros declare
[group('change')]
fmt:
    find crates xtask python/src -name '*.rs' -print0 | xargs -0 rustfmt --edition 2024

# lint the code, tests included
[group('change')]
lint:
    cargo clippy --workspace --all-targets -- -D warnings

# run every test
[group('change')]
test:
    cargo test --workspace

# the tests that draw, from TIMES new seeds
[group('change')]
laws TIMES="3" SEED="1" DRAWS="20":
    for seed in $(seq {{SEED}} $(({{SEED}} + {{TIMES}} - 1))); do \
        echo "seed $seed"; PROPTEST_RNG_SEED=$seed CHATMILL_DRAWS={{DRAWS}} cargo test --workspace --release --quiet || exit 1; \
    done
    cargo test --release --package chatmill-testkit --test laws every_possible_loss -- --ignored
    cargo test --release --package chatmill-token --lib -- --ignored --skip vocabularies::

# logged answers and turns of the assistant in the samples of all sources and in drawn sessions, DRAWS times as many as in `just test`; then turns and words compared with teich's, over the sessions of its source distribution (needs Python and its package index)
[group('judges')]
turns DRAWS="20":
    CHATMILL_DRAWS={{DRAWS}} cargo test --release --package chatmill-testkit --test laws turns:: -- --include-ignored --nocapture
    cargo build --release --package chatmill-cli
    python3 -m venv target/turns
    target/turns/bin/pip install --quiet 'teich==0.3.6'
    target/turns/bin/pip download --quiet --no-deps --no-binary teich --dest target/turns/teich 'teich==0.3.6'
    tar --extract --gzip --file target/turns/teich/teich-0.3.6.tar.gz --directory target/turns/teich
    target/turns/bin/python -B .ci/turns/beside_teich.py target/release/chatmill target/turns/teich/teich-0.3.6/examples

# words under a key that no format knows, in every object of every fixture, and under every listed key: kept and reported (`cargo test` draws some)
[group('faults')]
silence:
    CHATMILL_DRAWS=120 cargo test --package chatmill-source --lib canary

# a mark in every text of the files below FOLDERS, separated by colons: each reaches a table or a finding
[group('faults')]
texts FOLDERS:
    FOLDERS="{{FOLDERS}}" cargo test --package chatmill-testkit --test runs texts:: -- --include-ignored --nocapture

# the versions that sources and grammars were compared with, and the newest of the registries (needs npm, pip and the network for these); it fails nothing
[group('judges')]
drift:
    python3 -B .ci/drift/drift.py

# how long hostile texts and templates take, by the clock: nothing else may run meanwhile
[group('speed')]
in-time:
    cargo test --workspace --release --lib --test dialects --test cli in_time -- --ignored --test-threads 1

# how the processor time of check, run and tokens grows when an input becomes four times as long, shape by shape (SHAPE picks some by their name)
[group('speed')]
scaling SHAPE="":
    SHAPE="{{SHAPE}}" cargo test --release --package chatmill-testkit --test scaling table_of_growth -- --ignored --nocapture

# the same for the samples of all sources, made large in DRAWN of their places: lists, objects, texts (SAMPLE picks some by their name, PROPTEST_RNG_SEED others)
[group('speed')]
amplify DRAWN="40000" SAMPLE="":
    DRAWN="{{DRAWN}}" SAMPLE="{{SAMPLE}}" cargo test --release --package chatmill-testkit --test scaling samples_made_large -- --ignored --nocapture

# what a check finds of FILES small files, half of them damaged in known ways: kinds, places, false alarms, seconds; they stay in the folder KEEP
[group('faults')]
damage FILES="5000" KEEP="":
    FILES="{{FILES}}" KEEP="{{KEEP}}" cargo test --release --package chatmill-testkit --test runs a_whole_delivery -- --ignored --nocapture

# write golden files and generated pages anew
[group('change')]
bless:
    BLESS=1 cargo test --workspace
    cargo xtask rules --write
    cargo xtask readme --write
    cargo xtask schemas --write
    git --no-pager diff -- data-samples docs schemas README.md crates/cli/tests crates/dialect/tests crates/source/tests

# add a toy dialect, source and rule, and test them
[group('change')]
toys FORM="whole":
    .ci/toys/run {{FORM}}

# hold imports to the floors, between crates and within
[group('change')]
floors:
    cargo xtask floors
    cargo xtask floors --modules

# hold files and crates to their sizes
[group('change')]
sizes:
    cargo xtask sizes
    cargo xtask counts --check

# write generated pages and tables anew, and follow all links
[group('change')]
docs:
    cargo xtask rules --write
    cargo xtask readme --write
    cargo xtask links

# the pages of docs as a book, in target/book (needs mdBook)
[group('change')]
book:
    mdbook build docs

# write the JSON Schemas and the page of all keys anew
[group('change')]
schemas:
    cargo xtask schemas --write

# advisories, licences and sources of the dependencies (needs cargo-deny)
[group('change')]
deny:
    cargo deny check

# run a pipeline: `just run pipelines/demo.toml`
[group('change')]
run PIPELINE *ARGUMENTS:
    cargo run --release -- run {{PIPELINE}} {{ARGUMENTS}}

# throughput of each stage, in bytes of input
[group('speed')]
bench *FILTER:
    cargo bench --package chatmill-testkit --features benches --bench stages -- {{FILTER}}

# what counting costs: tiktoken-rs, two more counters of others, our counter and the one of renderings on the same texts
[group('speed')]
bench-counting:
    cargo bench --package chatmill-testkit --features benches,peers --bench counting

# allocations of a rendering in each dialect
[group('speed')]
bench-allocations:
    cargo bench --package chatmill-testkit --features benches --bench allocations

# what a newcomer waits for: both commands of the README in fresh clones, and the loop of a change; the least of ROUNDS into docs/performance.md
[group('speed')]
newcomer ROUNDS="3":
    python3 -B benches/newcomer.py target/newcomer --rounds {{ROUNDS}} --write docs/performance.md

# a newcomer's five inputs as rows, bill and report
[group('change')]
first-hour *INPUT:
    cargo build --release --package chatmill-cli
    PATH="$PWD/target/release:$PATH" .ci/first-hour/play.sh {{INPUT}}

# whole processes side by side on MEGABYTES of invented chats: chatmill in several ways, the program BEFORE if there is one, and a Python peer
[group('speed')]
bench-whole MEGABYTES="100" ROUNDS="3" BEFORE="":
    cargo build --profile dist --package chatmill-cli
    cargo xtask ranks target/bench/ranks
    python3 -m venv target/bench/python
    target/bench/python/bin/pip install --quiet --requirement benches/peer/requirements.txt
    for corpus in rooms agents scripts; do python3 benches/chats.py {{MEGABYTES}} 7 $corpus > target/bench/$corpus.jsonl; done
    target/bench/python/bin/python benches/whole.py target/dist/chatmill target/bench/rooms.jsonl target/bench/work --also agents=target/bench/agents.jsonl --also scripts=target/bench/scripts.jsonl --write docs/performance.md --ranks target/bench/ranks --rounds {{ROUNDS}} {{ if BEFORE == "" { "" } else { "--before " + BEFORE } }}

# plain text in one encoding, compared with the peers for Python, each cold in a separate process (needs Python and its package index)
[group('speed')]
bench-plain ROUNDS="3":
    .ci/wheel/run release short
    cargo xtask ranks target/bench/ranks
    python/target/environment/bin/pip install --quiet --requirement benches/peer/plain.txt
    for corpus in rooms agents scripts; do python3 benches/chats.py 20 7 $corpus > target/bench/$corpus.jsonl; done
    python/target/environment/bin/python -B benches/plain.py target/bench/ranks/o200k_base.tiktoken target/bench --rounds {{ROUNDS}}

# `convert` of MEGABYTES of ShareGPT, compared with what TRL and LLaMA-Factory do with the same file: seconds and peaks of memory
[group('speed')]
bench-convert MEGABYTES="100" ROUNDS="3":
    cargo build --profile dist --package chatmill-cli
    python3 -m venv target/trainers
    target/trainers/bin/pip install --quiet --requirement .ci/trainers/requirements.txt
    target/trainers/bin/pip install --quiet --no-deps --requirement .ci/trainers/without-dependencies.txt
    target/trainers/bin/python -B benches/convert.py target/dist/chatmill target/bench/convert --megabytes {{MEGABYTES}} --rounds {{ROUNDS}}

# decontamination compared with a counter in plain Python over MEGABYTES of invented chats, and its processor time against ROWS rows of evaluations
[group('speed')]
contamination MEGABYTES="20" ROWS="100000":
    cargo build --profile dist --package chatmill-cli
    python3 -B benches/contamination.py target/dist/chatmill target/bench/contamination --megabytes {{MEGABYTES}}
    python3 -B benches/contamination.py target/dist/chatmill target/bench/contamination --megabytes 100 --rows {{ROWS}} --time

# a corpus of MEGABYTES of invented sessions: filters, duplicates, decontamination, split and rows, compared with the same steps of datatrove (needs Python and its package index)
[group('speed')]
bench-corpora MEGABYTES="100" ROWS="100000":
    cargo build --profile dist --package chatmill-cli
    python3 -m venv target/bench/datatrove
    target/bench/datatrove/bin/pip install --quiet 'datatrove[io,processing]==0.10.1' spacy
    target/bench/datatrove/bin/python -B benches/corpora.py target/dist/chatmill target/bench/corpora --megabytes {{MEGABYTES}} --evaluations {{ROWS}}

# `finish` and `certify` of LOTS lots with CONVERSATIONS conversations in all: seconds and peaks of memory (needs 60 bytes a conversation in FOLDER)
[group('speed')]
finish-load LOTS="1000" CONVERSATIONS="10000000" FOLDER="target/bench/finish":
    cargo build --profile dist --package chatmill-cli
    python3 -m venv target/bench/python
    target/bench/python/bin/pip install --quiet 'blake3>=1,<2'
    target/bench/python/bin/python -B benches/finish.py target/dist/chatmill {{FOLDER}} {{LOTS}} {{CONVERSATIONS}}

# kill runs and nights at random moments, KILLS times, and compare what they leave
[group('faults')]
chaos KILLS:
    cargo build --release --package chatmill-cli
    cargo xtask chaos {{KILLS}}

# NIGHTS simulated nights with faults drawn at random, kills among them: no good night lost, every alarm sounds
[group('faults')]
nights NIGHTS="200" SEED="20261123":
    CHATMILL_NIGHTS="{{NIGHTS}}" CHATMILL_SEED="{{SEED}}" cargo test --package chatmill-cli --test cli night_campaign -- --nocapture

# let system calls of the release binary fail, every STRIDE-th of each kind, and look at what is left (needs strace and Python)
[group('faults')]
faults STRIDE="7":
    cargo build --release --package chatmill-cli
    python3 -B .ci/faults/faults.py target/release/chatmill target/faults {{STRIDE}}

# let every call to the system fail once, in every command (SCENE picks some by their name) and in all that a dataset does with files
[group('faults')]
every-call SCENE="":
    SCENE="{{SCENE}}" cargo test --release --package chatmill-testkit --test runs every_call_ -- --ignored --nocapture
    cargo test --release --package chatmill-dataset --lib every_call_ -- --ignored --nocapture

# flip every byte of a dataset, one at a time, and look whether its certificate reports it
[group('faults')]
every-byte:
    cargo test --release --package chatmill-dataset --lib every_byte_ -- --ignored

# make all packages that this machine can make, from a clean clone, into target/packages (docs/releasing.md)
[group('packages')]
release:
    .ci/release/run

# install the packages of `just release`, each in a separate root, and make rows there (needs root or user namespaces)
[group('packages')]
try-release:
    .ci/release/try

# build the wheel for Python 3.10 and later (needs Python and its package index)
[group('packages')]
wheel:
    rm -rf python/target/wheels
    mkdir -p python/target/wheels
    .ci/release/wheel python/target/wheels

# pack a static binary, completions, manual pages, documentation and licences, reproducibly, into target/tarball
[group('packages')]
tarball:
    .ci/tarball/run

# run the program of the tarball in an empty root, and compare it with the release binary (needs root or user namespaces)
[group('packages')]
chroot: tarball
    cargo build --profile dist --package chatmill-cli
    .ci/tarball/chroot target/tarball/chatmill-*-linux.tar.gz target/dist/chatmill

# test the wheel: the package's own tests, types, and what it promises of time and memory (needs Python and its package index)
[group('packages')]
wheel-tests PROFILE="dist" FORM="whole":
    .ci/wheel/run {{PROFILE}} {{FORM}}

# records in, rows out, and lots in, parts out, in ENGINES with the wheel of `just wheel`, a worker killed (needs Python, its package index, and Java for Spark)
[group('judges')]
engines ENGINES="ray sail spark standalone": wheel
    .ci/engines/run {{ENGINES}}

# a run and its shares over MEGABYTES of mixed archives, killed and repeated, in Slurm and in what `just engines` installed: the same files every way
[group('judges')]
shares MEGABYTES="300" WAYS="shards,full,slurm,spark,standalone,ray,sail":
    cargo build --release --package chatmill-cli
    python3 -B .ci/shares/shares.py target/release/chatmill target/shares --megabytes {{MEGABYTES}} --ways {{WAYS}}

# break the fuzz targets by mutation, without a nightly toolchain
[group('faults')]
fuzz SECONDS:
    cargo xtask fuzz {{SECONDS}}

# dump a fresh database in every way that the installed PostgreSQL knows, and compare the rows with psql and pg_restore; then one archive
# in every form of PostgreSQL, MariaDB and SQLite, and compare what is exported
[group('judges')]
dumps:
    rm -rf target/dumps
    crates/intake/tests/oracle/dumps.sh target/dumps
    CHATMILL_DUMPS="$PWD/target/dumps" cargo test --package chatmill-intake --lib fresh_dumps -- --ignored --nocapture
    cargo build --package chatmill-cli
    .ci/dumps/run "${CARGO_TARGET_DIR:-target}/debug/chatmill" target/archive

# open a dataset with the readers that people use, and run the report's queries (needs Python and its package index)
[group('judges')]
readers RUN:
    python3 -m venv target/readers
    target/readers/bin/pip install --quiet --requirement .ci/readers/requirements.txt
    target/readers/bin/python .ci/readers/readers.py {{RUN}}

# export a dataset in every envelope, and load the files with what reads them: `just trainers --run RUN`, or `--input ARCHIVE …`
[group('judges')]
trainers +ARGUMENTS:
    rm -rf target/trainers-exports
    cargo build --package chatmill-cli
    python3 -m venv target/trainers
    target/trainers/bin/pip install --quiet --requirement .ci/trainers/requirements.txt
    target/trainers/bin/pip install --quiet --no-deps --requirement .ci/trainers/without-dependencies.txt
    target/trainers/bin/python -B .ci/trainers/trainers.py target/debug/chatmill target/trainers-exports {{ARGUMENTS}}

# which tokens the trainers' own code learns of a dataset with `hf-messages` and `sharegpt`, compared with its messages: each once
[group('judges')]
learned RUN:
    rm -rf target/learned
    cargo build --package chatmill-cli
    python3 -m venv target/trainers
    target/trainers/bin/pip install --quiet --requirement .ci/trainers/requirements.txt
    target/trainers/bin/pip install --quiet --no-deps --requirement .ci/trainers/without-dependencies.txt
    target/trainers/bin/python -B .ci/trainers/by_learned.py target/debug/chatmill {{RUN}} target/learned

# run the examples of docs/export.md unchanged, over exports of a dataset with `hf-messages`
[group('judges')]
snippets RUN:
    rm -rf target/snippets
    cargo build --package chatmill-cli
    python3 -m venv target/trainers
    target/trainers/bin/pip install --quiet --requirement .ci/trainers/requirements.txt
    target/trainers/bin/pip install --quiet --no-deps --requirement .ci/trainers/without-dependencies.txt
    target/trainers/bin/python -B .ci/trainers/by_snippets.py target/debug/chatmill {{RUN}} target/snippets

# render the chat templates that TRL ships, here and with transformers, and compare the bytes and what is learned (needs Python and its package index)
[group('judges')]
templates:
    python3 -m venv target/templates
    target/templates/bin/pip install --quiet --no-deps --requirement .ci/templates/requirements.txt
    cargo build --package chatmill-cli
    cargo xtask templates target/templates/lib/python3*/site-packages/trl/chat_templates .ci/templates/conversations.json > target/templates/ours.jsonl
    target/templates/bin/python -B .ci/templates/compare.py target/debug/chatmill \
        target/templates/lib/python3*/site-packages/trl/chat_templates target/templates/ours.jsonl .ci/templates/conversations.json \
        data-samples/torture data-samples/demo
    target/templates/bin/python -B .ci/templates/ranges.py target/debug/chatmill \
        target/templates/lib/python3*/site-packages/trl/chat_templates .ci/templates/conversations.json target/templates/ranges

# pages of `show` in Chromium (at CHROMIUM): no request, axe in light and dark, 420 pixels, keys, hostile texts, and how soon 1,000 and 100,000 messages are drawn; types of their script (needs npm); docs/images/show.png is target/pages/show.png
[group('judges')]
show-pages:
    mkdir -p target/pages
    npm install --silent --no-save --prefix target/pages puppeteer-core@24 axe-core@4 typescript@5 eslint@9
    .ci/pages/scripts target/pages
    cargo build --package chatmill-cli
    node .ci/pages/pages.mjs "${CARGO_TARGET_DIR:-target}/debug/chatmill" data-samples target/pages

# check the samples into a SARIF log, and validate it against the published schema (needs npm, Python and their package indexes)
[group('judges')]
sarif:
    mkdir -p target/sarif
    cd target/sarif && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 && tar -xzf microsoft-jest-sarif-1.0.0-beta.0.tgz
    python3 -m venv target/sarif/python
    target/sarif/python/bin/pip install --quiet jsonschema==4.26.0
    cargo run -- check data-samples --for chatml --fail-on never --statistics --write sarif=target/sarif/log.sarif
    target/sarif/python/bin/python .ci/sarif/validate.py target/sarif/package/lib/schemas/sarif-2.1.0-rtm.5.json target/sarif/log.sarif

# test what counts through the `tokenizers` crate, which other builds do not have
[group('judges')]
tokenizers:
    cargo test --package chatmill-token --features tokenizers

# count with the vocabularies of Llama and Qwen, and by tokenizer files of all families on TEXTS texts each, and compare with Python (needs Python and its package index)
[group('judges')]
vocabularies TEXTS="100000":
    python3 -m venv target/vocabularies
    target/vocabularies/bin/pip install --quiet --no-deps --requirement .ci/vocabularies/requirements.txt
    target/vocabularies/bin/python .ci/vocabularies/vocabularies.py target/vocabularies/files
    target/vocabularies/bin/python .ci/vocabularies/families.py target/vocabularies/families {{TEXTS}}
    target/vocabularies/bin/python .ci/vocabularies/oniguruma.py target/vocabularies/patterns 3000 "$(date +%s)" 2>/dev/null
    CHATMILL_VOCABULARIES="$PWD/target/vocabularies/files" CHATMILL_FAMILIES="$PWD/target/vocabularies/families" cargo test --package chatmill-token --lib vocabularies:: -- --ignored --nocapture
    CHATMILL_PATTERNS="$PWD/target/vocabularies/patterns" cargo test --package chatmill-token --lib oniguruma::

# compare bills by every key with SQL and tiktoken (needs Python and its package index; RANKS is tiktoken's o200k_base.tiktoken)
[group('judges')]
bills RANKS SEED="20261123": (agents "200" SEED)
    cargo build --package chatmill-cli
    python3 -m venv target/bills
    target/bills/bin/pip install --quiet --no-deps --requirement .ci/bills/requirements.txt
    target/bills/bin/python -B .ci/bills/bills.py target/debug/chatmill {{RANKS}} target/bills/drawn {{SEED}}

# draw SESSIONS sessions of each of ten agents, and compare what is read of them with what was paid and with ccusage (needs Python, npm and their registries; without npm or ccusage it is skipped)
[group('judges')]
agents SESSIONS="200" SEED="20261129":
    cargo build --package chatmill-cli
    .ci/bills/agents.sh target/debug/chatmill target/agents {{SESSIONS}} {{SEED}}

# look up every name of LiteLLM's list of prices, also with dates, vendors and other ways of serving: none has the price of another (needs Python and its package index)
[group('judges')]
prices:
    python3 -m venv target/prices
    target/prices/bin/pip install --quiet --no-deps --target target/prices/litellm litellm
    CHATMILL_PRICES="$PWD/target/prices/litellm/litellm/model_prices_and_context_window_backup.json" cargo test --package chatmill-report --lib real_list -- --ignored --nocapture

# how long bills over NIGHTS datasets of a day each take
[group('speed')]
bills-of-nights NIGHTS="1000":
    cargo build --profile dist --package chatmill-cli
    python3 -B .ci/bills/nights.py target/dist/chatmill target/bills/nights {{NIGHTS}}

# drawn schemas of tools in the dialects of vendors, compared with the reading of the vendors' pages (needs Python and jsonschema)
[group('judges')]
drawn-schemas COUNT="20000" SEED="1":
    cargo build --release --package chatmill-cli
    python3 -B .ci/oracles/drawn_schemas.py target/release/chatmill --count {{COUNT}} --seed {{SEED}}

# ask the SDKs of the vendors and the readers of trainers about our renderings (needs Python and its package index)
[group('judges')]
oracles CONVERSATIONS="2000" *ARGUMENTS:
    python3 -m venv target/oracles
    target/oracles/bin/pip install --quiet --no-deps --requirement .ci/oracles/requirements.txt
    cargo xtask judged {{CONVERSATIONS}}
    CHATMILL_REQUESTS="$PWD/target/oracles-input/prefix.jsonl" cargo test --package chatmill-testkit --test laws rendered_requests -- --ignored
    target/oracles/bin/python -B .ci/oracles/oracles.py target/oracles-input {{ARGUMENTS}}

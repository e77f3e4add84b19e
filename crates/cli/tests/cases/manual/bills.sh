mkdir backups in
cp "$SAMPLES/sources/gryag-db/example/"* backups/
cp "$SAMPLES/demo/courtyard-bot.db" bots.db
cp "$SAMPLES/demo/launch-week.json" chat.json
cp "$SAMPLES/demo/launch-week.json" in/
cp "$SAMPLES/../docs/prices.example.toml" prices.toml
cp "$SAMPLES/../crates/cli/tests/cases/files/pipeline.toml" bots.toml
chatmill run bots.toml --out nights/2026-11-22T021500Z/dataset
ln -s 2026-11-22T021500Z nights/latest

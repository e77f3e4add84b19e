mkdir shared in
chatmill example group-chat > in/chat.json
cp "$SAMPLES/../crates/cli/tests/cases/files/pipeline.toml" archive.toml
{ cat archive.toml; printf '[dedup]\nexact = "filter"\n'; } > compared.toml

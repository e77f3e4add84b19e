chatmill example deepseek-export > chats.json
sed /recognise/,/^$/d "$SAMPLES/../crates/source/src/formats/deepseek-export.toml" > mine.toml

mkdir -p models/llama
cp "$SAMPLES/templates/turns.jinja" models/qwen.jinja
printf '{"chat_template": "{{ messages | length }}"}' > models/llama/tokenizer_config.json
chatmill example group-chat > chat.json

mkdir archives
for number in $(seq 60); do
    word=$(printf '%s' "$number" | tr 0-9 qwertyuiop)
    printf '{"messages": [{"role": "user", "content": "%s%s in %s?"}, {"role": "assistant", "content": "%s of %s."}]}\n' \
        "$word" "$number" "$word$word" "$number$number" "$word"
done > archives/requests.jsonl
chatmill example ultrafeedback > pairs.jsonl
cp "$SAMPLES/templates/turns.jinja" model.jinja

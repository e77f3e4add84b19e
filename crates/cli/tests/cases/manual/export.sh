mkdir archives
for number in $(seq 60); do
    word=$(printf '%s' "$number" | tr 0-9 qwertyuiop)
    printf '{"messages": [{"role": "user", "content": "%s%s in %s?"}, {"role": "assistant", "content": "%s of %s."}]}\n' \
        "$word" "$number" "$word$word" "$number$number" "$word"
done > archives/requests.jsonl
chatmill example ultrafeedback > pairs.jsonl
cp "$SAMPLES/templates/turns.jinja" model.jinja
printf '{"question": "6 × 7?", "answer": "Six sevens are 42.", "ground_truth": 42}\n' > questions.jsonl

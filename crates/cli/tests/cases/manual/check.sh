mkdir exports
chatmill example openai-messages > exports/requests.jsonl
chatmill example group-chat > exports/chat.json
cp exports/chat.json .

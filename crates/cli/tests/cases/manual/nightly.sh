mkdir exports
chatmill example group-chat > exports/chat-2026-11-22.json

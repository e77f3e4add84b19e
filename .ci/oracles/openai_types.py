"""Parameter types of the `openai` package: messages, input items and tools."""

from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.responses import ResponseInputItemParam, ToolParam

from closed import Closed, unknown_keys

NAME = "openai"
DIALECTS = ["openai-chat", "openai-responses"]
ALLOWED = []
REASONS = []

TYPES = {
    "openai-chat": ("messages", Closed(ChatCompletionMessageParam), Closed(ChatCompletionToolUnionParam)),
    "openai-responses": ("input", Closed(ResponseInputItemParam), Closed(ToolParam)),
}


def judge(row):
    key, turns, tools = TYPES[row.dialect]
    return (
        unknown_keys(row.body, {key, "tools"})
        or turns.fault(row.body[key], key)
        or tools.fault(row.body.get("tools", []), "tools")
    )

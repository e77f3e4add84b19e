"""Parameter types of the `anthropic` package: system blocks, messages and tools. Tools of servers are in its beta types alone."""

from anthropic.types import MessageParam, TextBlockParam, ToolUnionParam
from anthropic.types.beta import BetaMessageParam

from closed import Closed, unknown_keys

NAME = "anthropic"
DIALECTS = ["anthropic-messages"]
ALLOWED = []
REASONS = []

SYSTEM = Closed(TextBlockParam)
MESSAGE = Closed(MessageParam)
BETA = Closed(BetaMessageParam)
TOOL = Closed(ToolUnionParam)


def messages_fault(messages):
    for index, message in enumerate(messages):
        kinds = {block.get("type", "") for block in message["content"]}
        of = BETA if any(kind.startswith("mcp_") for kind in kinds) else MESSAGE
        if fault := of.fault([message], "messages"):
            return f"message {index}: {fault}"
    return None


def judge(row):
    return (
        unknown_keys(row.body, {"system", "messages", "tools"})
        or SYSTEM.fault(row.body.get("system", []), "system")
        or messages_fault(row.body["messages"])
        or TOOL.fault(row.body.get("tools", []), "tools")
    )

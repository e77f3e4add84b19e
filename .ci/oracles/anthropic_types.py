"""Parameter types of the `anthropic` package: system blocks, messages and tools."""

from anthropic.types import MessageParam, TextBlockParam, ToolUnionParam

from closed import Closed, unknown_keys

NAME = "anthropic"
DIALECTS = ["anthropic-messages"]
ALLOWED = []
REASONS = []

SYSTEM = Closed(TextBlockParam)
MESSAGE = Closed(MessageParam)
TOOL = Closed(ToolUnionParam)


def judge(row):
    return (
        unknown_keys(row.body, {"system", "messages", "tools"})
        or SYSTEM.fault(row.body.get("system", []), "system")
        or MESSAGE.fault(row.body["messages"], "messages")
        or TOOL.fault(row.body.get("tools", []), "tools")
    )

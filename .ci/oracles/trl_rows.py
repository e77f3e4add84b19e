"""How TRL and the chat templates it ships read conversational rows.

A row has to be seen as conversational, and a template has to print all of it: Qwen 3, which takes arguments as objects, for the
document's profile, and DeepSeek V3, which wants their text, for the other one. Where messages have pictures, Qwen 3 VL prints a mark for each.
"""

import importlib.util
import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

from jinja2.exceptions import TemplateError
from transformers.utils.chat_template_utils import render_jinja_template
from trl.data_utils import is_conversational

from closed import unknown_keys

NAME = "trl"
DIALECTS = ["hf-messages"]
ALLOWED = [
    (
        r"\w+: the thoughts in message \d+ are not printed",
        "templates hide earlier reasoning, and chat text that spells </think> looks like it",
    ),
    (
        r"deepseekv3: the text beside the calls of message \d+ is not printed",
        "the template forgets the text beside calls, and their opening token, in every round of calls but the first",
    ),
    (r"qwen3_vl: the system text of message \d+ is not printed", "the template prints system text at the beginning alone, and no second one"),
]
REASONS = [
    # `is_conversational` looks at the first message.
    (r"IndexError", {"HFM-06"}),
]

FOLDER = Path(importlib.util.find_spec("trl").origin).parent / "chat_templates"
TEMPLATES = {"document": "qwen3_instruct_2507", "string-arguments": "deepseekv3"}
OF_PICTURES, MARK = "qwen3_vl", "<|vision_start|>"


def texts(message):
    """The texts of a message; its content is one text or a list of parts."""
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content if part["type"] == "text"]


def pictures(messages):
    parts = [part for message in messages if isinstance(message["content"], list) for part in message["content"]]
    return sum(part["type"] == "image" for part in parts)


def judge(row):
    unknown = unknown_keys(row.body, {"messages", "tools"})
    if unknown:
        return unknown
    messages = row.body["messages"]
    if not is_conversational({"messages": messages}):
        return "not conversational"
    has_parts = any(isinstance(message["content"], list) for message in messages)
    name = OF_PICTURES if has_parts else TEMPLATES[row.profile]
    template = (FOLDER / f"{name}.jinja").read_text()
    try:
        rendered, _ = render_jinja_template(
            [messages], tools=row.body.get("tools"), chat_template=template, bos_token="", eos_token=""
        )
    except (TemplateError, TypeError, AttributeError, KeyError) as error:
        return f"{name}: {error}"[:200]
    if has_parts and rendered[0].count(MARK) != pictures(messages):
        return f"{name}: {rendered[0].count(MARK)} of {pictures(messages)} pictures are printed"
    has_called = False
    for index, message in enumerate(messages):
        # Templates trim what they print.
        missing = [text for text in texts(message) if text.strip() not in rendered[0]]
        if missing:
            if has_parts and index and message["role"] == "system":
                return f"{name}: the system text of message {index} is not printed"
            if "</think>" in missing[0]:
                return f"{name}: the thoughts in message {index} are not printed"
            if has_called and "tool_calls" in message:
                return f"{name}: the text beside the calls of message {index} is not printed"
            return f"{name}: the content of message {index} is not printed"
        has_called |= "tool_calls" in message
    return None

"""A second opinion: what LiteLLM makes of our Chat Completions rows, compared with our own Anthropic and Converse rows.

Counted and shown, never a reason to fail: converters differ in how they merge turns and where they put text, and neither is wrong.
"""

import copy
import logging
import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
from litellm.litellm_core_utils.prompt_templates.factory import _bedrock_converse_messages_pt, anthropic_messages_pt

litellm.suppress_debug_info = True
logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)


def is_comparable(row):
    """Pictures would be fetched, system text within a conversation would be moved to its top, and blank text is kept."""
    messages = row.body["messages"]
    said = [message["role"] for message in messages]
    is_late = "system" in said[said.count("system"):]
    is_blank = any(isinstance(message.get("content"), str) and not message["content"].strip() for message in messages)
    return row.valid and not is_late and not is_blank and "image_url" not in row.content


def without_system(messages):
    return [message for message in copy.deepcopy(messages) if message["role"] != "system"]


def to_anthropic(messages):
    return anthropic_messages_pt(without_system(messages), "claude-sonnet-4", "anthropic")


def to_converse(messages):
    return _bedrock_converse_messages_pt(without_system(messages), "anthropic.claude-sonnet-4", "bedrock_converse")


CONVERTERS = {"anthropic-messages": to_anthropic, "bedrock-converse": to_converse}


def shape(messages):
    """Roles, and kinds of blocks: what has to be the same in every right conversion.

    Turns of one role in a row count as one, as servers see them, and so do texts in a row.
    """
    turns = []
    for message in messages:
        if not turns or turns[-1][0] != message["role"]:
            turns.append((message["role"], []))
        kinds = turns[-1][1]
        for block in message["content"]:
            kind = block.get("type") or next(iter(block))
            if kind != "cachePoint" and (kind, kinds[-1:]) != ("text", ["text"]):
                kinds.append(kind)
    return turns


def same_start(ours, theirs):
    """Our turns without the user's turn that we put in front of an assistant who speaks first: LiteLLM leaves that open."""
    return ours[1:] if theirs and theirs[0][0] == "assistant" else ours


class Opinion:
    def __init__(self):
        self.chats = {}
        self.counts = {}
        self.others = []

    def look_at(self, name, row):
        key = (name, row.conversation, row.perspective)
        if row.dialect == "openai-chat":
            self.chats[key] = row
            return
        convert = CONVERTERS.get(row.dialect)
        chat = self.chats.get(key)
        if not convert or not chat or not row.valid or "image" in row.content or not is_comparable(chat):
            return
        tried, agreed, refused = self.counts.get(row.dialect, (0, 0, 0))
        try:
            theirs = shape(convert(chat.body["messages"]))
        except Exception as error:  # Whatever a converter raises is its opinion.
            self.others.append((row, f"raises {type(error).__name__}: {error}"[:160]))
            self.counts[row.dialect] = (tried + 1, agreed, refused + 1)
            return
        ours = same_start(shape(row.body["messages"]), theirs)
        self.counts[row.dialect] = (tried + 1, agreed + (ours == theirs), refused)
        if ours != theirs:
            at = next((at for at, (one, other) in enumerate(zip(ours, theirs)) if one != other), min(len(ours), len(theirs)))
            self.others.append((row, f"turn {at}: ours {ours[at:at + 1]}, theirs {theirs[at:at + 1]}"))

    def print(self, listed):
        for dialect, (tried, agreed, refused) in self.counts.items():
            print(f"second opinion of LiteLLM on {dialect}: {agreed} of {tried} of one shape, {refused} not converted")
        for row, words in self.others[:listed]:
            print(f"  {row.case}: {words}")

"""What no schema says: who may speak when, which call is answered where, which ids and names a vendor takes.

Written from the vendors' rules, and not from the program that it judges. One function a family, in the files `structure_*.py`; each
yields the code of a rule and what breaks it, for everything that is wrong and not for the first thing only.
"""

from structure_blocks import anthropic_messages, bedrock_converse
from structure_contents import gemini_contents
from structure_items import openai_responses
from structure_lists import hf_messages, mistral_chat, openai_chat
from structure_records import chatml, sharegpt

NAME = "structure"
ALLOWED = []

FAMILIES = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic-messages": anthropic_messages,
    "gemini-contents": gemini_contents,
    "bedrock-converse": bedrock_converse,
    "mistral-chat": mistral_chat,
    "hf-messages": hf_messages,
    "sharegpt": sharegpt,
    "chatml": chatml,
}
DIALECTS = list(FAMILIES)


def faults(row):
    """Codes of rules, and what breaks them."""
    return list(FAMILIES[row.dialect](row))


def judge(row):
    found = faults(row)
    return "; ".join(f"{rule}: {what}" for rule, what in found[:3]) or None


def rules(row, _):
    """The codes of all rules that a row breaks."""
    return {rule for rule, _ in faults(row)}

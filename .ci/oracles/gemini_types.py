"""Models of the `google-genai` package, which refuse unknown keys, and its check of the roles of a history."""

from google.genai import types
from google.genai.chats import _extract_curated_history as check_history
from pydantic import ValidationError

from closed import unknown_keys

NAME = "google-genai"
DIALECTS = ["gemini-contents"]
ALLOWED = []
REASONS = []


def judge(row):
    unknown = unknown_keys(row.body, {"systemInstruction", "contents", "tools"})
    if unknown:
        return unknown
    try:
        contents = [types.Content.model_validate(content) for content in row.body["contents"]]
        if "systemInstruction" in row.body:
            types.Content.model_validate(row.body["systemInstruction"])
        for tool in row.body.get("tools", []):
            types.Tool.model_validate(tool)
        check_history(contents)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        return str(error)[:160]
    return None

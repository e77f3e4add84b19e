"""The request validator of `mistral-common`, in the version of the tokenizer that a row's profile names.

Rows that end with the assistant are checked as training data, all others as requests.
"""

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from pydantic import ValidationError

from closed import unknown_keys

NAME = "mistral-common"
DIALECTS = ["mistral-chat"]
ALLOWED = []
REASONS = [
    (r"Tool call id (was|of|has|')", {"MIS-01"}),
    (r"either content or tool_calls", {"MIS-02"}),
    (r"at least one message|must start with", {"MIS-03"}),
    (r"Unexpected role", {"MIS-03", "MIS-04"}),
    (r"calls and responses|(Unexpected|Duplicate) tool call id|More tool responses", {"MIS-04"}),
    (r"Expected last role", {"MIS-05"}),
    (r"Function name was", {"MIS-06"}),
]


def judge(row):
    unknown = unknown_keys(row.body, {"messages", "tools"})
    if unknown:
        return unknown
    messages = row.body["messages"]
    is_training = bool(messages) and messages[-1]["role"] == "assistant"
    mode = ValidationMode.finetuning if is_training else ValidationMode.serving
    version = "v7" if row.profile == "document" else row.profile
    validator = get_validator(TokenizerVersion(version), mode)
    try:
        request = ChatCompletionRequest.from_openai(messages=messages, tools=row.body.get("tools"))
        if mode == ValidationMode.serving:
            request.model = "any"
        validator.validate_request(request)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:200]
    except (MistralCommonException, ValueError) as error:
        return f"{type(error).__name__}: {error}"[:200]
    return None

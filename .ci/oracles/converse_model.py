"""The service model of Converse in `botocore`: its parameter check, and a walk for what that check leaves out.

The check ignores enums, patterns and greatest lengths, though the model has them.
"""

import re

import botocore.session
from botocore.validate import ParamValidator

from closed import unknown_keys

NAME = "botocore"
DIALECTS = ["bedrock-converse"]
ALLOWED = []
REASONS = []

SHAPE = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


def walk(shape, value, path):
    limits = shape.metadata
    if shape.type_name == "structure" and isinstance(value, dict):
        for key, inner in shape.members.items():
            if key in value:
                yield from walk(inner, value[key], f"{path}.{key}")
    elif shape.type_name == "list" and isinstance(value, list):
        for index, inner in enumerate(value):
            yield from walk(shape.member, inner, f"{path}[{index}]")
    elif shape.type_name == "string" and isinstance(value, str):
        if limits.get("enum") and value not in limits["enum"]:
            yield f"{path}: {value!r} is none of {limits['enum']}"
        if limits.get("pattern") and not re.fullmatch(limits["pattern"], value):
            yield f"{path}: {value!r} does not match {limits['pattern']}"
        if "max" in limits and len(value) > limits["max"]:
            yield f"{path}: longer than {limits['max']}"


def judge(row):
    unknown = unknown_keys(row.body, {"system", "messages", "toolConfig"})
    if unknown:
        return unknown
    request = {"modelId": "any", **row.body}
    report = ParamValidator().validate(request, SHAPE)
    if report.has_errors():
        return report.generate_report()[:200]
    return next(walk(SHAPE, request, "$"), None)

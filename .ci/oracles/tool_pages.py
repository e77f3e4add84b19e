"""The rules of the vendors' pages for the parameters of tools, written from the pages and not from the program.

OpenAI: guides on function calling and structured outputs. Anthropic: "Implement tool use", "Structured outputs"; Converse hands the same
schemas to the same models. Google: `Schema` and `FunctionDeclaration` of the API's discovery document. Mistral: the validator of
mistral-common, which checks against draft 7. What the pages leave open is taken from refusals in public reports.
"""

import re

import jsonschema

NAME = "pages"
DIALECTS = ["openai-chat", "openai-responses", "anthropic-messages", "bedrock-converse", "gemini-contents", "mistral-chat"]
ALLOWED = []
REASONS = [
    (r"openai-chat", {"OAC-10", "OAC-07"}),
    (r"openai-responses", {"OAR-07", "OAR-03"}),
    (r"anthropic", {"ANT-14", "ANT-06"}),
    (r"bedrock", {"BED-09", "BED-03"}),
    (r"gemini", {"GEM-11", "GEM-05"}),
    (r"mistral", {"MIS-08", "MIS-06"}),
]
SINGLE = {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
LISTED = {"anyOf", "oneOf", "allOf", "prefixItems"}
NAMED = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
GEMINI = set("type format title description nullable enum items maxItems minItems properties required minProperties maxProperties "
             "minLength maxLength pattern example anyOf propertyOrdering default minimum maximum".split())


class Refused(Exception):
    pass


def refuse(is_wrong, words):
    if is_wrong:
        raise Refused(words)


def schemas(schema):
    """Every schema inside a schema, itself among them."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        inner = []
        if key in SINGLE and isinstance(value, dict):
            inner = [value]
        elif (key in LISTED or key == "items") and isinstance(value, list):
            inner = value
        elif key in NAMED and isinstance(value, dict):
            inner = value.values()
        for one in inner:
            yield from schemas(one)


def is_kind(schema, kind):
    own = schema.get("type")
    return kind in own if isinstance(own, list) else own == kind


def is_valid(schema, draft):
    try:
        draft.check_schema(schema)
    except jsonschema.exceptions.SchemaError as error:
        raise Refused(f"{draft.__name__}: {'.'.join(map(str, error.path))}: {error.message[:80]}") from error


def objects_deep(schema):
    inner = (objects_deep(one) for one in list(schemas(schema))[1:])
    return is_kind(schema, "object") + max(inner, default=0)


def of_openai(root, strict):
    refuse(root.get("type") != "object", "type is not object")
    refuse(not isinstance(root.get("properties"), dict), "object schema missing properties")
    refuse(root.keys() & {"anyOf", "oneOf", "allOf", "enum", "not"}, "a union, enum or not at the top level")
    is_valid(root, jsonschema.Draft202012Validator)
    for one in schemas(root):
        refuse(is_kind(one, "array") and not isinstance(one.get("items"), dict), "array schema missing items")
        if strict:
            names = set(one.get("properties", {}))
            refuse(is_kind(one, "object") and one.get("additionalProperties") is not False, "additionalProperties is required to be false")
            refuse(names - set(one.get("required", [])), "required has to include every key")
            refused = {"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then", "else", "oneOf", "default", "uniqueItems", "propertyNames"}
            refuse(one.keys() & refused, f"{one.keys() & refused} is not permitted")
            formats = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
            refuse(one.get("format", "date") not in formats, "not a valid format")
            refuse("$ref" in one and len(one) > 1, "$ref cannot have keywords")
    refuse(strict and objects_deep(root) > 10, "more than ten levels")


def of_anthropic(root, strict):
    refuse(root.get("type") != "object", "type is not object")
    refuse(root.keys() & {"anyOf", "oneOf", "allOf"}, "a union at the top level")
    for name in root.get("properties") or {}:
        refuse(not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name), "property keys should match the pattern")
    is_valid(root, jsonschema.Draft202012Validator)
    for one in schemas(root) if strict else ():
        refuse(is_kind(one, "object") and one.get("additionalProperties") is not False, "additionalProperties must be false")
        refused = {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "maxItems", "oneOf", "not"}
        refuse(one.keys() & refused, f"{one.keys() & refused} are not supported")
        refuse(one.get("minItems", 0) not in (0, 1), "minItems other than 0 or 1")


def of_gemini(root):
    refuse(root.get("type") != "OBJECT", "parameters schema should be of type OBJECT")
    for depth, one in gemini_schemas(root, 0):
        refuse(depth > 32, "too deep")
        refuse(one.keys() - GEMINI, f"unknown name {one.keys() - GEMINI}")
        if "anyOf" in one:
            refuse(one.keys() - {"anyOf", "title", "description", "nullable"}, "other fields alongside any_of")
            refuse(not one["anyOf"], "any_of is empty")
            continue
        kind = one.get("type")
        refuse(kind not in {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}, "type must be specified")
        refuse(kind == "ARRAY" and "items" not in one, "items: missing field")
        refuse(kind != "ARRAY" and "items" in one, "items: field predicate failed: == Type.ARRAY")
        refuse("enum" in one and kind != "STRING", "enum: only allowed for STRING type")
        refuse("enum" in one and (not one["enum"] or not all(isinstance(word, str) and word for word in one["enum"])), "enum: cannot be empty")
        refuse(set(one.get("required", [])) - set(one.get("properties", {})), "required: property is not defined")


def gemini_schemas(schema, depth):
    refuse(not isinstance(schema, dict), "a schema is no message")
    yield depth, schema
    for inner in [*schema.get("anyOf", []), *schema.get("properties", {}).values(), *[schema[key] for key in ("items",) if key in schema]]:
        yield from gemini_schemas(inner, depth + 1)


def is_named(name, most, first=""):
    refuse(not re.fullmatch(f"{first}[a-zA-Z0-9_-]{{1,{most}}}", name) or len(name) > most, "the name")


def openai_chat(body):
    for tool in body.get("tools", []):
        if tool["type"] == "custom":
            refuse(set(tool) != {"type", "custom"}, "a custom tool")
            continue
        refuse(tool["type"] != "function", "neither function nor custom")
        function = tool["function"]
        is_named(function["name"], 64)
        if "parameters" in function:
            of_openai(function["parameters"], function.get("strict") is True)


def openai_responses(body):
    for tool in body.get("tools", []):
        if tool["type"] == "function":
            is_named(tool["name"], 64)
            refuse(not {"parameters", "strict"} <= tool.keys(), "parameters and strict are required")
            of_openai(tool["parameters"], tool["strict"])
        else:
            refuse(re.search(r"_\d{8}$", tool["type"]), "a tool of another vendor")


def anthropic_messages(body):
    tools = body.get("tools", [])
    for tool in tools:
        if "type" not in tool or tool["type"] == "custom":
            is_named(tool["name"], 128)
            of_anthropic(tool["input_schema"], tool.get("strict") is True)
        else:
            refuse(not re.search(r"_\d{8}$", tool["type"]), "a tool of another vendor")
    refuse(sum(tool.get("strict") is True for tool in tools) > 20, "more than twenty strict tools")


def bedrock_converse(body):
    for tool in body.get("toolConfig", {}).get("tools", []):
        if "systemTool" not in tool:
            spec = tool["toolSpec"]
            is_named(spec["name"], 64)
            refuse(spec.get("description") == "", "an empty description")
            of_anthropic(spec["inputSchema"]["json"], False)


def gemini_contents(body):
    for tool in body.get("tools", []):
        for function in tool.get("functionDeclarations", []):
            is_named(function["name"], 128, "(?=[a-zA-Z_])")
            refuse({"parameters", "parametersJsonSchema"} <= function.keys(), "both of the two keys")
            if "parameters" in function:
                of_gemini(function["parameters"])
            if "parametersJsonSchema" in function:
                refuse(function["parametersJsonSchema"].get("type") != "object", "no object")
                is_valid(function["parametersJsonSchema"], jsonschema.Draft202012Validator)


def mistral_chat(body):
    for tool in body.get("tools", []):
        refuse(tool["type"] != "function", "no function")
        is_named(tool["function"]["name"], 64)
        refuse("parameters" not in tool["function"], "parameters: field required")
        is_valid(tool["function"]["parameters"], jsonschema.Draft7Validator)


def judge(row):
    try:
        globals()[row.dialect.replace("-", "_")](row.body)
        refuse(row.profile == "parameters-only" and "parametersJsonSchema" in row.content, "parametersJsonSchema is not known")
    except Refused as refused:
        return f"{row.dialect}: {refused}"
    return None

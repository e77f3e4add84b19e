"""JSON Schemas of an SDK's parameter types, closed: a key that the type does not name is refused.

Pydantic alone lets unknown keys through and leaves iterables unread; the schema that it writes does neither.
"""

import jsonschema
from pydantic import TypeAdapter


def close(node):
    if isinstance(node, dict):
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
        for value in node.values():
            close(value)
    elif isinstance(node, list):
        for value in node:
            close(value)


class Closed:
    def __init__(self, kind):
        schema = TypeAdapter(kind).json_schema()
        close(schema)
        self.validator = jsonschema.Draft202012Validator(schema)
        self.accepted = set()

    def fault(self, values, where):
        """What is wrong with the first of the values that the type refuses; none when it takes them all."""
        for index, value in enumerate(values):
            # Many turns of many conversations are alike.
            key = repr(value)
            if key in self.accepted:
                continue
            if not self.validator.is_valid(value):
                # In a large union the message may be about another branch than the one that was meant.
                best = jsonschema.exceptions.best_match(self.validator.iter_errors(value))
                return f"{where}[{index}]: {best.message[:160]}"
            self.accepted.add(key)
        return None


def unknown_keys(body, known):
    """A fault when a request has another key than the known ones."""
    unknown = sorted(body.keys() - known)
    return f"unknown keys {unknown}" if unknown else None

"""Draws schemas of tools and holds what the program calls valid against the pages of the vendors.

    python drawn_schemas.py PROGRAM [--count N] [--seed N] [--listed N]

Prints, for each dialect, how many rows are valid, and those of them that the reading of the page in `tool_pages.py` refuses. Exit code 1
where there is one.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import tool_pages

PROFILES = [*tool_pages.DIALECTS, "gemini-contents@parameters-only"]
TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"]


class Drawing:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *choices):
        return self.random.choice(choices)

    def often(self, share):
        return self.random.random() < share

    def kind(self):
        if self.often(0.06):
            return self.one("any", "STRING", "dict", None, [], "Object", ["string", "any"])
        if self.often(0.2):
            return self.random.sample(TYPES, self.random.randint(1, 3))
        return self.random.choice(TYPES)

    def value(self):
        return self.one("a", "", "b", 1, 1.5, True, None, {"k": 1}, ["l"])

    def name(self):
        return self.one("a", "b", "c", "filter[name]", "$top", "Account Number", "x" * 65, "é", "d.e-f_g")

    def schema(self, depth):
        if self.often(0.05):
            return self.one(True, False, {}, {"description": "anything"})
        schema = {}
        if self.often(0.85):
            schema["type"] = self.kind()
        fields = [
            ("properties", 0.5, lambda: {self.name(): self.schema(depth + 1) for _ in range(self.random.randint(0, 3))}),
            ("items", 0.4, lambda: self.one([self.schema(depth + 1)], self.schema(depth + 1), self.schema(depth + 1), self.schema(depth + 1))),
            ("required", 0.3, lambda: self.one(["a"], ["a", "b"], [], None, True, ["a", "a"])),
            ("additionalProperties", 0.25, lambda: self.one(False, True, False, self.schema(depth + 1))),
            ("enum", 0.15, lambda: [self.value() for _ in range(self.random.randint(0, 3))]),
            ("const", 0.05, self.value),
            ("anyOf", 0.12, lambda: [self.schema(depth + 1) for _ in range(self.random.randint(0, 3))]),
            ("oneOf", 0.06, lambda: [self.schema(depth + 1) for _ in range(self.random.randint(1, 2))]),
            ("allOf", 0.06, lambda: [self.schema(depth + 1) for _ in range(self.random.randint(1, 2))]),
            ("not", 0.03, lambda: self.schema(depth + 1)),
            ("prefixItems", 0.04, lambda: [self.schema(depth + 1)]),
            ("additionalItems", 0.03, lambda: self.one(False, self.schema(depth + 1))),
            ("$ref", 0.07, lambda: self.one("#", "#/$defs/d", "#/definitions/d", "#/$defs/none", "https://a.example/s", "#/properties/a")),
            ("minimum", 0.1, lambda: self.one(0, 1.5, "1")),
            ("exclusiveMinimum", 0.06, lambda: self.one(True, False, 1)),
            ("minItems", 0.08, lambda: self.one(0, 1, 2, -1, 1.5, None)),
            ("uniqueItems", 0.04, lambda: self.one(True, "yes")),
            ("minLength", 0.06, lambda: self.one(1, None)),
            ("pattern", 0.05, lambda: "^a"),
            ("format", 0.12, lambda: self.one("date-time", "uri", "uuid", "int32", "email", 1)),
            ("default", 0.08, self.value),
            ("title", 0.08, lambda: self.one("T", 5, None)),
            ("description", 0.2, lambda: self.one("d", "", None)),
            ("nullable", 0.04, lambda: self.one(True, "true")),
            ("patternProperties", 0.03, lambda: {"^x": self.schema(depth + 1)}),
            ("if", 0.02, lambda: self.schema(depth + 1)),
            ("$comment", 0.02, lambda: self.one("c", 1)),
            ("$id", 0.02, lambda: self.one("https://a.example/t", "tool")),
            ("dependentRequired", 0.02, lambda: self.one({"a": ["b"]}, {"a": "b"})),
        ]
        for key, share, draw in fields:
            if self.often(share / (1 + depth * 0.6)):
                schema[key] = draw()
        return dict(self.random.sample(list(schema.items()), len(schema)))

    def closed(self, schema):
        """A schema in which objects are closed, so that strict tools are met."""
        if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
            schema = {**schema, "required": list(schema["properties"]), "additionalProperties": False}
            schema["properties"] = {name: self.closed(inner) for name, inner in schema["properties"].items()}
        return schema

    def tool(self):
        root = self.schema(0)
        root = root if isinstance(root, dict) else {}
        if self.often(0.7):
            root["type"] = "object"
        if self.often(0.8):
            for key in ("anyOf", "oneOf", "allOf", "enum", "not"):
                root.pop(key, None)
        if self.often(0.3):
            root["$defs"] = {"d": self.schema(2)}
        if self.often(0.3):
            root = self.closed(root)
        name = self.one("find", "find", "find", "7zip-extract", "a.b", "-x", "n" * 90)
        function = {"name": name, "description": self.one("Finds.", "", "Finds."), "parameters": root}
        if self.often(0.1):
            del function["parameters"]
        if self.often(0.4):
            function["strict"] = self.one(True, True, False)
        if self.often(0.3):
            strict = {key: value for key, value in function.items() if key == "strict"}
            return {"name": name, "input_schema": root, **strict}
        return {"type": "function", "function": function}


def rows(program, records, folder):
    """The renderings of the records in each dialect."""
    path = folder / "drawn.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for target in PROFILES:
        dialect, _, profile = target.partition("@")
        command = [program, "render", path, "--dialect", target, "--losses", "--with-ids", "--set", "policy.orphans=reject"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            body = row["rendering"]
            yield target, SimpleNamespace(dialect=dialect, profile=profile, body=body, content=json.dumps(body), violations=row["violations"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--listed", type=int, default=10)
    given = parser.parse_args()
    drawing = Drawing(given.seed)
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    records = [{"id": f"d{number}", "messages": turns, "tools": [drawing.tool()]} for number in range(given.count)]
    seen, valid, refused = Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for target, row in rows(given.program, records, Path(folder)):
            seen[target] += 1
            if row.violations:
                continue
            valid[target] += 1
            if words := tool_pages.judge(row):
                refused.append((target, words, row))
    for target in PROFILES:
        print(f"{target}: {valid[target]} of {seen[target]} rows are valid")
    for target, words, row in refused[: given.listed]:
        print(f"{target}: {words}\n    {json.dumps(row.body.get('tools', row.body))[:600]}")
    print(f"{len(refused)} valid rows are refused by their vendor's page")
    sys.exit(1 if refused else 0)


main()

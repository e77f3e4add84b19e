"""Validates a SARIF log against a schema: validate.py SCHEMA LOG."""

import json
import sys

from jsonschema import Draft7Validator


def main() -> int:
    schema, log = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    faults = list(Draft7Validator(schema).iter_errors(log))
    for fault in faults[:20]:
        print(f"{fault.json_path}: {fault.message[:200]}")
    results = sum(len(run["results"]) for run in log["runs"])
    print(f"{results} results, {len(faults)} faults")
    return 1 if faults or not results else 0


sys.exit(main())

"""Inspect: its own loader makes a sample of every line, with the messages and calls of the line."""

import json

import inspect_ai.dataset


def check(export, ledger):
    for file in export.files:
        where = f"{export.name} {file['name']}"
        samples = inspect_ai.dataset.json_dataset(str(export.out / file["name"]))
        lines = [json.loads(line) for line in export.lines(file)]
        ledger.expect(f"{where}: samples", len(samples), len(lines))
        ledger.expect(f"{where}: ids", len({sample.id for sample in samples}), len(lines))
        for sample, line in zip(samples, lines):
            roles = [message.role for message in sample.input]
            ledger.expect(f"{where}: messages", roles, [message["role"] for message in line["input"]])
            ledger.expect(f"{where}: target", sample.target, line["target"])
            calls = [call for message in sample.input for call in getattr(message, "tool_calls", None) or []]
            wanted = [call for message in line["input"] for call in message.get("tool_calls", [])]
            ledger.expect(
                f"{where}: calls",
                [(call.function, call.arguments) for call in calls],
                [(call["function"], call["arguments"]) for call in wanted],
            )
            unread = [call.parse_error for call in calls if call.parse_error]
            ledger.expect(f"{where}: a call that cannot be read", unread, [])
        ledger.saw("inspect_ai", len(samples))

"""Compares turns and words of chatmill's rows with those of teich, over the example sessions of teich's source distribution.

    beside_teich.py CHATMILL EXAMPLES

Prints, for each session, how many turns of the assistant and calls both have, and each word that one of them lacks. Ends with 1 where a word
that teich has is in no row of ours, or turns differ and no line of EXPECTED has the reason.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from teich.converter import convert_trace_to_training_example

# Differences that were looked at: (session, what differs) -> why.
EXPECTED = {
    ("example_codex_session", "words of ours"): "results of commands are the record's JSON text, of which teich takes the output alone",
    ("example_droid_session", "words of ours"): "the result of a cancelled call that is not there is kept, as words of the user",
    ("example_hermes_session", "words of ours"): "teich puts the system prompt next to the messages",
    ("example_claude_code", "turns"): "teich parts parallel calls of one answer, which has one message id",
    ("example_cursor_session", "words of theirs"): "a cache of teich's own form, with thoughts in blocks that Cursor does not write",
}


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def words(messages):
    fields = ("content", "reasoning_content", "reasoning", "thinking", "tool_calls")
    found = Counter()
    for message in messages:
        for field in fields:
            value = message.get(field)
            if field == "tool_calls":
                calls = [call["function"] for call in value or []]
                value = [
                    json.loads(call["arguments"]) if isinstance(call["arguments"], str) else call["arguments"] for call in calls
                ]
            for text in texts(value):
                found.update(re.findall(r"\w+", text))
    return found


def ours(chatmill, path):
    with tempfile.TemporaryDirectory() as folder:
        command = [chatmill, "convert", path, "--to", "trl-messages", "--format", "jsonl", "--set", "policy.reasoning=keep", "--out", folder + "/out"]
        subprocess.run(command, check=True, capture_output=True)
        rows = [json.loads(line) for file in sorted(Path(folder).glob("out/*.jsonl")) for line in file.open()]
    return [message for row in rows for message in row["messages"]]


def counts(messages):
    turns = sum(message["role"] == "assistant" for message in messages)
    return turns, sum(len(message.get("tool_calls") or []) for message in messages)


def main(chatmill, examples):
    unexplained = 0
    for path in sorted(Path(examples).glob("example_*.jsonl")):
        theirs = convert_trace_to_training_example(path).messages
        mine = ours(chatmill, path)
        lacking, more = set(words(theirs)) - set(words(mine)), set(words(mine)) - set(words(theirs))
        print(f"{path.stem}: turns {counts(mine)[0]} beside {counts(theirs)[0]}, calls {counts(mine)[1]} beside {counts(theirs)[1]}, "
              f"words that ours lack {len(lacking)}, that theirs lack {len(more)}")
        differing = {"turns": counts(mine) != counts(theirs), "words of theirs": lacking, "words of ours": more}
        for name, differs in differing.items():
            if differs:
                why = EXPECTED.get((path.stem, name))
                unexplained += why is None
                print(f"  {name}: {why or 'NOT EXPLAINED'} {sorted(differs)[:8] if name != 'turns' else ''}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Compares the ranges that are learned of renderings in chat templates with those that follow from transformers.

    python ranges.py CHATMILL TEMPLATES CONVERSATIONS FOLDER

A template that marks what is generated: the ranges are those of `assistant_masks`. Any other: the text of the messages before a turn of
the assistant, rendered with `add_generation_prompt`, ends where its range begins, and the text up to the turn, less white space at its end,
where the range ends. A turn is not judged where those texts are no beginning of the whole: the template prints it otherwise when more
follows, or refuses it alone; nor is one of which nothing is printed. FOLDER is written anew. Exit code 1 when anything differs.
"""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from compare import TODAY, TOKENS, chat_templates, render


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command}: {done.stdout}{done.stderr}")


def exported(chatmill, folder, dialect):
    """The records of a dialect by their conversation."""
    out = folder / "exports" / dialect
    run(chatmill, "export", folder / "run", "--dialect", dialect, "--columns", "conversation_id", "--format", "jsonl", "--out", out)
    lines = [line for file in sorted(out.glob("*.jsonl")) for line in file.read_text(encoding="utf-8").split("\n")]
    return {row["conversation_id"]: row for row in map(json.loads, filter(None, lines))}


def text_of(template, given, count, asks):
    try:
        messages = given["messages"][:count]
        options = {"tools": given.get("tools"), "chat_template": template, "add_generation_prompt": asks}
        return chat_templates.render_jinja_template([messages], **options, **TOKENS)[0][0]
    except Exception:  # whatever a template raises
        return None


def in_characters(row, spans):
    raw = row["text"].encode()
    return [[len(raw[: span[edge]].decode()) for edge in ("start", "end")] for span in spans]


def judge(template, given, row, counts):
    """What differs in one rendering, if anything."""
    found = in_characters(row, row["learned_spans"])
    if "{% generation" in template or "{%- generation" in template:
        text, stretches, error = render(template, given)
        counts["renderings with marks"] += 1
        if error is None and text == row["text"] and stretches and found != joined(stretches):
            return f"marked: ours {found}, theirs {stretches}"
        return None
    text = text_of(template, given, len(given["messages"]), False)
    if text != row["text"]:
        counts["renderings with other texts"] += 1
        return None
    turns = [at for at, message in enumerate(given["messages"]) if message["role"] == "assistant"]
    rest, most = list(found), len(turns)
    for at in turns:
        prompt, alone = text_of(template, given, at, True), text_of(template, given, at + 1, False)
        if prompt is None or alone is None:
            counts["turns refused alone"] += 1
            continue
        if not text.startswith(alone.rstrip()) or not alone.startswith(prompt):
            counts["turns printed otherwise when more follows"] += 1
            # Gemma 4 prints the text of a turn with calls after the results of those.
            most += 1
            continue
        wanted = [len(prompt), len(alone.rstrip())]
        if wanted[0] >= wanted[1]:
            counts["turns without text"] += 1
            continue
        if not any(word in text[slice(*wanted)] for word in words_of(given["messages"][at])):
            counts["turns of which nothing is printed"] += 1
            continue
        counts["turns judged"] += 1
        if wanted not in rest:
            ours = [text[start:end] for start, end in found]
            return f"turn {at}: wanted {text[slice(*wanted)]!r}, ours {ours}"
        rest.remove(wanted)
    if len(found) > most:
        return f"{len(found)} ranges of {len(turns)} turns"
    return None


def words_of(message):
    """Texts of a message without white space at their ends, and the names of its tools."""
    texts = [message.get(key) for key in ("content", "reasoning_content")]
    texts += [call["function"]["name"] for call in message.get("tool_calls") or []]
    return [text.strip() for text in texts if text and text.strip()]


def joined(stretches):
    """Neighbouring stretches as one."""
    out = []
    for start, end in stretches:
        if out and out[-1][1] == start:
            out[-1][1] = end
        elif start < end:
            out.append([start, end])
    return out


def main():
    chatmill, templates, conversations, folder = sys.argv[1], *map(Path, sys.argv[2:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = json.loads(conversations.read_text(encoding="utf-8"))
    lines = [json.dumps({"id": name, "messages": one["messages"], "tools": one.get("tools")}) for name, one in given.items()]
    (folder / "given.jsonl").write_text("\n".join(lines), encoding="utf-8")
    files = {path.stem.replace("_", "-").replace(".", "-").lower(): path.resolve() for path in sorted(templates.glob("*.jinja"))}
    pipeline = ["name = 'ranges'", f"[[input]]\npath = {json.dumps(str(folder.resolve() / 'given.jsonl'))}\nsource = 'openai-messages'"]
    pipeline += ["[policy]\nreasoning = 'keep'\ncontrol_tokens = 'keep'", "[count]\nencodings = []\n[output]\npath = 'run'"]
    pipeline += [f"[render]\ndialects = {json.dumps([*files, 'hf-messages'])}"]
    variables = ", ".join(f"{name} = {json.dumps(token)}" for name, token in TOKENS.items())
    for name, path in files.items():
        pipeline.append(f"[templates.{name}]\ntemplate = {json.dumps(str(path))}\nnow = '{TODAY:%Y-%m-%d}'\narguments = 'object'\nvariables = {{ {variables} }}")
    (folder / "ranges.toml").write_text("\n".join(pipeline), encoding="utf-8")
    run(chatmill, "run", folder / "ranges.toml", "--progress", "none", "--out", folder / "run")
    messages = exported(chatmill, folder, "hf-messages")
    counts, faults = Counter(), []
    for name, path in files.items():
        template = path.read_text(encoding="utf-8")
        for conversation, row in exported(chatmill, folder, name).items():
            if not row["text"]:
                continue
            counts["renderings"] += 1
            fault = judge(template, messages[conversation], row, counts)
            if fault:
                faults.append(f"{name} {conversation}: {fault}")
    for fault in faults:
        print(fault)
    print(f"{len(files)} templates, {len(messages)} conversations: {dict(counts)}")
    print(f"{len(faults)} differences")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

"""Compares our rendering of chat templates with that of transformers, byte for byte.

    python compare.py CHATMILL TEMPLATES OURS CONVERSATIONS [SAMPLE...]

TEMPLATES is a folder of Jinja files, OURS what `cargo xtask templates TEMPLATES CONVERSATIONS` printed. Every pair of template and
conversation is rendered by transformers too: the texts must be equal, and so must the stretches that a template marks as generated.
Where transformers raises, we have to refuse, but for the words in MILDER. Then CHATMILL renders each SAMPLE as `hf-messages` and in each template, and
transformers renders those messages: equal again. Media are words there, for a template of texts takes no list, and a turn of calls alone has a
null content where the template prints calls only then, as chatmill gives it. Exit code 1 when anything differs.
"""

import json
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

import transformers.utils.chat_template_utils as chat_templates

TODAY = datetime(2024, 7, 26)
TOKENS = {"bos_token": "<BOS>", "eos_token": "<EOS>"}


# A null where a template expects a list: we read an empty one. Our own messages hold no null.
MILDER = {"'NoneType' object is not iterable"}


class PinnedClock:
    @staticmethod
    def now():
        return TODAY


chat_templates.datetime = PinnedClock


def render(template, conversation):
    """The result of transformers: a text with its generated ranges, or an exception."""
    try:
        texts, stretches = chat_templates.render_jinja_template(
            [conversation["messages"]],
            tools=conversation.get("tools"),
            chat_template=template,
            return_assistant_tokens_mask=True,
            add_generation_prompt=conversation.get("add_generation_prompt", False),
            **TOKENS,
        )
        return texts[0], [list(stretch) for stretch in stretches[0]], None
    except Exception as error:  # whatever a template raises
        return None, [], error


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    around = slice(max(0, at - 30), at + 40)
    return f"at {at}: ours {ours[around]!r}, theirs {theirs[around]!r}"


def compare(template, conversation, ours, counts):
    """Compares one pair; returns what differs, if anything."""
    text, stretches, error = render(template, conversation)
    if error is not None:
        # One line of the template's own words is enough to see that both mean the same.
        if "error" in ours:
            counts["both refuse"] += 1
            said = str(error)
            counts["in the same words"] += said == ours["error"]
            return None
        if str(error) in MILDER:
            counts["only transformers refuses, allowed"] += 1
            return None
        return f"transformers raises {error!r}, we render"
    counts["rendered by transformers"] += 1
    if "error" in ours:
        return f"we refuse: {ours['error']}"
    if ours["text"] != text:
        return first_difference(ours["text"], text)
    counts["equal"] += 1
    if "generated" in ours:
        counts["stretches compared"] += len(stretches)
        if ours["generated"] != stretches:
            return f"generated: ours {ours['generated']}, theirs {stretches}"
    return None


def lines(chatmill, sample, *options):
    """What chatmill prints of a sample, as JSON lines with ids."""
    command = [chatmill, "render", sample, "--with-ids", "--losses", "--set", "policy.control_tokens=keep", *options]
    done = subprocess.run(command, capture_output=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def prints_call(template, content, arguments):
    call = {"type": "function", "function": {"name": "probed_name", "arguments": arguments}}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": content, "tool_calls": [call]}]
    text, _, _ = render(template, {"messages": messages})
    return text is not None and "probed_name" in text


def as_given(conversation, wants_null):
    """The messages as a template gets them."""
    for message in conversation["messages"] if wants_null else []:
        if message.get("tool_calls") and message.get("content") == "":
            message["content"] = None
    return conversation


def through_the_mill(chatmill, template, sample, counts):
    """Renders a sample in a template, and its messages by transformers."""
    options = ["--template", str(template), "--set", f"template.now={TODAY:%Y-%m-%d}"]
    options += [part for name, token in TOKENS.items() for part in ("--set", f"template.variables.{name}={token}")]
    kept = ["--set", "policy.reasoning=keep", "--set", "policy.media=placeholder"]
    source = template.read_text(encoding="utf-8")
    faults = []
    for form, profile, arguments in [("object", "document", {}), ("string", "string-arguments", "{}")]:
        wants_null = prints_call(source, None, arguments) and not prints_call(source, "", arguments)
        given = lines(chatmill, sample, "--dialect", f"hf-messages@{profile}", *kept)
        printed = lines(chatmill, sample, *options, *kept, "--set", f"template.arguments={form}")
        if len(printed) != len(given):
            faults.append(f"{template.stem} {sample} {form}: {len(printed)} renderings of {len(given)}")
        for row, conversation in zip(printed, given):
            assert row["conversation_id"] == conversation["conversation_id"]
            refusals = [rule for rule in row["violations"] if rule.startswith(("TPL-02", "TPL-03"))]
            ours = {"error": refusals[0]} if refusals else {"text": row["rendering"]}
            fault = compare(source, as_given(conversation["rendering"], wants_null), ours, counts)
            if fault:
                faults.append(f"{template.stem} {Path(sample).name} {row['conversation_id']} {form}: {fault}")
    return faults


def main():
    chatmill, folder, ours, conversations, *samples = sys.argv[1:]
    conversations = json.loads(Path(conversations).read_text(encoding="utf-8"))
    templates = {path.stem: path for path in sorted(Path(folder).glob("*.jinja"))}
    faults = []
    pairs, mill = Counter(), Counter()
    for line in Path(ours).read_text(encoding="utf-8").strip("\n").split("\n"):
        row = json.loads(line)
        template = templates[row["template"]].read_text(encoding="utf-8")
        fault = compare(template, conversations[row["conversation"]], row, pairs)
        if fault:
            faults.append(f"{row['template']} {row['conversation']}: {fault}")
    for sample in samples:
        for template in templates.values():
            faults += through_the_mill(chatmill, template, sample, mill)
    for fault in faults:
        print(fault)
    print(f"{len(templates)} templates, {len(conversations)} conversations: {dict(pairs)}")
    if samples:
        print(f"{len(samples)} samples through chatmill: {dict(mill)}")
    print(f"{len(faults)} differences")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

"""Which tokens the trainers themselves learn: over a whole dataset, each message of the assistant once.

    python by_learned.py CHATMILL RUN FOLDER

The run is one of `mode = "consecutive"` or `mode = "per_turn"`, over rooms, in the dialects `hf-messages` and `sharegpt`. What is asked is the
code that gives each token its label: Axolotl's strategy, the masks from which TRL's collator makes labels, and
LLaMA-Factory's processor. It is compared with the messages of the dataset: those that are one text, and occur once in their conversation, also inside
other ones.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace

import by_axolotl
import by_llama_factory
import pyarrow.dataset as tables
import trl
from byte_tokens import tokenizer
from exports import call, summary_of

import hollow

END = "<|im_end|>"
MASKED = -100


def export(chatmill, run, envelope, dialect, folder):
    out = folder / envelope
    command = [chatmill, "export", run, "--dialect", dialect, "--envelope", envelope, "--format", "parquet", "--json", "--valid", "--out", out]
    summary = summary_of(call(command, (0, 1)))
    rows = tables.dataset(out / "data.parquet").to_table().to_pylist() if summary["kept"] else []
    return rows, summary


def record(row):
    """A record as the trainer has it: the JSON columns as values, the keys of the row gone. Of messages with pictures only the words are
    here, for the templates are those of texts."""
    held = {key: json.loads(row[key]) for key in ("messages", "prompt", "completion", "tools") if row.get(key)}
    for message in [message for key, value in held.items() if key != "tools" for message in value]:
        if isinstance(message["content"], list):
            message["content"] = "\n".join(part["text"] for part in message["content"] if part["type"] == "text")
    return held


def pieces(text):
    """The texts of turns, without what templates write around calls and thoughts."""
    for turn in text.split(END):
        turn = turn.removeprefix("\n").removeprefix("<think>\n\n</think>\n\n")
        yield turn.split("\n<tool_call>")[0]


def axolotl(rows):
    words = tokenizer([END])
    settings = by_axolotl.Settings(chat_template="chatml", sequence_len=1 << 24, train_on_inputs=False)
    strategy = by_axolotl.strategies.load(words, settings, {"chat_template": "chatml", "message_field_training": "train"})
    for row in rows:
        tokens = strategy.tokenize_prompt(record(row))
        kept = [token for token, label in zip(tokens["input_ids"], tokens["labels"]) if label != MASKED]
        yield row["conversation_id"], words.decode(kept)


def trl_masks(rows):
    words = tokenizer([END, "<|im_start|>"])
    words.chat_template = (Path(trl.__file__).parent / "chat_templates" / "qwen3_training.jinja").read_text()
    for row in rows:
        held = record(row)
        options = {"tools": held.get("tools"), "tokenize": True, "return_dict": True}
        if "prompt" in held:
            # As TRL does it: what the completion adds to the prompt is learned.
            prompt = words.apply_chat_template(held["prompt"], add_generation_prompt=True, **options)["input_ids"]
            whole = words.apply_chat_template(held["prompt"] + held["completion"], **options)["input_ids"]
            kept = whole[len(prompt) :]
        else:
            tokens = words.apply_chat_template(held["messages"], return_assistant_tokens_mask=True, **options)
            masks = tokens["assistant_masks"]
            kept = [token for token, mask in zip(tokens["input_ids"], masks) if mask]
        yield row["conversation_id"], words.decode(kept)


def llama_factory(rows, has_context):
    processor = llama_processor(has_context)
    words = processor.tokenizer
    for row in rows:
        turns = json.loads(row["conversations"])
        roles = {"human": "user", "gpt": "assistant", "observation": "observation", "function_call": "function"}
        turns = [{"role": roles[turn["from"]], "content": turn["value"]} for turn in turns]
        system, tools = row.get("system"), row.get("tools")
        _, labels = processor._encode_data_example(turns[:-1], turns[-1:], system, tools, [], [], [])
        yield row["conversation_id"], words.decode([label for label in labels if label != MASKED])


def llama_processor(has_context):
    """Its processor with its template for Qwen; pictures and sounds, which need torch, are left out."""
    plain = SimpleNamespace(
        process_messages=lambda messages, *_: messages, process_token_ids=lambda ids, labels, *_: (ids, labels)
    )
    sys.modules["llamafactory.extras.constants"].__dict__["IGNORE_INDEX"] = MASKED
    hollow.stand_in("llamafactory.data.mm_plugin", get_mm_plugin=lambda *_, **__: plain)
    by_llama_factory.LOG.info_rank0 = by_llama_factory.LOG.warning_rank0
    hollow.package("llamafactory.data.processor")
    supervised = hollow.load("llamafactory.data.processor.supervised")
    templates = hollow.load("llamafactory.data.template")
    words = tokenizer([END, "<|im_start|>"])
    data = SimpleNamespace(mask_history=has_context, train_on_prompt=False, cutoff_len=1 << 24)
    template = templates.TEMPLATES["qwen"]
    return supervised.SupervisedDatasetProcessor(template=template, tokenizer=words, processor=None, data_args=data)


def said(run):
    """The texts of agents, message by message, that occur once in their conversation."""
    agents = {}
    for row in tables.dataset(run / "conversations").to_table(["conversation_id", "participants"]).to_pylist():
        ids = {person["id"] for person in row["participants"] if person["kind"] == "agent"}
        agents[row["conversation_id"]] = ids
    found = Counter()
    columns = ["conversation_id", "sender_id", "kind", "role", "text", "parts"]
    for row in tables.dataset(run / "messages").to_table(columns).to_pylist():
        is_own = row["kind"] == "message" and row["role"] != "tool" and row["sender_id"] in agents[row["conversation_id"]]
        if is_own and row["parts"] is None and row["text"] and row["text"].strip():
            found[row["conversation_id"], row["text"].strip()] += 1
    texts = defaultdict(list)
    for conversation, text in found:
        texts[conversation].append(text)
    # A text that is a paragraph of another one cannot be distinguished from it.
    is_alone = lambda conversation, text: sum(f"\n\n{text}\n\n" in f"\n\n{other}\n\n" for other in texts[conversation]) == 1
    return {key for key, times in found.items() if times == 1 and is_alone(*key)}


def main():
    chatmill, run, folder = (Path(word).resolve() for word in sys.argv[1:4])
    folder.mkdir(parents=True)
    untaught = json.loads((run / "manifest.json").read_text())["totals"]["untaught"]
    wanted = said(run)
    print(f"{len(wanted):,} messages of agents; turns that no row teaches: {untaught}")
    texts = defaultdict(list)
    for conversation, text in wanted:
        texts[conversation].append(text)
    faults = 0
    readers = {
        "axolotl": ("hf-messages", lambda rows, _: axolotl(rows)),
        "trl-messages": ("hf-messages", lambda rows, _: trl_masks(rows)),
        "trl-prompt-completion": ("hf-messages", lambda rows, _: trl_masks(rows)),
        "llama-factory": ("sharegpt", llama_factory),
    }
    for envelope, (dialect, learn) in readers.items():
        rows, summary = export(chatmill, run, envelope, dialect, folder)
        learned = Counter()
        for conversation, text in learn(rows, summary["turns"]["context"] > 0):
            for piece in pieces(text):
                # ShareGPT joins consecutive messages of the assistant with blank lines.
                joined = f"\n\n{piece.strip()}\n\n"
                for text in texts[conversation]:
                    if f"\n\n{text}\n\n" in joined:
                        learned[conversation, text] += 1
        times = Counter(learned.values())
        never = len(wanted) - len(learned)
        more = sum(number for often, number in times.items() if often > 1)
        print(
            f"{envelope}: {summary['kept']:,} rows kept, {summary['read'] - summary['kept']:,} left out, turns {summary['turns']}; "
            f"learned once {times[1]:,}, more often {more:,}, never {never:,}"
        )
        faults += more
        if not summary["left_out"] and not summary["turns"]["missed"]:
            # A turn that no row teaches may be of several messages.
            faults += max(never - 3 * sum(untaught.values()), 0)
    sys.exit(f"{faults} messages are not learned once" if faults else 0)


main()

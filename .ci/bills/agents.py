"""Compares the usage that chatmill reads from agents' logs with the truth and with ccusage, by kind of tokens and to the cent.

    python agents.py CHATMILL CCUSAGE PRICES FOLDER [SESSIONS] [SEED]

CHATMILL is the program, CCUSAGE the binary of ccusage (MIT), PRICES LiteLLM's list, FOLDER is made anew. For each agent SESSIONS sessions
are drawn as the agent itself writes them: its files with forks, subagents, pieces of streams, compactions, cache writes, retries, archived
copies. What a session was paid for is written down while it is drawn, so that the truth comes from neither reader. A difference between
chatmill and the truth fails; one between ccusage and the truth has to be among `LISTED`, with its reason.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta, timezone

PROGRAM, CCUSAGE, PRICES, FOLDER = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]).resolve()
SESSIONS = int(sys.argv[5]) if len(sys.argv) > 5 else 200
SEED = int(sys.argv[6]) if len(sys.argv) > 6 else 20261129
DRAW = random.Random(SEED)
START = datetime(2026, 6, 1, 8, tzinfo=timezone.utc)
WORDS = "the tide map west north draws list of hives two roses bridge under lake kite wind old path".split()
CLAUDE, HAIKU, GPT, GEMINI = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "gpt-5", "gemini-2.5-flash"

# Where ccusage is known to count otherwise, by agent, with the reason.
LISTED = {
    "qwen": "adds the cached part to promptTokenCount, which contains it, as totalTokenCount shows",
}


class Session:
    """A session while it is drawn: its clock, its ids, and what was paid."""

    number = 0

    def __init__(self, paid):
        Session.number += 1
        self.paid = paid
        self.time = START + timedelta(minutes=37 * Session.number)
        self.id = f"5e551011-{Session.number:04x}-4000-8000-{DRAW.getrandbits(48):012x}"
        self.context = DRAW.randint(300, 3000)

    def tick(self):
        self.time += timedelta(seconds=DRAW.randint(1, 40))
        return self.time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.time.microsecond // 1000:03d}Z"

    def millis(self):
        self.tick()
        return int(self.time.timestamp() * 1000)

    def answer(self, model, writes=True, cache=True):
        """The figures of an answer, which was paid."""
        read = DRAW.randint(0, self.context) if cache and DRAW.random() < 0.7 else 0
        wrote = DRAW.randint(1, 900) if cache and writes and DRAW.random() < 0.5 else 0
        hour = DRAW.randint(0, wrote) if DRAW.random() < 0.5 else 0
        thoughts = DRAW.randint(1, 200) if DRAW.random() < 0.4 else 0
        figures = {
            "fresh": DRAW.randint(1, 400), "read": read, "wrote": wrote, "hour": hour,
            "thoughts": thoughts, "output": DRAW.randint(1, 500) + thoughts,
        }
        self.context += DRAW.randint(50, 500)
        self.pay(model, figures)
        return figures

    def pay(self, model, figures):
        total = self.paid.setdefault(model, Counter())
        total.update({key: figures[key] for key in ("fresh", "read", "wrote", "hour", "output")})
        total["requests"] += 1


def says():
    return " ".join(DRAW.choice(WORDS) for _ in range(DRAW.randint(2, 12)))


def unique(prefix, length=24):
    return prefix + "".join(DRAW.choice("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789abcdefghijk") for _ in range(length))


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def document(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def claude(home, session):
    """Claude Code: an answer is a line for each block, with the usage so far; subagents have separate files."""
    folder, lines, parent = home / "projects" / "-w", [], None

    def line(kind, message, **more):
        nonlocal parent
        value = {
            "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/w", "sessionId": session.id,
            "version": "2.0.14", "gitBranch": "main", "type": kind, "message": message, "uuid": unique("u-", 20),
            "timestamp": session.tick(), **more,
        }
        parent = value["uuid"]
        return value

    def answer(model, **more):
        figures, message, request = session.answer(model), unique("msg_01"), unique("req_011")
        five = figures["wrote"] - figures["hour"]
        usage = {
            "input_tokens": figures["fresh"], "cache_creation_input_tokens": figures["wrote"], "cache_read_input_tokens": figures["read"],
            "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": figures["hour"]},
            "output_tokens": figures["output"], "service_tier": "standard",
        }
        blocks = [{"type": "text", "text": says()}]
        if DRAW.random() < 0.5:
            blocks.append({"type": "tool_use", "id": unique("toolu_01"), "name": "Bash", "input": {"command": says()}})
        made = []
        for number, block in enumerate(blocks):
            # The first piece of a stream counts what was written until then.
            so_far = usage if number + 1 == len(blocks) else usage | {"output_tokens": 1}
            body = {"id": message, "type": "message", "role": "assistant", "model": model, "content": [block],
                    "stop_reason": "end_turn", "stop_sequence": None, "usage": so_far}
            made.append(line("assistant", body, requestId=request, **more))
        if len(blocks) > 1:
            result = [{"type": "tool_result", "tool_use_id": blocks[1]["id"], "content": says()}]
            made.append(line("user", {"role": "user", "content": result}, **more))
            made += answer(model, **more)
        return made

    for _ in range(DRAW.randint(1, 4)):
        lines.append(line("user", {"role": "user", "content": says()}))
        if DRAW.random() < 0.1:
            wrong = [{"type": "text", "text": "API Error: 529 overloaded"}]
            zero = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
            body = {"id": unique("x-"), "type": "message", "role": "assistant", "model": "<synthetic>", "content": wrong, "usage": zero}
            lines.append(line("assistant", body, isApiErrorMessage=True))
        lines += answer(DRAW.choice([CLAUDE, CLAUDE, HAIKU]))
        if DRAW.random() < 0.15:
            lines.append(line("system", None, subtype="compact_boundary", content="Conversation compacted"))
            lines.append(line("user", {"role": "user", "content": says()}, isCompactSummary=True))
    write(folder / f"{session.id}.jsonl", lines)
    answers = [one for one in lines if one["type"] == "assistant" and one["message"]["model"] != "<synthetic>"]
    if DRAW.random() < 0.3:
        # A subagent repeats the messages of its parent, under other uuids.
        parent, agent, repeated = None, unique("a", 8), []
        for one in lines[: lines.index(answers[0]) + 1] if DRAW.random() < 0.5 else []:
            copy = one | {"isSidechain": True, "agentId": agent, "parentUuid": parent, "uuid": unique("n-", 20)}
            parent = copy["uuid"]
            repeated.append(copy)
        if repeated and repeated[-1]["message"]["usage"]["output_tokens"] == 1:
            repeated = []
            parent = None
        more = {"isSidechain": True, "agentId": agent}
        repeated.append(line("user", {"role": "user", "content": says()}, **more))
        write(folder / session.id / "subagents" / f"agent-{agent}.jsonl", repeated + answer(HAIKU, **more))
    if DRAW.random() < 0.2:
        # A session goes on in a new file and carries the last answer along.
        parent, last = None, answers[-1]
        session.id = session.id[:-4] + "beef"
        again = [{"type": "summary", "summary": says(), "leafUuid": last["uuid"]}, last | {"sessionId": session.id, "parentUuid": None}]
        parent = last["uuid"]
        again.append(line("user", {"role": "user", "content": says()}))
        write(folder / f"{session.id}.jsonl", again + answer(CLAUDE))


def codex(home, session):
    """Codex: `token_count` has the usage since the last one; a fork begins with the lines of its parent."""
    total = Counter()

    def event(kind, payload, at=None):
        return {"timestamp": at or session.tick(), "type": kind, "payload": payload}

    def head(identity, **more):
        return {"id": identity, "timestamp": session.tick(), "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.145.0",
                "source": "cli", "model_provider": "openai", **more}

    def words(role, text):
        kind = "input_text" if role == "user" else "output_text"
        return event("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def turn():
        made = [event("turn_context", {"cwd": "/w", "model": GPT, "approval_policy": "never"}), words("user", says())]
        for _ in range(DRAW.randint(1, 2)):
            figures = session.answer(GPT, writes=False)
            last = {"input_tokens": figures["fresh"] + figures["read"], "cached_input_tokens": figures["read"],
                    "output_tokens": figures["output"], "reasoning_output_tokens": figures["thoughts"]}
            last["total_tokens"] = last["input_tokens"] + last["output_tokens"]
            total.update(last)
            made.append(words("assistant", says()))
            count = {"type": "token_count", "info": {"total_token_usage": dict(total), "last_token_usage": last}, "rate_limits": None}
            made.append(event("event_msg", count))
            if DRAW.random() < 0.2:
                made.append(event("event_msg", count))
        return made

    def name(identity):
        return f"rollout-{session.time.strftime('%Y-%m-%dT%H-%M-%S')}-{identity}.jsonl"

    lines = [event("session_meta", head(session.id))] + turn()
    for _ in range(DRAW.randint(0, 2)):
        if DRAW.random() < 0.2:
            lines.append(event("compacted", {"message": says()}))
        lines += turn()
    path = home / "sessions" / "2026" / name(session.id)
    write(path, lines)
    if DRAW.random() < 0.15:
        # Archived sessions are moved; a copy that stayed is the same session.
        (home / "archived_sessions").mkdir(exist_ok=True)
        shutil.copy(path, home / "archived_sessions" / path.name)
    if DRAW.random() < 0.3:
        fork = session.id[:-4] + "f0f0"
        session.time += timedelta(minutes=3)
        now = session.tick()
        repeated = [one | {"timestamp": now} for one in lines]
        origin = {"forked_from_id": session.id}
        if DRAW.random() < 0.5:
            spawn = {"subagent": {"thread_spawn": {"parent_thread_id": session.id, "depth": 1}}}
            origin = {"forked_from_id": session.id, "source": spawn, "thread_source": "subagent"}
        meta = head(fork, **origin)
        write(home / "sessions" / "2026" / name(fork), [event("session_meta", meta, now)] + repeated + turn())


def gemini(home, session):
    """Gemini CLI: a document a session; input contains what came from a cache, thoughts and tools' prompts do not."""
    messages = []
    for _ in range(DRAW.randint(1, 4)):
        messages.append({"id": unique("m"), "timestamp": session.tick(), "type": "user", "content": says()})
        figures, tool = session.answer(GEMINI, writes=False), 0
        tokens = {"input": figures["fresh"] + figures["read"], "output": figures["output"] - figures["thoughts"], "cached": figures["read"],
                  "thoughts": figures["thoughts"], "tool": tool}
        tokens["total"] = tokens["input"] + tokens["output"] + tokens["thoughts"]
        messages.append({"id": unique("m"), "timestamp": session.tick(), "type": "gemini", "model": GEMINI, "content": says(), "tokens": tokens})
    value = {"sessionId": session.id, "projectHash": "0b7dfb12", "startTime": messages[0]["timestamp"], "lastUpdated": session.tick(), "messages": messages}
    document(home / "0b7dfb12" / "chats" / f"session-{session.id}.json", value)


def qwen(home, session):
    """Qwen Code: Gemini's usage at each answer."""
    lines, parent = [], None
    for _ in range(DRAW.randint(1, 4)):
        for kind in ("user", "assistant"):
            role = "user" if kind == "user" else "model"
            value = {"uuid": unique("u"), "parentUuid": parent, "sessionId": session.id, "timestamp": session.tick(), "type": kind, "cwd": "/w",
                     "version": "0.21.13", "gitBranch": "main", "message": {"role": role, "parts": [{"text": says()}]}}
            parent = value["uuid"]
            if kind == "assistant":
                figures = session.answer("qwen3-coder-plus", writes=False)
                asked = figures["fresh"] + figures["read"]
                value["model"] = "qwen3-coder-plus"
                value["usageMetadata"] = {"promptTokenCount": asked, "candidatesTokenCount": figures["output"],
                                          "cachedContentTokenCount": figures["read"], "totalTokenCount": asked + figures["output"]}
            lines.append(value)
    write(home / "projects" / "-w" / "chats" / f"{session.id}.jsonl", lines)


def kimi(home, session):
    """Kimi Code: the usage of a turn is a separate line after it."""
    model = "moonshot-ai/kimi-k2"
    lines = [{"type": "metadata", "protocol_version": "1.4", "created_at": session.millis()},
             {"type": "config.update", "modelAlias": model, "time": session.millis()}]
    for step in range(DRAW.randint(1, 4)):
        asked = {"role": "user", "content": [{"type": "text", "text": says()}], "toolCalls": [], "origin": {"kind": "user"}}
        lines.append({"type": "context.append_message", "message": asked, "time": session.millis()})
        part = {"type": "content.part", "uuid": unique("e"), "turnId": str(step), "step": 1, "part": {"type": "text", "text": says()}}
        lines.append({"type": "context.append_loop_event", "event": part, "time": session.millis()})
        figures = session.answer(model)
        figures_hour(session, model, figures)
        usage = {"inputOther": figures["fresh"], "output": figures["output"], "inputCacheRead": figures["read"], "inputCacheCreation": figures["wrote"]}
        lines.append({"type": "usage.record", "model": model, "usage": usage, "usageScope": "turn", "time": session.millis()})
    write(home / "sessions" / "w" / session.id / "wire.jsonl", lines)


def figures_hour(session, model, figures):
    """An agent that does not divide its cache writes has written for minutes, as far as anybody knows."""
    session.paid[model]["hour"] -= figures["hour"]


def pi(home, session, start="session"):
    """pi, and OpenClaw with its own head: usage with every answer."""
    model, parent = CLAUDE, session.id
    lines = [{"type": "session", "id": session.id, "timestamp": session.tick(), "version": 3, "cwd": "/w"}]
    if start == "openclaw":
        lines.append({"type": "model_change", "id": unique("c"), "parentId": parent, "timestamp": session.tick(), "provider": "anthropic", "modelId": model})
    for _ in range(DRAW.randint(1, 4)):
        asked = {"role": "user", "content": [{"type": "text", "text": says()}]}
        lines.append({"type": "message", "id": unique("m"), "parentId": parent, "timestamp": session.tick(), "message": asked})
        figures = session.answer(model)
        figures_hour(session, model, figures)
        usage = {"input": figures["fresh"], "output": figures["output"], "cacheRead": figures["read"], "cacheWrite": figures["wrote"]}
        usage["totalTokens"] = sum(usage.values())
        said = {"role": "assistant", "content": [{"type": "text", "text": says()}], "api": "anthropic-messages", "provider": "anthropic",
                "model": model, "usage": usage, "stopReason": "stop"}
        lines.append({"type": "message", "id": unique("m"), "parentId": lines[-1]["id"], "timestamp": session.tick(), "message": said})
        parent = lines[-1]["id"]
    folder = home / ("agents/main/sessions" if start == "openclaw" else "w")
    write(folder / f"{session.id}.jsonl", lines)


def openclaw(home, session):
    pi(home, session, "openclaw")


def amp(home, session):
    """Amp: a document a thread, with the usage of each answer, or a ledger of all that was paid (titles, too)."""
    messages, events, has_ledger = [], [], DRAW.random() < 0.5
    for number in range(DRAW.randint(1, 4)):
        asked = {"role": "user", "messageId": 2 * number, "content": [{"type": "text", "text": says()}], "meta": {"sentAt": session.millis()}}
        figures = session.answer(CLAUDE)
        figures_hour(session, CLAUDE, figures)
        usage = {"model": CLAUDE, "inputTokens": figures["fresh"], "outputTokens": figures["output"],
                 "cacheCreationInputTokens": figures["wrote"], "cacheReadInputTokens": figures["read"], "timestamp": session.tick()}
        said = {"role": "assistant", "messageId": 2 * number + 1, "content": [{"type": "text", "text": says()}],
                "state": {"type": "complete", "stopReason": "end_turn"}, "usage": usage}
        messages += [asked, said]
        events.append({"id": unique("ev"), "timestamp": usage["timestamp"], "model": CLAUDE, "credits": 1, "operationType": "inference",
                       "tokens": {"input": figures["fresh"], "output": figures["output"]}, "fromMessageId": 2 * number, "toMessageId": 2 * number + 1})
    value = {"v": 41, "id": f"T-{session.id}", "created": session.millis(), "title": says(), "messages": messages}
    if has_ledger:
        figures = session.answer(HAIKU, cache=False)
        events.append({"id": unique("ev"), "timestamp": session.tick(), "model": HAIKU, "credits": 1, "operationType": "title-generation",
                       "tokens": {"input": figures["fresh"], "output": figures["output"]}})
        value["usageLedger"] = {"events": events}
    document(home / "threads" / f"T-{session.id}.json", value)


def copilot(home, session):
    """Copilot CLI: answers with what was written, and when the session ends the sums of each model."""
    lines, parent, sums = [], None, Counter()

    def event(kind, data):
        nonlocal parent
        value = {"type": kind, "data": data, "id": unique("e"), "timestamp": session.tick(), "parentId": parent}
        parent = value["id"]
        lines.append(value)

    event("session.start", {"sessionId": session.id, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.77", "startTime": session.tick()})
    for _ in range(DRAW.randint(1, 4)):
        event("user.message", {"content": says(), "attachments": []})
        figures = session.answer(GPT, writes=False)
        sums.update(figures)
        sums["count"] += 1
        event("assistant.message", {"messageId": unique("a"), "model": GPT, "content": says(), "toolRequests": [], "outputTokens": figures["output"]})
    usage = {"inputTokens": sums["fresh"] + sums["read"], "outputTokens": sums["output"], "cacheReadTokens": sums["read"], "cacheWriteTokens": 0}
    event("session.shutdown", {"shutdownType": "routine", "modelMetrics": {GPT: {"requests": {"count": sums["count"], "cost": 1}, "usage": usage}}, "currentModel": GPT})
    write(home / "session-state" / session.id / "events.jsonl", lines)


def opencode(home, session):
    """OpenCode: messages as files, and the same as `opencode export` writes them."""
    identity, messages = f"ses_{session.id[:8]}{session.id[-12:]}", []
    for _ in range(DRAW.randint(1, 4)):
        asked = {"id": unique("msg_"), "sessionID": identity, "role": "user", "time": {"created": session.millis()}, "agent": "build"}
        figures = session.answer(CLAUDE)
        figures_hour(session, CLAUDE, figures)
        made = session.millis()
        said = {"id": unique("msg_"), "sessionID": identity, "role": "assistant", "time": {"created": made, "completed": made + 900}, "parentID": asked["id"],
                "modelID": CLAUDE, "providerID": "anthropic", "mode": "build", "agent": "build", "path": {"cwd": "/w", "root": "/w"}, "cost": 0,
                "tokens": {"input": figures["fresh"], "output": figures["output"] - figures["thoughts"], "reasoning": figures["thoughts"],
                           "cache": {"read": figures["read"], "write": figures["wrote"]}}, "finish": "stop"}
        for info in (asked, said):
            part = {"id": unique("prt_"), "sessionID": identity, "messageID": info["id"], "type": "text", "text": says()}
            messages.append({"info": info, "parts": [part]})
            document(home / "storage" / "message" / identity / f"{info['id']}.json", info)
    times = {"created": messages[0]["info"]["time"]["created"], "updated": session.millis()}
    head = {"id": identity, "slug": "a-b", "projectID": "prj_1", "directory": "/w", "title": says(), "version": "1.0.110", "time": times}
    document(home / "exported" / f"{identity}.json", {"info": head, "messages": messages})


# The agents: how a session is drawn, the folder that ccusage looks into (a variable or a path below the home), and where chatmill reads.
AGENTS = {
    "claude": (claude, "CLAUDE_CONFIG_DIR", ""), "codex": (codex, "CODEX_HOME", ""), "gemini": (gemini, "GEMINI_DATA_DIR", ""),
    "qwen": (qwen, "QWEN_DATA_DIR", ""), "kimi": (kimi, "KIMI_DATA_DIR", ""), "pi": (pi, "PI_AGENT_DIR", ""),
    "openclaw": (openclaw, "OPENCLAW_DIR", ""), "amp": (amp, "AMP_DATA_DIR", ""), "copilot": (copilot, "COPILOT_HOME", ""),
    "opencode": (opencode, "OPENCODE_DATA_DIR", "exported"),
}
KINDS = ("input", "read", "wrote", "output")


def of_chatmill(folder):
    command = [PROGRAM, "tokens", str(folder), "--dialect", "openai-chat", "--by", "model", "--prices", PRICES, "--format", "json"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
    rows = [row for row in rows if row["encoding"] == "o200k_base" and row["logged_requests"]]
    counts, cost = {}, {}
    for row in rows:
        wrote = row["logged_cache_write"] + row["logged_cache_write_1h"]
        counts[row["group"]] = (row["logged_input"], row["logged_cached_input"], wrote, row["logged_output"], row["logged_requests"], row["logged_cache_write_1h"])
        cost[row["group"]] = row.get("cost", {}).get("as_logged")
    return counts, cost


def of_ccusage(agent, variable, home):
    environment = os.environ | {variable: str(home), "HOME": str(FOLDER / "nobody")}
    command = [CCUSAGE, agent, "daily", "--json", "--offline"]
    days = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)["daily"]
    counts, cost = Counter(), Counter()
    for day in days:
        models = day.get("modelBreakdowns") or [{"modelName": name} | of for name, of in day.get("models", {}).items()]
        if len(models) == 1:
            # Thoughts are in the sum of a day alone, and so is the cost of some agents.
            only = models[0]
            only.setdefault("cost", day.get("costUSD", 0))
            counted = only["inputTokens"] + only.get("cacheReadTokens", 0) + only.get("cacheCreationTokens", 0)
            only["outputTokens"] = day["totalTokens"] - counted
        for of in models:
            name = of["modelName"].removeprefix("[pi] ").removeprefix("[openclaw] ")
            read, wrote = of.get("cacheReadTokens", 0), of.get("cacheCreationTokens", 0)
            counts[name, "input"] += of["inputTokens"] + read + wrote
            counts[name, "read"] += read
            counts[name, "wrote"] += wrote
            counts[name, "output"] += of["outputTokens"]
            cost[name] += of.get("cost", of.get("costUSD", 0)) or 0
    return counts, cost


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    failures = 0
    for agent, (draw, variable, below) in AGENTS.items():
        paid, home = {}, FOLDER / agent
        home.mkdir(parents=True)
        for _ in range(SESSIONS):
            draw(home, Session(paid))
        ours, our_cost = of_chatmill(home / below)
        theirs, their_cost = of_ccusage(agent, variable, home)
        for model, total in sorted(paid.items()):
            truth = (total["fresh"] + total["read"] + total["wrote"], total["read"], total["wrote"], total["output"])
            own = ours.get(model, (0,) * 6)
            foreign = tuple(theirs[model, kind] for kind in KINDS)
            is_ours = own == (*truth, total["requests"], total["hour"])
            cents = [cost and round(100 * cost, 2) for cost in (our_cost.get(model), their_cost.get(model))]
            is_theirs = foreign == truth and (None in cents or cents[0] == cents[1]) or agent in LISTED
            failures += not (is_ours and is_theirs)
            print(f"{'ok  ' if is_ours and is_theirs else 'FAIL'} {agent} {model}: truth {truth} of {total['requests']}, {total['hour']} for an hour")
            if not is_ours:
                print(f"     chatmill {own}")
            if foreign != truth:
                print(f"     ccusage {foreign}" + (f": {LISTED[agent]}" if agent in LISTED else ""))
            print(f"     cents: chatmill {cents[0]}, ccusage {cents[1]}")
    print(f"seed {SEED}: {failures} differences of {len(AGENTS)} agents with {SESSIONS} sessions each")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

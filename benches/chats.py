"""Chats to measure with: JSON lines of any size, the same bytes for the same seed.

    python3 benches/chats.py MEGABYTES SEED [rooms|agents|scripts] > chats.jsonl

rooms    group chats of people and an agent over a year, in four scripts, with code, links, numbers, files, replies in every form, tool
         calls and results
agents   sessions of an agent that reads files, runs commands and edits code: requests of OpenAI's API with their tools
scripts  rooms in Cyrillic, Chinese and Japanese, with many emoji

Words follow a power law, and some are made up on the spot, so that no memory of words ever sees them all.
"""

import itertools
import json
import random
import sys

WORDS = {
    "latin": "the of and to a in is that it was for on are with as at be this have from or one had by but not what all were when "
    "we there can an your which their if do will each about how up out them then she many some so these would other into has "
    "more her two like him see time could no make than first been its who now people my made over did down only way find use "
    "may water long little very after words called just where most know deploy server ledger ticket tide harbour rope".split(),
    "cyrillic": "і в не на що з до як це та за від про але ми він вона то так для чи вже ще коли якщо тільки можна треба дуже "
    "дякую привіт сьогодні завтра сервер помилка зміни версія питання проблема кава човен пошта міст дощ".split(),
    "han": "我们 今天 明天 可以 需要 这个 那个 问题 没有 已经 现在 什么 怎么 谢谢 收到 大家 会议 项目 版本 数据 文档 代码 缓存".split(),
    "kana": "今日 明日 ありがとう 確認 会議 資料 テスト データ エラー 修正 です ます これ それ どこ たぶん".split(),
}
LIKELINESS = {
    script: list(itertools.accumulate(1 / (place + 3) for place in range(len(words)))) for script, words in WORDS.items()
}
SYLLABLES = "ba ce di fo gu hal ir jen ko lum mi nor ost pra qui rel sti tor un vex wyn yal zen ing tion ment".split()
EMOJI = ["🙂", "👍🏽", "🎉", "👨‍👩‍👧", "🇺🇦", "🤷‍♀️", "❤️", "✅"]
CODE = {
    "python": 'def {a}({b}, {c}=None):\n    if not {b}:\n        return {n}\n    return [{c} or x.{a} * {n} for x in {b}]\n',
    "rust": "fn {a}({b}: &[u8]) -> Option<usize> {{\n    let mut {c} = {n};\n    for x in {b} {{\n        {c} += usize::from(*x);\n    }}\n    Some({c})\n}}\n",
    "sql": "SELECT {a}, COUNT(*) AS {b}\nFROM {c}\nWHERE id > {n} AND day >= '2026-01-05'\nGROUP BY 1 ORDER BY 2 DESC LIMIT {n};\n",
    "json": '{{"{a}": {{"{b}": [{n}, null, true], "path": "C:\\\\{c}\\\\{a}"}}, "{c}": "{h}"}}\n',
    "log": "2026-01-05T10:00:07.{n}Z ERROR {a}::{b}: {c} refused trace={h}\n    at {c} ({a}.rs:{n})\n",
}
PEOPLE = ["Maren", "Tobias", "Олег", "Іванка", "晓明", "さくら", "Nadia", "Lucía", "Ahmed", "Zoë"]
KINDS = ["text"] * 24 + ["image", "file", "audio"]


class Words:
    def __init__(self, dice, scripts, emoji):
        self.dice, self.emoji = dice, emoji
        self.script = dice.choices(list(WORDS), scripts)[0]

    def word(self):
        dice = self.dice
        chance = dice.random()
        if chance < 0.05:
            return self.name()
        if chance < 0.07:
            return str(dice.randrange(10 ** dice.randint(1, 8)))
        if chance < 0.08:
            return f"https://{dice.choice(SYLLABLES)}.example/{dice.getrandbits(40):x}?q={dice.randrange(999)}"
        return dice.choices(WORDS[self.script], cum_weights=LIKELINESS[self.script])[0]

    def name(self):
        return "".join(self.dice.choices(SYLLABLES, k=self.dice.randint(2, 4)))

    def sentence(self):
        glue = "" if self.script in ("han", "kana") else " "
        end = " " + self.dice.choice(EMOJI) if self.dice.random() < self.emoji else self.dice.choice(".?!….")
        return glue.join(self.word() for _ in range(self.dice.randint(2, 20))) + end

    def text(self):
        length = self.dice.choices([1, 2, 4, 12, 40], [8, 6, 4, 1.5, 0.5])[0]
        text = self.dice.choice([" ", "\n", "\n\n", "\n- "]).join(self.sentence() for _ in range(length))
        return f"{text}\n{self.code()}" if self.dice.random() < 0.06 else text

    def code(self):
        language = self.dice.choice(list(CODE))
        names = {key: self.name() for key in "abc"}
        body = CODE[language].format(**names, n=self.dice.randrange(1000), h=f"{self.dice.getrandbits(64):016x}")
        return f"```{language}\n{body}```"


class Room(Words):
    def __init__(self, dice, number, scripts=(6, 3, 2, 1), emoji=0.12):
        super().__init__(dice, scripts, emoji)
        self.number, self.messages, self.clock = number, [], dice.randrange(330 * 86_400)
        self.people = dice.sample(PEOPLE, dice.choice([1, 1, 3, 4, 6]))

    def say(self, sender, role, content, extra=None):
        self.clock += self.dice.randrange(1, 600)
        day, second = divmod(self.clock, 86_400)
        message = {
            "message_id": f"m{self.number}-{len(self.messages)}",
            "create_time": f"2026-{day // 28 % 12 + 1:02}-{day % 28 + 1:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z",
            "sender": sender,
            "sender_name": sender,
            "role": role,
            "type": "text" if extra else self.dice.choice(KINDS),
            "content": content,
            "refer_list": self.references(),
        }
        if message["type"] in ("file", "image", "audio"):
            extra = {"file_name": f"{self.name()}.bin", "file_size": self.dice.randrange(10**7)}
        if extra:
            message["extra"] = extra
        self.messages.append(message)

    def references(self):
        if not self.messages or self.dice.random() > 0.27:
            return []
        target = self.dice.choice(self.messages[-12:])
        keys = self.dice.choice([["message_id"], ["message_id", "content"], ["message_id", "sender", "content", "type"]])
        return [self.dice.choice([target["message_id"], {key: target[key] for key in keys}])]

    def turn(self):
        if self.dice.random() < 0.7:
            return self.say(self.dice.choice(self.people), "user", self.text())
        if self.dice.random() > 0.12:
            return self.say("helper", "assistant", self.text())
        call = f"call_{self.dice.getrandbits(64):016x}"
        arguments = json.dumps({"query": self.sentence(), "limit": self.dice.randrange(20)}, ensure_ascii=False)
        function = {"name": "lookup", "arguments": arguments}
        self.say("helper", "assistant", self.text(), {"tool_calls": [{"id": call, "type": "function", "function": function}]})
        result = json.dumps({"hits": [self.sentence() for _ in range(self.dice.randint(1, 4))]})
        self.say("helper", "tool", result, {"tool_call_id": call, "name": "lookup"})

    def record(self):
        for _ in range(self.dice.choice([2, 4, 6, 8, 12, 20, 20, 30, 40, 60, 120])):
            self.turn()
        people = {name: {"full_name": name, "role": "user"} for name in self.people}
        people["helper"] = {"full_name": "Helper", "role": "assistant"}
        meta = {"conversation_id": f"room-{self.number}", "name": f"Room {self.number}", "scene": "group_chat", "user_details": people}
        return {"version": "1.0.0", "conversation_meta": meta, "conversation_list": self.messages}


class Session(Words):
    """An agent at work: what it is asked, the files and commands that it looks at, and what it changes."""

    TOOLS = {"read_file": "path", "run_command": "command", "edit_file": "path", "search": "query"}

    def __init__(self, dice, number):
        super().__init__(dice, (1, 0, 0, 0), 0.01)
        self.number = number

    def result(self, tool):
        lines = range(self.dice.choice([1, 4, 12, 40]))
        if tool == "search":
            return json.dumps([{"path": f"src/{self.name()}.rs", "line": n, "text": self.sentence()} for n in lines])
        return "\n".join(self.code() if tool == "read_file" else f"{n:6} {self.sentence()}" for n in lines)

    def steps(self):
        for _ in range(self.dice.choice([1, 3, 6, 12, 25])):
            call, tool = f"call_{self.dice.getrandbits(64):016x}", self.dice.choice(list(self.TOOLS))
            arguments = {self.TOOLS[tool]: f"src/{self.name()}.rs"}
            if tool == "edit_file":
                arguments |= {"old": self.code(), "new": self.code()}
            function = {"name": tool, "arguments": json.dumps(arguments)}
            content = self.sentence() if self.dice.random() < 0.5 else None
            yield {"role": "assistant", "content": content, "tool_calls": [{"id": call, "type": "function", "function": function}]}
            yield {"role": "tool", "tool_call_id": call, "content": self.result(tool)}
        yield {"role": "assistant", "content": f"{self.text()}\n{self.code()}"}

    def record(self):
        messages = [{"role": "system", "content": "You work in a repository. Read before you change, and run the tests."}]
        for _ in range(self.dice.choice([1, 1, 2, 4])):
            messages += [{"role": "user", "content": self.text()}, *self.steps()]
        tools = []
        for tool, key in self.TOOLS.items():
            parameters = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
            tools.append({"type": "function", "function": {"name": tool, "parameters": parameters}})
        return {"id": f"session-{self.number}", "model": "helper-1", "messages": messages, "tools": tools}


CORPORA = {
    "rooms": Room,
    "agents": Session,
    "scripts": lambda dice, number: Room(dice, number, (0, 5, 4, 2), 0.5),
}


def main():
    megabytes, seed = float(sys.argv[1]), int(sys.argv[2])
    record = CORPORA[sys.argv[3] if len(sys.argv) > 3 else "rooms"]
    dice, written, number = random.Random(seed), 0, 0
    while written < megabytes * 1e6:
        number += 1
        line = json.dumps(record(dice, number).record(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        written += sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main()

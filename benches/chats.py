"""Group chats to measure with: JSON lines of any size, the same bytes for the same seed.

    python3 benches/chats.py MEGABYTES SEED > chats.jsonl

Rooms of people and an agent, in four scripts, with code, links, numbers, replies in every form, tool calls and results.
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
PEOPLE = ["Maren", "Tobias", "Олег", "Іванка", "晓明", "さくら", "Nadia", "Lucía", "Ahmed", "Zoë"]
KINDS = ["text"] * 24 + ["image", "file", "audio"]


class Room:
    def __init__(self, dice, number):
        self.dice, self.number, self.messages, self.clock = dice, number, [], dice.randrange(10**7)
        self.script = dice.choices(list(WORDS), [6, 3, 2, 1])[0]
        self.people = dice.sample(PEOPLE, dice.choice([1, 1, 3, 4, 6]))

    def word(self):
        dice = self.dice
        chance = dice.random()
        if chance < 0.05:
            return "".join(dice.choices(SYLLABLES, k=dice.randint(2, 4)))
        if chance < 0.07:
            return str(dice.randrange(10 ** dice.randint(1, 8)))
        if chance < 0.08:
            return f"https://{dice.choice(SYLLABLES)}.example/{dice.getrandbits(40):x}?q={dice.randrange(999)}"
        return dice.choices(WORDS[self.script], cum_weights=LIKELINESS[self.script])[0]

    def sentence(self):
        glue = "" if self.script in ("han", "kana") else " "
        return glue.join(self.word() for _ in range(self.dice.randint(2, 20))) + self.dice.choice([".", ".", "?", "!", "…", " 🙂"])

    def text(self):
        length = self.dice.choices([1, 2, 4, 12, 40], [8, 6, 3, 1, 0.3])[0]
        text = self.dice.choice([" ", "\n", "\n\n"]).join(self.sentence() for _ in range(length))
        if self.dice.random() < 0.06:
            name = self.dice.choice(SYLLABLES)
            text += f'\n```\ndef {name}(x, y="{self.word()}"):\n    return x[{self.dice.randrange(9)}] + y\n```'
        return text

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
        if extra:
            message["extra"] = extra
        self.messages.append(message)

    def references(self):
        if not self.messages or self.dice.random() > 0.22:
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
        for _ in range(self.dice.choice([2, 4, 8, 16, 30, 60, 150])):
            self.turn()
        people = {name: {"full_name": name, "role": "user"} for name in self.people}
        people["helper"] = {"full_name": "Helper", "role": "assistant"}
        meta = {"conversation_id": f"room-{self.number}", "name": f"Room {self.number}", "scene": "group_chat", "user_details": people}
        return {"version": "1.0.0", "conversation_meta": meta, "conversation_list": self.messages}


def main():
    megabytes, seed = float(sys.argv[1]), int(sys.argv[2])
    dice, written, number = random.Random(seed), 0, 0
    while written < megabytes * 1e6:
        number += 1
        line = json.dumps(Room(dice, number).record(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        written += sys.stdout.buffer.write(line)


if __name__ == "__main__":
    main()

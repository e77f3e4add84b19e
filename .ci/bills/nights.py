"""How long a bill over many nights takes, and whether its days are right.

    python nights.py CHATMILL FOLDER NIGHTS

CHATMILL is the program. FOLDER is made anew, with a dataset for each of NIGHTS days, of one small chat that was held on that day. The
bill by day over all of them must have a row for every day, and every day the same tokens.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import time
from datetime import date, timedelta

PROGRAM, FOLDER, NIGHTS = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]), int(sys.argv[3])
PIPELINE = """name = "nights"
[[input]]
path = "chat.json"
[render]
dialects = ["openai-chat", "chatml"]
[count]
encodings = ["o200k_base"]
[output]
path = "out"
"""


def chat(day):
    said = [("user_1", "user", "Is the kettle on?"), ("bot_1", "assistant", "Since six."), ("user_1", "user", "Good.")]
    return {
        "version": "1.0.0",
        "conversation_meta": {
            "scene": "group_chat", "scene_desc": {}, "name": "Kitchen", "default_timezone": "UTC", "group_id": f"kitchen-{day}",
            "user_details": {"user_1": {"full_name": "Ada", "role": "user"}, "bot_1": {"full_name": "Mill", "role": "assistant"}},
        },
        "conversation_list": [
            {"message_id": f"m{number}", "create_time": f"{day}T03:04:{number:02}Z", "sender": sender, "role": role, "type": "text",
             "content": text}
            for number, (sender, role, text) in enumerate(said)
        ],
    }


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
(FOLDER / "nightly.toml").write_text(PIPELINE)
days = [str(date(2024, 1, 1) + timedelta(days=number)) for number in range(NIGHTS)]
for day in days:
    (FOLDER / "chat.json").write_text(json.dumps(chat(day)))
    subprocess.run([PROGRAM, "run", "nightly.toml", "--out", f"nights/{day}", "-q", "--format", "json"], cwd=FOLDER, check=True,
                   stdout=subprocess.DEVNULL)
datasets = [f"nights/{day}" for day in days]
for by in ["day", "model", "source", "day,model"]:
    begun = time.monotonic()
    told = subprocess.run([PROGRAM, "tokens", *datasets, "--by", by, "--format", "json", "-q"], cwd=FOLDER, check=True, capture_output=True)
    seconds = time.monotonic() - begun
    rows = json.loads(told.stdout)["rows"]
    if by == "day":
        assert [row["group"] for row in rows if row["dialect"] == "chatml"] == days, "a row for every day, in order"
        assert len({row["tokens"] for row in rows if row["dialect"] == "chatml"}) == 1, "every day says the same"
    print(f"{NIGHTS} nights by {by}: {seconds:.2f} s, {len(rows)} rows")

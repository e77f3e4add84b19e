"""A program that uses what the package offers; type checkers read it."""

from __future__ import annotations

from pathlib import Path

import chatmill
import chatmill.ray


def stages(stage: str, done: int, total: int) -> None:
    print(f"{stage}: {done} of {total}")


def main(folder: Path) -> int:
    archive = chatmill.read(folder, source="auto", encodings=["o200k_base"], progress=stages, limits={"depth": 50})
    messages: int = sum(batch.num_rows for batch in archive.messages)
    rendered = chatmill.render(archive, ["openai-chat"], perspective="auto", window={"mode": "per_turn"}, policy={"names": "prefix"})
    for part in rendered.parts("renderings", "losses"):
        names: list[str] = part.renderings.column_names
        print(names, part.losses)
    one: int = chatmill.count("Good morning")
    many: list[int] = chatmill.count(["Good morning", "Good night"], "cl100k_base")
    counter = chatmill.Counter({"name": "mine", "tokenizer": "tokenizer.json"})
    try:
        summary = chatmill.run("pipeline.toml", folder / "out", replace=True, policy={"names": "prefix"})
    except chatmill.RequestError as error:
        code: str = error.code
        place: str | None = error.place
        print(code, place)
        return 2
    by_lots = chatmill.ray.run("pipeline.toml", folder / "out", threads=2, progress=stages, shards={"bytes": 1 << 28})
    print(by_lots["exit_code"])
    certificate = chatmill.certify(folder / "out")
    print(summary["exit_code"], certificate.text, counter.encoding)
    return messages + one + sum(many) + int(certificate.holds)

"""Renderings of a dataset, as the judges see them."""

import json
from dataclasses import dataclass
from functools import cached_property

import pyarrow.dataset

COLUMNS = ["conversation_id", "dialect", "profile", "perspective", "content", "valid", "violations"]


@dataclass
class Row:
    dialect: str
    profile: str
    conversation: str
    perspective: str
    valid: bool
    violations: list
    content: str
    place: str

    @property
    def case(self):
        seen_by = f" as {self.perspective}" if self.perspective else ""
        return f"{self.place} {self.conversation}{seen_by}"

    @cached_property
    def body(self):
        """The JSON of the rendering; its text where it is none."""
        return self.content if self.dialect == "chatml" else json.loads(self.content)


def of_lines(file):
    """Renderings in JSON lines, one for each."""
    for line in file.read_text().splitlines():
        yield Row(**json.loads(line))


def read(folder):
    """Every rendering of the dataset in a folder, in the order of its files."""
    conversations = pyarrow.dataset.dataset(folder / "conversations", format="parquet")
    columns = ["conversation_id", "input", "entry", "record"]
    places = {}
    for one in conversations.to_table(columns=columns).to_pylist():
        inside = f"!{one['entry']}" if one["entry"] else ""
        places[one["conversation_id"]] = f"{one['input']}{inside}:{one['record']}"
    renderings = pyarrow.dataset.dataset(folder / "renderings", format="parquet")
    for batch in renderings.to_batches(columns=COLUMNS):
        for one in batch.to_pylist():
            if one["content"] is not None:
                conversation = one.pop("conversation_id")
                yield Row(conversation=conversation, place=places[conversation], **one)

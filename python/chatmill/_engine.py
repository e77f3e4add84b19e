"""The work of each task of an engine: batches of records in, batches of one table out. It is sent to the workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._errors import RequestError

if TYPE_CHECKING:
    import pyarrow

Frame = TypeVar("Frame")

# Tables with the number of a record, which only has a meaning within its batch.
_OF_RECORDS = ("findings", "rejects", "conversations")


@dataclass(frozen=True)
class Request:
    """A table to make of records: its name, its options, and the column with the records."""

    asked: dict[str, Any]
    column: str | None
    key: str | None
    table: str = "renderings"

    def of_table(self, name: str) -> Request:
        """The same for another table."""
        return replace(self, table=name)

    def schema(self) -> pyarrow.Schema:
        """The schema of its rows."""
        import pyarrow

        import chatmill

        # A wrong request is refused here and not on another machine.
        made = pyarrow.schema(chatmill.render([], **self.asked)._table(self.table))
        fields = [field.with_type(_stored(field.type)) for field in made]
        if self._has_key():
            fields.append(pyarrow.field("record_key", pyarrow.string()))
        return pyarrow.schema(fields)

    def _has_key(self) -> bool:
        return self.key is not None and self.table in _OF_RECORDS

    def rows(self, batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
        """The rows of a batch of records."""
        import pyarrow

        import chatmill

        if batch.num_rows == 0:
            return
        records = batch.column(self.column) if self.column is not None else _only(batch, self.key)
        schema = self.schema()
        for made in chatmill.render(records, **self.asked)._table(self.table):
            rows = pyarrow.record_batch(made)
            if self._has_key():
                keys = batch.column(self.key).cast(pyarrow.string())
                rows = rows.append_column("record_key", keys.take(rows.column("record")))
            yield rows.cast(schema)


def _stored(kind: pyarrow.DataType) -> pyarrow.DataType:
    """A type as engines know it: text, where Arrow marks it as JSON."""
    import pyarrow

    if isinstance(kind, pyarrow.BaseExtensionType):
        return kind.storage_type
    if pyarrow.types.is_list(kind):
        return pyarrow.list_(kind.value_field.with_type(_stored(kind.value_type)))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([field.with_type(_stored(field.type)) for field in kind])
    return kind


def _only(batch: pyarrow.RecordBatch, key: str | None) -> Any:
    names = [name for name in batch.schema.names if name != key]
    if len(names) != 1:
        message = f"several columns could hold records, name one with column=: {', '.join(names)}"
        raise RequestError(message, "value", "column")
    return batch.column(names[0])


class Tables(Generic[Frame]):
    """Tables by their names, as attributes."""

    def __init__(self, request: Request) -> None:
        self._request = request

    def _table(self, name: str) -> Frame:
        raise NotImplementedError

    @property
    def renderings(self) -> Frame:
        """One row per rendering."""
        return self._table("renderings")

    @property
    def token_counts(self) -> Frame:
        """One row per rendering and encoding."""
        return self._table("token_counts")

    @property
    def losses(self) -> Frame:
        """One row per loss that a dialect declares."""
        return self._table("losses")

    @property
    def conversations(self) -> Frame:
        """One row per conversation."""
        return self._table("conversations")

    @property
    def messages(self) -> Frame:
        """One row per message."""
        return self._table("messages")

    @property
    def references(self) -> Frame:
        """One row per reference of a message to another."""
        return self._table("message_references")

    @property
    def tool_calls(self) -> Frame:
        """One row per call of a tool."""
        return self._table("tool_calls")

    @property
    def findings(self) -> Frame:
        """One row per finding."""
        return self._table("findings")

    @property
    def rejects(self) -> Frame:
        """One row per record that could not be kept."""
        return self._table("rejects")

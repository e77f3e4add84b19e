"""Records of a Spark frame in, rows of chatmill's tables out; Spark Connect and Sail take the same code.

``render`` and ``read`` give a frame for each table, made by ``mapInArrow``: Spark shares the records among its executors, repeats what was lost,
and keeps the rows where it likes. A bad record is a row of ``findings`` and ``rejects``, and fails no task. The package has to be installed on every
node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _engine

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

__all__ = ["SparkTables", "read", "render"]


class SparkTables(_engine.Tables["DataFrame"]):
    """Tables as frames of Spark. Each is a pass of its own over the records, as every frame of Spark is."""

    def __init__(self, frame: DataFrame, request: _engine.Request) -> None:
        super().__init__(request)
        self._frame = frame

    def _table(self, name: str) -> DataFrame:
        request = self._request.of_table(name)
        columns = [column for column in (request.column, request.key) if column is not None]
        frame = self._frame.select(*columns) if columns else self._frame

        def rows(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
            for batch in batches:
                yield from request.rows(batch)

        from pyspark.sql.pandas.types import from_arrow_schema

        return frame.mapInArrow(rows, from_arrow_schema(request.schema()))


def render(
    frame: DataFrame,
    dialects: str | Iterable[str] = ("all",),
    encodings: Iterable[str] = ("o200k_base",),
    *,
    column: str | None = None,
    key: str | None = None,
    threads: int = 1,
    **options: Any,
) -> SparkTables:
    """Says the records of a frame in dialects: ``render(frame, ["chatml"]).renderings`` is a frame.

    ``column`` holds the records, ``key`` names each of them in the column ``record_key`` of ``findings``, ``rejects`` and
    ``conversations``. Other keywords are those of
    :func:`chatmill.render`. A task works with one thread, for Spark runs one task a core.
    """
    asked = {"dialects": dialects, "encodings": encodings, "threads": threads, **options}
    return SparkTables(frame, _engine.Request(asked, column, key))


def read(
    frame: DataFrame, *, column: str | None = None, key: str | None = None, threads: int = 1, **options: Any
) -> SparkTables:
    """Reads the records of a frame: ``read(frame).messages`` is a frame."""
    return SparkTables(frame, _engine.Request({"dialects": ["chatml"], "threads": threads, **options}, column, key))

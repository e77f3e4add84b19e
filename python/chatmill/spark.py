"""Records of a Spark frame in, rows of chatmill's tables out, or a whole run by shards; Spark Connect and Sail take the same code.

``render`` and ``read`` give a frame for each table, made by ``mapInArrow``: Spark shares the records among its executors, repeats what was lost,
and keeps the rows where it likes. A bad record is a row of ``findings`` and ``rejects``, and fails no task. ``run`` does what :func:`chatmill.run`
does, one task a shard. The package has to be installed on every node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import _engine, _shares
from ._progress import Progress

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame, SparkSession

    from ._shares import Path

__all__ = ["SparkTables", "read", "render", "run"]


class SparkTables(_engine.Tables["DataFrame"]):
    """Tables as frames of Spark. Each reads the records once more, as every frame of Spark does."""

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
    """Renders the records of a frame in dialects: ``render(frame, ["chatml"]).renderings`` is a frame.

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


def run(
    spark: SparkSession,
    pipeline: Path,
    out: Path | None = None,
    *,
    inputs: Path | Iterable[Path] = (),
    threads: int = 1,
    replace: bool = False,
    limit: int | None = None,
    progress: Progress = None,
    **overrides: Any,
) -> dict[str, Any]:
    """Runs a pipeline file as :func:`chatmill.run` does, in tasks of Spark: the files are the same.

    Driver and executors see the pipeline file, the inputs and ``out`` under the same paths, on a disk that they share. The driver hashes the
    inputs and divides them into shards (``shards={"bytes": 268435456}``), each task works one off with ``threads`` threads, and the driver publishes the dataset. A
    task that is lost Spark starts again, as often as ``spark.task.maxFailures`` allows; a shard whose input changed meanwhile is an
    :class:`chatmill.IncompleteError`. Called again, it goes on with the shards that are left.

    ``progress`` gets the stage ``lots`` from another thread. Where ``dedup`` compares conversations, all shards go through a stage ``compare`` before.
    """
    shares = _shares.Shares(
        pipeline,
        out,
        inputs=inputs,
        threads=threads,
        replace=replace,
        limit=limit,
        progress=progress,
        overrides=overrides,
    )
    if shares.is_finished:
        return shares.finish()
    folder = shares.out

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            ended = [_shares.work(folder, lot, threads) for lot in batch.column(0).to_pylist()]
            columns = [[lot.lot for lot in ended], [lot.reason for lot in ended], [lot.refused for lot in ended]]
            kinds = [pyarrow.int64(), pyarrow.string(), pyarrow.bool_()]
            arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds)]
            yield pyarrow.record_batch(arrays, ["lot", "reason", "refused"])

    # A partition is a task; a range of as many partitions as numbers has one number in each.
    lots = spark.range(0, shares.lots, 1, max(shares.lots, 1))
    rows: Any = []
    with shares.watched():
        for _ in shares.rounds():
            rows = lots.mapInArrow(work, "lot long, reason string, refused boolean").collect()
    return shares.finish(_shares.Lot(row["lot"], row["reason"], row["refused"]) for row in rows)

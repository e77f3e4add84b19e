"""Records of a Ray dataset in, rows of chatmill's tables out, or a whole run by shards.

``render`` and ``read`` give a dataset for each table, made by ``map_batches``. A bad record is a row of ``findings`` and ``rejects``, and fails no task.
``run`` does what :func:`chatmill.run` does, one task a shard. The package has to be installed on every node.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _engine, _shares
from ._errors import IncompleteError
from ._progress import Progress

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset

    from ._shares import Path

__all__ = ["RayTables", "read", "render", "run"]

# How often a task is started again after its worker died or a disk failed: as often as in Spark.
_RETRIES = 3


class RayTables(_engine.Tables["Dataset"]):
    """Tables as datasets of Ray. Each reads the records once more, as every dataset of Ray does."""

    def __init__(self, dataset: Dataset, request: _engine.Request) -> None:
        super().__init__(request)
        self._dataset = dataset

    def _table(self, name: str) -> Dataset:
        request = self._request.of_table(name)

        def rows(table: pyarrow.Table) -> pyarrow.Table:
            import pyarrow

            batches = [made for batch in table.to_batches() for made in request.rows(batch)]
            return pyarrow.Table.from_batches(batches, request.schema())

        return self._dataset.map_batches(rows, batch_format="pyarrow", batch_size=None, zero_copy_batch=True)


def render(
    dataset: Dataset,
    dialects: str | Iterable[str] = ("all",),
    encodings: Iterable[str] = ("o200k_base",),
    *,
    column: str | None = None,
    key: str | None = None,
    threads: int = 1,
    **options: Any,
) -> RayTables:
    """Renders the records of a dataset in dialects: ``render(dataset, ["chatml"]).renderings`` is a dataset.

    ``column`` holds the records, ``key`` names each of them in the column ``record_key`` of ``findings``, ``rejects`` and
    ``conversations``. Other keywords are those of
    :func:`chatmill.render`.
    """
    asked = {"dialects": dialects, "encodings": encodings, "threads": threads, **options}
    return RayTables(dataset, _engine.Request(asked, column, key))


def read(
    dataset: Dataset, *, column: str | None = None, key: str | None = None, threads: int = 1, **options: Any
) -> RayTables:
    """Reads the records of a dataset: ``read(dataset).messages`` is a dataset."""
    return RayTables(dataset, _engine.Request({"dialects": ["chatml"], "threads": threads, **options}, column, key))


def run(
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
    """Runs a pipeline file as :func:`chatmill.run` does, in tasks of Ray: the files are the same.

    All nodes see the pipeline file, the inputs and ``out`` under the same paths, on a disk that they share. The driver hashes the inputs and divides
    them into shards (``shards={"bytes": 268435456}``), each task works one off with ``threads`` threads, and the driver publishes the dataset. A
    task that is lost is started again; a shard whose input changed meanwhile is an :class:`chatmill.IncompleteError`. Called again, it
    goes on with the shards that are left. Where ``dedup`` compares conversations, all shards go through a stage ``compare`` before.
    """
    import ray

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
    work = ray.remote(num_cpus=max(threads, 1), max_retries=_RETRIES, retry_exceptions=[IncompleteError])(_shares.work)
    ended: list[_shares.Lot] = []
    for _ in shares.rounds():
        ended = []
        left = [work.remote(shares.out, lot, threads) for lot in range(shares.lots)]
        try:
            while left:
                ready, left = ray.wait(left)
                ended += ray.get(ready)
                shares.tell(len(ended))
        except BaseException:
            for task in left:
                ray.cancel(task, force=True)
            raise
    return shares.finish(ended)

"""Records of a Ray dataset in, rows of chatmill's tables out.

``render`` and ``read`` give a dataset for each table, made by ``map_batches``. A bad record is a row of ``findings`` and ``rejects``, and fails no task.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _engine

if TYPE_CHECKING:
    import pyarrow
    from ray.data import Dataset

__all__ = ["RayTables", "read", "render"]


class RayTables(_engine.Tables["Dataset"]):
    """Tables as datasets of Ray. Each is a pass of its own over the records, as every dataset of Ray is."""

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
    """Says the records of a dataset in dialects: ``render(dataset, ["chatml"]).renderings`` is a dataset.

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

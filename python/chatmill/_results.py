"""The results of runs and exports, as figures and as tables of other libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import escape, glob
from typing import TYPE_CHECKING, Any

from ._errors import RequestError

if TYPE_CHECKING:
    import datasets
    import polars


class _Written(dict[str, Any]):
    """The figures of what was written, with the folder that holds it."""

    def __init__(self, figures: dict[str, Any], folder: str) -> None:
        super().__init__(figures)
        self.folder = folder
        """The folder with the files."""


class Run(_Written):
    """The summary of a run, and the tables of its dataset as Polars and ``datasets`` read them."""

    def polars(self, table: str = "renderings") -> polars.LazyFrame:
        """A table of the dataset; Polars reads its files when the frame is collected."""
        import polars

        return polars.scan_parquet(self._files(table))

    def datasets(self, table: str = "renderings") -> datasets.Dataset:
        """A table of the dataset, mapped into memory by ``datasets``."""
        import datasets

        return datasets.Dataset.from_parquet(self._files(table))

    def _files(self, table: str) -> list[str]:
        files = sorted(glob(os.path.join(escape(self.folder), table, "*.parquet")))
        if not files:
            tables = sorted({path.split(os.sep)[-2] for path in glob(os.path.join(escape(self.folder), "*", "*.parquet"))})
            raise RequestError(f"the dataset has no table {table}; it has {', '.join(tables)}", "value", "table")
        return files


class Export(_Written):
    """The content of ``export.json``, and the parts of the export as Polars and ``datasets`` read them."""

    def polars(self, part: str | None = None) -> polars.LazyFrame:
        """The rows of a part, or of the only one; Polars reads its files when the frame is collected."""
        import polars

        files = self._one(part)
        return polars.scan_parquet(files) if self._is_parquet() else polars.scan_ndjson(files, infer_schema_length=None)

    def datasets(self) -> datasets.DatasetDict:
        """All parts by name, mapped into memory by ``datasets``."""
        import datasets

        form = "parquet" if self._is_parquet() else "json"
        return datasets.load_dataset(form, data_files=dict(self._parts()))

    def _is_parquet(self) -> bool:
        return self["format"] == "parquet"

    def _parts(self) -> Iterator[tuple[str, list[str]]]:
        parts: dict[str, list[str]] = {}
        for file in self["files"]:
            parts.setdefault(file["part"], []).append(os.path.join(self.folder, file["name"]))
        return iter(parts.items())

    def _one(self, part: str | None) -> list[str]:
        parts = dict(self._parts())
        if part is None and len(parts) == 1:
            return next(iter(parts.values()))
        if part not in parts:
            raise RequestError(f"name one of the parts: {', '.join(parts)}", "value", "part")
        return parts[part]

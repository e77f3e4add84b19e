"""Reads the renderings back with `datasets`, as users do, and holds them against `pyarrow`."""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

import datasets
import pyarrow.dataset

datasets.disable_progress_bars()


def faults(folder):
    arrow = pyarrow.dataset.dataset(folder / "renderings", format="parquet").to_table()
    files = sorted(str(path) for path in (folder / "renderings").glob("*.parquet"))
    with tempfile.TemporaryDirectory() as cache:
        loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache)
        found = []
        if loaded.num_rows != arrow.num_rows:
            found.append(f"datasets: {loaded.num_rows} rows of {arrow.num_rows}")
        for column in ("conversation_id", "dialect", "content", "valid", "violations"):
            if list(loaded[column]) != arrow[column].to_pylist():
                found.append(f"datasets: column {column} reads otherwise")
        return found

"""`datasets` loads every file; lines and tables hold the same records, as many as export reports."""

import json
import tempfile

import datasets
import numpy
import pandas
import pyarrow.parquet

from exports import KEYS


def without_nulls(value):
    """A value as it was before `datasets` gave every object the keys of all others."""
    if isinstance(value, dict):
        return {key: without_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]
    return value


def check_balance(export, ledger):
    summary = export.summary
    left = sum(left["rows"] for left in summary["left_out"])
    ledger.expect(f"{export.name}: balance", summary["kept"] + left, summary["read"])
    ledger.expect(f"{export.name}: rows", sum(file["rows"] for file in summary["files"]), summary["kept"])
    for file in summary["files"]:
        ledger.expect(f"{export.name} {file['name']}: bytes", (export.out / file["name"]).stat().st_size, file["bytes"])


def check_lines(export, ledger):
    """Reads the lines into the export."""
    for file in export.summary["files"]:
        records = export.records[file["part"]] = [json.loads(line) for line in export.lines(file)]
        ledger.expect(f"{export.name} {file['name']}: lines", len(records), file["rows"])
    # File by file: `datasets` makes one table of all files, and not every file has tools.
    for file in export.files:
        with tempfile.TemporaryDirectory() as cache:
            path = str(export.out / file["name"])
            loaded = datasets.load_dataset("json", data_files=path, split="train", cache_dir=cache)
            records = export.records[file["part"]]
            ledger.expect(f"{export.name} {file['name']}: rows in datasets", loaded.num_rows, len(records))
            for place in ledger.some(range(len(records))):
                found, wanted = without_nulls(loaded[place]), without_nulls(records[place])
                ledger.expect(f"{export.name} {file['name']}: record {place} in datasets", found, wanted)
        ledger.saw("datasets", loaded.num_rows)


def check_folder(export, ledger, columns=()):
    """`datasets` reads a folder by its card: the parts, all their files, and nothing else."""
    if not export.files:
        return
    names, rows = {}, {}
    for file in export.files:
        names.setdefault(file["part"], []).append(file["name"])
        rows[file["part"]] = rows.get(file["part"], 0) + file["rows"]
    with tempfile.TemporaryDirectory() as cache:
        builder = datasets.load_dataset_builder(str(export.out), cache_dir=cache)
        found = {part: sorted(path.rsplit("/", 1)[1] for path in paths) for part, paths in builder.config.data_files.items()}
        ledger.expect(f"{export.name}: files of the folder", found, names)
        # Of lines it makes one table of all parts, in which an object of one must have the keys of the other.
        if export.form == "parquet":
            loaded = datasets.load_dataset(str(export.out), cache_dir=cache)
            ledger.expect(f"{export.name}: rows of the folder", {part: table.num_rows for part, table in loaded.items()}, rows)
            for part, table in loaded.items():
                ledger.expect(f"{export.name} {part}: columns", set(columns) - set(table.column_names), set())
    ledger.saw("folders", 1)


def check_table(export, lines, ledger):
    """Reads the tables as `datasets` hands them out into the export, and compares them with the lines."""
    paths = {file["part"]: str(export.out / file["name"]) for file in export.files}
    homes = {}
    for file in export.files:
        where = f"{export.name} {file['name']}"
        table = pyarrow.parquet.read_table(export.out / file["name"])
        ledger.expect(f"{where}: rows", table.num_rows, file["rows"])
        ledger.expect(f"{where}: keys", table.column_names[: len(KEYS)], KEYS)
        keys = table.select(KEYS).to_pylist()
        check_keys(where, keys, homes, ledger)
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("parquet", data_files=paths, cache_dir=cache)[file["part"]]
            # A key that a record has not is null as a column, and nowhere below.
            found = [{key: value for key, value in row.items() if key not in KEYS and value is not None} for row in loaded]
        export.records[file["part"]] = found
        wanted = lines.records[file["part"]]
        ledger.expect(f"{where}: records of the table", len(found), len(wanted))
        for place, (one, other) in enumerate(zip(found, wanted)):
            ledger.expect(f"{where}: record {place} of the table", one, other)
        ledger.saw("datasets", loaded.num_rows)


def spelled_out(value):
    """A record with arguments and parameters as values: in a structure they are JSON text."""
    if isinstance(value, dict):
        spelled = {}
        for key, inner in value.items():
            if key not in ("arguments", "parameters"):
                spelled[key] = spelled_out(inner)
            else:
                # Whatever is in them is free, also a name that is one of these.
                spelled[key] = json.loads(inner) if isinstance(inner, str) else inner
        return spelled
    if isinstance(value, list):
        return [spelled_out(inner) for inner in value]
    return value


def check_structures(export, lines, ledger):
    """Tables of structures, as pyarrow, pandas and `datasets` hand them out, hold what the lines hold."""
    for file in export.files:
        where, path = f"{export.name} {file['name']} of structures", export.out / file["name"]
        table = pyarrow.parquet.read_table(path).drop_columns(KEYS)
        # A structure has no place for pictures in messages: such rows are left out.
        records = [record for record in lines.records[file["part"]] if '"type": "image"' not in json.dumps(record)]
        wanted = [without_nulls(spelled_out(record)) for record in records]
        frame = pandas.read_parquet(path).drop(columns=KEYS)
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset("parquet", data_files=str(path), split="train", cache_dir=cache)
            loaded = [{key: value for key, value in row.items() if key not in KEYS} for row in loaded]
        readings = {
            "pyarrow": table.to_pylist(),
            "pandas": [plain(row) for row in frame.to_dict("records")],
            "datasets": loaded,
        }
        for reader, rows in readings.items():
            found = [without_nulls(spelled_out(row)) for row in rows]
            ledger.expect(f"{where}: rows in {reader}", len(found), len(wanted))
            for place, (one, other) in enumerate(zip(found, wanted)):
                ledger.expect(f"{where}: record {place} in {reader}", one, other)
            ledger.saw(f"{reader} structures", len(found))


def plain(value):
    """Lists where pandas has arrays."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, numpy.ndarray)):
        return [plain(inner) for inner in value]
    # What is missing of a text is no number to pandas.
    return None if value is pandas.NA or isinstance(value, float) and value != value else value


def check_keys(where, keys, homes, ledger):
    """Every row has a unique key, and the rows of a conversation are in order and in one file."""
    before = None
    for key in keys:
        conversation = key["conversation_id"]
        ledger.expect(f"{where}: the file of {conversation}", homes.setdefault(conversation, where), where)
        if before and (before["conversation_id"], before["perspective"]) == (conversation, key["perspective"]):
            ledger.expect(f"{where}: order in {conversation}", before["ordinal"] < key["ordinal"], True)
        before = key
    ledger.expect(f"{where}: keys of their own", len({tuple(key.values()) for key in keys}), len(keys))

"""Opens every table of a dataset with the readers that people use, and compares what they see with the manifest.

    python readers.py FOLDER

Checked for each table: rows and column types in pyarrow, DuckDB, Polars and `datasets`; for each query that the report
names: that DuckDB runs it and that its rows are those of `report.json`; and that `report.json` is valid by its schema.
"""

import json
import math
import os
import sys
import tempfile
from pathlib import Path

import duckdb
import jsonschema
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "report.schema.json"

# A kind of column, by what each reader calls it.
KINDS = {
    "int64": ("BIGINT", "Int64", "int64"),
    "string": ("VARCHAR", "String", "string"),
    "bool": ("BOOLEAN", "Boolean", "bool"),
    "binary": ("BLOB", "Binary", "binary"),
    "timestamp[us, tz=UTC]": ("TIMESTAMP WITH TIME ZONE", "Datetime(time_unit='us', time_zone='UTC')", "timestamp[us, tz=UTC]"),
}

faults = []


def expect(what, found, wanted):
    if found != wanted:
        faults.append(f"{what}: {found!r} instead of {wanted!r}")


def kind(arrow_type):
    """The storage type of a column, as text; an extension type counts as what it is stored as."""
    storage = getattr(arrow_type, "storage_type", arrow_type)
    return str(storage)


def check_table(folder, table):
    name = table["name"]
    rows = sum(file["rows"] for file in table["files"])
    files = [str(folder / file["path"]) for file in table["files"]]
    pattern = str(folder / name / "*.parquet")

    arrow = pyarrow.dataset.dataset(files, format="parquet")
    expect(f"pyarrow {name}: rows", arrow.count_rows(), rows)
    for file in files:
        schema = pyarrow.parquet.read_schema(file)
        expect(f"pyarrow {file}: schema", schema.names, arrow.schema.names)

    relation = duckdb.sql(f"SELECT * FROM read_parquet('{pattern}')")
    expect(f"DuckDB {name}: rows", duckdb.sql(f"SELECT count(*) FROM read_parquet('{pattern}')").fetchall()[0][0], rows)
    expect(f"DuckDB {name}: columns", relation.columns, arrow.schema.names)

    frame = polars.scan_parquet(pattern)
    expect(f"Polars {name}: rows", frame.select(polars.len()).collect().item(), rows)
    polars_schema = frame.collect_schema()
    expect(f"Polars {name}: columns", polars_schema.names(), arrow.schema.names)

    for field, duck in zip(arrow.schema, relation.types):
        names = KINDS.get(kind(field.type))
        if names is None:
            continue  # Lists and structs: that they are read at all is what counts.
        expect(f"DuckDB {name}.{field.name}", str(duck).replace("JSON", "VARCHAR"), names[0])
        # Polars keeps the extension type of JSON columns; what it stores is text.
        found = str(polars_schema[field.name]).replace("Extension('arrow.json', String, '')", "String")
        expect(f"Polars {name}.{field.name}", found, names[1])
    return rows


def check_datasets(folder, tables):
    import datasets

    names = [table["name"] for table in tables]
    expect("datasets: configurations", datasets.get_dataset_config_names(str(folder)), names)
    with tempfile.TemporaryDirectory() as cache:
        for table in tables:
            rows = sum(file["rows"] for file in table["files"])
            loaded = datasets.load_dataset(str(folder), table["name"], split="train", cache_dir=cache)
            expect(f"datasets {table['name']}: rows", loaded.num_rows, rows)
            arrow = pyarrow.dataset.dataset(str(folder / table["files"][0]["path"]), format="parquet")
            expect(f"datasets {table['name']}: columns", loaded.column_names, arrow.schema.names)
            for field in arrow.schema:
                wanted = KINDS.get(kind(field.type))
                feature = loaded.features[field.name]
                if wanted and hasattr(feature, "dtype"):
                    expect(f"datasets {table['name']}.{field.name}", feature.dtype.replace("large_", ""), wanted[2])


def same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and math.isclose(float(one), float(other), rel_tol=1e-9)
    if one is None or other is None or isinstance(one, str) or isinstance(other, str):
        return one == other
    return int(one) == int(other)


def check_query(what, query, rows, left_out=0):
    """Runs a query in the dataset's folder; the columns that a row of the report has too must be equal."""
    if not query:
        # The dataset was made without a table that it needs.
        return 0
    result = duckdb.sql(query)
    columns = result.columns
    found = [dict(zip(columns, row)) for row in result.fetchall()]
    if not isinstance(rows, list):
        rows = [rows]
    shared = [column for column in columns if not rows or column in rows[0]]
    if rows and not shared:
        faults.append(f"{what}: the query has no column of the report")
    expect(f"{what}: rows", len(found), len(rows) + left_out)
    if left_out or len(found) != len(rows):
        return 0
    order = lambda row: json.dumps([row[column] for column in shared if not isinstance(row[column], float)], default=int)
    for one, other in zip(sorted(found, key=order), sorted(rows, key=order)):
        for column in shared:
            if not same(one[column], other[column]):
                faults.append(f"{what}.{column}: the query gives {one[column]!r}, the report {other[column]!r}: {other}")
    return len(found)


def check_report(folder):
    report = json.loads((folder / "report.json").read_text())
    for error in jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(report):
        faults.append(f"report.json: {error.json_path}: {error.message}")
    os.chdir(folder)
    balance = report["balance"]
    check_query("balance", balance["query"], balance)
    filtered = balance["filtered_by"]
    check_query("filtered_by", filtered["query"], filtered["rows"], filtered["left_out"])
    queries = 2
    if report["clusters"]:
        check_query("clusters", report["clusters"]["query"], report["clusters"])
        queries += 1
    for name, part in report.items():
        if isinstance(part, dict) and "rows" in part and "query" in part and "left_out" in part:
            if name == "tools" and not report["run"]["quotes"]:
                continue
            rows = part["rows"]
            # The query of the largest and of the tools has its own limit.
            check_query(name, part["query"], rows, part["left_out"] if name not in ("tools", "largest") else 0)
            queries += 1
    for distribution in report["distributions"]:
        bins = [bin for bin in distribution["bins"] if bin["count"]]
        check_query(distribution["name"], distribution["query"], bins)
        queries += 1
    return queries


def main():
    folder = Path(sys.argv[1]).resolve()
    manifest = json.loads((folder / "manifest.json").read_text())
    tables = manifest["tables"]
    rows = sum(check_table(folder, table) for table in tables)
    check_datasets(folder, tables)
    queries = check_report(folder)
    for fault in faults:
        print(fault)
    if faults:
        sys.exit(f"{len(faults)} faults")
    print(f"{len(tables)} tables with {rows} rows, the same in pyarrow, DuckDB, Polars and datasets; {queries} queries give the report")


main()

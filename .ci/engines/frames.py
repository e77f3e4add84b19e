"""Records in, rows out, in an engine: every table must have the rows that one process makes of the same records.

    python frames.py ray|sail|spark|standalone

`sail`, `spark` and `standalone` run the same code. Where there are two workers, one is killed while tasks run. The package has to be installed in this
environment.
"""

import json
import os
import sys
import threading

import pandas
import pyarrow

import chatmill
from clusters import CLUSTERS

ROWS = 2_000
OPTIONS = {"dialects": ["openai-chat", "chatml"], "encodings": ["o200k_base"]}
# What depends on the batch that a record came in.
OF_BATCHES = {"record", "record_key", "line_number", "column_number", "byte_start", "byte_end"}
TABLES = ("renderings", "conversations", "messages", "losses", "findings", "rejects")


def records():
    """Chats of different lengths; every hundredth is cut off, and some have findings."""
    for number in range(ROWS):
        turns = []
        for turn in range(1 + number % 7):
            turns.append({"role": "user", "content": f"Question {turn} of {number}?"})
            turns.append({"role": "assistant", "content": "yes, " * (number % 23) + "and no."})
        line = json.dumps({"messages": turns, "model": "small-1"})
        yield line[:-9] if number % 100 == 99 else line


def told(table):
    """The rows of a table as sorted texts."""
    columns = sorted(set(table.column_names) - OF_BATCHES)
    return sorted(json.dumps(row, default=str) for row in table.select(columns).to_pylist())


def expect(name, tables):
    """Holds each table of an engine against the one that a single process makes."""
    alone = chatmill.render(list(records()), **OPTIONS)
    broken = {f"r{number}" for number in range(99, ROWS, 100)}
    for table in TABLES:
        mine = pyarrow.table(getattr(alone, table))
        theirs = tables(table)
        if told(mine) != told(theirs):
            pairs = zip(told(mine), told(theirs))
            first = next((pair for pair in pairs if pair[0] != pair[1]), "")
            sys.exit(f"{name}: {table} has other rows: {len(theirs)}, and {len(mine)} in one process; {first}")
        if table == "rejects" and set(theirs["record_key"].to_pylist()) != broken:
            sys.exit(f"{name}: rejects name other records: {theirs['key'].to_pylist()[:5]}")
        print(f"{name}: {table}: {len(theirs)} rows, equal")


def keyed():
    return {"id": [f"r{number}" for number in range(ROWS)], "text": list(records())}


def over_ray(name, begun=lambda table: None):
    import ray

    import chatmill.ray

    if not ray.is_initialized():
        ray.init(logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    whole = pyarrow.table(keyed())
    data = ray.data.from_arrow([whole.slice(first, 250) for first in range(0, ROWS, 250)])
    made = chatmill.ray.render(data, column="text", key="id", **OPTIONS)

    def table(name):
        begun(name)
        return pyarrow.concat_tables(ray.get(getattr(made, name).to_arrow_refs()))

    expect(name, table)


def over_spark(name, begun=lambda table: None):
    from pyspark.sql import SparkSession

    import chatmill.spark

    spark = SparkSession.builder.appName("chatmill").getOrCreate()
    frame = spark.createDataFrame(pandas.DataFrame(keyed())).repartition(8)
    made = chatmill.spark.render(frame, column="text", key="id", **OPTIONS)

    def table(name):
        begun(name)
        return getattr(made, name).toArrow()

    expect(name, table)


def main(engine):
    over = over_ray if engine == "ray" else over_spark
    with CLUSTERS[engine]() as cluster:
        os.environ.update(cluster.environment)
        killer = threading.Timer(1, cluster.kill or (lambda: None))

        def begun(table):
            # With the second table all is up, so that what is lost is work.
            if cluster.kill is not None and table == TABLES[1]:
                killer.start()

        over(engine, begun)
        if cluster.kill is not None:
            killer.join()
            over(f"{engine}, one worker lost")


if __name__ == "__main__":
    main(sys.argv[1])

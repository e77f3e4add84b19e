"""Records in, rows out, in an engine: every table must have the rows that one process makes of the same records.

    python frames.py ray|sail|spark|standalone

`sail` and `spark` run the same code. `standalone` starts a master and two workers on this machine, and kills one of them, with its executor, while
tasks run. The package has to be installed in this environment.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import pandas
import pyarrow

import chatmill

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


def in_ray():
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    import chatmill.ray

    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, logging_level="ERROR", log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    whole = pyarrow.table(keyed())
    data = ray.data.from_arrow([whole.slice(first, 250) for first in range(0, ROWS, 250)])
    made = chatmill.ray.render(data, column="text", key="id", **OPTIONS)
    expect("ray", lambda table: pyarrow.concat_tables(ray.get(getattr(made, table).to_arrow_refs())))


def over(spark, name):
    import chatmill.spark

    frame = spark.createDataFrame(pandas.DataFrame(keyed())).repartition(8)
    made = chatmill.spark.render(frame, column="text", key="id", **OPTIONS)
    expect(name, lambda table: getattr(made, table).toArrow())


def in_sail():
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    over(SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate(), "sail")


def session(master):
    from pyspark.sql import SparkSession

    # Else workers take another Python, which does not have the package.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.shuffle.partitions": "8",
        "spark.executor.memory": "1g",
    }
    builder = SparkSession.builder.master(master).appName("chatmill")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def in_spark():
    over(session("local[2]"), "spark")


def in_standalone():
    import pyspark

    home = pathlib.Path(pyspark.__file__).parent
    started = []

    def start(word, *arguments):
        log = tempfile.NamedTemporaryFile("wb", suffix=f".{word}.log", delete=False)
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        kind = f"org.apache.spark.deploy.{word.lower()}.{word}"
        # A group of its own, so that its executors die with it.
        process = subprocess.Popen(
            [home / "bin" / "spark-class", kind, *arguments], stdout=log, stderr=log, env=environment, start_new_session=True
        )
        started.append(process)
        return process

    address = "spark://127.0.0.1:17077"
    try:
        start("Master", "-h", "127.0.0.1", "-p", "17077", "--webui-port", "0")
        time.sleep(5)
        workers = [start("Worker", "-c", "1", "-m", "1g", "--webui-port", "0", address) for _ in range(2)]
        time.sleep(5)
        spark = session(address)
        killer = subprocess.Popen(["sh", "-c", f"sleep 12; kill -9 -{workers[1].pid}"])
        over(spark, "standalone")
        killer.wait()
        if workers[1].wait(timeout=30) != -9:
            sys.exit("standalone: no worker was killed")
        # And once more with the one that is left.
        over(spark, "standalone, one worker lost")
        spark.stop()
    finally:
        for process in started:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    {"ray": in_ray, "sail": in_sail, "spark": in_spark, "standalone": in_standalone}[sys.argv[1]]()

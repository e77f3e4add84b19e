"""The engines on this machine, each for as long as it is used, and a way of killing a worker of those that have several.

Each gives a `Cluster`: how a program finds it, and what to kill.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

MASTER = "spark://127.0.0.1:17077"


class Cluster(NamedTuple):
    """`environment` is what a program is started with, `kill` takes a worker away without a word; nothing where there is only one."""

    environment: dict[str, str]
    kill: Callable[[], None] | None = None


# Else workers take another Python, which does not have the package.
OF_SPARK = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.executor.memory": "1g",
}


def submitted(master):
    """Settings as `pyspark` and `spark-submit` take them, for a program that only asks for a session."""
    settings = " ".join(f"--conf {key}={value}" for key, value in SETTINGS.items())
    return OF_SPARK | {"PYSPARK_SUBMIT_ARGS": f"--master {master} {settings} pyspark-shell"}


@contextlib.contextmanager
def spark():
    yield Cluster(submitted("local[2]"))


@contextlib.contextmanager
def standalone():
    """A master and two workers of one core each."""
    import pyspark

    home = pathlib.Path(pyspark.__file__).parent
    started = []

    def start(word, *arguments):
        log = tempfile.NamedTemporaryFile("wb", suffix=f".{word}.log", delete=False)
        kind = f"org.apache.spark.deploy.{word.lower()}.{word}"
        # A separate process group, so that its executors die with it.
        process = subprocess.Popen(
            [home / "bin" / "spark-class", kind, *arguments],
            stdout=log,
            stderr=log,
            env=os.environ | OF_SPARK | {"SPARK_HOME": str(home)},
            start_new_session=True,
        )
        started.append(process)
        return process

    def kill():
        os.killpg(workers[1].pid, signal.SIGKILL)
        workers[1].wait(timeout=30)

    try:
        start("Master", "-h", "127.0.0.1", "-p", MASTER.rsplit(":", 1)[1], "--webui-port", "0")
        time.sleep(5)
        workers = [start("Worker", "-c", "1", "-m", "1g", "--webui-port", "0", MASTER) for _ in range(2)]
        time.sleep(5)
        yield Cluster(submitted(MASTER), kill)
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def sail():
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    # It ends with this process. A session that outlived it would look for it for minutes.
    yield Cluster({"SPARK_REMOTE": f"sc://127.0.0.1:{port}"})


@contextlib.contextmanager
def ray():
    """A head without processors, and two nodes with one each."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray import shutdown as disconnect
    from ray.cluster_utils import Cluster as Nodes

    nodes = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100 << 20, "include_dashboard": False})
    workers = [nodes.add_node(num_cpus=1, object_store_memory=100 << 20) for _ in range(2)]
    nodes.wait_for_nodes()
    try:
        yield Cluster(
            {"RAY_ADDRESS": nodes.address, "RAY_USAGE_STATS_ENABLED": "0"},
            lambda: nodes.remove_node(workers[1], allow_graceful=False),
        )
    finally:
        # Else the head is not given up by the driver that uses it.
        disconnect()
        nodes.shutdown()


CLUSTERS = {"ray": ray, "sail": sail, "spark": spark, "standalone": standalone}

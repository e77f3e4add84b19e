"""A cluster of Slurm on this machine, for as long as it is needed: its own key, its own ports, nothing in `/etc`.

It takes Debian's packages `slurm-wlm` and `munge`, and the superuser. The one node claims to have more processors than the machine, so that scripts
which ask for several run here, too.
"""

import contextlib
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import time

PROCESSORS = 8
CONFIGURATION = """\
ClusterName=shares
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17817
SlurmdPort=17818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,sched_min_interval=100000
MpiDefault=none
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """What keeps Slurm from running here, or nothing."""
    programs = [name for name in ("slurmctld", "slurmd", "sbatch", "munged") if not find(name)]
    if programs:
        return f"{', '.join(programs)} not installed"
    return "" if os.geteuid() == 0 else "it takes the superuser"


def find(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")


def until(what, holds, seconds=60):
    for _ in range(seconds * 4):
        if holds():
            return
        time.sleep(0.25)
    raise TimeoutError(f"slurm: {what} after {seconds} s")


def ask(environment, *command):
    return subprocess.run(command, env=environment, text=True, capture_output=True, check=True).stdout


@contextlib.contextmanager
def cluster(folder):
    """Starts Slurm with its files in a folder; gives the environment in which its commands find it."""
    folder = pathlib.Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    text = CONFIGURATION.format(host=socket.gethostname().split(".")[0], folder=folder, processors=PROCESSORS)
    (folder / "slurm.conf").write_text(text)
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    started = []

    def start(name, *arguments):
        with (folder / f"{name}.log").open("wb") as log:
            command = [find(name), *arguments]
            started.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True))

    try:
        of_munge = [f"--{kind}-file={folder}/munge.{ending}" for kind, ending in [("pid", "pid"), ("log", "log"), ("seed", "seed")]]
        start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", *of_munge)
        until("no socket of munge", (folder / "munge.socket").exists)
        start("slurmctld", "-D")
        start("slurmd", "-D")
        until("no idle node", lambda: "idle" in subprocess.run(["sinfo", "-h"], env=environment, text=True, capture_output=True).stdout)
        yield environment
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            if process.poll() is None:
                process.kill()

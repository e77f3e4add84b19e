"""Runs a command and writes its exit code, its seconds and the most memory it had to a file.

    python measured.py FILE COMMAND ...

A program of its own, because what a process is told to have held at most includes what its parent held when it was begun.
"""

import json
import os
import sys
import time

began = time.monotonic()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
with open(sys.argv[1], "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), time.monotonic() - began, usage.ru_maxrss / 1024], file)

"""Runs a command and writes its exit code, its seconds and the most memory it had to a file.

    python measured.py FILE COMMAND ...

It is a separate program, because the peak of a process includes the memory of its parent at the time of the fork.
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
